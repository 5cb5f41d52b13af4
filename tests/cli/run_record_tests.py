#!/usr/bin/env python3
"""Runs jobs whose views are recorded, under both MPIs, and lays files out for them.

    tests/cli/run_record_tests.py TESSERA SOURCE_TREE [unittest arguments]
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

MPIS = ("openmpi", "mpich")
PROGRAM = ""
SECONDS_MAX = 120
RANKS = 3
RECORD = 100
ROWS = 200
SIZE = RANKS * ROWS * RECORD

# record KIND FILE...: each rank does with each file what the kind says.
JOB = r"""
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
enum { kRecord = 100, kRows = 200 };
#define NEED(call) do { if ((call) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 9); } while (0)
static char bytes[kRecord * kRows * 8];
static int rank, ranks;

static void set_view(MPI_File file, MPI_Offset at, MPI_Datatype type) {
  NEED(MPI_Type_commit(&type));
  NEED(MPI_File_set_view(file, at, MPI_BYTE, type, "native", MPI_INFO_NULL));
  NEED(MPI_Type_free(&type));
}

/* Every record of this rank. */
static void set_rows(MPI_File file) {
  MPI_Datatype record, row;
  NEED(MPI_Type_contiguous(kRecord, MPI_BYTE, &record));
  NEED(MPI_Type_create_resized(record, 0, (MPI_Aint)kRecord * ranks, &row));
  NEED(MPI_Type_free(&record));
  set_view(file, (MPI_Offset)rank * kRecord, row);
}

