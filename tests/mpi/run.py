#!/usr/bin/python3
"""Runs the MPI-IO conformance tests under one MPI, without and with Tessera preloaded.

  run.py --program PROGRAM --mpi openmpi|mpich --library LIBRARY [--ranks 1,2,4] [--only NAME,...]
         [--seed N]
  run.py --program PROGRAM --mpi openmpi|mpich --library LIBRARY --objects [--ranks 1,4]
  run.py --program PROGRAM --mpi openmpi|mpich --survey ompio|romio321|mpich [--ranks 1,2,4]

The first form runs every subtest at each number of ranks with the MPI's own MPI-IO, with Tessera
preloaded, and preloaded with its ranks spread over pretended nodes; the files that the runs leave
must be equal byte for byte. What the MPI's own library fails is listed in stock_defects.txt; what
it fails besides, now and then, is told and not compared, and too little to compare is a failure.
Whatever a job leaves behind (files, shared memory, processes) is a failure, and so is an MPI-IO
procedure that the program does not call. The second form runs them preloaded on object files, but
for those in object_limits.txt. The third form shows which subtests a stock library fails.

Prints a line for each failure and a summary; the exit code is 0 if nothing failed."""
import argparse
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import mpi_jobs

DEFECTS = HERE / "stock_defects.txt"
LIMITS = HERE / "object_limits.txt"
JOB_LIMIT_S = 120
RESTARTS_MAX = 40
RANKS = {"openmpi": [1, 2, 4, 7], "mpich": [1, 2, 4]}
OBJECT_RANKS = {"openmpi": [1, 4], "mpich": [2]}
# MPICH's waits poll: with more ranks than cores its own MPI-IO takes minutes, so there is nothing
# to compare with.
STOCK_RANKS_MAX = {"openmpi": 7, "mpich": 2}
LIBRARIES = {"openmpi": "libmpi.so", "mpich": "libmpich.so"}
FULL = ["full_independent", "full_collective", "full_columns", "full_posted",
        "full_posted_collective", "full_split_and_ordered", "full_preallocate"]
NOBODY = 65534


class Job:
    """What one launch did: subtests that began, its failures, and the scratch directory."""

    def __init__(self, label, scratch):
        self.label = label
        self.scratch = scratch
        self.ran = []
        self.failures = []
        self.failed = set()

    def fail(self, subtest, text):
        self.failed.add(subtest)
        self.failures.append(f"{self.label}: {text}")


