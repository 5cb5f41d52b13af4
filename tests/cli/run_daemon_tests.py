#!/usr/bin/env python3
"""Runs `tesserad` as people do: starts it, stops it, starts it wrongly.

    tests/cli/run_daemon_tests.py TESSERAD [unittest arguments]
"""
import os
import pathlib
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

SECONDS_MAX = 20
TESSERAD = ""


def run(*arguments):
    """Runs it to its end."""
    return subprocess.run([TESSERAD, *arguments], capture_output=True, text=True,
                          timeout=SECONDS_MAX, check=False)


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

    def test_wrong_arguments_are_told(self):
        for arguments, word in (
                ((), "--lock"),
                (("--lock",), "--listen"),
                (("--lock", "--listen", "tcp:127.0.0.1:0"), "unix:PATH"),
                (("--lock", "--listen", "unix:x", "--lease", "0"), "--lease"),
                (("--depot",), "--lock")):
            told = run(*arguments)
            self.assertEqual(told.returncode, 2, arguments)
            self.assertIn(word, told.stderr + told.stdout)
        self.assertEqual(run("--help").returncode, 0)
        nowhere = run("--lock", "--listen", "unix:/nonexistent/x")
        self.assertEqual(nowhere.returncode, 1)
        self.assertIn("/nonexistent", nowhere.stderr)


if __name__ == "__main__":
    TESSERAD = sys.argv.pop(1)
    unittest.main()