static void set_all(MPI_File file) {
  NEED(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
}

/* Bytes 0 to 9 twice, and 10 to 19 once, of every 40. */
static void set_twice(MPI_File file) {
  MPI_Datatype pair, type;
  const int lengths[] = {10, 20}, places[] = {0, 0};
  NEED(MPI_Type_indexed(2, lengths, places, MPI_BYTE, &pair));
  NEED(MPI_Type_create_resized(pair, 0, 40, &type));
  NEED(MPI_Type_free(&pair));
  set_view(file, 0, type);
}

static void use(const char* kind, const char* path) {
  const int own = strcmp(kind, "own") == 0, twice = strcmp(kind, "twice") == 0;
  const int mode = twice ? MPI_MODE_RDONLY : MPI_MODE_CREATE | MPI_MODE_RDWR;
  MPI_File file;
  NEED(MPI_File_open(own ? MPI_COMM_SELF : MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file));
  if (strcmp(kind, "rows") == 0 || strcmp(kind, "reset") == 0) {
    set_rows(file);
    NEED(MPI_File_write_all(file, bytes, kRecord * kRows, MPI_BYTE, MPI_STATUS_IGNORE));
  }
  if (strcmp(kind, "reset") == 0) {
    set_all(file);
    if (rank == 0) NEED(MPI_File_write_at(file, 0, bytes, 50, MPI_BYTE, MPI_STATUS_IGNORE));
  }
  if (strcmp(kind, "blocks") == 0 && rank != 1) {
    MPI_Request request;
    NEED(MPI_File_write_at(file, rank * 1000, bytes, 600, MPI_BYTE, MPI_STATUS_IGNORE));
    NEED(MPI_File_iwrite_at(file, rank * 1000 + 900, bytes, 100, MPI_BYTE, &request));
    NEED(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  if (own) NEED(MPI_File_write(file, bytes, 10 + rank, MPI_BYTE, MPI_STATUS_IGNORE));
  if (twice) {
    set_twice(file);
    NEED(MPI_File_read_all(file, bytes, 60, MPI_BYTE, MPI_STATUS_IGNORE));
  }
  NEED(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  memset(bytes, 'a' + rank, sizeof(bytes));
  if (strcmp(argv[1], "own") == 0) {
    use(argv[1], argv[2 + rank]);
  } else {
    for (int i = 2; i < argc; ++i) use(argv[1], argv[i]);
  }
  MPI_Finalize();
  return 0;
}
"""


class Records(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory(prefix="tessera-record-")
        cls.built = pathlib.Path(cls.holder.name)
        (cls.built / "job.c").write_text(JOB)
        for mpi in MPIS:
            subprocess.run([f"mpicc.{mpi}", "job.c", "-o", f"job-{mpi}"], cwd=cls.built, check=True,
                           timeout=SECONDS_MAX)

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tessera-record-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def tessera(self, *arguments, **variables):
        return subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, text=True,
                              capture_output=True, timeout=SECONDS_MAX, check=False,
                              env={**os.environ, **variables})

    def ok(self, *arguments, **variables):
        done = self.tessera(*arguments, **variables)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def job(self, mpi, kind, *files, **variables):
        self.ok("run", "-n", RANKS, "--record-views", "seen", "--", self.built / f"job-{mpi}", kind,
                *files, **variables)

    def recorded(self, name="data"):
        return json.loads((self.folder / f"seen/{name}.views.json").read_text())

    def check_rows(self, name):
        views = self.recorded(name)
        self.assertEqual(views["size"], SIZE)
        self.assertEqual(views["comment"],
                         f"what the ranks of a job saw of {self.folder.resolve() / name}")
        self.assertEqual(views["views"], [
            {**({"displacement": rank * RECORD} if rank else {}),
             "type": {"vector": {"count": ROWS, "stride_bytes": RANKS * RECORD, "of": RECORD}}}
            for rank in range(RANKS)])

    def check_layout(self, source, name, records):
        """Laid out for the recorded views, each process of them reads one run."""
        self.ok("remap", source, "out.obj", "--views", f"seen/{name}.views.json", "--quiet",
                "--force")
        facts = json.loads(self.ok("show", "out.obj", "--json"))
        self.assertEqual([one["view"]["read_runs"] for one in facts["writers"]], [1] * RANKS)
        container = (self.folder / "out.obj").read_bytes()
        for record in records:
            self.assertIn(record * (ROWS * RECORD), container)

    def test_plain_and_object_files(self):
        for mpi in MPIS:
            with self.subTest(mpi=mpi):
                self.job(mpi, "rows", "data", "obj:data.obj")
                self.check_rows("data")
                self.check_rows("data.obj")
                self.assertEqual((self.folder / "data").read_bytes()[:RECORD * RANKS],
                                 b"".join(bytes([97 + rank]) * RECORD for rank in range(RANKS)))
                self.check_layout("data", "data.obj", (b"a", b"b", b"c"))
                self.check_layout("obj:data.obj", "data", (b"a", b"b", b"c"))
                self.assertEqual(sorted(os.listdir(self.folder / "seen")),
                                 ["data.obj.views.json", "data.views.json"])

    def test_ranks_of_several_nodes(self):
        self.job("openmpi", "rows", "data", "obj:data.obj", TESSERA_FAKE_NODES="3")
        self.check_rows("data")
        self.check_rows("data.obj")

    def test_the_variable_alone(self):
        self.ok("run", "-n", RANKS, "--", self.built / "job-openmpi", "rows", "data",
                TESSERA_RECORD_VIEWS=str(self.folder / "seen"))
        self.check_rows("data")

    def test_a_view_of_everything_does_not_replace_one_with_gaps(self):
        for mpi in MPIS:
            self.job(mpi, "reset", "data")
            self.check_rows("data")

    def test_without_views_the_accesses_count(self):
        for mpi in MPIS:
            for name in ("data", "obj:data.obj"):
                self.job(mpi, "blocks", name)
                self.assertEqual(self.recorded(name.replace("obj:", ""))["views"], [
                    {"type": 1000}, {"process": 2, "displacement": 2000, "type": 1000}])

    def test_bytes_that_a_view_shows_twice_count_once(self):
        (self.folder / "data").write_bytes(bytes(95))
        for mpi in MPIS:
            self.job(mpi, "twice", "data")
            shares = json.loads(self.ok("objects", "seen/data.views.json", "--json"))["totals"]
            self.assertEqual(shares["shared_bytes"], 55)
            self.assertEqual(shares["views_bytes"], RANKS * 55)

    def test_files_of_one_base_name_and_jobs_one_after_another(self):
        names = [f"{folder}/data" for folder in "abc"]
        for name in "abc":
            (self.folder / name).mkdir()
        for mpi in MPIS:
            self.job(mpi, "own", *names)
            files = sorted(os.listdir(self.folder / "seen"))
            self.assertEqual(files, ["data.2.views.json", "data.3.views.json", "data.views.json"])
            sizes = {}
            for file in files:
                views = json.loads((self.folder / "seen" / file).read_text())
                sizes[views["comment"].split()[-1]] = views["size"]
            self.assertEqual(sizes, {str(self.folder.resolve() / name): 10 + rank
                                     for rank, name in enumerate(names)})

    def test_a_failure_is_told_once_and_disturbs_nobody(self):
        (self.folder / "seen").write_text("no folder")
        for mpi in MPIS:
            done = self.tessera("run", "-n", RANKS, "--record-views", "seen", "--",
                                self.built / f"job-{mpi}", "rows", "data", "other")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stderr.count("cannot record the views of"), 1, done.stderr)
            self.assertEqual((self.folder / "other").stat().st_size, SIZE)
        self.assertEqual((self.folder / "seen").read_text(), "no folder")

    def test_nothing_seen_is_nothing_written(self):
        self.job("openmpi", "none", "data")
        self.assertFalse((self.folder / "seen").exists())


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
