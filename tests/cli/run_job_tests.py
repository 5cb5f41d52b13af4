#!/usr/bin/env python3
"""Runs `tessera run`, `env`, `report` and `hints` as people do, with the launchers of both MPIs.

    tests/cli/run_job_tests.py TESSERA SOURCE_TREE [unittest arguments]
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import run_cli_tests as cli

MPIS = ("openmpi", "mpich")
SECONDS_MAX = 120

# Tells, as an MPI program, what its rank 0 was given.
PROBE = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void tell(const char* name) {
  const char* value = getenv(name);
  printf("%s=%s\n", name, value ? value : "(unset)");
}
int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) {
    printf("size=%d\n", size);
    tell("LD_PRELOAD");
    tell("TESSERA_HINTS");
    tell("TESSERA_ENGINE");
    tell("TESSERA_REPORT");
    for (int i = 1; i < argc; ++i) printf("argument=%s\n", argv[i]);
    fflush(stdout);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (getenv("PROBE_WAITS")) sleep(100);
  MPI_Finalize();
  return getenv("PROBE_FAILS") ? 7 : 0;
}
"""

SRUN = """#!/bin/sh
echo "srun $*"
while [ $# -gt 0 ]; do
  case $1 in
  -n | -N) shift 2 ;;
  -*) shift ;;
  *) break ;;
  esac
done
exec "$@"
"""


class Installed(unittest.TestCase):
    """A tessera installed beside libraries that do nothing, and an MPI program for each MPI."""

    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.holder.name)
        for name in ("bin", "lib", "slurm"):
            (cls.folder / name).mkdir()
        cls.program = str(cls.folder / "bin/tessera")
        shutil.copy(cli.PROGRAM, cls.program)
        (cls.folder / "nothing.c").write_text("int tessera_test_nothing;\n")
        (cls.folder / "probe.c").write_text(PROBE)
        (cls.folder / "slurm/srun").write_text(SRUN)
        (cls.folder / "slurm/srun").chmod(0o755)
        (cls.folder / "script").write_text("#!/bin/sh\nexec ./probe.mpich\n")
        (cls.folder / "script").chmod(0o755)
        for mpi in MPIS:
            cls.compile("cc", "nothing.c", cls.library(mpi), "-shared")
            cls.compile(f"mpicc.{mpi}", "probe.c", str(cls.folder / f"probe.{mpi}"))

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    @classmethod
    def compile(cls, compiler, source, target, *flags):
        subprocess.run([compiler, source, "-o", target, *flags], cwd=cls.folder, check=True,
                       timeout=SECONDS_MAX)

    @classmethod
    def library(cls, mpi):
        return str(cls.folder / f"lib/libtessera-mpiio-{mpi}.so")

    def tessera(self, *arguments, program=None, **variables):
        """Runs it in the folder; a variable that is None is unset."""
        environment = {name: value for name, value in {**os.environ, **variables}.items()
                       if value is not None}
        return subprocess.run([program or self.program, *arguments], cwd=self.folder, text=True,
                              capture_output=True, timeout=SECONDS_MAX, check=False,
                              env=environment)

    def refused(self, message, code, *arguments, **more):
        done = self.tessera(*arguments, **more)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("tessera: "), done.stderr)
        self.assertIn(message, done.stderr)


