"""h5py with its mpio driver: slices, collective and independent, chunks, resizing, attributes.

    mpiexec -n N python3 h5py_parallel.py FOLDER
"""
import os
import sys

import numpy
from mpi4py import MPI

import h5py

WORLD = MPI.COMM_WORLD
RANK = WORLD.Get_rank()
SIZE = WORLD.Get_size()
ROWS = 12
COLUMNS = 30


def open_file(path, mode, **more):
    return h5py.File(path, mode, driver="mpio", comm=WORLD, **more)


def whole():
    """The matrix that all ranks write together."""
    return numpy.arange(ROWS * SIZE * COLUMNS, dtype="i4").reshape(ROWS * SIZE, COLUMNS)


def write_matrices(file):
    band = slice(ROWS * RANK, ROWS * (RANK + 1))
    plain = file.create_dataset("plain", (ROWS * SIZE, COLUMNS), dtype="i4", track_times=False)
    plain[band] = whole()[band]
    chunked = file.create_dataset("chunked", (ROWS * SIZE, COLUMNS), dtype=">i8", chunks=(5, 7),
                                  track_times=False)
    with chunked.collective:
        chunked[RANK::SIZE, :] = whole()[RANK::SIZE, :]
    columns = file.create_dataset("columns", (ROWS * SIZE, COLUMNS), dtype="f8", fillvalue=-2.0,
                                  track_times=False)
    with columns.collective:
        columns[:, RANK::SIZE + 1] = whole()[:, RANK::SIZE + 1]
    packed = file.create_dataset("packed", (ROWS * SIZE, COLUMNS), dtype="i4", chunks=(8, 8),
                                 compression="gzip", shuffle=True, track_times=False)
    with packed.collective:
        packed[band] = whole()[band]


def write_series(file):
    series = file.create_dataset("run/series", (0, 3 * SIZE), maxshape=(None, 3 * SIZE),
                                 chunks=(4, 2), dtype="f4", track_times=False)
    series.attrs["unit"] = "K"
    series.attrs["ranks"] = numpy.arange(SIZE)
    for step in range(6):
        series.resize(step + 1, axis=0)
        with series.collective:
            series[step, RANK::SIZE] = 10 * step + RANK
    file.flush()


def verify(file):
    matrix = whole()
    assert (file["plain"][...] == matrix).all()
    with file["chunked"].collective:
        assert (file["chunked"][:, 3:20:4] == matrix[:, 3:20:4]).all()
    assert (file["packed"][...] == matrix).all()
    columns = matrix.astype("f8")
    columns[:, SIZE::SIZE + 1] = -2.0
    assert (file["columns"][...] == columns).all()
    chosen = [1, 5, 6, ROWS * SIZE - 1]
    assert (file["plain"][chosen, 2] == matrix[chosen, 2]).all()
    series = file["run/series"]
    assert series.attrs["unit"] == "K" and list(series.attrs["ranks"]) == list(range(SIZE))
    expected = 10 * numpy.arange(6)[:, None] + numpy.tile(numpy.arange(SIZE), 3)[None, :]
    assert (series[...] == expected).all()


def main():
    path = os.path.join(sys.argv[1], "h5py.h5")
    assert h5py.get_config().mpi
    with open_file(path, "w") as file:
        write_matrices(file)
    with open_file(path, "r+") as file:
        write_series(file)
        file.atomic = True
        assert file.atomic
    with open_file(path, "r") as file:
        verify(file)
    WORLD.Barrier()
    if RANK == 0:
        print("OK")


if __name__ == "__main__":
    main()
