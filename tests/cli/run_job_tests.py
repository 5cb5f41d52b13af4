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
        done = self.tessera("run", "-n", "3", "--dry-run", "--launcher", "srun", "./probe.mpich")
        self.assertEqual(done.stdout, f"srun -n 3 --export=ALL,{preload} ./probe.mpich\n",
                         "a dry run needs none")

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
        (self.folder / "both.c").write_text("int main(void) { return 0; }\n")
        for name in ("libmpi.so.40", "libmpi.so.12"):
            self.compile("cc", "nothing.c", name, "-shared", "-fPIC", f"-Wl,-soname,{name}")
        self.compile("cc", "both.c", "both", "-Wl,--no-as-needed", "./libmpi.so.40",
                     "./libmpi.so.12")
        self.refused("./both links Open MPI and MPICH; --mpi mpich starts it all the same", 1,
                     "run", "-n", "1", "./both", PATH=str(alone))
        self.refused("./both links Open MPI and MPICH, and both", 1, "run", "-n", "1", "./both")
        done = self.tessera("run", "-n", "1", "--dry-run", "--mpi", "mpich", "./both",
                            PATH=str(alone))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_wrong_mpi_is_refused(self):
        for mpi, other in (MPIS, MPIS[::-1]):
            title = {"openmpi": "Open MPI", "mpich": "MPICH"}[mpi]
            self.refused(f"./probe.{mpi} uses {title}; say --mpi {mpi}, or leave --mpi out", 1,
                         "run", "-n", "1", "--mpi", other, "./probe." + mpi)
            done = self.tessera("run", "-n", "1", "--mpi", mpi, "./probe." + mpi)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_python_without_mpi4py(self):
        python = self.folder / "bare/python3"
        python.parent.mkdir()
        python.write_text(f"#!/bin/sh\nexec {sys.executable} -S -E \"$@\"\n")
        python.chmod(0o755)
        self.refused(f"{python} has no mpi4py (install it, or name another Python), and both",
                     1, "run", "-n", "1", str(python), "program.py")
        one = self.folder / "one"
        one.mkdir()
        (one / "mpiexec.openmpi").symlink_to(shutil.which("mpiexec.openmpi"))
        self.refused("has no mpi4py (install it, or name another Python); --mpi openmpi starts it",
                     1, "run", "-n", "1", str(python), "program.py", PATH=str(one))
        done = self.tessera("run", "-n", "1", "--dry-run", "--mpi", "openmpi", str(python),
                            "program.py", PATH=str(one))
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.tessera("run", "-n", "1", "--dry-run", "--mpi", "mpich", str(python),
                            "program.py")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_misspelt_variables_are_named(self):
        self.refused("TESSERA_ENGIN is not a variable of Tessera; did you mean TESSERA_ENGINE?", 2,
                     "run", "-n", "1", "./probe.mpich", TESSERA_ENGIN="list")
        self.refused("no hint is called 'tessera_engin'; did you mean tessera_engine?", 2, "run",
                     "-n", "1", "-o", "tessera_engin=list", "./probe.mpich")
        done = self.tessera("run", "-n", "1", "./probe.mpich", TESSERA_MINE="x", TESSERA_SEED="1")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_documented_variables_are_known(self):
        names = re.findall(r"TESSERA_[A-Z_]+[A-Z]", (cli.TREE / "docs/running.md").read_text())
        self.assertIn("TESSERA_REPORT", names)
        for name in set(names):
            done = self.tessera("run", "-n", "1", "--dry-run", "./probe.mpich", **{name: "1"})
            self.assertNotIn("is not a variable", done.stderr)

    def test_misspelt_options(self):
        self.refused("there is no option --launchr; did you mean --launcher?", 2, "run", "-n", "1",
                     "--launchr", "srun", "./probe.mpich")
        self.refused("-n is required", 2, "run", "./probe.mpich", "--hepl")

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

    def test_mpi4py_beside_the_script_is_found(self):
        place = self.folder / "beside"
        (place / "mpi4py").mkdir(parents=True)
        (place / "mpi4py/__init__.py").write_text("raise SystemExit('mpi4py was imported')\n")
        (place / "os.py").write_text("raise SystemExit('a module of the program was imported')\n")
        (place / "program.py").write_text(f"#!{sys.executable}\n")
        (place / "program.py").chmod(0o755)
        (self.folder / "link.py").symlink_to("beside/program.py")
        for mpi in MPIS:
            shutil.copy(self.folder / f"probe.{mpi}", place / "mpi4py/MPI.cpython.so")
            for command in (["beside/program.py"], ["./link.py"],
                            [sys.executable, "-u", "-W", "ignore", "beside/program.py", "x"]):
                done = self.tessera("run", "-n", "1", "--dry-run", "--", *command)
                self.assertIn(self.library(mpi), done.stdout, done.stderr)

    def test_what_cannot_be_read_is_started_with_the_mpi_that_is_said(self):
        absent = self.folder / "absent.py"
        absent.write_text("#!/only/on/compute/nodes/python3\n")
        absent.chmod(0o755)
        (self.folder / "still.c").write_text("int main(void) { return 0; }\n")
        self.compile("cc", "still.c", "still", "-static")
        for program, code, message in (("./absent.py", 3, "cannot be run"),
                                       ("./still", 1, "linked statically")):
            self.refused(message, code, "run", "-n", "1", "--dry-run", program)
            for mpi in MPIS:
                done = self.tessera("run", "-n", "1", "--dry-run", "--mpi", mpi, program)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(self.library(mpi), done.stdout)
                self.assertEqual(done.stderr.count("linked statically"), program == "./still")

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

    def test_a_page_does_not_replace_a_log(self):
        with tempfile.TemporaryDirectory() as folder:
            log, other = pathlib.Path(folder) / "log.json", pathlib.Path(folder) / "other.json"
            log.write_text(self.sample)
            other.write_text(self.sample)
            for page, message in ((log, "LOG and --html are one file"),
                                  (other, "other.json is there and is no page of tessera")):
                done = cli.run("report", str(log), "--html", str(page))
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(message, done.stderr)
                self.assertEqual(page.read_text(), self.sample)

    def test_several_logs(self):
        with tempfile.TemporaryDirectory() as folder:
            logs = [pathlib.Path(folder) / f"tessera-p-{i}-2.json" for i in (1, 2)]
            logs[0].write_text(self.sample)
            logs[1].write_text(self.sample.replace("/home/me/tiles", "/home/me/other"))
            done = cli.run("report", *map(str, logs), folder=folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout.startswith("2 jobs\n"), done.stdout)
            for name in ("tiles", "other"):
                self.assertRegex(done.stdout, rf"(?m)^ +[12]  /home/me/{name} +2026-11-15")
                self.assertIn(f"\n/home/me/{name} on 2 ranks", done.stdout)
            self.assertIn("page: tessera-report.html\n", done.stdout)
            self.check_page(pathlib.Path(folder) / "tessera-report.html", 6)
            figures = json.loads(cli.run("report", *map(str, logs), "--json").stdout)
            self.assertEqual([job["job"]["program"] for job in figures["jobs"]],
                             ["/home/me/tiles", "/home/me/other"])
            page = pathlib.Path(folder) / "tessera-report.html"
            done = cli.run("report", *map(str, logs), str(page), "--text")
            self.assertEqual((done.returncode, done.stderr),
                             (0, f"tessera: {page} is a page of reports, not a log; it is "
                                 "skipped\n"))
            logs[1].write_text("{}")
            done = cli.run("report", *map(str, logs), "--text")
            self.assertEqual(done.returncode, 1)
            self.assertIn("/home/me/tiles on 2 ranks", done.stdout, "the others are shown")
            self.assertIn(f"{logs[1]}: the log", done.stderr)
            done = cli.run("report", *map(str, logs), "--json")
            figures = json.loads(done.stdout)
            self.assertEqual((done.returncode, len(figures["jobs"])), (1, 1))
            (error,) = figures["errors"]
            self.assertEqual(error["code"], "invalid")
            self.assertIn(str(logs[1]), error["message"])

    def test_time_that_does_not_matter_is_said(self):
        log = json.loads(self.sample)
        log["job"]["seconds"] = 40
        log["files"][0]["ranks"][0]["seconds"]["lock"] = 0.1
        text = cli.run("report", "-", "--text", text=json.dumps(log)).stdout
        self.assertIn("\nNo advice: I/O took 0.80% of the job (threshold 1%).\n", text)
        self.assertIn("  advice  Would matter if it took longer: 22% of the time goes into", text)

    def test_runs_are_weighed_by_number_and_by_bytes(self):
        log = json.loads(self.sample)
        log["files"][0]["ranks"][0]["write"]["run_sizes"] = [0] * 6 + [3000] + [0] * 17 + [4]
        text = cli.run("report", "-", "--text", text=json.dumps(log)).stdout
        self.assertIn("(half of the bytes in runs of about 16.0 MiB)", text)

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