class Run(Installed):
    def test_ranks_get_library_variables_and_arguments(self):
        for mpi in MPIS:
            done = self.tessera("run", "-n", "3", "-o", "cb_nodes=2", "-o", "tessera_engine=list",
                                "-o", "romio_ds_read=enable", "--", f"./probe.{mpi}", "a b", "--",
                                "--help", TESSERA_REPORT="/tmp/x y", LD_PRELOAD="libm.so.6")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.splitlines(), [
                "size=3", f"LD_PRELOAD={self.library(mpi)}:libm.so.6",
                "TESSERA_HINTS=cb_nodes=2;romio_ds_read=enable", "TESSERA_ENGINE=list",
                "TESSERA_REPORT=/tmp/x y", "argument=a b", "argument=--", "argument=--help"])

    def test_exit_codes_are_the_programs(self):
        for mpi in MPIS:
            done = self.tessera("run", "-n", "1", f"./probe.{mpi}", PROBE_FAILS="1")
            self.assertEqual(done.returncode, 7, done.stderr)

    def test_signals_end_the_job(self):
        for mpi in MPIS:
            with subprocess.Popen([self.program, "run", "-n", "2", "--", f"./probe.{mpi}"],
                                  cwd=self.folder, stdout=subprocess.PIPE, text=True,
                                  stderr=subprocess.DEVNULL,
                                  env={**os.environ, "PROBE_WAITS": "1"}) as job:
                self.assertEqual(job.stdout.readline(), "size=2\n")
                start = time.monotonic()
                job.send_signal(signal.SIGTERM)
                job.wait(timeout=60)  # with a code of its launcher's choice
                self.assertLess(time.monotonic() - start, 50)

    def test_dry_run_prints_a_command_that_does_the_same(self):
        for mpi in MPIS:
            done = self.tessera("run", "-n", "2", "--dry-run", "-o", "cb_config_list=*:2", "--",
                                f"./probe.{mpi}", "it's")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.count("\n"), 1)
            again = subprocess.run(["sh", "-c", done.stdout], cwd=self.folder, text=True,
                                   capture_output=True, timeout=SECONDS_MAX, check=False)
            self.assertEqual(again.returncode, 0, again.stderr)
            for line in ("size=2", f"LD_PRELOAD={self.library(mpi)}", "argument=it's",
                         "TESSERA_HINTS=cb_config_list=*:2"):
                self.assertIn(line + "\n", again.stdout)

    def test_many_ranks_share_cores_unless_hosts_are_given(self):
        more = str(2 * os.cpu_count() + 1)
        command = ("run", "-n", more, "--dry-run")
        self.assertIn("--oversubscribe --mca mpi_yield_when_idle 1",
                      self.tessera(*command, "./probe.openmpi").stdout)
        self.assertNotIn("--oversubscribe",
                         self.tessera("run", "-n", "1", "--dry-run", "./probe.openmpi").stdout)
        self.assertNotIn("--oversubscribe", self.tessera(
            *command, "--launcher-args=--hostfile h", "./probe.openmpi").stdout)
        self.assertNotIn("--oversubscribe", self.tessera(
            *command, "--launcher", "mpiexec", "./probe.openmpi", SLURM_JOB_ID="1").stdout)

    def test_srun(self):
        path = f"{self.folder}/slurm:{os.environ['PATH']}"
        done = self.tessera("run", "-n", "3", "--launcher-args=--mpi=pmix -N 1", "./probe.mpich",
                            SLURM_JOB_ID="5", PATH=path)
        preload = f"LD_PRELOAD={self.library('mpich')}"
        self.assertEqual(done.stdout.splitlines()[0],
                         f"srun -n 3 --export=ALL,{preload} --mpi=pmix -N 1 ./probe.mpich")
        done = self.tessera("run", "-n", "3", "--launcher", "srun", "-o",
                            "cb_config_list=a:1,b:2", "./probe.mpich", "x", PATH=path)
        self.assertEqual(done.stdout.splitlines(), [
            f"srun -n 3 --export=ALL env {preload} TESSERA_HINTS=cb_config_list=a:1,b:2 "
            "./probe.mpich x", "size=1", preload, "TESSERA_HINTS=cb_config_list=a:1,b:2",
            "TESSERA_ENGINE=(unset)", "TESSERA_REPORT=(unset)", "argument=x"])
        done = self.tessera("run", "-n", "1", "--dry-run", "./probe.mpich", SLURM_JOB_ID="5")
        self.assertIn("mpiexec.mpich", done.stdout, "there is no srun")

    def test_which_mpi(self):
        self.refused("./script links no MPI, and both Open MPI and MPICH are here", 1,
                     "run", "-n", "1", "./script")
        done = self.tessera("run", "-n", "1", "--mpi", "mpich", "./script")
        self.assertIn(self.library("mpich"), done.stdout)
        alone = self.folder / "alone"
        alone.mkdir()
        (alone / "mpiexec.mpich").symlink_to(shutil.which("mpiexec.mpich"))
        done = self.tessera("run", "-n", "1", "--dry-run", "./script", PATH=str(alone))
        self.assertIn(f"{alone}/mpiexec.mpich -n 1", done.stdout)

    def test_python_is_asked_for_its_mpi4py(self):
        packages = self.folder / "packages/mpi4py"
        packages.mkdir(parents=True)
        (packages / "__init__.py").write_text("raise SystemExit('mpi4py was imported')\n")
        (self.folder / "program.py").write_text(f"#!{sys.executable}\n")
        (self.folder / "program.py").chmod(0o755)
        for mpi in MPIS:
            shutil.copy(self.folder / f"probe.{mpi}", packages / "MPI.cpython.so")
            for command in (["./program.py"], [sys.executable, "program.py"]):
                done = self.tessera("run", "-n", "1", "--dry-run", "--", *command,
                                    PYTHONPATH=str(packages.parent))
                self.assertIn(self.library(mpi), done.stdout, done.stderr)

    def test_refusals(self):
        self.refused("there is no program ./none", 3, "run", "-n", "1", "--", "./none")
        self.refused("there is no program probe.mpich; did you mean ./probe.mpich", 3, "run", "-n",
                     "1", "probe.mpich")
        self.refused("probe.c may not be run", 6, "run", "-n", "1", "--", "./probe.c")
        self.refused("name a program after --", 2, "run", "-n", "1")
        self.refused("-n is required", 2, "run", "--", "./probe.mpich")
        self.refused("not in range 1", 2, "run", "-n", "0", "--", "./probe.mpich")
        self.refused("lam not in", 2, "run", "-n", "1", "--mpi", "lam", "--", "./probe.mpich")
        self.refused("no hint is called 'speed'", 2, "run", "-n", "1", "-o", "speed=9",
                     "./probe.mpich")
        self.refused("cb_nodes", 2, "run", "-n", "1", "-o", "cb_nodes=few", "./probe.mpich")
        self.refused("there is no program srun", 3, "run", "-n", "1", "--launcher", "srun",
                     "./probe.mpich")
        self.refused("./script links no MPI, and no mpiexec is here; say which with --mpi", 1,
                     "run", "-n", "1", "./script", PATH="/nowhere")
        self.refused("no mpiexec of MPICH is on the PATH", 3, "run", "-n", "1", "./probe.mpich",
                     PATH="/nowhere")
        (self.folder / "fixed.c").write_text("int main(void) { return 0; }\n")
        self.compile("cc", "fixed.c", "fixed", "-static")
        self.refused("./fixed is linked statically", 1, "run", "-n", "1", "./fixed")

    def test_libraries_must_be_beside_the_program(self):
        lonely = self.folder / "lonely/bin"
        lonely.mkdir(parents=True)
        shutil.copy(self.program, lonely)
        self.refused("libtessera-mpiio-mpich.so is not beside this program", 3, "run", "-n", "1",
                     "./probe.mpich", program=str(lonely / "tessera"))


