#!/usr/bin/python3
"""Atomic mode among jobs: run.py --mpi openmpi|mpich --library LIBRARY --tesserad TESSERAD
--programs FOLDER

Jobs that use one file at the same time exclude each other, whatever opened it and whichever library
they use; also while lock servers are killed, on file systems without locks, and with lock servers
that the user names. Views with and without gaps in turn cost no wait, whichever open file has
them, and programs that lock by fcntl wait for moments only. A rank whose lock was taken away is
told, and object files refuse its bytes. Lock servers that were started on demand are gone
afterwards. Prints a line for each failure; the exit code is 0 if there is none."""
import argparse
import fcntl
import itertools
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import mpi_jobs

ROUNDS = 300
LEASE_S = 1
JOB_LIMIT_S = 120
# Until a job runs.
START_S = 20
# Of a round of views in turn: some twenty messages, on a machine that does other things as well.
ALTERNATION_S = 0.1
# What a program that locks by fcntl waits for at most, while accesses are short; and where the
# machine wakes it too late for a turn or a few.
OUTSIDE_S = 0.1
OUTSIDE_LATE_S = 0.5


class Jobs:
    """Launches jobs of one MPI in a folder of their own."""

    def __init__(self, arguments, folder):
        self.mpi = arguments.mpi
        self.library = arguments.library
        self.programs = pathlib.Path(arguments.programs)
        self.tesserad = arguments.tesserad
        self.folder = pathlib.Path(folder)
        self.runtime = self.folder / "run"
        self.runtime.mkdir(mode=0o700)
        self.file = self.folder / "data"
        self.servers = []

    def fresh_file(self):
        self.file.unlink(missing_ok=True)
        with open(self.file, "wb") as file:
            file.truncate(400 * 7 * 4)

    def variables(self):
        return {"XDG_RUNTIME_DIR": str(self.runtime), "TESSERAD": self.tesserad,
                "TESSERA_LEASE": str(LEASE_S)}

    def start(self, program, *arguments, ranks=2, preload=True, stock=(), **variables):
        environment = {**mpi_jobs.environment(self.folder), **self.variables(), **variables}
        inner = ["env", f"LD_PRELOAD={self.library}"] if preload else []
        command = [*mpi_jobs.launcher(self.mpi, ranks), *stock, *inner,
                   str(self.programs / f"{program}-{self.mpi}"), str(self.file), *arguments]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def start_late(self, *arguments):
        """Rank 1 has a store on which each request takes long."""
        program = str(self.programs / f"late_write-{self.mpi}")
        ranks = [["env", f"LD_PRELOAD={self.library}", f"TESSERA_EMULATED_STORE={time}", program,
                  *arguments] for time in ("1ms", "3000ms")]
        environment = {**mpi_jobs.environment(self.folder), **self.variables()}
        command = [*mpi_jobs.launcher(self.mpi, 1), *ranks[0], ":", "-n", "1", *ranks[1]]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def on_demand(self, option=b"--on-demand"):
        """The lock servers of these jobs that run now, with an option that begins so."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                command = (process / "cmdline").read_bytes().split(b"\0")
                environment = (process / "environ").read_bytes()
            except OSError:
                continue
            ours = f"XDG_RUNTIME_DIR={self.runtime}".encode() in environment.split(b"\0")
            if ours and any(word.startswith(option) for word in command[1:2]):
                found.append(int(process.name))
        return found

    def proxies(self):
        return self.on_demand(b"--on-demand-proxy")

    def with_few_descriptors(self):
        """A tesserad that may have 64 descriptors, and so serves 14 clients besides proxies."""
        script = self.folder / "few"
        script.write_text(f'#!/bin/sh\nulimit -n 64\nexec {self.tesserad} "$@"\n')
        script.chmod(0o700)
        return str(script)

    def serve(self, key):
        """A lock server on a free port; its address."""
        server = subprocess.Popen(
            [self.tesserad, "--lock", "--fresh", "--listen", "127.0.0.1:0", "--key-file", key],
            stderr=subprocess.PIPE, text=True)
        self.servers.append(server)
        line = server.stderr.readline()
        return line.split("locks at tcp:")[1].split(",")[0]

    def stop_servers(self):
        for server in self.servers:
            server.terminate()
            server.wait()


def end_of(job, limit_s=JOB_LIMIT_S):
    try:
        out, err = job.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        job.terminate()
        job.communicate()
        raise
    return job.returncode, out, err


def check_whole(jobs, *running, limit_s=JOB_LIMIT_S):
    """All jobs end well, and nothing that was read was torn."""
    for job in running:
        code, out, err = end_of(job, limit_s)
        assert code == 0 and ": 0 torn" in out, f"exit {code}: {out} {err}"


def jobs_of_one_node(jobs):
    """A communicator's open, and opens of ranks alone."""
    check_whole(jobs, jobs.start("atomic_jobs", "1", str(ROUNDS)),
                jobs.start("atomic_jobs", "2", str(ROUNDS), "self"))