class Runner:
    """Launches jobs of one program under one MPI below a working directory."""

    def __init__(self, arguments, work):
        self.program = arguments.program
        self.mpi = arguments.mpi
        self.library = arguments.library
        self.seed = arguments.seed
        self.limit_s = arguments.limit
        self.prefix = "obj:" if arguments.objects else ""
        self.work = pathlib.Path(work)
        self.count = 0
        self.failures = []
        self.launches = 0
        self.compared = 0

    def command(self, ranks, scratch, variables, names, extra):
        """The launcher's command line."""
        head = mpi_jobs.launcher(self.mpi, ranks)
        for name, value in variables.items():
            head += mpi_jobs.variable(self.mpi, name, value)
        return head + extra + [self.program, self.prefix + str(scratch), "--seed", str(self.seed),
                               "--limit", str(self.limit_s)] + names

    def launch(self, command, scratch, out, user=None):
        """Runs a command in a world of its own; its exit code (None after the limit)."""
        environment = {**os.environ, **mpi_jobs.AS_ROOT, "TMPDIR": str(out / "tmp")}
        (out / "tmp").mkdir(mode=0o777)
        if user is not None and os.geteuid() == 0:
            command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] + command
            os.chown(out / "tmp", user, user)
        world = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child=KILL"]
        if os.geteuid() != 0:
            world.insert(1, "--map-root-user")
        if user is None or os.geteuid() == 0:
            command = world + ["sh", str(HERE / "job.sh"), str(scratch), str(out)] + command
        self.launches += 1
        with open(out / "stdout", "wb") as stdout, open(out / "stderr", "wb") as stderr:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout,
                                       stderr=stderr, env=environment, cwd=scratch)
            try:
                return process.wait(JOB_LIMIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                return None

    def directories(self, label):
        """A fresh scratch directory, and one for what is said about it."""
        self.count += 1
        base = self.work / f"{self.count:03d}-{re.sub('[^a-z0-9]+', '-', label)}"
        for name in ("scratch", "out"):
            (base / name).mkdir(parents=True)
            os.chmod(base / name, 0o777)
        return base / "scratch", base / "out"

    def run(self, label, ranks, wanted, variables=None, extra=(), user=None, prepare=None):
        """Runs the wanted subtests; goes on behind one that ended the job."""
        scratch, out = self.directories(label)
        job = Job(f"{self.mpi} {label}, {ranks} ranks", scratch)
        names = list(wanted)
        for turn in range(RESTARTS_MAX):
            place = out / str(turn)
            place.mkdir(mode=0o777)
            os.chmod(place, 0o777)
            for special in ("full", "readonly"):
                shutil.rmtree(scratch / special, ignore_errors=True)
            if prepare:
                prepare(scratch)
            command = self.command(ranks, scratch, variables or {}, names, list(extra))
            code = self.launch(command, scratch, place, user)
            names = self.judge(job, code, place, names)
            if not names:
                break
        for special in ("full", "readonly"):
            shutil.rmtree(scratch / special, ignore_errors=True)
        return job

    def judge(self, job, code, out, names):
        """Reads what a launch said; the subtests that it did not reach."""
        stdout = (out / "stdout").read_text(errors="replace")
        stderr = (out / "stderr").read_text(errors="replace")
        ran = re.findall(r"^RUN (\S+)$", stdout, re.M)
        job.ran += ran
        for line, ranks in count_ranks(re.findall(r"^FAIL (.*)$", stderr, re.M)).items():
            job.fail(line.split(":")[0], f"{line} ({len(ranks)} ranks)")
        for kind in ("shm", "processes"):
            left = (out / kind).read_text().split("\n")[:-1] if (out / kind).exists() else []
            if left and code == 0:
                job.fail("", f"left behind ({kind}): {', '.join(left[:5])}")
        if code in (0, 1) and re.search(r"^(OK|FAILED) \d+$", stdout, re.M):
            return []
        last = ran[-1] if ran else names[0]
        if last not in job.failed:
            why = "ran into the time limit" if code is None else f"ended the job with {code}"
            hint = " / ".join(stderr.strip().split("\n")[-3:])[:300]
            job.fail(last, f"{last}: {why}: {hint}")
        return [name for name in names if name not in ran and name != last]

    def report(self, job, known=()):
        """Takes over a job's failures, except those of known subtests."""
        unexpected = [text for text in job.failures
                      if not any(f": {name}:" in text for name in known)]
        self.failures += unexpected
        for text in unexpected:
            print(f"FAIL {text}", flush=True)

    def tell(self, job, known=()):
        """A stock job's failures that are not known: not ours, so told only."""
        for text in job.failures:
            if not any(f": {name}:" in text for name in known):
                print(f"note {text}", flush=True)

    def compare(self, stock, ours, defects):
        """The files of two jobs; where stock's are known to be wrong, only their names."""
        names = {path.name for path in stock.scratch.iterdir()}
        names |= {path.name for path in ours.scratch.iterdir()}
        skipped = defects["files"] | defects["fatal"] | ours.failed
        skipped |= stock.failed - defects["answers"]
        subtests = set(stock.ran) | set(ours.ran)
        before = self.compared
        for name in sorted(names):
            subtest = name.split(".")[0]
            if subtest not in subtests:
                ours.fail(name, f"a file is left behind: {name}")
            elif subtest not in skipped:
                self.compared += 1
                difference = first_difference(stock.scratch / name, ours.scratch / name)
                if difference:
                    ours.fail(subtest, f"{subtest}: {name} differs from stock: {difference}")
        if self.compared - before < len(subtests) // 3 and len(subtests) > 10:
            ours.fail("", f"only {self.compared - before} files could be compared with stock")


def count_ranks(lines):
    """Failures without their rank, and the ranks that had them."""
    found = {}
    for line in lines:
        match = re.match(r"(\w+): rank (\d+)(?: of \d+)?: (.*)", line)
        text, rank = (f"{match[1]}: {match[3]}", match[2]) if match else (line, "")
        found.setdefault(text, set()).add(rank)
    return found


def extents(descriptor, size):
    """The parts of a file that hold data, as (begin, end)."""
    at = 0
    while at < size:
        try:
            begin = os.lseek(descriptor, at, os.SEEK_DATA)
        except OSError:
            return
        end = os.lseek(descriptor, begin, os.SEEK_HOLE)
        yield begin, end
        at = end


def first_difference(one, two):
    """Why two files differ, or None; holes are zeros and cost nothing."""
    if not one.exists() or not two.exists():
        return f"only {'the second' if two.exists() else 'the first'} exists"
    sizes = one.stat().st_size, two.stat().st_size
    if sizes[0] != sizes[1]:
        return f"{sizes[1]} bytes instead of {sizes[0]}"
    with open(one, "rb") as first, open(two, "rb") as second:
        parts = list(extents(first.fileno(), sizes[0])) + list(extents(second.fileno(), sizes[0]))
        for begin, end in parts:
            for at in range(begin, end, 1 << 20):
                count = min(1 << 20, end - at)
                a = os.pread(first.fileno(), count, at)
                b = os.pread(second.fileno(), count, at)
                if a != b:
                    byte = next(i for i in range(len(a)) if a[i] != b[i])
                    return f"byte {at + byte} is {b[byte]} instead of {a[byte]}"
    return None


def list_subtests(runner):
    """Names of the subtests that always run, asked of the program itself."""
    scratch, out = runner.directories("list")
    command = runner.command(1, scratch, {}, ["--list"], [])
    runner.launch(command, scratch, out)
    text = (out / "stdout").read_text()
    return re.findall(r"^always (\S+)$", text, re.M)


def read_defects(flavour, subtests):
    """The subtests that a stock library fails, by the kind of failure."""
    defects = {"answers": set(), "files": set(), "fatal": set()}
    for line in DEFECTS.read_text().split("\n"):
        if line and not line.startswith("#"):
            flavours, subtest, kind, _ = line.split(None, 3)
            if flavour in flavours.split(","):
                defects[kind].update(fnmatch.filter(subtests, subtest))
    return defects


def read_limits(subtests, nodes):
    """The subtests that ask for what object files are not."""
    limits = set()
    for line in LIMITS.read_text().split("\n"):
        if line and not line.startswith("#"):
            where, subtest, _ = line.split(None, 2)
            if where == "all" or nodes > 1:
                limits.update(fnmatch.filter(subtests, subtest))
    return limits


def uncovered(program, mpi):
    """MPI-IO procedures of the MPI library that the program does not call."""
    def symbols(path, flag):
        text = subprocess.run(["nm", "-D", flag, path], capture_output=True, text=True,
                              check=True).stdout
        return set(re.findall(r"\b(MPI_(?:File|Register)_\w+)", text))
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    library = re.search(re.escape(LIBRARIES[mpi]) + r"\S* => (\S+)", linked).group(1)
    return sorted(symbols(library, "--defined-only") - symbols(program, "--undefined-only"))


def prepare_denied(scratch):
    """Files that a user other than root may not use."""
    place = scratch / "denied"
    if place.exists():
        return
    place.mkdir()
    for name, mode in (("secret", 0o000), ("readable", 0o444)):
        path = place / f"permission_denied.{name}"
        path.write_text("denied")
        path.chmod(mode)
    place.chmod(0o555)


def preload(runner, nodes):
    variables = {"LD_PRELOAD": runner.library, "TESSERA_TEST_PRELOADED": "1"}
    if nodes > 1:
        variables["TESSERA_FAKE_NODES"] = str(nodes)
    return variables


def run_main(runner, subtests, ranks):
    """All ordinary subtests at one number of ranks: stock, ours, ours on pretended nodes."""
    flavour = "ompio" if runner.mpi == "openmpi" else "mpich"
    defects = read_defects(flavour, subtests)
    stock = None
    if ranks <= STOCK_RANKS_MAX[runner.mpi]:
        wanted = [name for name in subtests if name not in defects["fatal"]]
        stock = runner.run("stock", ranks, wanted)
        runner.tell(stock, defects["answers"] | defects["files"])
    for nodes in [1] + [n for n in (2, 3) if n == 2 and ranks >= 2 or n == 3 and ranks >= 7]:
        label = "preloaded" if nodes == 1 else f"preloaded on {nodes} nodes"
        ours = runner.run(label, ranks, subtests, preload(runner, nodes))
        if stock:
            runner.compare(stock, ours, defects)
        runner.report(ours)
        shutil.rmtree(ours.scratch)
    if stock:
        shutil.rmtree(stock.scratch)


def run_objects(runner, subtests, ranks):
    """On object files: one node, and two where there are ranks for them."""
    for nodes in (1, 2)[:ranks]:
        limits = read_limits(subtests, nodes)
        wanted = [name for name in subtests if name not in limits]
        label = f"objects on {nodes} nodes"
        ours = runner.run(label, ranks, wanted, preload(runner, nodes))
        runner.report(ours)
        shutil.rmtree(ours.scratch)


def run_special(runner):
    """What needs a place, a user or an end of its own, preloaded only."""
    for ranks, nodes in ((1, 1), (2, 1), (4, 2)):
        runner.report(runner.run(f"full disk, {nodes} nodes", ranks, FULL, preload(runner, nodes)))
    runner.report(runner.run("read-only mount", 2, ["readonly_mount"], preload(runner, 1)))
    runner.report(runner.run("permission", 2, ["permission_denied"], preload(runner, 1),
                             user=NOBODY, prepare=prepare_denied))
    runner.report(runner.run("finalize", 2, ["finalize_open"], preload(runner, 1)))
    runner.report(runner.run("large", 1, ["large_write"], preload(runner, 1)))
    for subtest in ("errhandler_fatal", "errhandler_abort"):
        job = runner.run("fatal", 2, [subtest], preload(runner, 1))
        if not job.failures or any("time limit" in text for text in job.failures):
            runner.failures.append(f"{subtest} did not end the job")
            print(f"FAIL {subtest} did not end the job")


def survey(runner, flavour, subtests, ranks):
    """What a stock library fails, ordinary and special subtests."""
    extra = ["--mca", "io", flavour] if runner.mpi == "openmpi" else []
    jobs = [runner.run(flavour, ranks, subtests + FULL + ["readonly_mount", "finalize_open"],
                       extra=extra)]
    jobs.append(runner.run(f"{flavour} permission", ranks, ["permission_denied"], extra=extra,
                           user=NOBODY, prepare=prepare_denied))
    for job in jobs:
        runner.report(job)
        shutil.rmtree(job.scratch)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--mpi", required=True, choices=sorted(RANKS))
    parser.add_argument("--library")
    parser.add_argument("--objects", action="store_true")
    parser.add_argument("--survey", choices=["ompio", "romio321", "mpich"])
    parser.add_argument("--ranks", type=lambda text: [int(word) for word in text.split(",")])
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=40, help="seconds that a subtest may take")
    arguments = parser.parse_args()
    if not arguments.survey and not (arguments.library and os.path.exists(arguments.library)):
        sys.exit(f"run.py: no library at {arguments.library}")
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tessera-mpi-") as work:
        os.chmod(work, 0o755)
        runner = Runner(arguments, work)
        missing = uncovered(arguments.program, arguments.mpi)
        runner.failures += [f"no subtest calls {name}" for name in missing]
        for name in missing:
            print(f"FAIL no subtest calls {name}")
        subtests = arguments.only or list_subtests(runner)
        usual = OBJECT_RANKS if arguments.objects else RANKS
        for ranks in arguments.ranks or usual[arguments.mpi]:
            if arguments.survey:
                survey(runner, arguments.survey, subtests, ranks)
            elif arguments.objects:
                run_objects(runner, subtests, ranks)
            else:
                run_main(runner, subtests, ranks)
        if not arguments.survey and not arguments.only and not arguments.objects:
            run_special(runner)
    print(f"{arguments.mpi}: {len(subtests)} subtests, {runner.launches} jobs, "
          f"{runner.compared} files compared, {len(runner.failures)} failures, "
          f"{time.monotonic() - began:.0f} s")
    sys.exit(1 if runner.failures else 0)


if __name__ == "__main__":
    main()
