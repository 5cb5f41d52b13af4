#!/usr/bin/env python3
"""Runs the real `tessera` and checks what it prints, how it ends, and what it may cost.

    tests/cli/run_cli_tests.py TESSERA SOURCE_TREE [unittest arguments]
"""
import fcntl
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from html.parser import HTMLParser
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import mpi_jobs

PROGRAM = ""
TREE = pathlib.Path()
SECONDS_MAX = 60
MEMORY_BYTES_MAX = 1 << 30


def end_group(group):
    """The processes that a killed command started."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run(*arguments, text=None, folder=None, memory_bytes=None):
    """Runs the program within the bounds that every call must keep."""
    def bound():
        if memory_bytes:
            resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    return subprocess.run([PROGRAM, *arguments], input=text, text=True, capture_output=True,
                          cwd=folder, timeout=SECONDS_MAX, preexec_fn=bound, check=False)


def sanitized():
    """Sanitizers reserve more address space than any limit."""
    symbols = subprocess.run(["grep", "-c", "__asan_init\\|__tsan_init", PROGRAM],
                             capture_output=True, text=True, check=False)
    return symbols.stdout.strip() not in ("", "0")


def views(*types, size=1 << 20, **more):
    return {"size": size, "views": [{"type": kind} for kind in types], **more}


class Figures(unittest.TestCase):
    """The figures of paper 0."""

    def objects(self, name):
        done = run("objects", str(TREE / "tests/data" / name), "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return [(*item["bytes"], item["sharers"]) for item in json.loads(done.stdout)["objects"]]

    def test_figure_2(self):
        self.assertEqual(self.objects("figure2.json"), [
            (0, 10, [0]), (10, 15, [0, 1]), (15, 26, [1]), (26, 30, [0, 1]), (30, 50, [0]),
            (50, 60, [0, 2]), (60, 70, [0, 1, 2]), (70, 75, [1, 2]), (75, 80, [2])])

    def test_figure_3_search(self):
        done = run("objects", str(TREE / "tests/data/figure2.json"), "--at", "18:36", "--json")
        found = [item["bytes"] for item in json.loads(done.stdout)["objects"]]
        self.assertEqual(found, [[15, 26], [26, 30], [30, 50]])

    def test_figure_4(self):
        self.assertEqual(self.objects("figure4.json"),
                         [(0, 60, [0]), (60, 120, [1]), (120, 180, [2])])

    def test_figure_5(self):
        # Object 8 is misprinted in the paper: it is the bytes 160 to 179.
        self.assertEqual(self.objects("figure5.json"), [
            (0, 20, [0]), (20, 40, [0, 1]), (40, 60, [1]), (60, 80, [0, 2]),
            (80, 100, [0, 1, 2, 3]), (100, 120, [1, 3]), (120, 140, [2]), (140, 160, [2, 3]),
            (160, 180, [3])])


class Document(unittest.TestCase):
    """docs/formats/views.md: every example is run."""

    @classmethod
    def setUpClass(cls):
        cls.text = (TREE / "docs/formats/views.md").read_text()

    def test_examples_print_what_stands_below_them(self):
        pairs = re.findall(r"```json\n(.*?)```\n\n```text\n(.*?)```", self.text, re.S)
        self.assertGreaterEqual(len(pairs), 3)
        for source, expected in pairs:
            done = run("objects", "-", text=source)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout.startswith(expected), done.stdout)

    def test_types_give_what_the_table_says(self):
        rows = re.findall(r"^\| `([^`]+)` \|[^|]*\| `(\[[^`]+)` \|$", self.text, re.M)
        self.assertGreaterEqual(len(rows), 13)
        for kind, expected in rows:
            done = run("objects", "-", "--json", text=json.dumps(views(json.loads(kind))))
            self.assertEqual(done.returncode, 0, done.stderr)
            found = [item["bytes"] for item in json.loads(done.stdout)["objects"]]
            wanted = [[int(n) for n in pair] for pair in re.findall(r"\[(\d+), (\d+)\)", expected)]
            self.assertEqual(found, wanted, kind)


class Refusals(unittest.TestCase):
    """Bad input: one line that names the cause, the right exit code, bounded time and memory."""

    def refused(self, source, message, code=1):
        text = source if isinstance(source, str) else json.dumps(source)
        limit = None if sanitized() else MEMORY_BYTES_MAX
        start = time.monotonic()
        done = run("objects", "-", text=text, memory_bytes=limit)
        self.assertLess(time.monotonic() - start, SECONDS_MAX)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("tessera: "), done.stderr)
        self.assertIn(message, done.stderr)

    def test_wrong_text(self):
        self.refused("", "line 1, column 1: expected a value")
        self.refused("{\"size\": 1,,}", "line 1, column 12: expected a key in quotes")
        self.refused("[" * 10_000_000, "nested deeper than 64 levels")
        self.refused("\"\\ud800\"", "a surrogate without its other half")
        self.refused("[" + "0," * 3_000_000, "more than 2097152 values")

    def test_wrong_files(self):
        self.refused([], "must be an object, is an array")
        self.refused({"size": 10}, "the key \"views\" is missing")
        self.refused({"views": []}, "give one of \"size\": n and \"range\": [begin, end]")
        self.refused({"size": 0, "views": []}, "size (line 1, column 10): must be a range")
        self.refused({"size": 9223372036854775807, "views": []}, "must be a range")
        self.refused({"size": 10, "views": []}, "must hold 1 to 131072 views")
        self.refused(views(1, speed=1), "unknown key \"speed\"; known are size, range")
        self.refused({"size": 10, "views": [{"type": 1}] * 131073}, "must hold 1 to 131072 views")

    def test_wrong_views_are_named(self):
        twice = {"size": 9, "views": [{"process": 3, "type": 1}, {"process": 3, "type": 1}]}
        self.refused(twice, "view 1: line 1, column 50: process 3 has a view already")
        named = {"size": 9, "views": [{"name": "TR0", "type": {"vector": {"count": "x"}}}]}
        self.refused(named, "view 0 \"TR0\": type.vector (line")
        negative = {"size": 9, "views": [{"type": 1, "displacement": -5}]}
        self.refused(negative, "view 0: type (line 1, column 32): reaches byte -5")

    def test_wrong_types_are_named(self):
        self.refused(views(-1), "type (line 1, column")
        self.refused(views({"matrix": {}}), "a type is a number of bytes or an object with one key")
        self.refused(views({"vector": {"count": 1}}), "give one of \"stride\"")
        self.refused(views({"intervals": [[0, 5], [9, 7]]}),
                     "type.intervals[1] (line 1, column 61): ends at 7, before its begin 9")
        self.refused(views({"subarray": {"sizes": [4, 4], "subsizes": [2], "starts": [0, 0]}}),
                     "type.subarray.subsizes")
        self.refused(views({"contiguous": {"count": 2, "of": {"contiguous": {"count": -2}}}}),
                     "type.contiguous.of.contiguous (line")

    def test_numbers_that_overflow(self):
        huge = 9223372036854775807
        self.refused("{\"size\": 9223372036854775808, \"views\": []}",
                     "integer 9223372036854775808 does not fit in 64 bits")
        self.refused(views({"vector": {"count": huge, "blocklength": huge, "stride": huge}}),
                     "2^62")
        self.refused(views({"contiguous": {"count": huge, "of": huge}}), "type.contiguous")
        self.refused({"size": 9, "views": [{"type": 4, "displacement": huge}]},
                     "displacement (line")
        self.refused({"size": 9, "views": [{"type": 4, "tiles": huge}]}, "tiles (line")

    def test_nesting(self):
        deep = '{"contiguous":{"count":1,"of":' * 10_000 + "1" + "}}" * 10_000
        self.refused('{"size":9,"views":[{"type":' + deep + "}]}", "nested deeper than 64 levels")

    def test_overlap_of_disjoint_views(self):
        overlap = views({"intervals": [[0, 50]]}, {"intervals": [[40, 60]]}, disjoint=True)
        self.refused(overlap, "processes 0 and 1 share byte 40")

    def test_what_cannot_be_kept_small(self):
        primes = [p for p in range(3, 600) if all(p % q for q in range(2, p))]
        strides = [{"vector": {"count": 1 << 30, "stride": p}} for p in primes]
        self.refused(views(*strides, size=1 << 40), "too irregularly")
        rings = [{"intervals": [[30000 - i, 30000 + i]]} for i in range(1, 30000)]
        self.refused(views(*rings, size=60000), "take more than 256 MiB")
        folds = 1
        for stride in [999_983, 1_000_033, 1_000_003]:
            folds = {"vector": {"count": 2000, "stride_bytes": stride, "of": folds}}
        self.refused(views(folds, size=1 << 40), "view 0: type (line")

    def test_enormous_counts_that_are_regular_are_fine(self):
        done = run("objects", "-", "--json",
                   text=json.dumps(views({"vector": {"count": (1 << 32) - 1, "stride": 3}},
                                         size=1 << 40)))
        self.assertEqual(json.loads(done.stdout)["totals"]["objects"], (1 << 32) - 1)

    def test_many_irregular_intervals_take_seconds(self):
        """600,000 of 64 processes: a million objects, nearly each with sharers of its own."""
        dice = random.Random(7)
        def irregular(count):
            at = 0
            for _ in range(count):
                at += dice.randint(1, 512)
                length = dice.randint(8, 512)
                yield [at, at + length]
                at += length
        text = json.dumps(views(*({"intervals": list(irregular(9375))} for _ in range(64)),
                                size=1 << 23))
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = run("objects", "-", text=text)
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertIn("64 views", done.stdout)
        self.assertLess(now.ru_utime + now.ru_stime - spent.ru_utime - spent.ru_stime, 10)


class ExitCodes(unittest.TestCase):
    def code(self, *arguments, **more):
        return run(*arguments, **more).returncode

    def test_usage(self):
        for arguments in [(), ("nothing",), ("objects",), ("objects", "x", "y"),
                          ("objects", "x", "--speed"), ("objects", "x", "--families", "-1"),
                          ("objects", "-", "--at", "9:3"), ("objects", "-", "--at", "3"),
                          ("demo", "x")]:
            done = run(*arguments, text="{}")
            self.assertEqual(done.returncode, 2, arguments)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn("--help", done.stderr)
        done = run("objects", "--json", "--speed")
        self.assertEqual((done.returncode, json.loads(done.stdout)["error"]["code"]), (2, "usage"))

    def test_bench(self):
        self.assertEqual(self.code("bench", "--list"), 0)
        self.assertEqual(self.code("bench"), 2)
        done = run("bench", "no-such", "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["error"]["code"]),
                         (3, "not-found"))
        done = run("bench", "mpio")
        self.assertEqual((done.returncode, done.stderr),
                         (3, "tessera: no bench is called 'mpio'; did you mean mpiio? "
                             "(see tessera bench --list)\n"))
        done = run("bench", "pattern", "--against", ".")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--against", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_a_bench_program_older_than_the_product_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "bin/tessera"
            bench = program.with_name("tessera-bench")
            library = pathlib.Path(folder) / "lib/libtessera-mpiio-mpich.so"
            program.parent.mkdir()
            library.parent.mkdir()
            shutil.copy(PROGRAM, program)

            def listed():
                return subprocess.run([program, "bench", "--list"], text=True, check=False,
                                      capture_output=True, timeout=SECONDS_MAX)
            done = listed()
            self.assertEqual((done.returncode, done.stdout), (3, ""))
            self.assertIn("tessera-bench is missing", done.stderr)
            bench.write_text("#!/bin/sh\necho ran \"$@\"\n")
            bench.chmod(0o755)
            self.assertEqual(listed().stdout, "ran --list\n")
            library.write_text("")
            for newer in (program, library):
                for part in (program, bench, library):
                    os.utime(part, (1000, 1000))
                self.assertEqual(listed().stdout, "ran --list\n", "as old is not older")
                os.utime(newer, (2000, 2000))
                done = listed()
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(f"{bench} is older than {newer}; in the source tree `make benches`",
                              done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            missing = run("objects", "missing.json", folder=folder)
            self.assertEqual(missing.returncode, 3)
            self.assertEqual(missing.stderr,
                             "tessera: cannot read missing.json: No such file or directory\n")
            self.assertEqual(self.code("objects", folder), 1)
            self.assertEqual(self.code("demo", "--html", "no/such/folder.html", folder=folder), 3)
            locked = pathlib.Path(folder) / "locked.json"
            locked.write_text("{}")
            locked.chmod(0)
            if os.geteuid() != 0:
                self.assertEqual(self.code("objects", str(locked)), 6)
            else:
                # A folder below a file of /proc that even root may not write.
                self.assertEqual(self.code("demo", "--html", "/proc/x.html"), 3)

    @unittest.skipUnless(os.geteuid() == 0, "becoming another user needs root")
    def test_unreadable_as_another_user(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            locked = pathlib.Path(folder) / "locked.json"
            locked.write_text("{}")
            locked.chmod(0)
            reach = subprocess.run([PROGRAM, "version"], user=65534, capture_output=True,
                                   check=False) if self.reachable() else None
            if reach is None or reach.returncode != 0:
                self.skipTest("the build folder is closed to other users")
            done = subprocess.run([PROGRAM, "objects", str(locked)], user=65534, text=True,
                                  capture_output=True, check=False)
            self.assertEqual(done.returncode, 6, done.stderr)

    @staticmethod
    def reachable():
        return all(p.stat().st_mode & 0o001 for p in pathlib.Path(PROGRAM).resolve().parents)

    def test_errors_are_json_when_asked_for(self):
        done = run("objects", "missing.json", "--json")
        error = json.loads(done.stdout)["error"]
        self.assertEqual((error["code"], error["exit"]), ("not-found", 3))
        self.assertIn("cannot read missing.json", error["message"])
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_names_with_odd_bytes_stay_on_one_line(self):
        done = subprocess.run([PROGRAM, "objects", b"a\nb\xff", "--json"], capture_output=True,
                              check=False)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr.count(b"\n"), 1)
        self.assertIn("a\nb\ufffd", json.loads(done.stdout)["error"]["message"])

    def test_help_teaches(self):
        for command in ["", "objects", "demo", "bench", "version"]:
            done = run(*command.split(), "--help")
            self.assertEqual(done.returncode, 0)
            self.assertIn("Examples:", done.stdout)
            self.assertIn(f"tessera {command}".strip(), done.stdout)

    def test_help_is_a_command_too(self):
        for words in [(), ("objects",), ("run",), ("locks", "break"), ("mesh", "plan")]:
            asked = run("help", *words)
            self.assertEqual((asked.returncode, asked.stderr), (0, ""))
            self.assertEqual(asked.stdout, run(*words, "--help").stdout)

    def test_typos_name_what_was_meant(self):
        for arguments, message in [
                (("remapp",), "no command is called 'remapp'; did you mean remap? (see tessera "),
                (("help", "reprot"), "no command is called 'reprot'; did you mean report?"),
                (("help", "locks", "braek"), "no command is called 'braek'; did you mean break?"),
                (("mesh", "paln"),
                 "no command is called 'paln'; did you mean plan? (see tessera mesh --help)"),
                (("mesh", "nothing"), "no command is called 'nothing' (see tessera mesh --help)"),
                (("locks", "braek", "5"),
                 "no command is called 'braek'; did you mean break? (see tessera locks --help)"),
                (("nothing",), "no command is called 'nothing' (see tessera --help)"),
                (("--hepl",), "there is no option --hepl; did you mean --help? (see tessera "),
                (("objects", "--hepl"),
                 "there is no option --hepl; did you mean --help? (see tessera objects --help)"),
                (("objects", "x", "--htlm=y"), "there is no option --htlm; did you mean --html?"),
                (("objects", "x", "--speed"), "there is no option --speed (see tessera objects "),
                (("bench", "mpiio", "--ruonds", "3"),
                 "there is no option --ruonds; did you mean --rounds?")]:
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertTrue(done.stderr.startswith("tessera: " + message), done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)

    def test_version(self):
        self.assertRegex(run("version").stdout, r"^tessera \d+\.\d+\.\d+\n$")
        self.assertEqual(run("--version").stdout, run("version").stdout)
        self.assertIn("version", json.loads(run("version", "--json").stdout))


class PageCheck(HTMLParser):
    """Counts what a page holds, and that every element is closed."""
    VOID = {"meta", "br", "rect", "line", "path"}

    def __init__(self, text):
        super().__init__()
        self.open = []
        self.counts = {}
        self.outside = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.outside += [value for name, value in attrs if name in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.counts[tag] = self.counts.get(tag, 0) + 1

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"


class Pages(unittest.TestCase):
    def check_page(self, path, figures):
        page = PageCheck(pathlib.Path(path).read_text())
        self.assertEqual(page.open, [])
        self.assertEqual(page.outside, [], "a page refers to nothing outside it")
        self.assertEqual(page.counts.get("script", 0), 0)
        self.assertEqual(page.counts.get("svg", 0), figures)
        return page

    def test_demo(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("demo", folder=folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("tessera-demo.html", done.stdout)
            for line in ["TW0      [0, 60)     O0 O1 O2  TR0 TR1",
                         "TR3     [240, 320)  O4 O5 O7 O8",
                         "1       100  138,000  781,632,000"]:
                self.assertIn(line, done.stdout)
            page = self.check_page(pathlib.Path(folder) / "tessera-demo.html", 7)
            self.assertGreater(page.counts["title"], 361, "every part of the wall has its title")
            self.assertEqual(os.listdir(folder), ["tessera-demo.html"])

    def test_demo_leaves_nothing_when_it_is_ended(self):
        for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with tempfile.TemporaryDirectory() as folder, self.subTest(ending=ending):
                walls = lambda: list(pathlib.Path(folder).glob("tessera-demo-*"))
                with subprocess.Popen([PROGRAM, "demo"], cwd=folder, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL, start_new_session=True,
                                      env={**os.environ, "TMPDIR": folder}) as demo:
                    self.addCleanup(end_group, demo.pid)
                    self.wait_for(lambda: walls() or demo.poll() is not None)
                    self.assertIsNone(demo.poll())
                    demo.send_signal(ending)
                self.assertEqual(demo.returncode, -ending)
                self.wait_for(lambda: not walls())
                end_group(demo.pid)

    def wait_for(self, condition):
        begin = time.monotonic()
        while not condition():
            self.assertLess(time.monotonic() - begin, SECONDS_MAX)
            time.sleep(0.01)

    def test_demo_json(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("demo", "--json", "--html", "wall.html", folder=folder)
            demo = json.loads(done.stdout)
            self.assertEqual(demo["page"], "wall.html")
            self.assertEqual([item["meets"] for item in demo["example"]["lookup"]],
                             [[0, 1, 2], [3, 4, 5], [6, 7, 8]])
            self.assertEqual([item["objects"] for item in demo["example"]["layout"]],
                             [[0, 1, 3, 4], [1, 2, 4, 5], [3, 4, 6, 7], [4, 5, 7, 8]])
            wall = demo["wall"]
            self.assertEqual(wall["file_bytes"], 16680 * 15150 * 4)
            self.assertEqual(len(wall["readers"]["families"]), 19 * 19)
            self.assertEqual(wall["readers"]["totals"]["objects"], 19 * 15150)
            self.assertEqual(sum(item["objects_met"] for item in wall["writers"]), 19 * 15150)

    def test_objects(self):
        with tempfile.TemporaryDirectory() as folder:
            page = str(pathlib.Path(folder) / "o.html")
            small = str(TREE / "tests/data/figure2.json")
            self.assertEqual(run("objects", small, "--html", page).returncode, 0)
            self.check_page(page, 1)
            hostile = views({"vector": {"count": 1000, "stride": 3}})
            hostile["views"][0]["name"] = "<script>alert(1)</script>&\""
            done = run("objects", "-", "--html", page, text=json.dumps(hostile))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.check_page(page, 1)


class Remap(unittest.TestCase):
    """Files in the layout of their readers: what each reads lies in one run of the container."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.data = os.urandom(1 << 20)
        (self.folder / "in").write_bytes(self.data)
        self.write_views("columns.json", 4, 1 << 12)

    def write_views(self, name, readers, record):
        kind = {"vector": {"count": len(self.data) // record // readers, "blocklength": record,
                           "stride": record * readers}}
        text = {"size": len(self.data),
                "views": [{"type": kind, "displacement": i * record} for i in range(readers)]}
        (self.folder / name).write_text(json.dumps(text))

    def columns(self, readers, record):
        rows = [self.data[at:at + record] for at in range(0, len(self.data), record)]
        return [b"".join(rows[i::readers]) for i in range(readers)]

    def remap(self, *arguments, launch=()):
        done = subprocess.run([*launch, PROGRAM, "remap", *arguments], capture_output=True,
                              text=True, cwd=self.folder, timeout=SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def check(self, name, readers=4, record=1 << 12):
        container = (self.folder / name).read_bytes()
        for column in self.columns(readers, record):
            self.assertIn(column, container)

    def test_plain_and_object_files(self):
        for threads in ("1", "3"):
            line = self.remap("in", "a.obj", "--views", "columns.json", "--threads", threads,
                              "--force")
            self.assertRegex(line, r"^a.obj: 1.0 MiB in .* GiB/s\), 4 allocations, 0.0 MiB of them")
            self.check("a.obj")
        self.write_views("records.json", 3, 100)
        self.remap("obj:a.obj", "b.obj", "--views", "records.json", "--no-sync")
        self.remap("b.obj", "b.obj", "--like", "a.obj", "--quiet", "--force")
        self.check("b.obj")
        names = {path.name for path in self.folder.iterdir()}
        self.assertEqual(names, {"in", "a.obj", "b.obj", "columns.json", "records.json"})
        self.assertEqual((self.folder / "in").read_bytes(), self.data)
        modes = {(self.folder / name).stat().st_mode for name in ("in", "a.obj", "b.obj")}
        self.assertEqual(len(modes), 1)

    def test_shared_bytes(self):
        (self.folder / "in").write_bytes(self.data[:180])
        figure = str(TREE / "tests/data/figure5.json")
        each = json.loads(self.remap("in", "o", "--views", figure, "--json"))
        self.assertEqual((each["stored_bytes"], each["extra_bytes"]), (320, 140))
        once = json.loads(self.remap("in", "o", "--views", figure, "--replicate", "none",
                                     "--json", "--force"))
        self.assertEqual((once["stored_bytes"], once["extra_bytes"]), (180, 0))

    def test_bytes_that_nobody_views(self):
        part = views({"intervals": [[10, 20]]}, size=len(self.data))
        (self.folder / "part.json").write_text(json.dumps(part))
        whole = json.loads(self.remap("in", "o", "--views", "part.json", "--json"))
        self.assertEqual((whole["stored_bytes"], whole["allocations"]), (len(self.data), 2))
        only = json.loads(self.remap("in", "o", "--views", "part.json", "--only-views", "--json",
                                     "--force"))
        self.assertEqual((only["stored_bytes"], only["allocations"]), (10, 1))
        self.assertEqual(only["size_bytes"], len(self.data))

    def test_under_launchers(self):
        self.enterContext(mock.patch.dict(os.environ, mpi_jobs.environment(self.folder)))
        for mpi in mpi_jobs.LAUNCHERS:
            half = pathlib.Path(PROGRAM).parent.parent / f"lib/tessera/tessera-remap-{mpi}"
            if not shutil.which(f"mpiexec.{mpi}") or not half.exists():
                continue
            with self.subTest(mpi):
                launch = mpi_jobs.launcher(mpi, 3)
                line = self.remap("in", mpi, "--views", "columns.json", launch=launch)
                self.assertIn(f"{mpi}: 3 processes, 1.0 MiB", line)
                self.check(mpi)
                done = subprocess.run([*launch, PROGRAM, "remap", "none", "o", "--like", mpi],
                                      capture_output=True, text=True, cwd=self.folder,
                                      timeout=SECONDS_MAX, check=False)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("open none: No such file or directory", done.stderr)
                again = ["in", mpi, "--views", "columns.json", "--only-views"]
                done = subprocess.run([*launch, PROGRAM, "remap", *again], capture_output=True,
                                      text=True, cwd=self.folder, timeout=SECONDS_MAX, check=False)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("--force replaces it", done.stderr)
                self.check(mpi)
                self.remap(*again, "--force", launch=launch)
                self.check(mpi)

    def test_refusals(self):
        def refused(message, code, *arguments):
            done = run("remap", *arguments, folder=self.folder)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(message, done.stderr)
            self.assertFalse((self.folder / "o").exists())
            self.assertEqual([name for name in os.listdir(self.folder) if "tessera" in name], [])
        refused("open none: No such file", 3, "none", "o", "--views", "columns.json")
        refused("open none: No such file", 3, "in", "o", "--views", "none")
        refused("in is not an object file", 1, "in", "o", "--like", "in")
        (self.folder / "words").write_text("no views")
        refused("expected a value", 1, "in", "o", "--views", "words")
        refused("[--views,--like]", 2, "in", "o")
        refused("No such file", 3, "in", "none/o", "--views", "columns.json")
        self.remap("in", "a.obj", "--views", "columns.json")
        damaged = bytearray((self.folder / "a.obj").read_bytes())
        damaged[300_000] ^= 1
        (self.folder / "d.obj").write_bytes(damaged)
        refused("d.obj", 4, "d.obj", "o", "--like", "a.obj")
        damaged[100] ^= 1
        damaged[4196] ^= 1
        (self.folder / "d.obj").write_bytes(damaged)
        refused("d.obj", 4, "d.obj", "o", "--like", "a.obj")
        with open(self.folder / "a.obj", "r+b") as held:
            fcntl.lockf(held, fcntl.LOCK_EX, 1, 1 << 62)
            done = run("remap", "in", "a.obj", "--views", "columns.json", "--force",
                       folder=self.folder)
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertIn("a.obj is open for writing", done.stderr)
        self.check("a.obj")


class Tune(unittest.TestCase):
    """What transfers cost in a folder."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.profile = self.folder / "profile.json"
        self.place = self.folder / "place"
        self.place.mkdir()
        self.environment = {**os.environ, "TESSERA_PROFILE": str(self.profile)}

    def start(self, *arguments):
        return subprocess.Popen([PROGRAM, "tune", str(self.place), *arguments], text=True,
                                env=self.environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def test_profile(self):
        job = self.start("--seconds", "0.1", "--json", "--nodes-served", "4")
        out, err = job.communicate(timeout=SECONDS_MAX)
        self.assertEqual(job.returncode, 0, err)
        found = {cost["name"]: cost["measured"] for cost in json.loads(out)["costs"]}
        stored = json.loads(self.profile.read_text())
        self.assertEqual(stored["costs"], {name: value for name, value in found.items()
                                           if value is not None})
        self.assertEqual(found["nodes_served"], 4)
        self.assertGreater(found["request_ns"], 0)
        self.assertIsNone(found["message_ns"])
        self.assertEqual(list(self.place.iterdir()), [])

    def test_a_profile_replaces_profiles_only(self):
        for content, code in (("notes\n", 1), ('{"format": "tessera-profile"}', 0), ("", 0)):
            self.profile.write_text(content)
            job = self.start("--seconds", "0.1")
            err = job.communicate(timeout=SECONDS_MAX)[1]
            self.assertEqual(job.returncode, code, err)
            if code != 0:
                self.assertIn("profile.json is there and is no profile; remove it", err)
                self.assertEqual(self.profile.read_text(), content)

    def test_nothing_is_left_by_an_interrupt(self):
        job = self.start("--seconds", "30")
        time.sleep(0.5)
        job.send_signal(signal.SIGINT)
        job.communicate(timeout=SECONDS_MAX)
        self.assertEqual(job.returncode, -signal.SIGINT)
        self.assertEqual(list(self.place.iterdir()), [])
        self.assertFalse(self.profile.exists())

    def test_refusals(self):
        for arguments, code, part in ((["missing"], 3, "missing"), (["file"], 1, "no directory"),
                                      ([".", "--seconds", "-1"], 2, "--seconds"),
                                      ([".", "--nodes-served", "0"], 1, "nodes_served"),
                                      ([], 2, "DIR")):
            (self.folder / "file").write_text("x")
            done = run("tune", *arguments, folder=self.folder)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(part, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    PROGRAM, TREE = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