def job_of_the_stock_library(jobs):
    """Ours and the stock library's, which locks by fcntl."""
    stock = ["--mca", "io", "romio321"] if jobs.mpi == "openmpi" else []
    check_whole(jobs, jobs.start("atomic_jobs", "1", str(ROUNDS)),
                jobs.start("atomic_jobs", "2", str(ROUNDS // 3), preload=False, stock=stock))


def views_in_turn(jobs):
    """Four ranks write through views with gaps, one reads through a view without."""
    rounds = 200
    for kind, private in itertools.product(("world", "self"), ("enable", "disable")):
        jobs.fresh_file()
        # With the usual lease: what waits for a look at it takes long.
        job = jobs.start("alternating_views", str(rounds), kind, ranks=4, TESSERA_LEASE="5",
                         TESSERA_LOCK_PRIVATE=private)
        code, out, err = end_of(job, rounds * ALTERNATION_S + START_S)
        assert code == 0 and "wrong 0" in out, f"{kind}, {private}: exit {code}: {out} {err}"
        seconds = float(out.split(",")[1].split()[0])
        assert seconds < rounds * ALTERNATION_S, f"{kind}: {rounds} rounds took {seconds:.1f} s"


def job_with_dense_views(jobs):
    """A job whose views have gaps, and one whose views have none; neither starves."""
    check_whole(jobs, jobs.start("atomic_jobs", "1", str(ROUNDS)),
                jobs.start("atomic_jobs", "2", str(ROUNDS), "dense"),
                jobs.start("atomic_jobs", "3", str(ROUNDS), "self"), limit_s=60)


def program_outside(jobs):
    """A program that locks the file by fcntl, while ranks lock each access, and while they cache
    locks of their whole views."""
    stop = pathlib.Path(f"{jobs.file}.stop")
    for kind in ("world", "private"):
        jobs.fresh_file()
        job = jobs.start("atomic_jobs", "1", "0", kind)
        try:
            assert "running" in job.stdout.readline(), f"{kind}: exit {end_of(job)}"
            waits = sorted(wait_outside(jobs) for _ in range(9))
        finally:
            stop.touch()
            check_whole(jobs, job)
            stop.unlink()
        shown = ", ".join(f"{1000 * wait:.0f}" for wait in waits)
        assert statistics.median(waits) < OUTSIDE_S, f"{kind}: waited for {shown} ms"
        assert waits[-1] < OUTSIDE_LATE_S, f"{kind}: waited for {shown} ms"


def wait_outside(jobs):
    """How long fcntl waits for all bytes of the file."""
    with open(jobs.file, "r+b") as file:
        begin = time.monotonic()
        fcntl.lockf(file, fcntl.LOCK_EX)
        waited = time.monotonic() - begin
        fcntl.lockf(file, fcntl.LOCK_UN)
    time.sleep(0.07)
    return waited


def deleted_file(jobs):
    """A server that nobody uses stays for a second, but not with a file that is deleted."""
    nothing_left(jobs)
    lingers_s = [server_lingers(jobs, deletes) for deletes in (False, True)]
    assert lingers_s[1] < lingers_s[0] / 2, f"seconds kept, and kept deleted: {lingers_s}"


def server_lingers(jobs, deletes):
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(jobs.runtime)}
    subprocess.run([jobs.tesserad, "--on-demand", str(jobs.file)], env=environment, check=True)
    begin = time.monotonic()
    if deletes:
        jobs.file.unlink()
    while jobs.on_demand():
        time.sleep(0.01)
    return time.monotonic() - begin


def control_without_locks(jobs):
    """The control: without locks something is torn."""
    for _ in range(20):
        # Without locks a round takes little, and launchers do not start at the same moment.
        pair = [jobs.start("atomic_jobs", str(i), str(30 * ROUNDS), TESSERA_LOCK="none")
                for i in (1, 2)]
        if any(": 0 torn" not in end_of(job)[1] for job in pair):
            return
    raise AssertionError("nothing was torn without locks")


def kill(server):
    """Whether the server was there: of two that start for a file one leaves by itself."""
    try:
        os.kill(server, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def killed_lock_servers(jobs):
    """The server of the file is killed again and again; another one takes over, and the next job
    on the file takes what the last one left behind."""
    nothing_left(jobs)
    pair = [jobs.start("atomic_jobs", str(i), str(20 * ROUNDS)) for i in (1, 2)]
    kills = 0
    while kills < 3 and all(job.poll() is None for job in pair):
        for server in jobs.on_demand():
            if kill(server):
                kills += 1
                time.sleep(0.2)
        time.sleep(0.01)
    check_whole(jobs, *pair)
    assert kills > 0, "no server was there to be killed"
    check_whole(jobs, jobs.start("atomic_jobs", "3", "1"))


def file_system_without_locks(jobs):
    """No fcntl lock is to be had."""
    check_whole(jobs, *[jobs.start("atomic_jobs", str(i), str(ROUNDS // 3),
                                   TESSERA_EMULATED_STORE="1ms") for i in (1, 2)])


def servers_of_the_user(jobs):
    """Two servers over TCP that know a key; nothing is started."""
    nothing_left(jobs)
    key = str(jobs.folder / "key")
    subprocess.run([jobs.tesserad, "--make-key", key], check=True)
    addresses = ",".join(jobs.serve(key) for _ in range(2))
    pair = [jobs.start("atomic_jobs", str(i), str(ROUNDS), TESSERA_LOCKS=addresses,
                       TESSERA_KEY_FILE=key) for i in (1, 2)]
    while all(job.poll() is None for job in pair):
        assert not jobs.on_demand()
        time.sleep(0.05)
    check_whole(jobs, *pair)


def more_ranks_than_a_server_takes(jobs):
    """Ranks that find no room go through a proxy of their node, also where the server is on another
    one."""
    for variables in ({}, {"TESSERA_FAKE_NODES": "2"}):
        nothing_left(jobs)
        job = jobs.start("atomic_jobs", "1", "60", ranks=18, TESSERAD=jobs.with_few_descriptors(),
                         **variables)
        proxies = set()
        while job.poll() is None:
            proxies.update(jobs.proxies())
            time.sleep(0.05)
        check_whole(jobs, job)
        assert proxies, f"no proxy was there: {variables}"


def pause_of_a_job_of_two_nodes(jobs):
    """For longer than a server stays that nobody needs; ranks of the other node could not start it
    again."""
    nothing_left(jobs)
    check_whole(jobs, jobs.start("atomic_jobs", "1", "3", "pauses", ranks=4,
                                 TESSERA_FAKE_NODES="2"))


def unreachable_service(jobs):
    """Where no server can be started, ranges of the file system do, from first to last byte."""
    check_whole(jobs, *[jobs.start("atomic_jobs", str(i), str(ROUNDS // 3),
                                   TESSERAD="/no/such/tesserad") for i in (1, 2)])


def lock_that_was_lost(jobs):
    """A rank that is frozen in the middle of a write for longer than its lease is told."""
    frozen = jobs.start("slow_write", ranks=1, TESSERA_EMULATED_STORE="3000ms",
                        TESSERA_ENGINE="list", TESSERA_LOCK_PRIVATE="disable")
    while "writing" not in frozen.stdout.readline():
        assert frozen.poll() is None
    time.sleep(1)
    rank = pid_of(jobs, "slow_write")
    os.kill(rank, signal.SIGSTOP)
    begin = time.monotonic()
    check_whole(jobs, jobs.start("atomic_jobs", "1", "1", ranks=1, TESSERA_EMULATED_STORE="1ms"))
    waited = time.monotonic() - begin
    os.kill(rank, signal.SIGCONT)
    code, out, err = end_of(frozen)
    assert waited < LEASE_S + 3, f"another job waited for {waited:.1f} s"
    assert "class of its own" in out and "taken away" in out, f"exit {code}: {out} {err}"


def late_write_of_an_object_file(jobs):
    """A rank that is frozen in the middle of a write for longer than its lease is told, and nothing
    of what it wrote takes the place of the next holder's bytes, nor of any others."""
    go = jobs.folder / "go"
    jobs.file.unlink()
    late = jobs.start_late(f"obj:{jobs.file}", str(go))
    said = late.stdout.readline()
    assert "writing" in said, f"{said} {end_of(late)}"
    time.sleep(1)
    rank = pid_of(jobs, "late_write", rank=1)
    os.kill(rank, signal.SIGSTOP)
    go.touch()
    said = late.stdout.readline()
    os.kill(rank, signal.SIGCONT)
    code, out, err = end_of(late)
    assert "next" in said and code == 0, f"exit {code}: {said} {out} {err}"
    assert "class of its own" in out and "taken away" in out, out
    for when in ("seen", "committed"):
        for at in (0, 1):
            assert f"{when}, rank {at}: 100 1 100 1 1 1" in out, out


def rank_of(environment):
    for name in (b"OMPI_COMM_WORLD_RANK=", b"PMI_RANK="):
        for word in environment:
            if word.startswith(name):
                return int(word[len(name):])
    return None


def pid_of(jobs, program, rank=None):
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().split(b"\0")
            environment = (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        ours = any(word.endswith(str(jobs.file).encode()) for word in command)
        if (ours and command[0].endswith(f"{program}-{jobs.mpi}".encode())
                and rank in (None, rank_of(environment))):
            return int(process.name)
    raise AssertionError(f"{program} does not run")


def nothing_left(jobs):
    """Servers on demand go by themselves, and take their sockets along."""
    end = time.monotonic() + 20
    while jobs.on_demand() and time.monotonic() < end:
        time.sleep(0.1)
    assert not jobs.on_demand(), "lock servers are left behind"
    sockets = [*(jobs.runtime / "tessera").glob("*.locks"),
               *(jobs.runtime / "tessera").glob("*.proxy")]
    assert not sockets, f"sockets are left behind: {sockets}"


SCENES = [jobs_of_one_node, job_of_the_stock_library, views_in_turn, job_with_dense_views,
          program_outside, deleted_file, control_without_locks, killed_lock_servers,
          file_system_without_locks, servers_of_the_user, more_ranks_than_a_server_takes,
          pause_of_a_job_of_two_nodes, unreachable_service, lock_that_was_lost,
          late_write_of_an_object_file, nothing_left]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("mpi", "library", "tesserad", "programs"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--only")
    arguments = parser.parse_args()
    failures = 0
    scenes = [scene for scene in SCENES if arguments.only in (None, scene.__name__)]
    with tempfile.TemporaryDirectory() as folder:
        jobs = Jobs(arguments, folder)
        for scene in scenes:
            jobs.fresh_file()
            begin = time.monotonic()
            try:
                scene(jobs)
                print(f"ok {scene.__name__}, {time.monotonic() - begin:.1f} s", flush=True)
            except (AssertionError, subprocess.SubprocessError) as error:
                failures += 1
                print(f"FAIL {scene.__name__}: {error}", flush=True)
        jobs.stop_servers()
    print(f"{arguments.mpi}: {len(scenes)} scenes, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
