#!/usr/bin/env python3
"""Runs the commands of object files: import, export, show, check, compact and mount.

    tests/cli/run_object_tests.py TESSERA SOURCE_TREE [unittest arguments]
"""
import fcntl
import json
import os
import pathlib
import pty
import random
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

PROGRAM = ""
TREE = pathlib.Path()
SECONDS_MAX = 60
WRITER_BYTE = 1 << 62
READER_BYTE = WRITER_BYTE + 1
HEADER_BYTES = 12288


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], text=True, capture_output=True,
                          timeout=SECONDS_MAX, check=False)


def some_bytes(count, seed=1):
    return random.Random(seed).randbytes(count)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tessera-object-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.plain = self.folder / "plain"
        self.object = self.folder / "data.obj"
        self.back = self.folder / "back"

    def ok(self, *arguments):
        done = run(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def refused(self, code, message, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("tessera: "), done.stderr)
        self.assertIn(message, done.stderr)

    def import_bytes(self, content, *arguments):
        self.plain.write_bytes(content)
        self.ok("import", self.plain, self.object, *arguments)

    def exported(self):
        self.ok("export", self.object, self.back, "--force")
        return self.back.read_bytes()

    def shown(self):
        return json.loads(self.ok("show", self.object, "--json"))

    def flip(self, at):
        with open(self.object, "r+b") as file:
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 0x10]))


