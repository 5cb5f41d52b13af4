"""mpi4py: every method and property of MPI.File, checked against what must be in the file.

    mpiexec -n N python3 mpi4py_file.py FOLDER [exact]

With `exact` a failure must carry the error class that the standard names, and what stock libraries
are known to get wrong must be right. A test gets a Watched file, which notes each name that is
used; at the end none may be missing.
"""
import array
import os
import sys

from mpi4py import MPI

WORLD = MPI.COMM_WORLD
RANK = WORLD.Get_rank()
SIZE = WORLD.Get_size()
USED = set()
EXACT = sys.argv[2:] == ["exact"]
NEW = MPI.MODE_CREATE | MPI.MODE_RDWR


class Watched:
    """An open MPI.File that notes what is asked of it."""

    def __init__(self, file):
        object.__setattr__(self, "file", file)

    def __getattr__(self, name):
        USED.add(name)
        return getattr(self.file, name)

    def __setattr__(self, name, value):
        USED.add(name)
        setattr(self.file, name, value)


def open_file(name, amode=NEW, comm=WORLD, info=MPI.INFO_NULL):
    USED.add("Open")
    return Watched(MPI.File.Open(comm, os.path.join(sys.argv[1], name), amode, info))


def delete(name):
    WORLD.Barrier()
    if RANK == 0:
        USED.add("Delete")
        MPI.File.Delete(os.path.join(sys.argv[1], name))
    WORLD.Barrier()


def ints(count, first=0):
    return array.array("i", range(first, first + count))


def blank(count):
    return array.array("i", [-1]) * count


def mine(count=10):
    """What this rank writes: values that tell rank and place."""
    return ints(count, 1000 * RANK)


def of_rank(rank, count=10):
    return ints(count, 1000 * rank)


def counted(status, expected):
    assert status.Get_count(MPI.INT) == expected, (status.Get_count(MPI.INT), expected)
    assert status.Get_elements(MPI.INT) == expected


def fails(error_class, call, *arguments):
    try:
        call(*arguments)
    except MPI.Exception as error:
        found = error.Get_error_class()
        assert found == error_class or not EXACT, (found, error_class)
        assert len(error.Get_error_string()) > 0
        return
    raise AssertionError(f"{call} should have failed")


def int_view(file, begin=0):
    file.Set_view(begin, MPI.INT, MPI.INT, "native", MPI.INFO_NULL)


def test_explicit_offsets():
    file = open_file("offsets.bin")
    int_view(file)
    status = MPI.Status()
    file.Write_at(20 * RANK, mine(), status)
    counted(status, 10)
    file.Write_at_all(20 * RANK + 10, mine(), status)
    counted(status, 10)
    file.Sync()
    WORLD.Barrier()
    other = (RANK + 1) % SIZE
    got = blank(20)
    file.Read_at(20 * other, got, status)
    counted(status, 20)
    assert got == of_rank(other) + of_rank(other)
    got = blank(10)
    file.Read_at_all(20 * other + 5, got, status)
    assert got == of_rank(other)[5:] + of_rank(other)[:5]
    file.Read_at(20 * SIZE - 3, got, status)
    counted(status, 3)
    file.Read_at(20 * SIZE + 100, got, status)
    counted(status, 0)
    file.Close()


def test_nonblocking():
    file = open_file("nonblocking.bin")
    int_view(file)
    writes = [file.Iwrite_at(40 * RANK, mine()), file.Iwrite_at_all(40 * RANK + 10, mine())]
    file.Seek(40 * RANK + 20)
    writes.append(file.Iwrite(mine()))
    writes.append(file.Iwrite_all(mine()))
    states = [MPI.Status() for _ in writes]
    MPI.Request.Waitall(writes, states)
    for status in states:
        counted(status, 10)
    assert file.Get_position() == 40 * RANK + 40
    file.Sync()
    WORLD.Barrier()
    other = (RANK + 1) % SIZE
    got = [blank(10) for _ in range(4)]
    reads = [file.Iread_at(40 * other, got[0]), file.Iread_at_all(40 * other + 10, got[1])]
    file.Seek(40 * other + 20)
    reads.append(file.Iread(got[2]))
    reads.append(file.Iread_all(got[3]))
    while not MPI.Request.Testall(reads):
        pass
    assert got == [of_rank(other)] * 4
    file.Close()


