// What `tessera --help` and the --help of each command say after their options.
//
// Thread safety: constants.
#pragma once

namespace tessera::cli {

inline constexpr const char* kAbout =
    "Tessera: parallel I/O for MPI programs. A file is what its processes share, not one line of "
    "bytes.";

inline constexpr const char* kFooter = R"(
Examples:
  tessera demo                      the tile wall of the paper, in text and as a page
  tessera run -n 4 -- ./program     an MPI program, unchanged, with Tessera below it
  tessera report LOG                where the I/O of a job went, as a page
  tessera objects VIEWS.json        who shares which bytes of a file
  tessera remap IN OUT --views V    a file in the layout of those who will read it
  tessera locks                     who holds which bytes of which file now, and who waits
  tessera show FILE                 what is in an object file, and where its bytes lie
  tessera mesh plan MESH --parts 64 who writes the nodes of a mesh that several parts hold
  tessera tune DIR                  measure the file system, so that choices fit it
  tessera bench all                 measure, against the competitors on this machine
  tessera help COMMAND              more about a command

Exit codes: 0 ok, 1 error, 2 usage, 3 not found, 4 integrity, 5 retry, 6 permission or expired.)";

inline constexpr const char* kObjectsFooter = R"(
The views of all processes cut a file into objects: runs of bytes that the same processes share.
VIEWS.json names the file's size and each process's view:

  {"size": 80,
   "views": [{"name": "P0", "type": {"intervals": [[0, 15], [26, 70]]}},
             {"name": "P1", "type": {"vector": {"count": 4, "blocklength": 5, "stride": 20}}}]}

Intervals are [begin, end): [0, 15] holds the bytes 0 to 14. All MPI datatypes can be written; see
docs/formats/views.md.

Examples:
  tessera objects VIEWS.json                 a picture, every object (large sets: families), totals
  tessera objects VIEWS.json --at 18:36      only the objects that meet the bytes 18 to 35
  tessera objects VIEWS.json --json          for programs
  tessera objects VIEWS.json --html o.html   also a page with pictures
  generate-views | tessera objects -         from standard input)";

inline constexpr const char* kRemapFooter = R"(
Writes the bytes of IN, a plain file or an object file, into a new object file OUT, in which each
process of the views has its bytes in one run: it reads them with one request. Programs open OUT as
obj:OUT, or any bytes of it through any other view. Bytes that several processes share are stored
for each of them, unless --replicate none; bytes that nobody views are stored too, unless
--only-views. OUT appears whole, or not at all. If it is there already, it is replaced with --force
only; so it may be IN.

Examples:
  tessera remap data.bin data.obj --views readers.json      the layout of a views file
  tessera remap a.obj b.obj --like c.obj                    of the programs that wrote c.obj
  mpiexec -n 8 tessera remap a.obj b.obj --views v.json     by eight processes)";

inline constexpr const char* kDemoFooter = R"(
Takes the example of "Improving I/O Performance through the Dynamic Remapping of Object Sets" (Logan
and Dickens): writers store an image by rows, the readers of a wall of overlapping screens each need
a tile of it. Shows both object sets, how a translator finds which reader objects a written object
meets, and the layout in which every reader reads one run; first for 60x3 pixels, then for a 10x10
wall of 1920x1650 tiles.

Examples:
  tessera demo                     text here, pictures in tessera-demo.html
  tessera demo --html wall.html    the page elsewhere
  tessera demo --json              for programs)";

inline constexpr const char* kBenchFooter = R"(
Runs ours and its competitors interleaved in one run, the best competitor also against itself, so
that every ratio comes with the noise of that run. Ratios are "higher is better", always.

Examples:
  tessera bench --list                 what there is
  tessera bench pattern                one bench, as a table
  tessera bench pattern --json         for programs
  tessera bench all --html bench.html  everything, with plots
  tessera bench pattern --only gather  the cases whose name contains "gather"
  tessera bench mpiio --against DIR    this build beside the one in DIR (its bin/ and lib/), in turn
  tessera bench pattern --quick        to try, not to believe)";

inline constexpr const char* kVersionFooter = R"(
Examples:
  tessera version
  tessera version --json)";