class Transfers(Case):
    def test_there_and_back(self):
        for size in (0, 1, 16384, 5_000_001):
            content = some_bytes(size, size)
            self.import_bytes(content, "--force")
            self.assertEqual(self.exported(), content)
            facts = self.shown()
            self.assertEqual(facts["size_bytes"], size)
            self.assertEqual(facts["allocation_count"], min(size, 1))
            self.assertEqual(facts["dead_bytes"], -size % 16384)
        self.assertEqual(sorted(os.listdir(self.folder)), ["back", "data.obj", "plain"])

    def test_holes_stay_holes(self):
        hole = 300 << 20
        with open(self.plain, "wb") as file:
            file.write(b"begin")
            file.seek(hole)
            file.write(b"middle")
            file.truncate(2 * hole)
        self.ok("import", self.plain, self.object)
        self.assertLess(self.object.stat().st_size, 1 << 20)
        self.assertGreater(self.shown()["hole_bytes"], hole)
        self.ok("export", self.object, self.back)
        self.assertEqual(self.back.stat().st_size, 2 * hole)
        self.assertLess(self.back.stat().st_blocks * 512, 1 << 20)
        with open(self.back, "rb") as file:
            self.assertEqual(file.read(6), b"begin\0")
            file.seek(hole - 1)
            self.assertEqual(file.read(8), b"\0middle\0")

    def test_views_are_stored_together(self):
        # Figure 5 of paper 0: four overlapping tiles of an image of 60x3.
        content = some_bytes(200)
        views = TREE / "tests/data/figure5.json"
        self.import_bytes(content, "--views", views)
        self.assertEqual(self.exported(), content)
        facts = self.shown()
        writers = {one["process"]: one for one in facts["writers"]}
        self.assertEqual([writers[p]["view"]["bytes"] for p in range(4)], [80] * 4)
        # Process 0 has all its bytes, and those that are in no view (180 to 199) beside them.
        self.assertEqual([writers[p]["visible_bytes"] for p in range(4)], [100, 40, 40, 20])
        self.assertEqual(writers[0]["view"]["read_runs"], 1)
        self.assertEqual(facts["views"]["totals"]["shared_objects"], 5)
        self.assertEqual(facts["visible_bytes"], 200)

    def test_interleaved_views(self):
        content = some_bytes(400_003)
        views = {"size": 400_000, "views": [
            {"type": {"vector": {"count": 100_000, "stride": 4}}, "displacement": i}
            for i in range(4)]}
        path = self.folder / "v.json"
        path.write_text(json.dumps(views))
        self.import_bytes(content, "--views", path)
        self.assertEqual(self.exported(), content)
        facts = self.shown()
        self.assertEqual([one["view"]["read_runs"] for one in facts["writers"]], [1] * 4)
        self.assertLess(facts["contents_bytes"], 2000)

    def test_recorded_views_are_a_views_file(self):
        content = some_bytes(200)
        self.import_bytes(content, "--views", TREE / "tests/data/figure5.json")
        views = self.folder / "v.json"
        views.write_text(self.ok("show", "--views", self.object))
        self.assertEqual(json.loads(views.read_text())["size"], 200)
        shares = json.loads(self.ok("objects", views, "--json"))["totals"]
        self.assertEqual((shares["views_bytes"], shares["shared_objects"]), (320, 5))
        for option in ("--views", "--like"):
            self.ok("remap", self.plain, self.object, option, views, "--quiet", "--force")
            writers = [one for one in self.shown()["writers"] if "view" in one]
            self.assertEqual([one["view"]["read_runs"] for one in writers], [1] * 4)
            self.assertEqual(self.exported(), content)
        self.refused(2, "excludes", "show", "--views", "--json", self.object)

    def test_a_file_without_views_says_so(self):
        self.import_bytes(b"content")
        self.refused(1, "data.obj: the object file records no views", "show", "--views",
                     self.object)
        self.refused(1, "not an object file", "show", "--views", self.plain)
        self.refused(1, "not an object file, and as a views file: line 1", "remap", self.plain,
                     self.folder / "new", "--like", self.plain)

    def test_permissions_follow_the_source(self):
        self.plain.write_bytes(b"x")
        self.plain.chmod(0o640)
        before = os.umask(0o022)
        self.addCleanup(os.umask, before)
        self.ok("import", self.plain, self.object)
        self.assertEqual(stat.S_IMODE(self.object.stat().st_mode), 0o640)
        self.object.chmod(0o600)
        self.ok("import", self.plain, self.object, "--force")
        self.assertEqual(stat.S_IMODE(self.object.stat().st_mode), 0o600)

    def test_refusals_leave_nothing(self):
        self.import_bytes(some_bytes(100_000))
        self.back.write_bytes(b"precious")
        self.refused(1, "--force", "export", self.object, self.back)
        self.refused(1, "--force", "import", self.plain, self.object)
        self.refused(3, "cannot open", "import", self.folder / "none", self.folder / "x")
        self.refused(1, "a directory", "import", self.folder, self.folder / "x")
        self.refused(1, "already", "import", self.object, self.folder / "x")
        self.refused(1, "a plain file", "export", self.plain, self.folder / "x")
        self.refused(3, "", "export", self.object, self.folder / "no/x")
        self.refused(3, "", "import", self.plain, self.folder / "x", "--views", self.folder / "no")
        self.flip(self.object.stat().st_size - 20_000)
        with open(self.object, "r+b") as file:
            file.seek(40_000)
            file.write(b"tampered")
        self.refused(4, "", "export", self.object, self.folder / "x")
        self.assertEqual(sorted(os.listdir(self.folder)), ["back", "data.obj", "plain"])
        self.assertEqual(self.back.read_bytes(), b"precious")


    def test_a_full_disk_leaves_nothing(self):
        self.import_bytes(some_bytes(3_000_000))

        def bound():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))
        for command, source in (("import", self.plain), ("export", self.object)):
            done = subprocess.run([PROGRAM, command, source, self.folder / "x"], text=True,
                                  capture_output=True, preexec_fn=bound, check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("File too large", done.stderr)
            self.assertEqual(sorted(os.listdir(self.folder)), ["data.obj", "plain"])


class Checks(Case):
    def test_sound(self):
        self.import_bytes(some_bytes(100_000))
        self.assertIn(": sound; commit 2, 100,000 bytes", self.ok("check", self.object))
        found = json.loads(self.ok("check", "--json", self.object))
        self.assertEqual((found["sound"], found["blocks_checked"]), (True, 7))
        self.ok("check", "--quick", self.object)

    def test_plain(self):
        self.plain.write_bytes(b"anything at all")
        self.assertIn("a plain file", self.ok("check", self.plain))
        self.assertIn("plain file of 15 bytes", self.ok("show", self.plain))
        self.assertEqual(json.loads(self.ok("show", "--json", self.plain))["kind"], "plain")
        self.refused(3, "", "check", self.folder / "none")
        self.refused(1, "plain file", "compact", self.plain)

    def test_damage_is_named(self):
        self.import_bytes(some_bytes(100_000))
        place = self.shown()["allocations"][0]["place"]
        self.flip(place[0] + 20_000)
        done = run("check", self.object)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("1 finding", done.stdout)
        self.assertIn("[16384, 32768)", done.stdout)
        self.ok("check", "--quick", self.object)
        self.assertEqual(run("compact", self.object).returncode, 4)
        self.assertEqual(sorted(os.listdir(self.folder)), ["data.obj", "plain"])

    def test_one_root_serves_for_both(self):
        content = some_bytes(10_000)
        self.import_bytes(content)
        self.flip(4096 + 60)
        self.assertIn("repairable", self.ok("check", self.object))
        self.assertIn("complaint", self.ok("show", self.object))
        self.assertEqual(self.exported(), content)
        self.flip(8192 + 60)
        for command in ("check", "show", "compact"):
            self.assertEqual(run(command, self.object).returncode, 4)
        self.refused(4, "both superblocks are damaged", "show", self.object)

    def test_first_bytes_are_those_of_the_file(self):
        content = b"CDF\x05" + some_bytes(100_000)
        self.import_bytes(content)
        self.assertEqual(self.object.read_bytes()[:4096], content[:4096])
        self.ok("compact", self.object)
        self.assertEqual(self.object.read_bytes()[:4096], content[:4096])
        self.ok("check", self.object)

    def test_overwritten_parts(self):
        """What no crash leaves is damage, also where another copy serves or all roots are gone."""
        self.import_bytes(some_bytes(100_000))
        whole = self.object.read_bytes()
        data = self.shown()["allocations"][0]["place"][0]
        # Page 0, each superblock, both, the whole first block, the first block of data.
        for begin, length in ((0, 4096), (4096, 4096), (8192, 4096), (4096, 8192), (0, 16_384),
                              (data, 16_384), (100, 1)):
            for filling in (random.Random(begin).randbytes(length), bytes(length)):
                with self.subTest(begin=begin, length=length, zeros=filling[0] == 0):
                    self.object.write_bytes(
                        whole[:begin] + filling + whole[begin + length:])
                    done = run("check", self.object)
                    self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
                    self.assertEqual(run("check", "--json", self.object).returncode, 4)
                    self.assertEqual(run("check", f"obj:{self.object}").returncode, 4)
        self.object.write_bytes(whole)
        self.ok("check", f"obj:{self.object}")

    def test_files_of_version_1(self):
        """They are read and mended as before; compacted, they are of the present version."""
        old = TREE / "tests/fuzz/corpus/fuzz_container/written"
        self.object.write_bytes(old.read_bytes())
        self.ok("check", self.object)
        content = self.exported()
        self.assertNotEqual(self.object.read_bytes()[:4], content[:4])
        self.flip(60)
        self.assertIn("repairable", self.ok("check", self.object))
        self.assertEqual(self.exported(), content)
        self.object.write_bytes(old.read_bytes())
        self.ok("compact", self.object)
        self.ok("check", self.object)
        self.assertEqual(self.object.read_bytes()[:4096], content[:4096].ljust(4096, b"\0"))
        self.assertEqual(self.exported(), content)

    def test_cut_off(self):
        self.import_bytes(some_bytes(100_000))
        for size in (60_000, 10_000, 5_000):
            os.truncate(self.object, size)
            self.refused(4, "", "show", self.object)
            self.refused(4, "", "export", self.object, self.back)
            self.assertEqual(run("check", self.object).returncode, 4)


class Pages(Case):
    def test_page(self):
        self.import_bytes(some_bytes(200), "--views", TREE / "tests/data/figure5.json")
        page = self.folder / "p.html"
        self.assertIn(f"page: {page}", self.ok("show", self.object, "--html", page))
        html = page.read_text()
        self.assertEqual(html.count("<svg"), 3)
        self.assertNotIn("<script", html)
        for picture in re.findall(r"<svg.*?</svg>", html, re.S):
            boxes = [[float(rect.get(key)) for key in ("x", "y", "width", "height")]
                     for rect in xml.etree.ElementTree.fromstring(picture).iter("rect")]
            self.assertGreater(len(boxes), 3)
            for x, y, width, height in boxes:
                self.assertTrue(0 <= x and x + width <= 1000 and y >= 0 and height > 0, picture)
        for text in ("In the order of the file", "not visible", "P3"):
            self.assertIn(text, html)

    def test_a_page_replaces_pages_only(self):
        self.import_bytes(b"content")
        page = self.folder / "p.html"
        show = ("show", self.object, "--html")
        self.ok(*show, page)
        self.ok(*show, page)
        page.write_bytes(b"")
        self.ok(*show, page)
        written = page.read_bytes()
        other = self.folder / "other"
        self.ok("import", self.plain, other)
        for path, message in ((self.object, "FILE and --html are one file"),
                              (other, "other is an object file; name another file"),
                              (self.plain, "plain is there and is no page of tessera; remove it")):
            before = path.read_bytes()
            self.refused(1, message, *show, path)
            self.assertEqual(path.read_bytes(), before)
        self.assertEqual(self.exported(), b"content")
        page.write_text("<!DOCTYPE html>\n<p>another's</p>\n")
        self.refused(1, "p.html is there and is no page", *show, page)
        page.write_bytes(written)
        with open(page, "r+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, WRITER_BYTE)
            self.refused(5, "p.html is open for writing", *show, page)

    def test_a_link_is_followed_and_not_replaced(self):
        self.import_bytes(b"content")
        page, link = self.folder / "p.html", self.folder / "link"
        link.symlink_to("p.html")
        self.refused(3, "link", "show", self.object, "--html", link)
        page.write_bytes(b"")
        self.ok("show", self.object, "--html", link)
        self.assertTrue(link.is_symlink())
        self.assertIn("Made by tessera", page.read_text())
        page.write_text("something else\n")
        self.refused(1, "is no page", "show", self.object, "--html", link)
        self.assertEqual(page.read_text(), "something else\n")

    def test_a_page_of_views_is_not_their_file(self):
        views = self.folder / "v.json"
        shutil.copy(TREE / "tests/data/figure5.json", views)
        before = views.read_bytes()
        self.refused(1, "VIEWS and --html are one file", "objects", views, "--html", views)
        self.assertEqual(views.read_bytes(), before)


class Compaction(Case):
    def test_keeps_bytes_and_permissions(self):
        content = some_bytes(300_000)
        self.import_bytes(content)
        self.object.chmod(0o664)
        identity = self.shown()["file_id"]
        self.assertIn("300,000 copied", self.ok("compact", self.object))
        self.assertEqual(self.exported(), content)
        self.assertEqual(stat.S_IMODE(self.object.stat().st_mode), 0o664)
        self.assertEqual(self.shown()["file_id"], identity)

    def test_refused_while_it_is_written(self):
        self.import_bytes(b"x")
        with open(self.object, "r+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, WRITER_BYTE)
            self.refused(5, "open for writing elsewhere", "compact", self.object)
            (self.folder / "empty").mkdir()
            self.refused(5, "open for writing elsewhere", "mount", self.object,
                         self.folder / "empty")
            self.ok("show", self.object)
        self.ok("compact", self.object)


class Layout(Case):
    """What readers of a remapped file have stays theirs when it is compacted."""

    def test_names_with_their_prefix(self):
        self.import_bytes(some_bytes(100_000))
        self.ok("compact", f"obj:{self.object}")
        self.ok("check", f"obj:{self.object}")
        other = self.folder / "other.obj"
        self.ok("import", self.plain, f"obj:{other}")
        self.ok("check", other)
        self.refused(1, "export makes a plain one", "export", other, f"obj:{self.folder}/plain2")

    def test_compaction_keeps_copies_and_runs(self):
        content = some_bytes(200)
        self.plain.write_bytes(content)
        self.ok("remap", self.plain, self.object, "--views", TREE / "tests/data/figure5.json",
                "--quiet")
        before = self.shown()
        beside = self.folder / "data.obj.compact"
        beside.write_bytes(b"somebody's")
        self.ok("compact", self.object)
        after = self.shown()
        def runs(facts):
            return [one["view"]["read_runs"] for one in facts["writers"] if "view" in one]
        self.assertEqual(runs(before), [1] * 4)
        self.assertEqual(runs(after), [1] * 4)
        self.assertEqual(after["allocation_count"], before["allocation_count"])
        self.assertEqual(self.exported(), content)
        self.assertEqual(beside.read_bytes(), b"somebody's")
        self.ok("check", self.object)

    def test_names_of_views_stay(self):
        content = some_bytes(200)
        views = {"size": 200, "views": [
            {"type": {"vector": {"count": 10, "blocklength": 5, "stride": 20}},
             "name": "left tile"},
            {"type": {"vector": {"count": 10, "blocklength": 5, "stride": 20}},
             "displacement": 5}]}
        path = self.folder / "v.json"
        path.write_text(json.dumps(views))
        def names(file):
            shown = json.loads(self.ok("show", "--views", file))
            return [view.get("name") for view in shown["views"]]
        self.import_bytes(content, "--views", path)
        self.assertEqual(names(self.object), ["left tile", None])
        self.ok("compact", self.object)
        self.assertEqual(names(self.object), ["left tile", None])
        other = self.folder / "other.obj"
        self.ok("remap", self.plain, other, "--like", self.object, "--quiet")
        self.assertEqual(names(other), ["left tile", None])
        views["views"][0]["name"] = "right tile"
        path.write_text(json.dumps(views))
        self.ok("remap", other, other, "--views", path, "--quiet", "--force")
        self.assertEqual(names(other), ["right tile", None])


class Replacing(Case):
    """What is there is replaced whole, by whoever is asked to, or not at all."""

    ROUNDS = 6
    BYTES = 6_000_000

    def setUp(self):
        super().setUp()
        self.views = self.folder / "v.json"
        self.write_views(self.BYTES)

    def write_views(self, size, readers=3, record=1000):
        self.views.write_text(json.dumps({"size": size, "views": [
            {"displacement": i * record, "tiles": "all",
             "type": {"resized": {"extent": readers * record, "of": record}}}
            for i in range(readers)]}))

    def start(self, *arguments):
        return subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def end(self, process):
        text, errors = process.communicate(timeout=SECONDS_MAX)
        return process.returncode, text + errors

    def remapping(self, source, to, *more):
        return ("remap", source, to, "--views", self.views, "--quiet", "--no-sync", "--threads", 1,
                *more)

    def names(self):
        return sorted(os.listdir(self.folder))

    @unittest.skipUnless(os.geteuid() == 0, "only root gives files away")
    def test_the_owner_stays(self):
        self.import_bytes(some_bytes(self.BYTES), "--views", self.views)
        for command in (["compact", self.object],
                        ["remap", self.object, self.object, "--like", self.object, "--force"],
                        ["import", self.plain, self.object, "--force"]):
            os.chown(self.object, 12345, 12346)
            self.ok(*command)
            status = self.object.stat()
            self.assertEqual((status.st_uid, status.st_gid), (12345, 12346), command[0])

    def test_nothing_is_replaced_unasked(self):
        content = some_bytes(10_000)
        self.write_views(10_000)
        self.plain.write_bytes(content)
        self.back.write_bytes(b"precious")
        self.refused(1, "--force replaces it", *self.remapping(self.plain, self.back))
        self.refused(1, "--force replaces it", *self.remapping(self.plain, self.plain))
        self.assertEqual(self.back.read_bytes(), b"precious")
        self.assertEqual(self.plain.read_bytes(), content)
        self.refused(1, "not a regular file", *self.remapping(self.plain, self.folder, "--force"))
        self.ok(*self.remapping(self.plain, self.object))
        self.ok(*self.remapping(self.plain, self.back, "--force"))
        self.ok("check", self.back)

    def test_bytes_in_no_view_are_not_dropped_in_place_unasked(self):
        content = some_bytes(10_000)
        self.write_views(10_000, record=10)
        self.import_bytes(content)
        part = {"size": 10_000, "views": [{"type": {"intervals": [[0, 100]]}}]}
        self.views.write_text(json.dumps(part))
        in_place = self.remapping(self.object, self.object, "--only-views")
        self.refused(1, "would lose the bytes that nobody views", *in_place)
        self.assertEqual(self.exported(), content)
        self.ok(*in_place, "--force")
        self.assertEqual(self.exported(), content[:100] + bytes(9_900))

    def test_what_a_job_writes_is_not_replaced(self):
        self.import_bytes(b"content")
        with open(self.object, "r+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, WRITER_BYTE)
            self.refused(5, "data.obj is open for writing", "import", self.plain, self.object,
                         "--force")
            self.refused(5, "data.obj is open for writing",
                         *self.remapping(self.plain, self.object, "--force"))
        self.assertEqual(self.exported(), b"content")
        self.ok("import", self.plain, self.object, "--force")

    def test_a_locked_source_is_refused_and_not_waited_for(self):
        self.plain.write_bytes(some_bytes(10_000))
        self.write_views(10_000)
        with open(self.plain, "r+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for command in (self.remapping(self.plain, self.object),
                            ("import", self.plain, self.object), ("show", self.plain)):
                self.refused(5, "plain is locked by another program", *command)
        self.assertFalse(self.object.exists())
        self.ok(*self.remapping(self.plain, self.object))

    def both(self, *arguments):
        """Two at once; at least one succeeds, and the other too or says why not."""
        ends = [self.end(process) for process in (self.start(*arguments), self.start(*arguments))]
        self.assertIn(0, [code for code, _ in ends], ends)
        for code, text in ends:
            self.assertIn(code, (0, 1, 5), text)
            if code != 0:
                self.assertRegex(text, "open for writing|is there|was replaced")

    def check_both(self, content, *arguments, out):
        self.both(*arguments)
        self.ok("check", out)
        self.ok("export", out, self.back, "--force")
        self.assertEqual(self.back.read_bytes(), content)
        self.back.unlink()

    def test_two_at_once(self):
        content = some_bytes(self.BYTES)
        self.import_bytes(content)
        out = self.folder / "out"
        for _ in range(self.ROUNDS):
            out.unlink(missing_ok=True)
            self.check_both(content, *self.remapping(self.plain, out), out=out)
            self.check_both(content, *self.remapping(self.plain, out, "--force"), out=out)
            self.check_both(content, *self.remapping(out, out, "--force"), out=out)
            self.check_both(content, "compact", out, out=out)
            self.check_both(content, "import", self.plain, out, "--force", out=out)
            self.both("export", self.object, out, "--force")
            self.assertEqual(out.read_bytes(), content)
        self.assertEqual(self.names(), ["data.obj", "out", "plain", "v.json"])

    def test_a_source_in_place_survives_whoever_is_killed(self):
        content = some_bytes(self.BYTES)
        self.import_bytes(content)
        in_place = self.remapping(self.object, self.object, "--force")
        begin = time.monotonic()
        self.ok(*in_place)
        whole = time.monotonic() - begin
        for round_number in range(2 * self.ROUNDS):
            other, stopped = self.start(*in_place), self.start(*in_place)
            time.sleep(whole * (round_number + 1) / (2 * self.ROUNDS + 1))
            stopped.send_signal(signal.SIGSTOP)
            code, text = self.end(other)
            self.assertIn(code, (0, 5), text)
            stopped.send_signal(signal.SIGKILL)
            self.end(stopped)
            self.ok("check", self.object)
            self.assertEqual(self.exported(), content)
        self.ok(*in_place)
        self.assertEqual(self.names(), ["back", "data.obj", "plain", "v.json"])

    def check_whole(self, path, content):
        if json.loads(self.ok("show", path, "--json"))["kind"] == "object":
            self.ok("check", path)
            self.ok("export", path, self.back)
            path = self.back
        self.assertEqual(path.read_bytes(), content)
        self.back.unlink(missing_ok=True)

    def test_signals_leave_nothing(self):
        content = some_bytes(5 * self.BYTES)
        self.import_bytes(content)
        before = self.names()
        commands = (self.remapping(self.plain, self.folder / "out"),
                    ("import", self.plain, self.folder / "out"),
                    ("export", self.object, self.folder / "out"), ("compact", self.object))
        for command in commands:
            begin = time.monotonic()
            self.ok(*command)
            whole = time.monotonic() - begin
            for number, ending in enumerate((signal.SIGKILL, signal.SIGINT, signal.SIGTERM) * 2):
                (self.folder / "out").unlink(missing_ok=True)
                process = self.start(*command)
                time.sleep(whole * (number + 1) / 8)
                process.send_signal(ending)
                code, text = self.end(process)
                self.assertIn(code, (0, -ending), text)
                # It may have been done when the signal came.
                if (self.folder / "out").exists():
                    self.check_whole(self.folder / "out", content)
                    (self.folder / "out").unlink()
                self.assertEqual(self.names(), before, f"{command[0]} {ending}")
        self.assertEqual(self.exported(), content)

    def test_standard_output_is_no_file(self):
        self.import_bytes(b"content")
        for command in (["import", "plain", "-"], ["export", "data.obj", "-"],
                        ["remap", "plain", "-", "--views", "v.json"],
                        ["show", "data.obj", "--html", "-"]):
            done = subprocess.run([PROGRAM, *command], cwd=self.folder, text=True,
                                  capture_output=True, timeout=SECONDS_MAX, check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("name a file instead of -", done.stderr)
            self.assertEqual(self.names(), ["data.obj", "plain", "v.json"])

    def test_direct_io(self):
        content = some_bytes(self.BYTES)
        self.plain.write_bytes(content)
        done = run(*self.remapping(self.plain, self.object, "--direct"))
        if done.returncode != 0:
            self.assertIn("has no direct I/O", done.stderr)
            return
        self.assertEqual(self.exported(), content)
        self.ok("check", self.object)


class Mountpoints(Case):
    def test_a_directory_that_is_not_empty_is_refused(self):
        self.import_bytes(b"content")
        self.addCleanup(subprocess.run, ["fusermount3", "-u", "-z", str(self.folder)],
                        capture_output=True, check=False)
        self.refused(1, "is not empty", "mount", self.object, self.folder)
        self.assertEqual(sorted(os.listdir(self.folder)), ["data.obj", "plain"])


class ProgressLines(Case):
    """One style, on terminals only, for what takes long."""

    def on_terminal(self, *arguments):
        ours, theirs = pty.openpty()
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.DEVNULL,
                                   stderr=theirs)
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            shown += part
        os.close(ours)
        self.assertEqual(process.wait(timeout=SECONDS_MAX), 0, shown)
        return shown.decode()

    def test_remap_and_compact(self):
        size = 257 << 20
        with open(self.plain, "wb") as file:
            file.truncate(size)
        views = self.folder / "v.json"
        views.write_text(json.dumps({"size": size, "views": [
            {"type": {"intervals": [[0, size]]}}]}))
        shown = self.on_terminal("remap", self.plain, self.object, "--views", views, "--no-sync")
        self.assertRegex(shown, r"remapped [\d.]+ [MK]iB of 257 MiB \([\d.]+%\)")
        shown = self.on_terminal("compact", self.object)
        self.assertRegex(shown, r"compacted [\d.]+ [MK]iB of 257 MiB \([\d.]+%\)")


def can_mount():
    return os.access("/dev/fuse", os.R_OK | os.W_OK) and shutil.which("fusermount3")


@unittest.skipUnless(can_mount(), "no FUSE here")
class Mounts(Case):
    def setUp(self):
        super().setUp()
        self.root = self.folder / "mnt"
        self.root.mkdir()
        self.file = self.root / "data.obj"
        self.addCleanup(self.unmount)
        self.content = some_bytes(3_000_000)
        self.import_bytes(self.content)

    def mount(self, *arguments):
        self.ok("mount", *arguments, self.object, self.root)
        self.assertTrue(os.path.ismount(self.root))

    def unmount(self):
        subprocess.run(["fusermount3", "-u", "-z", str(self.root)], capture_output=True,
                       check=False)

    def unmount_cleanly(self):
        subprocess.run(["fusermount3", "-u", str(self.root)], check=True)

    def shell(self, command):
        subprocess.run(command, shell=True, check=True, cwd=self.folder, capture_output=True)

    def test_programs_read_and_write(self):
        self.mount()
        self.assertEqual(os.listdir(self.root), ["data.obj"])
        self.shell("cmp plain mnt/data.obj")
        patch = some_bytes(100_000, 7)
        (self.folder / "patch").write_bytes(patch)
        self.shell("dd if=patch of=mnt/data.obj bs=1000 seek=500 conv=notrunc")
        self.content = self.content[:500_000] + patch + self.content[600_000:]
        self.assertEqual(self.file.read_bytes(), self.content)
        os.truncate(self.file, 1_000_000)
        with open(self.file, "ab") as file:
            file.write(b"the end")
        self.content = self.content[:1_000_000] + b"the end"
        self.unmount_cleanly()
        self.assertEqual(self.exported(), self.content)
        self.wait_until_free()
        self.ok("check", self.object)
        before = self.object.stat().st_size
        self.ok("compact", self.object)
        self.assertLess(self.object.stat().st_size, before)
        self.assertEqual(self.exported(), self.content)

    def wait_until_free(self):
        for _ in range(100):
            with open(self.object, "r+b") as file:
                try:
                    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, WRITER_BYTE)
                    return
                except OSError:
                    time.sleep(0.05)
        self.fail("the mount does not end")

    def test_copying_over_it(self):
        self.mount()
        other = some_bytes(4_000_000, 9)
        (self.folder / "other").write_bytes(other)
        (self.folder / "other").chmod(0o604)
        self.shell("cp -p other mnt/data.obj && cmp other mnt/data.obj")
        self.unmount_cleanly()
        self.assertEqual(self.exported(), other)
        self.assertEqual(stat.S_IMODE(self.object.stat().st_mode), 0o604)

    def test_a_killed_mount_leaves_the_last_commit(self):
        serving = subprocess.Popen([PROGRAM, "mount", "--foreground", self.object, self.root])
        for _ in range(100):
            if os.path.ismount(self.root):
                break
            time.sleep(0.05)
        descriptor = os.open(self.file, os.O_RDWR)
        os.pwrite(descriptor, b"committed", 10)
        os.fsync(descriptor)
        os.pwrite(descriptor, b"lost" * 100_000, 0)
        serving.send_signal(signal.SIGKILL)
        serving.wait()
        self.unmount()
        try:
            os.close(descriptor)
        except OSError:
            pass
        self.assertEqual(self.exported(),
                         self.content[:10] + b"committed" + self.content[19:])
        self.ok("check", self.object)

    def test_a_terminated_mount_commits(self):
        serving = subprocess.Popen([PROGRAM, "mount", "--foreground", self.object, self.root])
        for _ in range(100):
            if os.path.ismount(self.root):
                break
            time.sleep(0.05)
        descriptor = os.open(self.file, os.O_RDWR)
        os.pwrite(descriptor, b"kept", 0)
        serving.terminate()
        self.assertEqual(serving.wait(timeout=SECONDS_MAX), 0)
        try:
            os.close(descriptor)
        except OSError:
            pass
        self.assertEqual(self.exported(), b"kept" + self.content[4:])

    def test_a_container_without_a_name_is_an_error(self):
        self.mount()
        descriptor = os.open(self.file, os.O_RDWR)
        os.pwrite(descriptor, b"nowhere", 0)
        self.object.unlink()
        with self.assertRaises(OSError):
            os.fsync(descriptor)
        try:
            os.close(descriptor)
        except OSError:
            pass

    def test_what_others_read_stays_as_it_was(self):
        self.mount()
        # Who reads the file itself, as a job does: two commits later its space could be used again.
        with open(self.object, "rb") as reader:
            fcntl.lockf(reader, fcntl.LOCK_SH, 1, READER_BYTE)
            header = reader.read(HEADER_BYTES)
            for round_number in range(4):
                with open(self.file, "r+b") as file:
                    file.write(some_bytes(len(self.content), round_number))
                    file.flush()
                    os.fsync(file.fileno())
            # What the reader's superblocks lead to by now.
            seen = self.folder / "seen.obj"
            reader.seek(HEADER_BYTES)
            seen.write_bytes(header + reader.read())
        self.ok("export", seen, self.folder / "seen")
        self.assertEqual((self.folder / "seen").read_bytes(), self.content)

    def test_read_only(self):
        self.mount("--read-only")
        self.shell("cmp plain mnt/data.obj")
        with self.assertRaises(OSError):
            open(self.file, "r+b")
        # It holds no claim, and keeps the old file.
        self.ok("compact", self.object)
        self.shell("cmp plain mnt/data.obj")

    def test_what_is_not_there(self):
        self.mount()
        for action in (lambda: open(self.root / "new", "wb"), lambda: os.unlink(self.file),
                       lambda: os.mkdir(self.root / "d"), lambda: os.rename(self.file, self.plain)):
            with self.assertRaises(OSError):
                action()
        other = self.folder / "other"
        other.mkdir()
        self.refused(5, "open for writing elsewhere", "mount", self.object, other)
        self.refused(1, "plain file", "mount", self.plain, other)

    def test_wrong_folders(self):
        self.refused(3, "cannot mount on", "mount", self.object, self.folder / "none")
        self.refused(1, "name a directory", "mount", self.object, self.plain)

    @unittest.skipUnless(shutil.which("h5dump") and shutil.which("h5import"), "no HDF5 here")
    def test_hdf5_tools(self):
        (self.folder / "numbers").write_text(" ".join(str(i) for i in range(10_000)))
        (self.folder / "how").write_text("PATH numbers\nINPUT-CLASS TEXTIN\nRANK 2\n"
                                         "DIMENSION-SIZES 100 100\n")
        self.shell("h5import numbers -c how -o plain.h5")
        self.plain = self.folder / "plain.h5"
        self.ok("import", self.plain, self.object, "--force")
        self.mount()
        dumps = [subprocess.run(["h5dump", "-d", "numbers", str(path)], capture_output=True,
                                check=True).stdout.split(b"\n", 1)[1]
                 for path in (self.plain, self.file)]
        self.assertGreater(len(dumps[0]), 10_000)
        self.assertEqual(*dumps)


if __name__ == "__main__":
    PROGRAM, TREE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
