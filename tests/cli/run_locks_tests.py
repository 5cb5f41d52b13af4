#!/usr/bin/env python3
"""Runs `tessera locks` and the metrics of `tesserad` against real servers with real clients.

    tests/cli/run_locks_tests.py TESSERA TESSERAD LOCK_HOLDER [unittest arguments]
"""
import json
import os
import pathlib
import pty
import re
import resource
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

SECONDS_MAX = 30
LOST = "lost: the lock was broken by an administrator"
TESSERA = TESSERAD = HOLDER = ""


class Servers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith("TESSERA_")}
        self.environment["XDG_RUNTIME_DIR"] = self.folder.name
        self.runtime = pathlib.Path(self.folder.name, "tessera")
        self.runtime.mkdir(mode=0o700)
        self.socket = self.runtime / "one.locks"
        self.address = f"unix:{self.socket}"

    def spawn(self, *command, **pipes):
        child = subprocess.Popen(command, text=True, env=self.environment, **pipes)
        for pipe in (child.stdin, child.stdout, child.stderr):
            if pipe:
                self.addCleanup(pipe.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def serve(self, *more, path=None):
        """Starts a server, and returns it when it listens."""
        child = self.spawn(TESSERAD, "--lock", "--fresh", "--lease", "60", "--listen",
                           f"unix:{path or self.socket}", *more, stderr=subprocess.PIPE)
        self.assertIn("locks at", child.stderr.readline())
        return child

    def hold(self, client, *bytes_, file="file", mode="exclusive", address=None):
        return self.spawn(HOLDER, address or self.address, client, file, mode,
                          *map(str, bytes_), stdout=subprocess.PIPE)

    def assertSays(self, child, words):
        """The next line of a child, within a bound."""
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ)
            self.assertTrue(selector.select(SECONDS_MAX), f"nothing instead of {words}")
        self.assertIn(words, child.stdout.readline())

    def tessera(self, *arguments, stdin=subprocess.DEVNULL):
        return subprocess.run([TESSERA, *arguments], env=self.environment, stdin=stdin, text=True,
                              capture_output=True, timeout=SECONDS_MAX, check=False)

    def locks(self, *arguments):
        """The rows of all servers."""
        done = self.tessera("locks", "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [row for server in json.loads(done.stdout)["servers"] for row in server["locks"]]

    def wait_for(self, count, *arguments):
        """The rows, once there are so many."""
        end = time.monotonic() + SECONDS_MAX
        while True:
            rows = self.locks(*arguments)
            if len(rows) == count or time.monotonic() > end:
                self.assertEqual(len(rows), count)
                return rows
            time.sleep(0.01)

    def hold_and_wait(self):
        """A holder and one that waits for it; and the rows of both."""
        holder = self.hold("first rank", 0, 200, 2500, 1600)
        self.assertSays(holder, "granted")
        waiter = self.hold("second rank", 100, 50, mode="shared")
        return holder, waiter, self.wait_for(2)


class Limits(Servers):
    def test_a_server_has_as_many_clients_as_it_may_have_descriptors(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        clients = 1500
        if hard != resource.RLIM_INFINITY and hard < 2 * clients:
            self.skipTest(f"the limit of descriptors is {hard}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        try:
            self.serve()
            resource.setrlimit(resource.RLIMIT_NOFILE, (2 * clients, hard))
            for _ in range(clients):
                client = socket.socket(socket.AF_UNIX)
                self.addCleanup(client.close)
                client.connect(str(self.socket))
            self.assertSays(self.hold("the last one", 0, 10), "granted")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Looking(Servers):
    def test_json_says_who_holds_and_who_waits(self):
        self.serve()
        _, _, (held, waiting) = self.hold_and_wait()
        self.assertEqual((held["state"], waiting["state"]), ("held", "waiting"))
        self.assertEqual((held["mode"], waiting["mode"]), ("exclusive", "shared"))
        self.assertEqual((held["client"], waiting["client"]), ("first rank", "second rank"))
        self.assertEqual((held["runs"], held["size"]), (2500, 500000))
        self.assertEqual((held["begin"], held["end"]), (0, 2499 * 1600 + 200))
        self.assertIsNone(held["waits_for"])
        self.assertEqual(waiting["waits_for"], held["lock"])
        for row in (held, waiting):
            self.assertGreaterEqual(row["age_s"], 0)
            self.assertTrue(0 < row["lease_left_s"] <= 60)
        server = json.loads(self.tessera("locks", "--json").stdout)["servers"][0]
        self.assertEqual(server["address"], self.address)
        self.assertEqual((server["sessions"], server["requests"], server["held"]), (2, 2, 1))
        self.assertEqual(server["counts"]["granted"], 1)
        self.assertFalse(server["in_grace"])

    def test_the_table_says_the_same(self):
        self.serve()
        self.hold_and_wait()
        done = self.tessera("locks", self.address)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 4)
        self.assertRegex(lines[0], r"lease 60\.0 s, 2 sessions, 2 requests on 1 file: "
                                   r"1 held, 1 waiting")
        self.assertRegex(lines[2], r"file +1\.1 +held +exclusive +first rank .*2,500 runs, 488 KiB")
        self.assertRegex(lines[3], r"file +2\.1 +waiting +shared +second rank .*1\.1 +\[100, 150\)")

    def test_only_one_file(self):
        self.serve()
        self.assertSays(self.hold("a", 0, 10, file="wanted"), "granted")
        self.assertSays(self.hold("b", 0, 10, file="other"), "granted")
        self.assertEqual([row["client"] for row in self.locks("--file", "wanted")], ["a"])
        self.assertEqual(self.locks("--file", "nothing"), [])
        self.assertEqual(len(self.locks()), 2)

    def test_names_cannot_write_to_the_terminal(self):
        self.serve()
        self.assertSays(self.hold("\x1b[2Jevil\n\x9b", 0, 10), "granted")
        shown = self.tessera("locks").stdout
        self.assertIn("?[2Jevil??", shown)
        self.assertNotIn("\x1b", shown)

    def test_all_servers_of_the_user_are_found(self):
        self.serve()
        other = self.runtime / "two.locks"
        second = self.serve(path=other)
        self.serve(path=self.runtime / "no_lock_server")
        self.assertSays(self.hold("elsewhere", 0, 10, address=f"unix:{other}"), "granted")
        servers = json.loads(self.tessera("locks", "--json").stdout)["servers"]
        self.assertEqual([server["address"] for server in servers],
                         [self.address, f"unix:{other}"])
        # One that was killed leaves its socket behind, and is not there any more.
        second.kill()
        second.wait(SECONDS_MAX)
        self.assertTrue(other.exists())
        servers = json.loads(self.tessera("locks", "--json").stdout)["servers"]
        self.assertEqual([server["address"] for server in servers], [self.address])

    def test_the_variable_names_servers(self):
        elsewhere = pathlib.Path(self.folder.name, "s")
        self.serve(path=elsewhere)
        self.environment["TESSERA_LOCKS"] = f"unix:{elsewhere}"
        done = self.tessera("locks")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(str(elsewhere), done.stdout)
        # A server that was named is missed when it is not there, and the others are shown.
        self.environment["TESSERA_LOCKS"] = f"unix:{elsewhere},unix:/nonexistent/x"
        done = self.tessera("locks")
        self.assertEqual(done.returncode, 3)
        self.assertIn(str(elsewhere), done.stdout)
        self.assertIn("no lock server at unix:/nonexistent/x", done.stdout)

    def test_no_server_is_told(self):
        for arguments, words in (
                ((), "no lock server of yours"),
                (("unix:/nonexistent/x",), "no lock server at unix:/nonexistent/x")):
            done = self.tessera("locks", *arguments)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(words, done.stderr)
            error = json.loads(self.tessera("locks", "--json", *arguments).stdout)["error"]
            self.assertEqual(error["code"], "not-found")
        self.assertEqual(self.tessera("locks", "nonsense").returncode, 1)
        os.chmod(self.runtime, 0o755)
        done = self.tessera("locks")
        self.assertEqual(done.returncode, 6)
        self.assertIn("0700", done.stderr)

    def test_one_that_does_not_answer_is_told(self):
        with socket.socket(socket.AF_UNIX) as silent:
            silent.bind(str(self.socket))
            silent.listen()
            done = self.tessera("locks")
        self.assertEqual(done.returncode, 5)
        self.assertIn("no answer", done.stderr)

    def test_it_can_be_watched(self):
        self.serve()
        self.assertSays(self.hold("a", 0, 10), "granted")
        watcher = self.spawn(TESSERA, "locks", "--watch", "0.05", "--json", stdout=subprocess.PIPE)
        looks = [json.loads(watcher.stdout.readline())["servers"][0] for _ in range(3)]
        self.assertLess(looks[0]["locks"][0]["age_s"], looks[2]["locks"][0]["age_s"])
        watcher.send_signal(signal.SIGINT)
        self.assertEqual(watcher.wait(SECONDS_MAX), 0)
        watcher = self.spawn(TESSERA, "locks", "--watch", self.address, stdout=subprocess.PIPE)
        self.assertSays(watcher, self.address)
        watcher.send_signal(signal.SIGTERM)
        self.assertEqual(watcher.wait(SECONDS_MAX), 0)
        for wrong in ("0", "-1", "nan"):
            self.assertEqual(self.tessera("locks", "--watch=" + wrong).returncode, 2)

    def test_watching_without_a_server_is_told_once(self):
        done = self.tessera("locks", "--watch", "0.05")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stderr.count("no lock server of yours"), 1)
        # One that goes later may come back: that it is gone is told once, too.
        server = self.serve()
        watcher = self.spawn(TESSERA, "locks", "--watch", "0.05", self.address,
                             stdout=subprocess.PIPE)
        self.assertSays(watcher, self.address)
        server.terminate()
        server.wait(SECONDS_MAX)
        time.sleep(1)
        watcher.send_signal(signal.SIGINT)
        rest = watcher.communicate(timeout=SECONDS_MAX)[0]
        self.assertEqual(rest.count("no lock server at"), 1, rest)

    def test_a_terminal_is_drawn_again(self):
        self.serve()
        self.assertSays(self.hold("a", 0, 10), "granted")
        terminal, end = pty.openpty()
        self.addCleanup(os.close, terminal)
        watcher = self.spawn(TESSERA, "locks", "--watch", "0.05", stdout=end)
        os.close(end)
        shown = b""
        while shown.count(b"\x1b[H") < 3:
            shown += os.read(terminal, 4096)
        watcher.send_signal(signal.SIGINT)
        self.assertEqual(watcher.wait(SECONDS_MAX), 0)


    def test_over_tcp_a_key_is_needed(self):
        keys = [pathlib.Path(self.folder.name, name) for name in ("key", "other")]
        for key in keys:
            subprocess.run([TESSERAD, "--make-key", key], check=True, timeout=SECONDS_MAX)
        server = self.spawn(TESSERAD, "--lock", "--fresh", "--listen", self.address, "--listen",
                            "127.0.0.1:0", "--key-file", keys[0], stderr=subprocess.PIPE)
        address = re.search(r"tcp:(127\.0\.0\.1:\d+)", server.stderr.readline()).group(1)
        self.assertSays(self.hold("a", 0, 10), "granted")
        done = self.tessera("locks", address)
        self.assertEqual(done.returncode, 6)
        self.assertIn("TESSERA_KEY_FILE", done.stderr)
        self.environment["TESSERA_KEY_FILE"] = str(keys[1])
        done = self.tessera("locks", address)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.environment["TESSERA_KEY_FILE"] = str(keys[0])
        self.assertEqual([row["client"] for row in self.locks(address)], ["a"])
        self.assertEqual(self.tessera("locks", "break", "1.1", address, "--yes").returncode, 0)
        self.assertEqual(self.locks(), [])


class Breaking(Servers):
    def test_the_holder_is_told_and_the_waiter_granted(self):
        server = self.serve()
        holder, waiter, (held, _) = self.hold_and_wait()
        done = self.tessera("locks", "break", held["lock"], "--yes")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"broken: lock {held['lock']} of first rank on file", done.stdout)
        self.assertSays(holder, LOST)
        self.assertSays(waiter, "granted")
        self.assertIn(f"lock {held['lock']} was broken", server.stderr.readline())
        self.assertEqual([row["client"] for row in self.locks()], ["second rank"])
        done = self.tessera("locks", "break", held["lock"], self.address, "--yes")
        self.assertEqual(done.returncode, 3)
        self.assertIn("there is no lock", done.stderr)

    def test_a_waiting_request_can_be_broken_too(self):
        self.serve()
        _, waiter, (held, waiting) = self.hold_and_wait()
        self.assertEqual(self.tessera("locks", "break", waiting["lock"], "--yes").returncode, 0)
        self.assertSays(waiter, LOST)
        self.assertEqual([row["lock"] for row in self.locks()], [held["lock"]])

    def test_without_a_terminal_it_must_be_said(self):
        self.serve()
        _, _, (held, _) = self.hold_and_wait()
        done = self.tessera("locks", "break", held["lock"])
        self.assertEqual(done.returncode, 2)
        self.assertIn("--yes", done.stderr)
        self.assertEqual(len(self.locks()), 2)

    def answer(self, lock, text):
        """Breaks a lock at a terminal where somebody types the text."""
        terminal, end = pty.openpty()
        self.addCleanup(os.close, terminal)
        os.write(terminal, text)
        done = self.tessera("locks", "break", lock, stdin=end)
        os.close(end)
        return done

    def test_at_a_terminal_it_asks(self):
        self.serve()
        holder, _, (held, _) = self.hold_and_wait()
        for text in (b"n\n", b"\n", b"\x04", b"yesterday\n"):
            done = self.answer(held["lock"], text)
            self.assertEqual(done.returncode, 1)
            self.assertIn("nothing was broken", done.stderr)
            self.assertRegex(done.stdout, r"lock 1\.1 of first rank on file: exclusive, held for ")
        self.assertEqual(len(self.locks()), 2)
        self.assertEqual(self.answer(held["lock"], b"y\n").returncode, 0)
        self.assertSays(holder, LOST)

    def test_of_two_servers_one_must_be_named(self):
        self.serve()
        other = f"unix:{self.runtime / 'two.locks'}"
        self.serve(path=self.runtime / "two.locks")
        self.assertSays(self.hold("here", 0, 10), "granted")
        self.assertSays(self.hold("there", 0, 10, address=other), "granted")
        done = self.tessera("locks", "break", "1.1", "--yes")
        self.assertEqual(done.returncode, 1)
        self.assertIn("name one", done.stderr)
        self.assertEqual(len(self.locks()), 2)
        self.assertEqual(self.tessera("locks", "break", "1.1", other, "--yes").returncode, 0)
        self.assertEqual([row["client"] for row in self.locks()], ["here"])

    def test_what_is_no_lock_is_told(self):
        self.serve()
        for text in ("1", "x.y", "0.1"):
            done = self.tessera("locks", "break", text, "--yes")
            self.assertEqual(done.returncode, 2)
            self.assertIn("SESSION.SEQUENCE", done.stderr)
        self.assertEqual(self.tessera("locks", "break").returncode, 2)
        self.assertEqual(self.tessera("locks", "break", "5.5", "--yes").returncode, 3)


