#!/usr/bin/env python3
"""Runs `tesserad --translate` as a job of several processes, under both MPIs.

    tests/cli/run_translate_tests.py TESSERA TESSERAD [unittest arguments]
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import mpi_jobs

PROGRAM = ""
DAEMON = ""
SECONDS_MAX = 120
PROCESSES = 3
READERS = 4
STEPS = 4
STEP = 400_000
RECORD = 1000

# Two ranks write a file in steps, each of them synced.
PRODUCER = r"""
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
#define NEED(call) do { if ((call) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 9); } while (0)
enum { kSteps = 4, kStep = 400000 };
int main(int argc, char** argv) {
  int rank, ranks;
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int part = kStep / ranks;
  unsigned char* bytes = malloc(part);
  NEED(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                     &file));
  for (int step = 0; step < kSteps; ++step) {
    const long at = (long)step * kStep + (long)rank * part;
    for (int i = 0; i < part; ++i) bytes[i] = (unsigned char)((at + i) * 31 + ((at + i) >> 8) * 7);
    NEED(MPI_File_write_at_all(file, at, bytes, part, MPI_BYTE, MPI_STATUS_IGNORE));
    NEED(MPI_File_sync(file));
    usleep(200000);
  }
  NEED(MPI_File_close(&file));
  MPI_Finalize();
  return 0;
}
"""


def content(size):
    return bytes((at * 31 + (at >> 8) * 7) & 255 for at in range(size))


class Together(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tessera-translate-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        views = {"size": 10 * STEP, "views": [
            {"displacement": i * RECORD, "tiles": "all",
             "type": {"resized": {"extent": READERS * RECORD, "of": RECORD}}}
            for i in range(READERS)]}
        (self.folder / "v.json").write_text(json.dumps(views))

    def run_here(self, *words):
        done = subprocess.run([*map(str, words)], cwd=self.folder, text=True, capture_output=True,
                              timeout=SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def follow(self, mpi, *more):
        return subprocess.Popen(
            [*mpi_jobs.launcher(mpi, PROCESSES), DAEMON, "--translate", "in.obj", "out.obj",
             "--views", "v.json", *more], cwd=self.folder, text=True, stderr=subprocess.PIPE,
            env=mpi_jobs.environment(self.folder))

    def check_out(self, size):
        facts = json.loads(self.run_here(PROGRAM, "show", "out.obj", "--json").stdout)
        self.assertEqual([one["view"]["read_runs"] for one in facts["writers"]], [1] * READERS)
        self.run_here(PROGRAM, "check", "out.obj")
        self.run_here(PROGRAM, "export", "out.obj", "back", "--force")
        self.assertEqual((self.folder / "back").read_bytes(), content(size))

    def test_a_producer_is_followed_to_its_end(self):
        (self.folder / "job.c").write_text(PRODUCER)
        for mpi in mpi_jobs.LAUNCHERS:
            with self.subTest(mpi=mpi):
                self.run_here(f"mpicc.{mpi}", "job.c", "-o", "job")
                for name in ("in.obj", "out.obj"):
                    (self.folder / name).unlink(missing_ok=True)
                with self.follow(mpi) as translator:
                    self.run_here(PROGRAM, "run", "-n", "2", "--", "./job", "obj:in.obj")
                    log = translator.communicate(timeout=SECONDS_MAX)[1]
                self.assertEqual(translator.returncode, 0, log)
                self.assertEqual(log.count("following in.obj"), 1, log)
                self.assertRegex(log, rf"translated \d+ commits, {STEPS * STEP} bytes")
                self.check_out(STEPS * STEP)

    def test_a_signal_ends_it_after_what_was_committed(self):
        (self.folder / "plain").write_bytes(content(STEP))
        self.run_here(PROGRAM, "import", "plain", "in.obj")
        with self.follow("openmpi", "--linger", "1000") as translator:
            line = ""
            while "commit 1 translated" not in line:
                line = translator.stderr.readline()
                self.assertNotEqual(line, "")
            time.sleep(0.2)
            translator.send_signal(signal.SIGTERM)
            translator.communicate(timeout=SECONDS_MAX)
        self.check_out(STEP)

    def test_an_error_is_told_once(self):
        (self.folder / "in.obj").write_text("a plain file")
        for mpi in mpi_jobs.LAUNCHERS:
            with self.subTest(mpi=mpi), self.follow(mpi) as translator:
                log = translator.communicate(timeout=SECONDS_MAX)[1]
                self.assertNotEqual(translator.returncode, 0)
                self.assertEqual(log.count("is a plain file"), 1, log)
                self.assertFalse((self.folder / "out.obj").exists())


if __name__ == "__main__":
    PROGRAM, DAEMON = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