class Env(Installed):
    def test_shells_can_evaluate_it(self):
        for mpi in MPIS:
            done = self.tessera("env", "--mpi", mpi, LD_PRELOAD=None)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("#   mpiexec." + mpi, done.stdout)
            shell = subprocess.run(["sh", "-c", done.stdout + 'echo "$LD_PRELOAD"'], text=True,
                                   capture_output=True, check=True)
            self.assertEqual(shell.stdout, self.library(mpi) + "\n")
            csh = self.tessera("env", "--mpi", mpi, "--shell", "csh", LD_PRELOAD="libm.so.6")
            self.assertEqual(csh.stdout, f"setenv LD_PRELOAD {self.library(mpi)}:libm.so.6;\n")

    def test_follows_the_plain_mpiexec(self):
        for mpi in MPIS:
            folder = self.folder / f"plain.{mpi}"
            folder.mkdir()
            (folder / "mpiexec").symlink_to(shutil.which(f"mpiexec.{mpi}"))
            done = self.tessera("env", PATH=f"{folder}:{os.environ['PATH']}")
            self.assertIn(self.library(mpi), done.stdout, done.stderr)


class Report(unittest.TestCase):
    """The pages and summaries of logs; docs/formats/report.md has one."""

    @classmethod
    def setUpClass(cls):
        text = (cli.TREE / "docs/formats/report.md").read_text()
        cls.sample, cls.printed = re.search(r"```json\n(.*?)```\n\n```text\n(.*?)```", text,
                                            re.S).groups()

    def test_the_document(self):
        done = cli.run("report", "-", "--text", text=self.sample)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith(self.printed), done.stdout)
        figures = json.loads(cli.run("report", "-", "--json", text=self.sample).stdout)
        self.assertEqual(figures["job"]["write_bytes"], 72000)
        self.assertEqual(figures["files"][0]["write"]["median_run_bytes"], 8)
        self.assertEqual(figures["files"][0]["slowest_rank"], 0)

    def test_pages(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "tessera-p-1-2.json"
            log.write_text(self.sample)
            done = cli.run("report", str(log), folder=folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("page: tessera-p-1-2.html\n", done.stdout)
            self.assertEqual(sorted(os.listdir(folder)),
                             ["tessera-p-1-2.html", "tessera-p-1-2.json"])
            self.check_page(pathlib.Path(folder) / "tessera-p-1-2.html", 3)
            self.assertEqual(cli.run("report", str(log), "--json", folder=folder).stderr, "")
            self.assertEqual(len(os.listdir(folder)), 2)
            hostile = json.loads(self.sample)
            hostile["files"][0]["path"] = "<script>alert(1)</script>\"&"
            hostile["files"][0]["ranks"][0]["engines"][0]["reason"] = "<img src=x>"
            page = pathlib.Path(folder) / "other.html"
            done = cli.run("report", "-", "-o", str(page), text=json.dumps(hostile))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.check_page(page, 3)

    def check_page(self, path, pictures):
        page = cli.PageCheck(path.read_text())
        self.assertEqual((page.open, page.outside), ([], []))
        self.assertEqual(page.counts.get("script", 0) + page.counts.get("img", 0), 0)
        self.assertEqual(page.counts["svg"], pictures)

    def test_refusals(self):
        for text, message in [
                ("", "standard input: line 1, column 1: expected a value"),
                ("{}", "standard input: the log (line 1, column 1): is no report of Tessera"),
                (self.sample.replace('"version": 1', '"version": 9'), "version 9 is not known"),
                (self.sample.replace('"ranks": 2', '"ranks": "two"'),
                 "standard input: job.ranks (line 2"),
                (self.sample.replace("48000", "-1"), "files[0].ranks[0].write.bytes (line 9")]:
            done = cli.run("report", "-", text=text)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertEqual(done.stderr.count("\n"), 1)
            self.assertIn(message, done.stderr)
        self.assertEqual(cli.run("report", "/no/such.json").returncode, 3)
        self.assertEqual(cli.run("report").returncode, 2)
        error = json.loads(cli.run("report", "/no/such.json", "--json").stdout)["error"]
        self.assertEqual(error["code"], "not-found")


class Hints(unittest.TestCase):
    def test_all_forms_hold_every_hint(self):
        listed = json.loads(cli.run("hints", "--json").stdout)
        names = [hint["name"] for hint in listed]
        self.assertIn("cb_buffer_size", names)
        self.assertIn("tessera_engine", names)
        text, markdown = cli.run("hints").stdout, cli.run("hints", "--markdown").stdout
        for hint in listed:
            self.assertTrue(hint["meaning"] and hint["values"], hint)
            self.assertRegex(text, rf"(?m)^  {hint['name']} ")
            self.assertIn(f"| `{hint['name']}` |", markdown)

    def test_help_teaches(self):
        for command in ("run", "env", "report", "hints"):
            done = cli.run(command, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertIn("Examples:", done.stdout)
            self.assertIn(f"tessera {command}", done.stdout)


if __name__ == "__main__":
    cli.PROGRAM, cli.TREE = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
