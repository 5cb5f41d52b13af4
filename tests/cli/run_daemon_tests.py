#!/usr/bin/env python3
"""Runs `tesserad` as people do: starts it, stops it, starts it wrongly; and talks to it over TCP
as docs/formats/authentication.md and lock-messages.md say, in code of its own.

    tests/cli/run_daemon_tests.py TESSERAD [unittest arguments]
"""
import contextlib
import hashlib
import os
import pathlib
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time
import unittest

SECONDS_MAX = 20
TESSERAD = ""


def run(*arguments, **more):
    """Runs it to its end."""
    return subprocess.run([TESSERAD, *arguments], capture_output=True, text=True,
                          timeout=SECONDS_MAX, check=False, **more)


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


class Client:
    """A client over TCP: the handshake, sealed frames, and the greeting of the lock service."""
    MAGIC = b"TSCK\1"

    def __init__(self, port, key):
        self.key = key
        self.socket = socket.create_connection(("127.0.0.1", port), SECONDS_MAX)
        self.counts = {"client to server": 0, "server to client": 0}

    def close(self):
        self.socket.close()

    def send_frame(self, frame):
        self.socket.sendall(struct.pack("<I", len(frame)) + frame)

    def receive_bytes(self, count):
        data = b""
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    def receive_frame(self):
        return self.receive_bytes(struct.unpack("<I", self.receive_bytes(4))[0])

    def hash(self, purpose):
        return hashlib.blake2b(b"tessera " + purpose.encode() + b"\0" + self.randoms,
                               key=self.key, digest_size=32).digest()

    def shake_hands(self):
        """Answers with the server's last message."""
        challenge = self.receive_frame()
        assert challenge[:6] == self.MAGIC + b"\1"
        own = os.urandom(32)
        self.randoms = challenge[6:] + own
        self.send_frame(self.MAGIC + b"\2" + own + self.hash("client proof"))
        return self.receive_frame()

    def is_server_proven(self, last):
        return last == self.MAGIC + b"\3" + self.hash("server proof")

    def seal(self, frame, direction):
        number = struct.pack("<Q", self.counts[direction])
        self.counts[direction] += 1
        return hashlib.blake2b(number + frame, key=self.hash(direction), digest_size=16).digest()

    def ask(self, message):
        """Answers with the type of what comes back."""
        message += struct.pack("<I", crc32c(message))
        self.send_frame(message + self.seal(message, "client to server"))
        answer = self.receive_frame()
        assert answer[-16:] == self.seal(answer[:-16], "server to client")
        return answer[1]

    def greet(self):
        return self.ask(b"\1\1" + bytes(24) + b"\0" + b"\4test" + b"\0" + b"\0")

    def renew(self):
        return self.ask(b"\1\7" + bytes(3))


