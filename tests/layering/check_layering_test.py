#!/usr/bin/env python3
"""Proves that tools/check_layering.py finds what it is there to find: a good tree passes, and each
rule, broken alone, is reported at the right place."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECKER = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_layering.py"

GOOD_TREE = {
    "src/tessera/base/result.hpp": "#pragma once\n#include <atomic>\n",
    "src/tessera/port/posix_clock.cpp": '#include <thread>\n#include "tessera/base/result.hpp"\n',
    "src/tessera/pattern/CMakeLists.txt": "tessera_folder(pattern INSTALL DEPENDS port base)\n",
    "src/tessera/pattern/run.hpp": '#include "tessera/base/result.hpp"\n',
    "src/tessera/remap/mpi_exchange.cpp": "#include <mpi.h>\n",
    "src/tessera/mpiio/open.cpp": '#include <mpi.h>\n#include "tessera/move/plan.hpp"\n',
    "src/tessera/cli/main.cpp": '#include "tessera/base/result.hpp"\n',
    "bench/pack.cpp": '#include <mpi.h>\n#include "tessera/cli/main.hpp"\n',
    "include/tessera/hints.h": "#include <stdint.h>\n",
}


class CheckLayering(unittest.TestCase):
    def run_on(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            done = subprocess.run([sys.executable, str(CHECKER), folder], text=True,
                                  stdout=subprocess.PIPE, check=False)
        return done.returncode, done.stdout

    def assert_finding(self, name, text, finding):
        status, output = self.run_on({**GOOD_TREE, name: text})
        self.assertEqual(status, 1, output)
        self.assertIn(finding, output)
        self.assertIn("1 findings", output)

    def test_a_good_tree_passes(self):
        status, output = self.run_on(GOOD_TREE)
        self.assertEqual((status, output), (0, "layering: 8 files, 0 findings\n"))

    def test_an_empty_tree_fails(self):
        self.assertEqual(self.run_on({})[0], 1)

    def test_upward_include(self):
        self.assert_finding("src/tessera/base/bad.hpp", '\n#include "tessera/pattern/run.hpp"\n',
                            "src/tessera/base/bad.hpp:2: base may not include pattern")

    def test_upward_include_in_angle_brackets(self):
        self.assert_finding("src/tessera/base/bad.hpp", "#  include <tessera/cli/main.hpp>\n",
                            "bad.hpp:1: base may not include cli")

    def test_upward_include_in_a_test(self):
        self.assert_finding("src/tessera/port/bad_test.cpp", '#include "tessera/object/set.hpp"\n',
                            "bad_test.cpp:1: port may not include object")

    def test_sideways_include(self):
        self.assert_finding("src/tessera/lock/bad.cpp", '#include "tessera/map/map.hpp"\n',
                            "bad.cpp:1: lock may not include map")

    def test_only_bench_includes_bench(self):
        self.assert_finding("src/tessera/cli/bad.cpp", '#include "bench/harness.hpp"\n',
                            "bad.cpp:1: cli may not include bench")

    def test_relative_include(self):
        self.assert_finding("src/tessera/pattern/bad.cpp", '#include "../cli/main.hpp"\n',
                            "bad.cpp:1: \"../cli/main.hpp\": name it from the root")

    def test_mpi_outside_its_places(self):
        self.assert_finding("src/tessera/move/bad.cpp", "#include <mpi.h>\n",
                            "bad.cpp:1: <mpi.h> may not be included in move")

    def test_mpi_in_the_other_half_of_remap(self):
        self.assert_finding("src/tessera/remap/plan.cpp", "#include <mpi.h>\n",
                            "plan.cpp:1: <mpi.h> may not be included in remap")

    def test_threads_outside_port(self):
        self.assert_finding("src/tessera/pattern/bad.cpp", "#include <mutex>\n",
                            "bad.cpp:1: <mutex> may not be included in pattern")

    def test_sockets_outside_port(self):
        self.assert_finding("src/tessera/lock/bad.cpp", "#include <netinet/tcp.h>\n",
                            "bad.cpp:1: <netinet/tcp.h> may not be included in lock")

    def test_installed_header_that_includes_the_inside(self):
        self.assert_finding("include/tessera/bad.h", '#include "tessera/base/result.hpp"\n',
                            "bad.h:1: an installed header may not include")

    def test_upward_link(self):
        self.assert_finding("src/tessera/port/CMakeLists.txt",
                            "tessera_folder(port\n  DEPENDS base object LIBRARIES fmt::fmt)\n",
                            "CMakeLists.txt:1: port may not depend on object")

    def test_a_call_that_throws(self):
        self.assert_finding("src/tessera/mpiio/bad.cpp",
                            "std::error_code error;\nauto a = fs::temp_directory_path();",
                            "bad.cpp:2: temp_directory_path throws")
        self.assert_finding("src/tessera/cli/bad.cpp",
                            "std::error_code error;\nbool b = fs::exists(path(a, error));",
                            "bad.cpp:2: exists throws")

    def test_a_loop_that_throws(self):
        self.assert_finding("src/tessera/cli/bad.cpp",
                            "std::error_code e;\nfor (auto& f : fs::directory_iterator(p, e)) {}",
                            "bad.cpp:2: going on to the next entry throws")

    def test_a_step_that_throws(self):
        for loop in ("for (fs::directory_iterator at(p, e), end; at != end; ++at) {}",
                     "std::filesystem::recursive_directory_iterator at(p, e);\nat++;",
                     "auto at = fs::directory_iterator(p, e);\n++at;"):
            self.assert_finding("src/tessera/cli/bad.cpp", f"std::error_code e;\n{loop}",
                                ": going on to the next entry throws")

    def test_a_member_that_throws(self):
        for call in ("at->is_regular_file()", "at->file_size()", "(*at).exists()",
                     "at->is_socket(other)"):
            self.assert_finding("src/tessera/cli/bad.cpp",
                                f"std::error_code e;\nfs::directory_iterator at(p, e);\n{call};",
                                "bad.cpp:3: ")

    def test_another_name_for_what_throws(self):
        for alias in ("using Entries = std::filesystem::directory_iterator;",
                      "using Entry = fs::directory_entry;", "namespace files = std::filesystem;",
                      "using namespace std::filesystem;", "using std::filesystem::exists;"):
            self.assert_finding("src/tessera/cli/bad.cpp", alias,
                                "bad.cpp:1: another name hides what throws")

    def test_calls_that_do_not_throw(self):
        status, output = self.run_on({
            **GOOD_TREE,
            "src/tessera/cli/calls.cpp": "std::error_code e;\nfs::copy(a, b(1, 2), e);\n"
                                         "fs::directory_iterator it(a, e), end;\n"
                                         "it->is_socket(e) && it->path().is_absolute();\n"
                                         "it.increment(e);\n++items;\n",
            "src/tessera/cli/names.cpp": "namespace fs = std::filesystem;\n"
                                         "using std::filesystem::path;\nother.exists();\n",
            "src/tessera/cli/calls_test.cpp": "fs::remove_all(a);\n"})
        self.assertEqual((status, output), (0, "layering: 11 files, 0 findings\n"))

    def test_unknown_folder(self):
        self.assert_finding("src/tessera/stuff/a.cpp", "\n", "folder stuff is not in")

    def test_nameless_folder(self):
        self.assert_finding("tests/helpers/a.txt", "\n", "a folder called helpers")

    def test_long_file(self):
        self.assert_finding("src/tessera/base/bad.cpp", "\n" * 1001, "longer than 1000 lines")

    def test_wide_line(self):
        self.assert_finding("src/tessera/base/bad.cpp", "//" + "x" * 99, "bad.cpp:1: the line is")


if __name__ == "__main__":
    unittest.main()
