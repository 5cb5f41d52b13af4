#!/usr/bin/env python3
"""Runs jobs that are reported, also such as end before MPI_Finalize, under both MPIs.

    tests/cli/run_report_tests.py TESSERA [unittest arguments]
"""
import contextlib
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

MPIS = ("openmpi", "mpich")
PROGRAM = ""
SECONDS_MAX = 120
RANKS = 2
WRITES = 300

# reported KIND FILE: every rank writes 8 bytes so many times and once 1 MiB with the others; then
# the job ends as the kind says; "abort early" behind the small writes, "until" once FILE.go is
# there, after one more write. Each rank
# leaves its process number in FILE.RANK when it is there.
JOB = r"""
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static char bytes[1 << 20];
int main(int argc, char** argv) {
  MPI_File file;
  char name[4096], made[4096];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  for (int i = 0; i < 300; ++i) {
    MPI_File_write_at(file, 1000 * rank + 16 * i, bytes, 8, MPI_BYTE, MPI_STATUS_IGNORE);
  }
  if (strcmp(argv[1], "abort early") == 0 && rank == 1) MPI_Abort(MPI_COMM_WORLD, 9);
  MPI_File_write_at_all(file, (MPI_Offset)(1 + rank) << 20, bytes, sizeof(bytes), MPI_BYTE,
                        MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(argv[1], "abort") == 0 && rank == 1) MPI_Abort(MPI_COMM_WORLD, 9);
  if (strcmp(argv[1], "finish") != 0) {
    snprintf(name, sizeof(name), "%s.%d", argv[2], rank);
    snprintf(made, sizeof(made), "%s.made", name);
    FILE* told = fopen(made, "w");
    fprintf(told, "%d", (int)getpid());
    fclose(told);
    rename(made, name);
    if (strcmp(argv[1], "until") != 0) sleep(600);
    snprintf(name, sizeof(name), "%s.go", argv[2]);
    while (access(name, F_OK) != 0) usleep(10000);
    MPI_File_write_at(file, 0, bytes, sizeof(bytes), MPI_BYTE, MPI_STATUS_IGNORE);
  }
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
"""


class Jobs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory(prefix="tessera-report-")
        cls.built = pathlib.Path(cls.holder.name)
        (cls.built / "job.c").write_text(JOB)
        for mpi in MPIS:
            subprocess.run([f"mpicc.{mpi}", "job.c", "-o", f"job-{mpi}"], cwd=cls.built, check=True,
                           timeout=SECONDS_MAX)

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tessera-report-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)


