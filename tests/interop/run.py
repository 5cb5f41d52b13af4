#!/usr/bin/env python3
"""Runs one client of MPI-IO on the MPI's own library and on Tessera's, and compares the files.

    tests/interop/run.py --mpi openmpi|mpich --library LIBRARY --scratch FOLDER --ranks 1,2,4
                         -- PROGRAM [ARGUMENTS]

The program gets a folder as its last argument but one, leaves its files there, checks its own data
and prints OK. It is run at each number of ranks on the stock library, on the preloaded one, and at
the largest number once more as if on two nodes. A preloaded run gets `exact` as a further argument,
must be silent (but for the one that is asked to explain itself, which shows that the library was
there), must leave the same files with the same bytes, and nothing else: no hidden files, no shared
memory, no processes.
"""
import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import mpi_jobs

SECONDS_MAX = 60
SHARED_MEMORY = pathlib.Path("/dev/shm")
TOKEN = "TESSERA_INTEROP_RUN"


class Failure(Exception):
    pass


def command(options, ranks, preload):
    launch = mpi_jobs.launcher(options.mpi, ranks)
    for name, value in preload.items():
        launch += mpi_jobs.variable(options.mpi, name, value)
    return launch + options.program


def environment(token, folder):
    """The caller's, without what steers Tessera."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("TESSERA_", "LD_PRELOAD"))}
    return {**mpi_jobs.environment(folder, kept), TOKEN: token}


def processes_of(token):
    """Ids of the living processes that a run started, found by what it put in their environment."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if f"{TOKEN}={token}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def mapped_anywhere(path):
    """Whether a living process of this user has the file mapped."""
    for maps in pathlib.Path("/proc").glob("[0-9]*/maps"):
        try:
            if str(path) in maps.read_text():
                return True
        except OSError:
            continue
    return False


def forgotten_memory(before):
    """Shared memory that came since `before`, is ours, and that nobody uses any more."""
    found = []
    for path in set(SHARED_MEMORY.iterdir()) - before:
        try:
            if path.stat().st_uid == os.getuid() and not mapped_anywhere(path) and path.exists():
                found.append(path.name)
        except OSError:
            continue
    return found


def settle(find):
    """What `find` still finds after the ends of processes have had time to take effect."""
    limit = time.monotonic() + 5
    found = find()
    while found and time.monotonic() < limit:
        time.sleep(0.1)
        found = find()
    return found


def execute(options, ranks, folder, preload):
    """One run; returns what it wrote on standard error."""
    token = uuid.uuid4().hex
    memory = set(SHARED_MEMORY.iterdir())
    arguments = command(options, ranks, preload) + [str(folder)] + ["exact"] * bool(preload)
    with tempfile.TemporaryDirectory(prefix="tessera-job-") as session, \
            subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             stdin=subprocess.DEVNULL, env=environment(token, session)) as child:
        try:
            output, errors = child.communicate(timeout=SECONDS_MAX)
        except subprocess.TimeoutExpired:
            for process in processes_of(token):
                os.kill(process, signal.SIGKILL)
            output, errors = child.communicate()
            raise Failure(f"not done after {SECONDS_MAX} s\n{output}{errors}") from None
    if child.returncode != 0 or output.split() != ["OK"]:
        raise Failure(f"ended with {child.returncode}\n{output}{errors}")
    if preload:
        if left := settle(lambda: processes_of(token)):
            raise Failure(f"left processes: {left}")
        if left := settle(lambda: forgotten_memory(memory)):
            raise Failure(f"left shared memory: {left}")
    return errors


def same(options, stock, ours):
    """Bytes decide. HDF5 leaves memory that it did not initialise in some files: in compressed
    ones, and under MPICH, whose ROMIO adds what its own buffers held; there h5diff decides."""
    if stock.read_bytes() == ours.read_bytes():
        return True
    if ours.suffix != ".h5" or (options.mpi != "mpich" and ours.name != "packed.h5"):
        return False
    done = subprocess.run(["h5diff", str(stock), str(ours)], capture_output=True, check=False)
    return done.returncode == 0


def compare(options, stock, ours):
    names = sorted(path.name for path in ours.iterdir())
    expected = sorted(path.name for path in stock.iterdir() if not path.name.startswith("."))
    if names != expected:
        raise Failure(f"files {names} instead of {expected}")
    for name in names:
        if not same(options, stock / name, ours / name):
            raise Failure(f"{name} differs: {stock / name} {ours / name}")


def run_and_compare(options, ranks, scratch, stock, extra):
    label = f"{options.mpi}, {ranks} ranks"
    ours = pathlib.Path(tempfile.mkdtemp(prefix="tessera-", dir=scratch))
    label += "".join(f", {name}={value}" for name, value in extra.items())
    try:
        errors = execute(options, ranks, ours, {"LD_PRELOAD": options.library, **extra})
        if errors and not extra:
            raise Failure(f"is not silent\n{errors}")
        if extra and "tessera" not in errors:
            raise Failure(f"explains nothing: was the library there?\n{errors}")
        compare(options, stock, ours)
    except Failure as failure:
        raise Failure(f"{label}, preloaded: {failure}") from None


def run_all(options, scratch):
    for ranks in options.ranks:
        stock = pathlib.Path(tempfile.mkdtemp(prefix="stock-", dir=scratch))
        try:
            execute(options, ranks, stock, {})
        except Failure as failure:
            raise Failure(f"{options.mpi}, {ranks} ranks, stock: {failure}") from None
        run_and_compare(options, ranks, scratch, stock, {})
        if ranks == max(options.ranks):
            run_and_compare(options, ranks, scratch, stock,
                            {"TESSERA_FAKE_NODES": "2", "TESSERA_EXPLAIN": "1"})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mpi", choices=["openmpi", "mpich"], required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--scratch", required=True, type=pathlib.Path)
    parser.add_argument("--ranks", required=True,
                        type=lambda text: [int(item) for item in text.split(",")])
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    if not os.path.exists(options.library):
        sys.exit(f"no library {options.library}")
    options.scratch.mkdir(parents=True, exist_ok=True)
    scratch = pathlib.Path(tempfile.mkdtemp(dir=options.scratch))
    try:
        run_all(options, scratch)
    except Failure as failure:
        sys.exit(f"{' '.join(options.program)}: {failure}\nthe files are in {scratch}")
    shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