inline constexpr const char* kRunFooter = R"(
tessera run -n N [OPTIONS] -- PROGRAM [ARGUMENTS]

Starts an MPI program with Tessera's MPI-IO instead of its MPI's own. Which MPI it needs is read
from what the program is linked with; a Python program's from its mpi4py. The launcher takes over:
signals and the exit code are the job's own. Inside a job of Slurm the launcher is srun.

Examples:
  tessera run -n 4 -- ./program input.nc            four ranks
  tessera run -n 4 --mpi mpich -- python3 p.py      where nothing tells which MPI
  tessera run -n 4 -o cb_nodes=2 -- ./program       with a hint (see tessera hints)
  tessera run -n 4 --dry-run -- ./program           what would be run
  tessera run -n 4 --record-views seen -- ./program which bytes each rank saw: seen/FILE.views.json
  tessera run -n 64 --launcher srun --launcher-args="--mpi=pmix -N 2" -- ./program)";

inline constexpr const char* kEnvFooter = R"help(
Prints the variable that preloads Tessera's MPI-IO, for a shell to evaluate, and as comments how to
give it to the ranks of a job only, which is better: what is exported here goes into every program.

Examples:
  tessera env                            for the MPI of mpiexec
  eval "$(tessera env --mpi mpich)"      set it here
  eval `tessera env --shell csh`         in csh, without the comments)help";

inline constexpr const char* kReportFooter = R"(
A job that runs with TESSERA_REPORT=DIR leaves a log there. From it this makes one page: who read
and wrote how much, in runs of which size, which way the bytes went and why, where the time went,
and what could be changed. A job that was killed, or is running, has a folder NAME.unfinished there
with what its ranks have counted so far. docs/formats/report.md describes both.