class Reports(Jobs):
    def start(self, mpi, kind, **variables):
        environment = {**mpi_jobs.environment(self.folder), "TESSERA_REPORT": "logs", **variables}
        return subprocess.Popen(
            [PROGRAM, "run", "-n", str(RANKS), "--", self.built / f"job-{mpi}", kind, "data"],
            cwd=self.folder, env=environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)

    def finish(self, mpi):
        with self.start(mpi, "finish") as job:
            self.assertEqual(job.wait(timeout=SECONDS_MAX), 0)

    def processes(self):
        """Those of the ranks, once they are there."""
        names = [self.folder / f"data.{rank}" for rank in range(RANKS)]
        end = time.monotonic() + SECONDS_MAX
        while not all(name.exists() for name in names):
            self.assertLess(time.monotonic(), end, "the ranks do not come")
            time.sleep(0.02)
        numbers = [int(name.read_text()) for name in names]
        for name in names:
            name.unlink()
        return numbers

    def report(self, *logs):
        done = subprocess.run([PROGRAM, "report", "--json", *map(str, logs)], cwd=self.folder,
                              text=True, capture_output=True, timeout=SECONDS_MAX, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def check(self, figures, unfinished):
        self.assertEqual(figures["job"]["ranks"], RANKS)
        self.assertEqual(figures["job"]["unfinished"], unfinished)
        self.assertGreater(figures["job"]["seconds"], 0)
        (data,) = figures["files"]
        self.assertTrue(data["path"].endswith("data"))
        self.assertEqual((data["ranks"], data["opens"]), (RANKS, RANKS))
        self.assertEqual(data["write"]["calls"], RANKS * (WRITES + 1))
        self.assertEqual(data["write"]["bytes"], RANKS * (8 * WRITES + (1 << 20)))
        self.assertEqual(data["write"]["median_run_bytes"], 8)
        self.assertEqual(data["write"]["middle_byte_run_bytes"], 1 << 20)
        self.assertEqual({(use["mode"], use["calls"]) for use in data["engines"]},
                         {("independent", RANKS * WRITES), ("collective", RANKS)})

    def logs(self):
        return sorted((self.folder / "logs").iterdir())

    def test_a_job_that_finishes_leaves_one_file(self):
        for mpi in MPIS:
            self.finish(mpi)
            (log,) = self.logs()
            self.check(self.report(log), False)
            shutil.rmtree(self.folder / "logs")

    def test_a_job_that_aborts_leaves_its_counts(self):
        for mpi in MPIS:
            with self.start(mpi, "abort") as job:
                self.assertNotEqual(job.wait(timeout=SECONDS_MAX), 0)
            (log,) = self.logs()
            self.assertEqual(log.suffix, ".unfinished")
            self.check(self.report(log), True)
            shutil.rmtree(self.folder / "logs")

    def test_a_job_that_aborts_after_small_writes_leaves_those_of_the_rank(self):
        for mpi in MPIS:
            with self.start(mpi, "abort early") as job:
                self.assertNotEqual(job.wait(timeout=SECONDS_MAX), 0)
            (log,) = self.logs()
            (data,) = self.report(log)["files"]
            self.assertGreaterEqual(data["write"]["calls"], WRITES)
            shutil.rmtree(self.folder / "logs")

    def test_a_job_that_is_killed_leaves_its_counts(self):
        for mpi in MPIS:
            with self.start(mpi, "wait") as job:
                for process in self.processes():
                    # The launcher may have ended the others when the first was gone.
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
                self.assertNotEqual(job.wait(timeout=SECONDS_MAX), 0)
            self.check(self.report(*self.logs()), True)
            shutil.rmtree(self.folder / "logs")

    def test_all_jobs_of_a_folder(self):
        self.finish("openmpi")
        self.finish("openmpi")
        with self.start("openmpi", "abort") as job:
            job.wait(timeout=SECONDS_MAX)
        jobs = self.report(*self.logs())["jobs"]
        self.assertEqual(sorted(one["job"]["unfinished"] for one in jobs), [False, False, True])
        for one in jobs:
            self.check(one, one["job"]["unfinished"])

    def test_a_job_killed_behind_its_log_is_reported_once(self):
        with self.start("openmpi", "abort") as job:
            job.wait(timeout=SECONDS_MAX)
        (counts,) = self.logs()
        self.finish("openmpi")
        (log,) = [path for path in self.logs() if path.suffix == ".json"]
        shutil.copytree(counts, log.with_suffix(".unfinished"))
        jobs = self.report(*self.logs())["jobs"]
        self.assertEqual(sorted(one["job"]["unfinished"] for one in jobs), [False, True])
        self.check(self.report(f"{log.with_suffix('.unfinished')}/"), True)

    def test_counts_that_cannot_be_saved_are_no_error(self):
        """Where the folder of a running job was cut, removed, or has no room, the job goes on."""
        with self.start("openmpi", "until") as job:
            self.processes()
            (folder,) = self.logs()
            for rank in range(RANKS):
                os.truncate(folder / f"rank-{rank}", 0)
            (self.folder / "data.go").write_text("")
            self.assertEqual(job.wait(timeout=SECONDS_MAX), 0)
        (log,) = self.logs()
        self.assertEqual(log.suffix, ".json")
        self.assertEqual(self.report(log)["files"][0]["write"]["calls"], RANKS * (WRITES + 2))

    def test_damaged_counts_are_named_and_the_others_shown(self):
        with self.start("openmpi", "abort") as job:
            job.wait(timeout=SECONDS_MAX)
        (log,) = self.logs()
        ranks = [log / f"rank-{rank}" for rank in range(RANKS)]
        whole = ranks[0].read_bytes()
        for damaged, message in [(b"", "does not hold the counts of a rank"),
                                 (b"x" + whole[1:], "does not hold the counts of a rank"),
                                 (whole[:16] + b"\0" * 8 + whole[24:], "another build of Tessera"),
                                 (whole[:10000], "ends before the counts of its files do")]:
            ranks[0].write_bytes(damaged)
            figures = self.report(log)
            self.assertTrue(figures["job"]["missing"].startswith(f"counts of 1 of {RANKS} ranks: "))
            self.assertIn(message, figures["job"]["missing"])
            self.assertEqual(figures["files"][0]["write"]["calls"], WRITES + 1)
        for rank in ranks:
            rank.write_bytes(b"")
        done = subprocess.run([PROGRAM, "report", log], cwd=self.folder, text=True,
                              capture_output=True, timeout=SECONDS_MAX, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("does not hold the counts of a rank", done.stderr)
        (self.folder / "empty").mkdir()
        done = subprocess.run([PROGRAM, "report", "empty"], cwd=self.folder, text=True,
                              capture_output=True, timeout=SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn("empty is a folder without counts of ranks", done.stderr)

    def test_no_room_for_counts_is_no_error(self):
        """Where files may not grow, the counts are in memory, and a finished job has its log."""
        command = [PROGRAM, "run", "-n", str(RANKS), "--", self.built / "job-openmpi", "finish",
                   "data"]
        (self.folder / "logs").write_text("in the way")
        done = subprocess.run(command, cwd=self.folder, text=True, capture_output=True,
                              timeout=SECONDS_MAX, check=False,
                              env={**mpi_jobs.environment(self.folder), "TESSERA_REPORT": "logs"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("tessera: cannot write the report", done.stderr)


# A tool that wraps where a job begins and ends, as profilers do, and uses a file before it ends.
TOOL = r"""
#include <mpi.h>
#include <stdio.h>
int MPI_Init(int* argc, char*** argv) {
  const int error = PMPI_Init(argc, argv);
  printf("tool: begin\n");
  return error;
}
int MPI_Finalize(void) {
  MPI_File file;
  const int error = PMPI_File_open(MPI_COMM_WORLD, "tool.log", MPI_MODE_CREATE | MPI_MODE_WRONLY,
                                   MPI_INFO_NULL, &file);
  if (error == MPI_SUCCESS) PMPI_File_close(&file);
  printf("tool: end\n");
  fflush(stdout);
  return PMPI_Finalize();
}
"""


class Tools(Jobs):
    """Another preloaded library that wraps MPI, before or behind ours: both see the job."""

    def test_a_tool_beside_us(self):
        (self.folder / "tool.c").write_text(TOOL)
        for mpi in MPIS:
            tool = self.folder / f"tool-{mpi}.so"
            subprocess.run([f"mpicc.{mpi}", "-shared", "-fPIC", "tool.c", "-o", tool], check=True,
                           cwd=self.folder, timeout=SECONDS_MAX)
            library = pathlib.Path(PROGRAM).parent.parent / f"lib/libtessera-mpiio-{mpi}.so"
            for preload in (f"{library}:{tool}", f"{tool}:{library}"):
                command = [*mpi_jobs.launcher(mpi, RANKS),
                           *mpi_jobs.variable(mpi, "LD_PRELOAD", preload),
                           *mpi_jobs.variable(mpi, "TESSERA_REPORT", "logs"),
                           self.built / f"job-{mpi}", "finish", "data"]
                done = subprocess.run(command, cwd=self.folder, text=True, capture_output=True,
                                      timeout=SECONDS_MAX, check=False,
                                      env=mpi_jobs.environment(self.folder))
                self.assertEqual(done.returncode, 0, done.stderr)
                for what in ("begin", "end"):
                    self.assertEqual(done.stdout.count(f"tool: {what}"), RANKS, done.stdout)
                (log,) = (self.folder / "logs").iterdir()
                files = [file["path"] for file in json.loads(log.read_text())["files"]]
                self.assertEqual([pathlib.Path(path).name for path in files], ["data", "tool.log"])
                shutil.rmtree(self.folder / "logs")


class Variables(Jobs):
    """A library that was preloaded by hand names misspelt variables, once."""

    def test_misspelt_variables_are_named_once(self):
        for mpi in MPIS:
            library = pathlib.Path(PROGRAM).parent.parent / f"lib/libtessera-mpiio-{mpi}.so"
            command = [*mpi_jobs.launcher(mpi, RANKS),
                       *mpi_jobs.variable(mpi, "LD_PRELOAD", library),
                       *mpi_jobs.variable(mpi, "TESSERA_ENGIN", "list"),
                       self.built / f"job-{mpi}", "finish", "data"]
            done = subprocess.run(command, cwd=self.folder, text=True, capture_output=True,
                                  timeout=SECONDS_MAX, check=False,
                                  env=mpi_jobs.environment(self.folder))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stderr.count(
                "tessera: TESSERA_ENGIN is not a variable of Tessera; did you mean "
                "TESSERA_ENGINE?\n"), 1, done.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    MPIS = [mpi for mpi in MPIS if (pathlib.Path(PROGRAM).parent.parent /
                                    f"lib/libtessera-mpiio-{mpi}.so").exists()]
    assert MPIS, "no library is built"
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
