#!/usr/bin/python3
"""Object files under MPI: run.py --mpi openmpi|mpich --library LIBRARY --programs FOLDER
--probe PROBE [--clients FOLDER] [--kills N] [--seed N] [--only SCENE]

Written by some ranks and read by others; written by unchanged clients of HDF5 and others; killed at
any moment, and then found as of the last sync; read while others write; refused to a second writer;
and on a file system that is full in the middle of a sync. Prints a line for each failure; the exit
code is 0 if there is none."""
import argparse
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import mpi_jobs

JOB_LIMIT_S = 120
FILE_BYTES = 1250 * 840  # of synced.c
# MPICH's waits poll: many ranks on few cores take minutes.
MATRIX_RANKS = {"openmpi": 8, "mpich": 3}
RESTARTS = {"openmpi": [(7, 2), (3, 8)], "mpich": [(4, 2), (2, 3)]}
# Not PnetCDF: it opens its file a second time, by each rank alone, for independent access.
CLIENTS = {"openmpi": ["hdf5_selections", "hdf5_lifecycle", "netcdf4_parallel"],
           "mpich": ["hdf5_selections"]}
CLIENT_RANKS = {"openmpi": 4, "mpich": 2}


def content(round_number):
    """The whole file of one round, as synced.c writes it."""
    period = bytes((at * 31 + (at >> 8) * 7) & 255 for at in range(1 << 16))
    shift = bytes((value + round_number) & 255 for value in range(256))
    whole = period * (FILE_BYTES // len(period) + 1)
    return whole[:FILE_BYTES].translate(shift)


class Jobs:
    """Launches jobs of one MPI in a folder of their own."""

    def __init__(self, arguments, folder):
        self.mpi = arguments.mpi
        self.library = arguments.library
        self.programs = pathlib.Path(arguments.programs)
        self.clients = pathlib.Path(arguments.clients) / self.mpi if arguments.clients else None
        self.probe_program = arguments.probe
        self.kills = arguments.kills
        self.random = random.Random(arguments.seed)
        self.folder = pathlib.Path(folder)
        self.file = self.folder / "data"
        self.counts = self.folder / "counts"

    def program(self, name):
        return str(self.programs / f"{name}-{self.mpi}")

    def command(self, ranks, *words, **variables):
        inner = ["env", f"LD_PRELOAD={self.library}"]
        inner += [f"{name}={value}" for name, value in variables.items()]
        return [*mpi_jobs.launcher(self.mpi, ranks), *inner, *map(str, words)]

    def launch(self, command):
        return subprocess.Popen(command, env=mpi_jobs.environment(self.folder), text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def start(self, ranks, *words, **variables):
        return self.launch(self.command(ranks, *words, **variables))

    def run(self, ranks, *words, **variables):
        """What a job that ends well says."""
        return end_well(self.start(ranks, *words, **variables))

    def synced(self, ranks, *words, path=None):
        return self.start(ranks, self.program("synced"), path or f"obj:{self.file}", *words)

    def read_counts(self):
        """The last rounds that were begun and synced."""
        data = self.counts.read_bytes() if self.counts.exists() else b""
        return struct.unpack("<qq", data) if len(data) == 16 else (0, 0)

    def probe(self):
        """The file's bytes, after its container was found sound."""
        copy = self.folder / "copy"
        copy.unlink(missing_ok=True)
        done = subprocess.run([self.probe_program, str(self.file), str(copy)], text=True,
                              capture_output=True, check=False, timeout=JOB_LIMIT_S)
        assert done.returncode == 0, f"the object file is not sound: {done.stdout}{done.stderr}"
        return copy.read_bytes()

    def pids(self):
        """The ranks of the programs that have the file as their argument."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            program = words[0].decode(errors="replace")
            if program.startswith(str(self.programs)) and any(
                    word.endswith(str(self.file).encode()) for word in words):
                found.append(int(process.name))
        return found


def end_of(job):
    try:
        out, err = job.communicate(timeout=JOB_LIMIT_S)
    except subprocess.TimeoutExpired:
        job.kill()
        job.communicate()
        raise AssertionError(f"not done after {JOB_LIMIT_S} s") from None
    return job.returncode, out, err


def end_well(job):
    code, out, err = end_of(job)
    assert code == 0, f"exit {code}: {out} {err}"
    return out


def kill(processes):
    """Whoever is left: a launcher ends the ranks of one that died."""
    for process in processes:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass


def every_number_of_ranks(jobs):
    """Written by n, read by m, for all n and m; once more as if on two nodes."""
    ranks = MATRIX_RANKS[jobs.mpi]
    path = f"obj:{jobs.file}"
    out = jobs.run(ranks, jobs.program("restart"), path, "matrix", "0")
    assert f"OK {4 * ranks * ranks}" in out, out
    jobs.run(3, jobs.program("restart"), path, "matrix", "0", TESSERA_FAKE_NODES=2)


def other_jobs(jobs):
    """Restart in processes that know nothing of the writers."""
    for writers, readers in RESTARTS[jobs.mpi]:
        path = f"obj:{jobs.file}"
        jobs.run(writers, jobs.program("restart"), path, "write", "0")
        assert "OK 8" in jobs.run(readers, jobs.program("restart"), path, "read", str(writers))
    assert len(jobs.probe()) == 60 * 840


def clients(jobs):
    """Programs that know nothing of object files, but for the prefix of a name."""
    for name in CLIENTS[jobs.mpi] if jobs.clients else []:
        folder = jobs.folder / name
        folder.mkdir()
        out = jobs.run(CLIENT_RANKS[jobs.mpi], jobs.clients / name, f"obj:{folder}", "exact")
        assert out.split() == ["OK"], f"{name}: {out}"
        files = sorted(path.name for path in folder.iterdir() if path.stat().st_size > 0)
        assert files, f"{name} left no file"
        for path in files:
            head = (folder / path).read_bytes()[:8]
            assert not head.startswith((b"\x89HDF", b"CDF")), f"{name}: {path} is a plain file"


def hdf5_of_other_ranks(jobs):
    """An HDF5 file written by four ranks and read by three."""
    path = f"obj:{jobs.file}"
    jobs.run(4, jobs.program("hdf5_restart"), path, "write")
    assert "OK" in jobs.run(3, jobs.program("hdf5_restart"), path, "read")


def kill_while_writing(jobs, path):
    """Kills one rank or all, at any moment of a round that is neither the first nor the last."""
    begun, _ = jobs.read_counts()
    job = jobs.synced(3, "rewrite", str(jobs.counts), "0", path=path)
    limit = time.monotonic() + JOB_LIMIT_S
    wanted = begun + jobs.random.randint(1, 4)
    while jobs.read_counts()[0] < wanted:
        assert job.poll() is None, f"ended by itself: {end_of(job)}"
        assert time.monotonic() < limit, "the job does not come to its rounds"
        time.sleep(0.002)
    time.sleep(jobs.random.random() * 0.03)
    victims = jobs.pids()
    kill(victims if jobs.random.random() < 0.5 else [jobs.random.choice(victims)])
    end_of(job)


def killed_ranks(jobs):
    """After each kill the file is sound, and as of the last sync or the one under way."""
    end_well(jobs.synced(3, "rewrite", str(jobs.counts), "1"))
    under_way = 0
    for _ in range(jobs.kills):
        kill_while_writing(jobs, f"obj:{jobs.file}")
        begun, synced = jobs.read_counts()
        found = jobs.probe()
        under_way += begun > synced
        assert any(found == content(round_number) for round_number in range(synced, begun + 1)), (
            f"begun {begun}, synced {synced}: {len(found)} bytes of another round or of several")
    assert under_way > 0, "no kill came in the middle of a round"


def control_of_killed_ranks(jobs):
    """The control: a plain file is torn by such kills."""
    end_well(jobs.synced(3, "rewrite", str(jobs.counts), "1", path=str(jobs.file)))
    for _ in range(40):
        kill_while_writing(jobs, str(jobs.file))
        begun, synced = jobs.read_counts()
        found = jobs.file.read_bytes()
        if all(found != content(number) for number in range(synced, begun + 1)):
            return
    raise AssertionError("no kill tore a plain file, so the check shows nothing")


def readers_beside_a_writer(jobs):
    """Readers that come and go, and one that stays, while rounds are written and synced."""
    end_well(jobs.synced(2, "rewrite", str(jobs.counts), "1"))
    writer = jobs.synced(2, "rewrite", str(jobs.counts), "0")
    while jobs.read_counts()[0] < 3:
        assert writer.poll() is None, end_of(writer)
        time.sleep(0.01)
    followed = jobs.synced(2, "follow", "20")
    held = jobs.synced(1, "hold", "60")
    try:
        out = end_well(followed)
        assert "0 torn, 0 back" in out, out
        assert "0 torn, 0 others" in (out := end_well(held)), out
    finally:
        kill(jobs.pids())
        end_of(writer)


def second_writer(jobs):
    """Only one job may write; the other one is told so, and may when the first has gone."""
    writer = jobs.synced(2, "rewrite", str(jobs.counts), "0")
    while jobs.read_counts()[1] < 1:
        assert writer.poll() is None, end_of(writer)
        time.sleep(0.01)
    out = end_well(jobs.synced(2, "writer"))
    told = out.count("in use") == 2 and "open for writing elsewhere" in out
    kill(jobs.pids())
    end_of(writer)
    assert told, out
    out = end_well(jobs.synced(2, "writer"))
    assert out.count("open") == 2, out


def full_disk(jobs):
    """A sync without space fails on all ranks and changes nothing; the next one makes it good."""
    place = jobs.folder / "full"
    place.mkdir()
    world = ["unshare", "--mount"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
    mount = f'mount -t tmpfs -o size=8m tmpfs "{place}" && exec "$@"'
    command = jobs.command(3, jobs.program("synced"), f"obj:{place}/data", "full",
                           f"{place}/filler")
    out = end_well(jobs.launch([*world, "sh", "-c", mount, "sh", *command]))
    for what in ("sync", "write"):
        assert len(re.findall(rf"^{what}: rank \d: no space", out, re.M)) == 3, f"{what}: {out}"
    assert "after the failed sync: round 1" in out, out
    assert "after the next sync: round 2" in out, out
    assert "after the close: round 3" in out, out


SCENES = [every_number_of_ranks, other_jobs, clients, hdf5_of_other_ranks, killed_ranks,
          control_of_killed_ranks, readers_beside_a_writer, second_writer, full_disk]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("mpi", "library", "programs", "probe"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--clients", help="of tests/interop, built")
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("TESSERA_SEED", "0"))
                        or random.SystemRandom().randrange(1, 1 << 31))
    parser.add_argument("--only")
    arguments = parser.parse_args()
    print(f"TESSERA_SEED={arguments.seed}", flush=True)
    failures = 0
    scenes = [scene for scene in SCENES if arguments.only in (None, scene.__name__)]
    for scene in scenes:
        begin = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="tessera-objects-") as folder:
            try:
                scene(Jobs(arguments, folder))
                print(f"ok {scene.__name__}, {time.monotonic() - begin:.1f} s", flush=True)
            except (AssertionError, subprocess.SubprocessError) as error:
                failures += 1
                print(f"FAIL {scene.__name__}: {error}", flush=True)
    print(f"{arguments.mpi}: {len(scenes)} scenes, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
