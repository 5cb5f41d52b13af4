#!/usr/bin/env python3
"""Proves that the record of tools/tidy.py hides nothing: a unit counts as recorded only while it,
its headers, its command and the configuration are, and a record that was not written whole is not
believed."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import tidy

FILES = {
    "src/tessera/base/a.hpp": "#pragma once\n",
    "src/tessera/base/b.hpp": '#pragma once\n#include "tessera/base/a.hpp"\n',
    "src/tessera/base/a.cpp": '#include "tessera/base/a.hpp"\n',
    "src/tessera/base/b.cpp": '#include "tessera/base/b.hpp"\n',
    "src/tessera/base/c.cpp": "#include <vector>\n",
}


class Record(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.before = tidy.ROOT, tidy.RECORD
        tidy.ROOT, tidy.RECORD = self.root, self.root / "tidy_record.txt"
        (self.root / "build").mkdir()
        self.flags = {}
        for name, text in FILES.items():
            self.write(name, text)
        tidy.RECORD.write_text(self.state().text())

    def tearDown(self):
        tidy.ROOT, tidy.RECORD = self.before

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commands(self):
        units = [name for name in FILES if name.endswith(".cpp")]
        entries = [{"directory": str(self.root), "file": name,
                    "command": f"c++ -O2 -I{self.root}/src {self.flags.get(name, '')} -c {name}"}
                   for name in units]
        (self.root / "build/compile_commands.json").write_text(json.dumps(entries))
        return tidy.units(self.root / "build")

    def state(self, configuration=b"1"):
        for cached in (tidy.our_includes, tidy.closure, tidy.content_of):
            cached.cache_clear()
        return tidy.State(self.commands(), configuration)

    def unknown(self, **more):
        state = self.state(**more)
        with contextlib.redirect_stdout(io.StringIO()):
            record = tidy.read_record()
        return [path.name for path in self.commands() if not state.recorded(record, path)]

    def test_what_did_not_change_is_recorded(self):
        self.assertEqual(self.unknown(), [])

    def test_a_source(self):
        self.write("src/tessera/base/c.cpp", "#include <string>\n")
        self.assertEqual(self.unknown(), ["c.cpp"])

    def test_a_header_of_a_header(self):
        self.write("src/tessera/base/a.hpp", "#pragma once\nint a();\n")
        self.assertEqual(self.unknown(), ["a.cpp", "b.cpp"])

    def test_a_new_header(self):
        self.write("src/tessera/base/new.hpp", "#pragma once\n")
        self.write("src/tessera/base/b.hpp", '#include "tessera/base/new.hpp"\n')
        self.assertEqual(self.unknown(), ["b.cpp"])

    def test_a_command(self):
        self.flags["src/tessera/base/a.cpp"] = "-DX=1"
        self.assertEqual(self.unknown(), ["a.cpp"])
        self.flags["src/tessera/base/a.cpp"] = "-O1 -Wall"
        self.assertEqual(self.unknown(), [])

    def test_the_configuration(self):
        self.assertEqual(len(self.unknown(configuration=b"2")), 3)

    def test_two_records_merged(self):
        lines = tidy.RECORD.read_text().splitlines()
        self.write("src/tessera/base/c.cpp", "#include <string>\n")
        other = self.state().text().splitlines()
        merged = lines[:1] + sorted(set(lines[1:]) | set(other[1:]))
        tidy.RECORD.write_text("\n".join(merged) + "\n")
        self.assertEqual(len(self.unknown()), 3)

    def test_no_record(self):
        tidy.RECORD.unlink()
        self.assertEqual(len(self.unknown()), 3)

    def test_the_place_of_the_tree_does_not_matter(self):
        entry = {"command": f"c++ -I{self.root}/src -DP=\"{self.root}/build/x\" -c a.cpp"}
        self.assertNotIn(str(self.root), tidy.meaning(entry, self.root / "build"))


if __name__ == "__main__":
    unittest.main(verbosity=0)