def test_individual_pointer():
    file = open_file("individual.bin")
    int_view(file)
    file.Seek(10 * RANK, MPI.SEEK_SET)
    file.Write(mine(5))
    assert file.Get_position() == 10 * RANK + 5
    assert file.Get_byte_offset(file.Get_position()) == 4 * (10 * RANK + 5)
    file.Write_all(mine(5))
    file.Sync()
    WORLD.Barrier()
    file.Seek(-10, MPI.SEEK_CUR)
    got = blank(5)
    file.Read(got)
    assert got == mine(5)
    file.Read_all(got)
    assert got == mine(5)
    file.Seek(-2, MPI.SEEK_END)
    status = MPI.Status()
    file.Read(got, status)
    counted(status, 2)
    fails(MPI.ERR_ARG, file.Seek, -1, MPI.SEEK_SET)
    file.Close()


def test_split_collectives():
    file = open_file("split.bin")
    int_view(file)
    data = mine()
    status = MPI.Status()
    file.Write_at_all_begin(20 * RANK, data)
    file.Write_at_all_end(data, status)
    counted(status, 10)
    file.Seek(20 * RANK + 10)
    file.Write_all_begin(data)
    file.Write_all_end(data, status)
    counted(status, 10)
    file.Sync()
    WORLD.Barrier()
    got = blank(10)
    file.Read_at_all_begin(20 * RANK, got)
    file.Read_at_all_end(got, status)
    counted(status, 10)
    assert got == data
    got = blank(10)
    file.Seek(20 * RANK + 10)
    file.Read_all_begin(got)
    file.Read_all_end(got, status)
    assert got == data
    file.Close()


def test_ordered():
    file = open_file("ordered.bin")
    int_view(file)
    share = RANK + 1
    file.Write_ordered(mine(share))
    total = SIZE * (SIZE + 1) // 2
    assert file.Get_position_shared() == total
    data = mine(share)
    status = MPI.Status()
    file.Write_ordered_begin(data)
    file.Write_ordered_end(data, status)
    counted(status, share)
    file.Sync()
    WORLD.Barrier()
    file.Seek_shared(0, MPI.SEEK_SET)
    got = blank(share)
    file.Read_ordered(got, status)
    counted(status, share)
    assert got == data
    got = blank(share)
    file.Read_ordered_begin(got)
    file.Read_ordered_end(got, status)
    assert got == data
    assert file.Get_position_shared() == 2 * total
    file.Close()


def test_shared_in_turn():
    """One rank after the other: the order is known, so the file can be compared."""
    file = open_file("shared_in_turn.bin")
    int_view(file)
    for turn in range(SIZE):
        if turn == RANK:
            file.Write_shared(mine())
            file.Iwrite_shared(mine(3)).Wait()
        file.Sync()
        WORLD.Barrier()
    assert file.Get_position_shared() == 13 * SIZE
    WORLD.Barrier()
    file.Seek_shared(0)
    for turn in range(SIZE):
        if turn == RANK:
            got = blank(10)
            file.Read_shared(got)
            assert got == mine()
            got = blank(3)
            file.Iread_shared(got).Wait()
            assert got == mine(3)
        WORLD.Barrier()
    file.Close()


def test_shared_all_at_once():
    """No record may be lost or torn; their order is free, so the file is removed."""
    file = open_file("shared_at_once.bin")
    int_view(file)
    rounds = 20
    for number in range(rounds):
        file.Write_shared(array.array("i", [RANK, number, RANK + number]))
    file.Sync()
    WORLD.Barrier()
    assert file.Get_size() == 12 * rounds * SIZE
    got = blank(3 * rounds * SIZE)
    file.Read_at_all(0, got)
    records = sorted(tuple(got[i:i + 3]) for i in range(0, len(got), 3))
    assert records == [(rank, n, rank + n) for rank in range(SIZE) for n in range(rounds)]
    file.Close()
    delete("shared_at_once.bin")


