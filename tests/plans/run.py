#!/usr/bin/python3
"""Mesh plans under MPI: run.py --mpi openmpi|mpich --library LIBRARY --program MESH_FIELD
--meshes FOLDER

examples/mesh_field.c, on the MPI's own library and with Tessera preloaded: written by some ranks,
compared with what the file must be byte for byte, and read by other numbers of ranks; with every
policy, with meshes from files, with parts that write nothing; and what it says about input that is
wrong. Prints a line for each failure; the exit code is 0 if there is none."""
import argparse
import array
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import mpi_jobs

JOB_LIMIT_S = 120
VARIABLES = 2
GRID = (7, 6, 5)
# MPICH's waits poll: its own collective calls with more ranks than cores take long.
RANKS = {"openmpi": [1, 2, 4, 7], "mpich": [1, 2, 3]}
POLICIES = ["metis", "random", "first", "idg", "optimal", "balanced"]


def field(nodes, load):
    """The whole file, as mesh_field.c defines the values."""
    values = array.array("d")
    for variable in range(VARIABLES):
        for node in range(nodes):
            values.extend(node + 1e-3 * i + 1e9 * variable for i in range(load))
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()


class Jobs:
    """Launches mesh_field under one MPI, stock or preloaded, in a folder of its own."""

    def __init__(self, arguments, folder):
        self.mpi = arguments.mpi
        self.program = arguments.program
        self.library = arguments.library
        self.meshes = pathlib.Path(arguments.meshes)
        self.folder = folder
        self.file = pathlib.Path(folder) / "field"
        self.preload = False

    def start(self, ranks, *words):
        """What a job did; without ranks, one that needs no launcher."""
        inner = ["env", f"LD_PRELOAD={self.library}"] if self.preload else []
        launch = mpi_jobs.launcher(self.mpi, ranks) if ranks else []
        environment = mpi_jobs.environment(self.folder) if ranks else None
        command = [*launch, *inner, self.program, *map(str, words)]
        return subprocess.run(command, env=environment, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, check=False,
                              timeout=JOB_LIMIT_S)

    def run(self, ranks, *words):
        done = self.start(ranks, *words)
        assert done.returncode == 0, f"exit {done.returncode} of {words} on {ranks} ranks: " \
            f"{done.stdout}{done.stderr}"
        return done.stdout

    def write(self, ranks, *words):
        self.file.unlink(missing_ok=True)
        return self.run(ranks, self.file, *words)

    def read(self, ranks, *words):
        return self.run(ranks, self.file, "--read", *words)

    def refuses(self, text, *words):
        """A job that ends badly and says why. Of one that aborts, launchers may lose the text."""
        done = self.start(0, *words)
        assert done.returncode != 0, f"{words} succeeded: {done.stdout}"
        assert text in done.stderr, f"{words} does not say '{text}': {done.stderr}"

    def check(self, nodes, load):
        found = self.file.read_bytes()
        expected = field(nodes, load)
        assert len(found) == len(expected), f"{len(found)} bytes instead of {len(expected)}"
        wrong = next((i for i, (a, b) in enumerate(zip(found, expected)) if a != b), None)
        assert wrong is None, f"byte {wrong} is wrong"


def grid_words(grid, load):
    return ["--grid", *grid, "--load", load]


def other_numbers_of_ranks(jobs):
    """Written by n and read by the next of the list, for loads of one and of some doubles."""
    ranks = RANKS[jobs.mpi]
    for writers, readers, load in zip(ranks, ranks[1:] + ranks[:1], [1, 3, 2, 5]):
        words = grid_words(GRID, load)
        said = jobs.write(writers, *words)
        assert f"210 nodes in {writers} parts" in said, said
        jobs.check(210, load)
        jobs.read(readers, *words)


def policies(jobs):
    """Whoever writes, the file is the same."""
    for policy in POLICIES:
        jobs.write(RANKS[jobs.mpi][2], *grid_words(GRID, 2), "--policy", policy)
        jobs.check(210, 2)


def idle_parts(jobs):
    """Two nodes, held by both parts: the fewest intervals leave one part nothing to write."""
    said = jobs.write(2, *grid_words((2, 2, 2), 4))
    assert "1 intervals of 8.0 nodes" in said, said
    jobs.check(8, 4)
    jobs.read(1, *grid_words((2, 2, 2), 4))


def mesh_files(jobs):
    """Two tetrahedra in METIS's own format, and Gmsh's files."""
    mesh = jobs.file.with_suffix(".mesh")
    mesh.write_text("2\n1 2 3 4\n2 3 4 5\n")
    for path in [mesh, *sorted(jobs.meshes.glob("*.msh"))]:
        words = ["--mesh", path, "--load", 2]
        said = jobs.write(2, *words)
        jobs.check(int(said.split()[0]), 2)
        jobs.read(1, *words)


def object_file(jobs):
    """The same as an object file, which Tessera alone has."""
    if not jobs.preload:
        return
    words = grid_words(GRID, 2)
    jobs.run(2, f"obj:{jobs.file}", *words)
    jobs.run(3, f"obj:{jobs.file}", "--read", *words)


def wrong_values(jobs):
    """The reader does check: one bit of the last value, and a value too few. (OMPIO says that it
    has read what is behind the end too; then the values there are wrong.)"""
    words = grid_words(GRID, 1)
    jobs.write(2, *words)
    sound = jobs.file.read_bytes()
    jobs.file.write_bytes(sound[:-1] + bytes([sound[-1] ^ 1]))
    done = jobs.start(1, jobs.file, "--read", *words)
    assert done.returncode != 0 and "1 values are wrong" in done.stdout, done
    jobs.file.write_bytes(sound[:-8])
    done = jobs.start(0, jobs.file, "--read", *words)
    assert done.returncode != 0, done
    assert "is too short" in done.stderr or "1 values are wrong" in done.stdout, done


def wrong_input(jobs):
    mesh = jobs.file.with_suffix(".mesh")
    jobs.refuses("optimal", jobs.file, "--policy", "best")
    jobs.refuses(str(mesh.with_suffix(".none")), jobs.file, "--mesh", mesh.with_suffix(".none"))
    mesh.write_text("2\n1 2 3 4\n2 3 4 x\n")
    jobs.refuses(str(mesh), jobs.file, "--mesh", mesh)
    jobs.refuses("usage", jobs.file, "--load", "0")


SCENES = [other_numbers_of_ranks, policies, idle_parts, mesh_files, object_file, wrong_values,
          wrong_input]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mpi", required=True, choices=sorted(RANKS))
    parser.add_argument("--library", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--meshes", required=True)
    parser.add_argument("--only")
    arguments = parser.parse_args()
    failures = 0
    for scene in SCENES:
        if arguments.only and scene.__name__ != arguments.only:
            continue
        for preload in (False, True):
            with tempfile.TemporaryDirectory(prefix="tessera-plans-") as folder:
                jobs = Jobs(arguments, folder)
                jobs.preload = preload
                try:
                    scene(jobs)
                except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
                    failures += 1
                    kind = "preloaded" if preload else "stock"
                    print(f"FAIL {scene.__name__} {kind}: {error}")
    print(f"{arguments.mpi}: {len(SCENES)} scenes, stock and preloaded, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