Examples:
  TESSERA_REPORT=logs tessera run -n 4 -- ./program
  tessera report logs/tessera-program-1794744000-4711.json   a summary here, and a page
  tessera report logs/*                                a table of all jobs, and each of them
  tessera report LOG -o page.html                      the page elsewhere
  tessera report LOG --json                            for programs)";

inline constexpr const char* kHintsFooter = R"(
Programs give hints in MPI_Info; their users in variables and with tessera run -o. docs/hints.md
says which is stronger.

Examples:
  tessera hints
  tessera hints --markdown      docs/hints.md)";

inline constexpr const char* kTuneFooter = R"(
Measures with a scratch file in DIR what small, listed and large transfers cost there, and keeps the
figures as the profile of that file system: programs that open a file on it then choose by them.
TESSERA_EXPLAIN=1 shows it. The file has no name while it is used, so nothing is left behind. What
lies between nodes cannot be measured on one; it can be given, and is kept by later runs.

Examples:
  tessera tune /scratch                      some seconds; shows and stores
  tessera tune /scratch --dry-run            shows only
  tessera tune /scratch --message-ns 2000 --network-byte-ns 0.08 --nodes-served 16
  TESSERA_PROFILE=fast.json tessera tune .   into a file of one's own; to use it, set it likewise)";

inline constexpr const char* kLocksFooter = R"(
Shows the locks of running lock servers: for each file who holds which bytes, and who waits for
whom. ADDRESS is unix:PATH or HOST:PORT, with commas between several; without it TESSERA_LOCKS
names them, or all servers that were started on demand for you are shown.

Examples:
  tessera locks                              all your servers
  tessera locks unix:/run/tessera/locks      one of them
  tessera locks --watch                      again every 2 seconds, until interrupted
  tessera locks --watch 0.5 --file plain:8:42
  tessera locks --json                       for programs
  tessera locks break 12.7                   take lock 12.7 away from its client; asks first)";

inline constexpr const char* kBreakFooter = R"(
Takes a lock away from its client, or a request out of the queue. The client is told, and those who
wait go on. What the client is writing at that moment may still arrive: break locks of programs that
hang, not of those that work.

Examples:
  tessera locks break 12.7                   asks first
  tessera locks break 12.7 --yes             does not ask, for scripts)";

inline constexpr const char* kImportFooter = R"(
Stores the bytes of a plain file in a new object file. With --views the bytes of each view lie
together, so that a process with such a view reads them in one run; bytes that several views share
are stored once, with the first of them. Holes of the file stay holes.

Examples:
  tessera import data.bin data.obj
  tessera import image.raw wall.obj --views wall.json      (see tessera objects --help)
  tessera run -n 4 -- ./program obj:data.obj               a program that reads it)";

inline constexpr const char* kExportFooter = R"(
Writes the bytes of an object file to a new plain file, as of its last commit, verifying every block
on the way. Where nobody wrote, the plain file has a hole. On an error nothing is left behind.

Examples:
  tessera export data.obj data.bin)";

inline constexpr const char* kShowFooter = R"(
Shows the commit that a job left, who wrote which part through which view, in how many runs its
bytes lie, what is shared, and what space is unused. The page has pictures of which process's bytes
lie where, in the order of the file and in that of the container.

Examples:
  tessera show data.obj
  tessera show data.obj --json                 for programs
  tessera show data.obj --html data.html       also a page with pictures
  tessera show data.obj --views > v.json       who wrote it how, for tessera remap --views v.json)";

inline constexpr const char* kCheckFooter = R"(
Looks at both superblocks, the contents and the checksum of every block, and says what is wrong.
Exit code 4 if there is damage. A superblock copy that a crash left old is no damage.

Examples:
  tessera check data.obj
  tessera check --quick data.obj      without reading all bytes)";

inline constexpr const char* kCompactFooter = R"(
Copies what is in use to a new container and puts it in the place of the old one, so that the name
leads to a whole file at every instant. The layout stays: copies that were made for readers do, and
what they read in one run is one run. Needs as much free space as the new file. Refused while the
file is open for writing.

Examples:
  tessera compact data.obj)";

inline constexpr const char* kMountFooter = R"(
Shows an object file as one plain file in DIR, of the same name, for programs that know nothing of
object files. Closing it, fsync and unmounting commit what was written; what was not committed is
lost if the machine or the mount dies.

Examples:
  tessera mount data.obj /mnt/d           then h5dump /mnt/d/data.obj
  fusermount3 -u /mnt/d                   ends it, and commits
  tessera mount --read-only data.obj /mnt/d)";

inline constexpr const char* kMeshFooter = R"(
Mesh codes keep nodes at the borders of parts in every part that touches them, and each copy is
valid: who writes them can be chosen so that every process writes few long runs. docs/meshes.md
tells more.

Examples:
  tessera mesh plan MESH --parts 64                       the plan with the fewest runs
  tessera mesh renumber MESH OUT --order hilbert          an order of nodes that makes runs long)";

inline constexpr const char* kMeshPlanFooter = R"(
Finds the parts that hold each node: its own, and those of the nodes that share an element with it.
Then chooses one of them to write it, and counts what the choice comes to: intervals, runs of nodes
that one process writes; their average length; LB, the difference between the most and the fewest
nodes that a process writes, divided by the average.

  metis      the part that METIS gave the node
  random     any
  first      the smallest
  idg        that of the node before, or behind, if it holds this one (interval data grouping)
  optimal    the fewest intervals that there can be
  balanced   few intervals with an LB of at most --max-imbalance

Examples:
  tessera mesh plan MESH --parts 64 --policy all                   every policy beside optimal
  tessera mesh plan MESH --partition MESH.npart.64 --save plan     for a partition that is there
  tessera mesh plan MESH --parts 64 --policy all --order hilbert   what renumbering would gain
  tessera mesh plan MESH --parts 64 --write-partition p --save plan
  tessera mesh plan MESH --parts 64 --html plan.html               also a page with plots)";

inline constexpr const char* kMeshRenumberFooter = R"(
Writes the mesh with its nodes in another order, which is the order of their values in the files
that programs write. How few intervals a plan can have depends on it.

  rcm        reverse Cuthill-McKee: neighbours get near numbers
  x, y, z    along an axis
  hilbert    along a Hilbert curve through the mesh: the best for any number of parts
  io         for one partition: the nodes of each part together

Examples:
  tessera mesh renumber MESH OUT --order hilbert
  tessera mesh renumber MESH OUT --order io --parts 64 --write-partition OUT.part
  tessera mesh plan OUT --partition OUT.part --save plan)";

}  // namespace tessera::cli