def test_views():
    """A matrix dealt out in columns (vector) and in blocks (subarray), a header before it."""
    rows, columns = 6, 3 * SIZE
    file = open_file("views.bin")
    column = MPI.INT.Create_vector(rows, 3, columns).Create_resized(0, 4 * columns * rows)
    column.Commit()
    file.Set_view(64 + 12 * RANK, MPI.INT, column, "native", MPI.INFO_NULL)
    file.Write_all(mine(3 * rows))
    begin, etype, filetype, datarep = file.Get_view()
    assert (begin, etype.Get_size(), datarep) == (64 + 12 * RANK, 4, "native")
    assert filetype.Get_extent() == column.Get_extent()
    assert file.Get_byte_offset(4) == 64 + 12 * RANK + 4 * columns + 4
    assert file.Get_type_extent(column) == 4 * columns * rows
    file.Sync()
    WORLD.Barrier()
    block = MPI.INT.Create_subarray([rows, columns], [2, columns], [2, 0]).Commit()
    file.Set_view(64, MPI.INT, block, "native", MPI.INFO_NULL)
    got = blank(2 * columns)
    file.Read_all(got)
    for i, value in enumerate(got):
        row, place = 2 + i // columns, i % columns
        assert value == 1000 * (place // 3) + 3 * row + place % 3
    file.Close()
    for kind in (column, block, etype, filetype):
        if not kind.is_predefined:
            kind.Free()


def test_memory_types():
    """Data strided in memory, both ways; the gaps of the reader stay as they are."""
    file = open_file("memory.bin")
    int_view(file)
    every_other = MPI.INT.Create_vector(5, 1, 2).Commit()
    file.Write_at_all(5 * RANK, [mine(), 1, every_other])
    got = blank(10)
    status = MPI.Status()
    file.Read_at_all(5 * RANK, [got, 1, every_other], status)
    counted(status, 5)
    assert got[0::2] == mine()[0::2] and set(got[1::2]) == {-1}
    file.Close()
    every_other.Free()


def test_external32():
    file = open_file("external32.bin")
    file.Set_view(0, MPI.INT, MPI.INT, "external32", MPI.INFO_NULL)
    file.Write_at_all(10 * RANK, mine())
    assert file.Get_type_extent(MPI.INT) == 4
    file.Sync()
    WORLD.Barrier()
    file.Set_view(0, MPI.BYTE, MPI.BYTE, "native", MPI.INFO_NULL)
    raw = bytearray(40)
    file.Read_at_all(40 * RANK, raw)
    assert raw == b"".join(value.to_bytes(4, "big") for value in mine())
    file.Close()


def test_sizes():
    file = open_file("sizes.bin")
    file.Preallocate(4096)
    assert file.Get_size() == file.size == 4096
    WORLD.Barrier()
    file.Set_size(1000)
    assert file.Get_size() == 1000
    WORLD.Barrier()
    file.Set_size(2000)
    got = bytearray(b"x" * 1000)
    file.Read_at_all(1000, got)
    assert got == bytes(1000)
    file.Close()


def test_properties():
    info = MPI.Info.Create()
    info.Set("cb_buffer_size", "131072")
    file = open_file("properties.bin", info=info)
    assert file.Get_amode() & MPI.MODE_RDWR and file.amode == file.Get_amode()
    assert file.Get_group().Get_size() == SIZE
    assert MPI.Group.Compare(file.group, WORLD.Get_group()) == MPI.IDENT
    assert file.Get_info().Get("cb_buffer_size") == "131072"
    info.Set("cb_buffer_size", "262144")
    file.Set_info(info)
    assert isinstance(file.info, MPI.Info)
    file.info = info
    assert file.Get_atomicity() is False
    file.Set_atomicity(True)
    assert file.atomicity is True
    file.atomicity = False
    assert file.Get_atomicity() is False
    assert USED.add("f2py") is None
    assert MPI.File.f2py(file.py2f()) == file.file
    file.Close()
    info.Free()


def test_atomic_mode():
    file = open_file("atomic.bin")
    int_view(file)
    file.Set_atomicity(True)
    file.Write_at(10 * RANK, mine())
    WORLD.Barrier()
    got = blank(10)
    other = (RANK + 1) % SIZE
    file.Read_at(10 * other, got)
    assert got == of_rank(other)
    # Everyone writes all of one range at once: it must come out whole.
    file.Write_at_all(10 * SIZE, array.array("i", [RANK]) * 5000)
    WORLD.Barrier()
    got = blank(5000)
    file.Read_at(10 * SIZE, got)
    assert (len(set(got)) == 1 and 0 <= got[0] < SIZE) or not EXACT
    WORLD.Barrier()
    file.Set_size(40 * SIZE)
    file.Close()


def test_modes():
    fails(MPI.ERR_NO_SUCH_FILE, open_file, "missing.bin", MPI.MODE_RDONLY)
    fails(MPI.ERR_NO_SUCH_FILE, open_file, "no/such/folder.bin", NEW)
    open_file("modes.bin", MPI.MODE_CREATE | MPI.MODE_WRONLY).Close()
    fails(MPI.ERR_FILE_EXISTS, open_file, "modes.bin", NEW | MPI.MODE_EXCL)
    file = open_file("modes.bin", MPI.MODE_RDONLY)
    fails(MPI.ERR_READ_ONLY, file.Write_at, 0, mine())
    file.Close()
    file = open_file("modes.bin", MPI.MODE_WRONLY | MPI.MODE_APPEND)
    file.Write_ordered(mine(2))
    file.Close()
    file = open_file("modes.bin", MPI.MODE_WRONLY | MPI.MODE_APPEND)
    assert file.Get_position() == 8 * SIZE
    file.Close()
    open_file("gone.bin", NEW | MPI.MODE_DELETE_ON_CLOSE).Close()
    assert not os.path.exists(os.path.join(sys.argv[1], "gone.bin"))
    USED.add("Delete")
    fails(MPI.ERR_NO_SUCH_FILE, MPI.File.Delete, os.path.join(sys.argv[1], "gone.bin"))


def test_error_handlers():
    file = open_file("handlers.bin")
    assert file.Get_errhandler() == MPI.ERRORS_RETURN
    file.Set_errhandler(MPI.ERRORS_ARE_FATAL)
    assert file.Get_errhandler() == MPI.ERRORS_ARE_FATAL
    file.Set_errhandler(MPI.ERRORS_RETURN)
    file.Call_errhandler(MPI.ERR_IO)
    fails(MPI.ERR_UNSUPPORTED_DATAREP, file.Set_view, 0, MPI.INT, MPI.INT, "no such thing")
    file.Close()
    assert file.file == MPI.FILE_NULL


def test_several_files():
    """One of all ranks, one of each, and the same file opened twice."""
    shared = open_file("several.bin")
    own = open_file(f"own_{RANK}.bin", comm=MPI.COMM_SELF)
    again = open_file("several.bin")
    own.Write_at(0, mine())
    int_view(shared)
    shared.Write_at_all(10 * RANK, mine())
    shared.Sync()
    WORLD.Barrier()
    again.Sync()
    got = blank(10)
    again.Read_at_all(40 * RANK, got)
    assert got == mine()
    for file in (again, own, shared):
        file.Close()


def main():
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            try:
                test()
            except BaseException as error:
                print(f"rank {RANK} of {SIZE}: {name}: {error!r}", file=sys.stderr, flush=True)
                raise
            WORLD.Barrier()
    missing = {name for name in dir(MPI.File) if not name.startswith("_")} - USED
    assert not missing, f"not tried: {sorted(missing)}"
    if RANK == 0:
        print("OK")


if __name__ == "__main__":
    main()
