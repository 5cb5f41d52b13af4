#!/usr/bin/python3
"""Object files under MPI: run.py --mpi openmpi|mpich --library LIBRARY --programs FOLDER
--probe PROBE [--clients FOLDER] [--kills N] [--seed N] [--only SCENE]

Written by some ranks and read by others; written by unchanged clients of HDF5 and others; killed at
any moment, and then found as of the last sync; read while others write; refused to a second writer;
on a file system that is full; and replaced, removed or renamed while it is written. Prints a line
for each failure; the exit code is 0 if there is none."""
import argparse
import ctypes
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
CLIENTS = {"openmpi": ["hdf5_selections"], "mpich": ["hdf5_selections"]}
# By rule their names are plain ones, and they may look at their files without MPI. Not those of
# PnetCDF that write in its independent mode, for which each rank opens the file once more.
SNIFFERS = {"openmpi": ["pnetcdf_reopen", "hdf5_lifecycle", "netcdf4_parallel"],
            "mpich": ["hdf5_selections"]}
KINDS = "*.nc=obj;*.h5=obj"
HDF5_HEAD = b"\x89HDF\r\n\x1a\n"
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

    def probe(self, path=None):
        """The file's bytes, after its container was found sound."""
        copy = self.folder / "copy"
        copy.unlink(missing_ok=True)
        done = subprocess.run([self.probe_program, str(path or self.file), str(copy)], text=True,
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
        check_objects_in(jobs, name, folder)


def sniffers(jobs):
    """Programs that find out by POSIX what a file is, and open it again; their files are object
    files by rule, which POSIX can open too."""
    for name in SNIFFERS[jobs.mpi] if jobs.clients else []:
        folder = jobs.folder / name
        folder.mkdir()
        out = jobs.run(CLIENT_RANKS[jobs.mpi], jobs.clients / name, folder, "exact",
                       TESSERA_KINDS=KINDS)
        assert out.split() == ["OK"], f"{name}: {out}"
        check_objects_in(jobs, name, folder)
    written = jobs.folder / "new.txt"
    jobs.run(1, jobs.program("restart"), written, "write", "0", TESSERA_KINDS=KINDS)
    assert not is_container(written), "made without a rule for its name"


def names_without_a_rule(jobs):
    """An object file that was made by rule is one without the rule too, for readers and writers; a
    rule that says plain shows its container."""
    path = jobs.folder / "by-rule"
    jobs.run(4, jobs.program("restart"), path, "write", "0", TESSERA_KINDS="*=obj")
    assert "OK 8" in jobs.run(3, jobs.program("restart"), path, "read", "4")
    code, _, _ = end_of(jobs.start(1, jobs.program("restart"), path, "read", "4",
                                   TESSERA_KINDS="*=plain"))
    assert code != 0, "the bytes of a container pass for those of the file"
    end_well(jobs.synced(3, "rewrite", str(jobs.counts), "1"))
    end_well(jobs.synced(2, "rewrite", str(jobs.counts), "1", path=str(jobs.file)))
    assert is_container(jobs.file), "written over as a plain file"
    assert jobs.probe() == content(jobs.read_counts()[1])


def is_container(path):
    return path.read_bytes()[4096:4104] == b"\x89TsrO\r\n\x1a"


def check_objects_in(jobs, name, folder):
    """They are sound, and who opens them by POSIX finds what a plain file would begin with."""
    files = sorted(path for path in folder.iterdir() if path.stat().st_size > 0)
    assert files, f"{name} left no file"
    for path in files:
        assert is_container(path), f"{name}: {path} is a plain file"
        head = path.read_bytes()[:4096]
        inside = jobs.probe(path)[:4096]
        assert head == inside.ljust(4096, b"\0"), f"{name}: page 0 of {path}"
        assert head.startswith((HDF5_HEAD, b"CDF")), f"{name}: {path} begins with {head[:8]}"


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


def run_on_small_disk(jobs, ranks, *words):
    """What a job that ends well says; its folder is a file system of 8 MB."""
    place = jobs.folder / "full"
    place.mkdir(exist_ok=True)
    world = ["unshare", "--mount"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
    mount = f'mount -t tmpfs -o size=8m tmpfs "{place}" && exec "$@"'
    command = jobs.command(ranks, *[str(word).replace("PLACE", str(place)) for word in words])
    return end_well(jobs.launch([*world, "sh", "-c", mount, "sh", *command]))


def full_disk(jobs):
    """What was written before the disk was full is synced and closed all the same."""
    out = run_on_small_disk(jobs, 3, jobs.program("synced"), "obj:PLACE/data", "full",
                            "PLACE/filler")
    assert len(re.findall(r"^write: rank \d: no space", out, re.M)) == 3, out
    assert "after the sync: round 2" in out, out
    assert "after the close: round 3" in out, out


def writes_of_a_full_disk(jobs):
    """Writes that fail for want of space take nothing along: neither those that succeeded, nor
    the space that later ones need."""
    for ranks in (1, 3):
        out = run_on_small_disk(jobs, ranks, jobs.program("losses"), "obj:PLACE/data", "full",
                                "PLACE/filler")
        for what, how in [("write", "no space"), ("failed write", "0 bytes"),
                          ("write again", "no space"), ("sync", "well"),
                          ("after the sync", "as written"), ("write with space", "well"),
                          ("close", "well"), ("after the close", "as written")]:
            assert len(re.findall(rf"^{what}: rank \d: {how}", out, re.M)) == ranks, (
                f"{what} of {ranks} ranks: {out}")


def names_that_change(jobs):
    """A job whose file was replaced or removed is told, one whose file was renamed is not."""
    for what, how in [("replaced", "no such file"), ("removed", "no such file"),
                      ("renamed", "well"), ("passing", "well")]:
        other = jobs.folder / "other"
        out = jobs.run(3, jobs.program("losses"), f"obj:{jobs.file}", what, other)
        assert len(re.findall(rf"^sync: rank \d: {how}", out, re.M)) == 3, f"{what}: {out}"
        ended = re.findall(rf"^close: rank \d: {how}", out, re.M)
        assert what == "passing" or len(ended) == 3, f"{what}: {out}"
        assert how == "well" or out.count("was replaced or removed while") == 6, out


def folders_that_change(jobs):
    """A job that goes to another folder between the open and the first sync, which makes the
    file's name durable."""
    place = jobs.folder / "place"
    place.mkdir(exist_ok=True)
    out = jobs.run(3, "env", "-C", jobs.folder, jobs.program("losses"), "obj:place/moved",
                   "elsewhere", "place")
    for what in ("sync", "close"):
        assert len(re.findall(rf"^{what}: rank \d: well", out, re.M)) == 3, out
    assert jobs.probe(place / "moved")


class CreatedNames:
    """The names that anybody creates in a folder from now on."""

    IN_CREATE = 0x100

    def __init__(self, folder):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.events = self.libc.inotify_init1(os.O_NONBLOCK)
        watched = self.libc.inotify_add_watch(self.events, os.fsencode(folder), self.IN_CREATE)
        assert self.events >= 0 and watched >= 0, os.strerror(ctypes.get_errno())

    def all(self):
        names, at = [], 0
        try:
            events = os.read(self.events, 1 << 16)
        except BlockingIOError:
            events = b""
        while at < len(events):
            length = struct.unpack_from("iIII", events, at)[3]
            names.append(events[at + 16:at + 16 + length].rstrip(b"\0").decode())
            at += 16 + length
        os.close(self.events)
        return names


def cache_without_a_name(jobs):
    """What a cache writes to never has a name, so a kill at any time leaves nothing."""
    scratch, place = jobs.folder / "scratch", jobs.folder / "place"
    data = place / "plain"
    for nodes, folder in ((1, scratch), (2, place)):
        for each in (scratch, place):
            each.mkdir(exist_ok=True)
        created = CreatedNames(folder)
        jobs.run(3, jobs.program("synced"), data, "rewrite", jobs.counts, "1", TESSERA_CACHE="on",
                 TMPDIR=scratch, TESSERA_FAKE_NODES=nodes)
        names = [name for name in created.all() if "tessera" in name and "cache" in name]
        assert not names, names
        assert data.read_bytes() == content(jobs.read_counts()[1]), "other bytes"


SCENES = [every_number_of_ranks, other_jobs, clients, sniffers,
          names_without_a_rule, hdf5_of_other_ranks,
          killed_ranks, control_of_killed_ranks, readers_beside_a_writer, second_writer, full_disk,
          writes_of_a_full_disk, names_that_change, folders_that_change, cache_without_a_name]


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