class Daemon(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.socket = pathlib.Path(self.folder.name, "locks")

    def tearDown(self):
        self.folder.cleanup()

    def start(self, *more):
        """Starts it, and returns when it listens."""
        child = subprocess.Popen([TESSERAD, "--lock", "--listen", f"unix:{self.socket}", *more],
                                 stderr=subprocess.PIPE, text=True)
        self.addCleanup(child.stderr.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        line = child.stderr.readline()
        self.assertIn(f"locks at unix:{self.socket}", line)
        return child

    def stop(self, child, number=signal.SIGTERM):
        child.send_signal(number)
        self.assertEqual(child.wait(SECONDS_MAX), 0)
        self.assertIn("stopped", child.stderr.read())
        self.assertFalse(self.socket.exists())

    def test_a_signal_ends_it_and_nothing_is_left(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            child = self.start()
            mode = os.stat(self.socket).st_mode
            self.assertTrue(stat.S_ISSOCK(mode))
            self.assertEqual(stat.S_IMODE(mode), 0o600)
            self.stop(child, number)

    def test_what_a_killed_one_left_is_replaced(self):
        child = self.start("--lease", "0.5")
        child.kill()
        child.wait(SECONDS_MAX)
        self.assertTrue(self.socket.exists())
        self.stop(self.start("--fresh"))

    def test_two_do_not_serve_one_address(self):
        first = self.start()
        second = run("--lock", "--listen", f"unix:{self.socket}")
        self.assertEqual(second.returncode, 1)
        self.assertIn("in use", second.stderr)
        self.stop(first)

    def test_it_waits_without_working(self):
        child = self.start()
        time.sleep(0.5)
        fields = pathlib.Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
        ticks = int(fields[11]) + int(fields[12])
        self.assertLess(ticks / os.sysconf("SC_CLK_TCK"), 0.2)
        self.stop(child)

    def test_a_proxy_serves_for_its_server(self):
        below = f"{self.socket}.proxy"
        proxy = subprocess.Popen([TESSERAD, "--proxy", "--upstream", f"unix:{self.socket}",
                                  "--listen", f"unix:{below}"], stderr=subprocess.PIPE, text=True)
        self.addCleanup(proxy.stderr.close)
        self.addCleanup(proxy.wait)
        self.addCleanup(proxy.kill)
        self.assertIn(f"proxy of unix:{self.socket} at unix:{below}", proxy.stderr.readline())
        # The server may come later, and go and come again.
        for more in ((), ("--lease", "0.5")):
            server = self.start(*more)
            self.assertIn("the lock server was reached", proxy.stderr.readline())
            self.stop(server)
            self.assertIn("the lock server is gone", proxy.stderr.readline())
        proxy.send_signal(signal.SIGTERM)
        self.assertEqual(proxy.wait(SECONDS_MAX), 0)
        self.assertIn("stopped", proxy.stderr.read())
        self.assertFalse(pathlib.Path(below).exists())

    def test_wrong_arguments_are_told(self):
        for arguments, word in (
                ((), "--lock"),
                (("--lock",), "--listen"),
                (("--lock", "--listen", "127.0.0.1:0"), "--key-file"),
                (("--lock", "--listen", "unix:x", "--listen", "tcp:127.0.0.1:0"), "--key-file"),
                (("--lock", "--listen", "127.0.0.1:x"), "65535"),
                (("--lock", "--listen", "node"), "tcp:host:port"),
                (("--lock", "--listen", "unix:x", "--lease", "0"), "--lease"),
                (("--lock", "--proxy", "--listen", "unix:x"), "one role"),
                (("--proxy", "--listen", "unix:x"), "--upstream"),
                (("--proxy", "--listen", "unix:x", "--upstream", "127.0.0.1:1"), "--key-file"),
                (("--proxy", "--listen", "unix:x", "--upstream", "unix:y", "--metrics", "0"),
                 "--metrics"),
                (("--depot",), "--depot")):
            told = run(*arguments)
            self.assertEqual(told.returncode, 2, arguments)
            self.assertIn(word, told.stderr + told.stdout)
        self.assertEqual(run("--help").returncode, 0)
        nowhere = run("--lock", "--listen", "unix:/nonexistent/x")
        self.assertEqual(nowhere.returncode, 1)
        self.assertIn("/nonexistent", nowhere.stderr)


class Tcp(unittest.TestCase):
    WELCOME = 2
    RENEWED = 8

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.key_file = pathlib.Path(self.folder.name, "key")
        self.assertEqual(run("--make-key", self.key_file).returncode, 0)
        self.key = bytes.fromhex(self.key_file.read_text())
        self.logs = {}

    def start(self, *more, **settings):
        """Starts it at a free port of this machine; returns it and the port."""
        log = open(pathlib.Path(self.folder.name, f"log{len(self.logs)}"), "w+", encoding="utf8")
        child = subprocess.Popen([TESSERAD, "--lock", "--fresh", "--listen", "127.0.0.1:0", *more],
                                 stderr=log, **settings)
        self.logs[child.pid] = log
        self.addCleanup(log.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        for _ in range(SECONDS_MAX * 100):
            text = self.log_of(child)
            if "locks at tcp:127.0.0.1:" in text:
                return child, int(text.split("127.0.0.1:")[1].split(",")[0])
            time.sleep(0.01)
        return self.fail(self.log_of(child))

    def log_of(self, child):
        return pathlib.Path(self.logs[child.pid].name).read_text(encoding="utf8")

    def stop(self, child):
        child.send_signal(signal.SIGTERM)
        self.assertEqual(child.wait(SECONDS_MAX), 0)
        self.assertNotIn(self.key.hex(), self.log_of(child))

    def connect(self, port, key=None):
        client = Client(port, key or self.key)
        self.addCleanup(client.close)
        return client

    def expect_served(self, port):
        client = self.connect(port)
        self.assertTrue(client.is_server_proven(client.shake_hands()))
        self.assertEqual(client.greet(), self.WELCOME)
        return client

    def test_two_servers_serve_those_who_know_the_key(self):
        first, first_port = self.start("--key-file", self.key_file)
        environment = {**os.environ, "TESSERA_KEY_FILE": str(self.key_file)}
        second, second_port = self.start(env=environment)
        self.assertNotEqual(first_port, second_port)
        for port in (first_port, second_port, first_port):
            self.expect_served(port)
        self.stop(first)
        self.expect_served(second_port)
        self.stop(second)
        self.assertNotIn("cut off", self.log_of(second))

    def test_it_serves_a_unix_socket_besides(self):
        path = pathlib.Path(self.folder.name, "locks")
        child, port = self.start("--key-file", self.key_file, "--listen", f"unix:{path}")
        self.assertTrue(stat.S_ISSOCK(os.stat(path).st_mode))
        self.expect_served(port)
        self.stop(child)
        self.assertFalse(path.exists())

    def test_another_key_is_refused_and_logged_once(self):
        child, port = self.start("--key-file", self.key_file)
        served = self.expect_served(port)
        begin = time.monotonic()
        for _ in range(50):
            stranger = self.connect(port, os.urandom(32))
            self.assertEqual(stranger.shake_hands(), Client.MAGIC + b"\4\1")
            with self.assertRaises(EOFError):
                stranger.receive_bytes(1)
        lines = [line for line in self.log_of(child).splitlines() if "cut off" in line]
        self.assertGreaterEqual(len(lines), 1)
        self.assertLessEqual(len(lines), 2 + time.monotonic() - begin)
        self.assertIn("does not know the key", lines[0])
        self.assertIn("tcp:127.0.0.1:", lines[0])
        self.assertEqual(served.renew(), self.RENEWED)
        self.stop(child)

    def test_garbage_and_half_frames_harm_nobody(self):
        child, port = self.start("--key-file", self.key_file)
        served = self.expect_served(port)
        magic = Client.MAGIC
        for data in (b"GET / HTTP/1.0\r\n\r\n", b"\xff\xff\xff\xff", b"\x08\0\0\0garbage!", b"\x01",
                     b"\x40\0\0\0half", bytes(4), b"\x26\0\0\0" + magic + b"\2" + bytes(32),
                     b"\x46\0\0\0" + magic + b"\2" + bytes(64), os.urandom(100_000)):
            for _ in range(10):
                client = self.connect(port)
                # Whoever is cut off meanwhile cannot send the rest.
                with contextlib.suppress(OSError):
                    client.socket.sendall(data)
                    client.socket.shutdown(socket.SHUT_WR)
        # A frame that was changed, on a connection that was open.
        for _ in range(10):
            client = self.expect_served(port)
            client.send_frame(b"\1\x0a" + bytes(20))
            with self.assertRaises((EOFError, ConnectionResetError)):
                client.receive_frame()
        self.assertEqual(served.renew(), self.RENEWED)
        self.expect_served(port)
        self.stop(child)
        self.assertIn("cut off", self.log_of(child))

    def test_keys_that_are_none_are_told(self):
        again = run("--make-key", self.key_file)
        self.assertEqual(again.returncode, 1)
        self.assertIn("exists", again.stderr)
        self.assertEqual(stat.S_IMODE(os.stat(self.key_file).st_mode), 0o600)
        arguments = ("--lock", "--listen", "127.0.0.1:0", "--key-file", self.key_file)
        self.key_file.chmod(0o640)
        told = run(*arguments)
        self.assertEqual(told.returncode, 1)
        self.assertIn("chmod 600", told.stderr)
        self.key_file.chmod(0o600)
        self.key_file.write_text(self.key.hex()[1:])
        told = run(*arguments)
        self.assertEqual(told.returncode, 1)
        self.assertIn("64 hexadecimal digits", told.stderr)
        self.assertNotIn(self.key.hex()[1:9], told.stderr)
        self.key_file.unlink()
        self.assertIn("No such file", run(*arguments).stderr)


if __name__ == "__main__":
    TESSERAD = sys.argv.pop(1)
    unittest.main()
