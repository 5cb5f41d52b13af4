#!/usr/bin/env python3
"""How the tests start jobs of MPI. By itself it runs one:

    tests/mpi_jobs.py openmpi|mpich RANKS PROGRAM [ARGUMENTS]
"""
import os
import subprocess
import sys
import tempfile

LAUNCHERS = {"openmpi": ["mpiexec.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"],
             "mpich": ["mpiexec.mpich"]}
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def launcher(mpi, ranks):
    return [*LAUNCHERS[mpi], "-n", str(ranks)]


def variable(mpi, name, value):
    """The launcher's words that give a variable to the ranks alone."""
    return ["-x", f"{name}={value}"] if mpi == "openmpi" else ["-genv", name, value]


def environment(folder, base=None):
    """The caller's environment, or `base`, with what a launcher needs. Each gets its own part of
    `folder` for its files: Open MPI's launchers that start at once trip over each other where they
    share one."""
    session = tempfile.mkdtemp(prefix="job-", dir=folder)
    return {**(os.environ if base is None else base), **AS_ROOT,
            "OMPI_MCA_orte_tmpdir_base": session}


def main():
    mpi, ranks, *command = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="tessera-job-") as folder:
        done = subprocess.run([*launcher(mpi, ranks), *command], env=environment(folder),
                              stdin=subprocess.DEVNULL, check=False)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