class Metrics(Servers):
    def serve_metrics(self):
        server = self.serve("--metrics", "0")
        self.url = re.search(r"metrics at (\S+)", server.stderr.readline()).group(1)
        self.assertTrue(self.url.startswith("http://127.0.0.1:"))
        return server

    def read(self):
        with urllib.request.urlopen(self.url, timeout=SECONDS_MAX) as answer:
            self.assertEqual(answer.headers.get_content_type(), "text/plain")
            self.assertEqual(answer.headers.get_param("version"), "0.0.4")
            return answer.read().decode()

    def values(self):
        return {name: float(value) for name, value in
                (line.rsplit(" ", 1) for line in self.read().splitlines() if line[0] != "#")}

    def connect(self):
        host, number = re.search(r"//(.*):(\d+)/", self.url).groups()
        made = socket.create_connection((host, int(number)), timeout=SECONDS_MAX)
        self.addCleanup(made.close)
        return made

    def test_counters_are_right(self):
        self.serve_metrics()
        holder, waiter, (held, _) = self.hold_and_wait()
        before = self.values()
        self.assertEqual(before["tessera_lock_granted_total"], 1)
        self.assertEqual(before["tessera_lock_sessions"], 2)
        self.assertEqual(before['tessera_lock_requests{state="held"}'], 1)
        self.assertEqual(before['tessera_lock_requests{state="waiting"}'], 1)
        self.assertEqual(before["tessera_lock_files"], 1)
        self.assertEqual(before["tessera_lock_in_grace"], 0)
        self.assertEqual(before["tessera_lock_lease_seconds"], 60)
        self.assertGreater(before["tessera_lock_pattern_bytes"], 0)
        self.tessera("locks", "break", held["lock"], "--yes")
        self.assertSays(waiter, "granted")
        waiter.send_signal(signal.SIGTERM)
        self.assertSays(waiter, "released")
        self.wait_for(0)
        after = self.values()
        for name, value in (("granted_total", 2), ("waited_total", 1), ("lost_total", 1),
                            ("released_total", 1), ("files", 0), ("wait_seconds_count", 2),
                            ('wait_seconds_bucket{le="+Inf"}', 2)):
            self.assertEqual(after["tessera_lock_" + name], value, name)
        self.assertGreater(after["tessera_lock_wait_seconds_sum"], 0)
        self.assertGreater(after["tessera_lock_uptime_seconds"],
                           before["tessera_lock_uptime_seconds"])
        holder.send_signal(signal.SIGTERM)

    def test_every_metric_has_its_help_and_type(self):
        self.serve_metrics()
        page = self.read()
        self.assertTrue(page.endswith("\n"))
        families = set(re.findall(r"^# TYPE (\S+) (?:counter|gauge|histogram)$", page, re.M))
        self.assertEqual(families, set(re.findall(r"^# HELP (\S+) .+$", page, re.M)))
        for name in re.findall(r"^([a-z_]+)", page, re.M):
            self.assertIn(re.sub(r"(?<=wait_seconds)_(bucket|sum|count)$", "", name), families)

    def test_there_is_no_other_page(self):
        self.serve_metrics()
        for page in ("", "/", "/x"):
            with self.assertRaises(urllib.error.HTTPError) as caught:
                urllib.request.urlopen(self.url + "x" + page, timeout=SECONDS_MAX)
            self.assertEqual(caught.exception.code, 404)
            caught.exception.close()

    def test_garbage_and_slow_readers_disturb_nobody(self):
        server = self.serve_metrics()
        for content in (b"\x00\xff\x16\x03\x01garbage", b"GET /metr", b"", b"A" * 100000):
            for _ in range(10):
                made = self.connect()
                try:
                    made.sendall(content)
                except ConnectionError:
                    pass
        # Locks are granted at once, while every connection of the page is taken.
        self.assertSays(self.hold("a", 0, 10), "granted")
        self.assertEqual(len(self.locks()), 1)
        self.assertEqual(self.values()["tessera_lock_granted_total"], 1)
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(SECONDS_MAX), 0)

    def test_it_can_be_read_often(self):
        self.serve_metrics()
        first = self.values()
        for _ in range(20):
            self.assertEqual(self.values()["tessera_lock_sessions"], first["tessera_lock_sessions"])

    def test_wrong_addresses_are_told(self):
        self.serve_metrics()
        taken = "tcp:" + re.search(r"//(.*)/", self.url).group(1)
        for address, words in ((taken, "in use"), ("unix:/x", "tcp:host:port"), ("x", "port")):
            done = subprocess.run([TESSERAD, "--lock", "--listen", f"unix:{self.socket}2",
                                   "--metrics", address], capture_output=True, text=True,
                                  timeout=SECONDS_MAX, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    TESSERA, TESSERAD, HOLDER = sys.argv[1:4]
    del sys.argv[1:4]
    unittest.main()
