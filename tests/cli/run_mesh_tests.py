#!/usr/bin/env python3
"""Runs the commands of meshes: mesh plan and mesh renumber, and tools/mesh_tables.py.

    tests/cli/run_mesh_tests.py TESSERA SOURCE_TREE [unittest arguments]
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

PROGRAM = ""
TREE = pathlib.Path()
SECONDS_MAX = 120
MESHES = ("device22.msh", "device22_binary.msh", "device41.msh", "device41_binary.msh")
POLICIES = ["metis", "random", "first", "idg", "optimal", "balanced"]


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], text=True, capture_output=True,
                          timeout=SECONDS_MAX, check=False)


def box_graph(side):
    """The graph of a box of side^3 nodes, as METIS writes it."""
    def number(x, y, z):
        return (z * side + y) * side + x + 1
    lines, edges = [], 0
    for z in range(side):
        for y in range(side):
            for x in range(side):
                near = [number(*at) for at in ((x - 1, y, z), (x + 1, y, z), (x, y - 1, z),
                                               (x, y + 1, z), (x, y, z - 1), (x, y, z + 1))
                        if all(0 <= c < side for c in at)]
                edges += len(near)
                lines.append(" ".join(map(str, near)))
    return f"{side ** 3} {edges // 2}\n" + "\n".join(lines) + "\n"


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tessera-mesh-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.graph = self.folder / "box.graph"
        self.graph.write_text(box_graph(12))
        self.parts = self.folder / "box.part"

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

    def planned(self, mesh, *arguments):
        return json.loads(self.ok("mesh", "plan", mesh, "--json", *arguments))

    def intervals(self, facts):
        return {one["policy"]: one["intervals"] for one in facts["policies"] if "intervals" in one}


class Plans(Case):
    def test_every_format_gives_the_same_plan(self):
        seen = set()
        for name in MESHES:
            facts = self.planned(TREE / "tests/data/mesh" / name, "--parts", 4, "--policy", "all")
            self.assertEqual([one["policy"] for one in facts["policies"]], POLICIES)
            seen.add((facts["nodes"], facts["fingerprint"], facts["optimal_intervals"],
                      facts["shared_nodes"]))
        self.assertEqual(len(seen), 1, seen)

    def test_figures_add_up(self):
        facts = self.planned(self.graph, "--parts", 6, "--policy", "all")
        self.assertEqual((facts["nodes"], facts["elements"]), (1728, 3 * 12 * 12 * 11))
        self.assertGreater(facts["replicas"], 1728 + facts["shared_nodes"] - 1)
        for one in facts["policies"]:
            self.assertEqual(sum(one["nodes_of"]), 1728)
            self.assertEqual(sum(one["intervals_of"]), one["intervals"])
            self.assertAlmostEqual(one["average_length"] * one["intervals"], 1728)
            self.assertAlmostEqual(one["intervals_per_process"] * 6, one["intervals"])
            spread = max(one["nodes_of"]) - min(one["nodes_of"])
            self.assertAlmostEqual(one["imbalance"], spread / (1728 / 6))
            self.assertGreaterEqual(one["of_optimal"], 1)
        self.assertLessEqual(facts["policies"][5]["imbalance"], 0.10)

    def test_a_written_partition_gives_the_same_plan(self):
        made = self.planned(self.graph, "--parts", 5, "--write-partition", self.parts)
        parts = [int(line) for line in self.parts.read_text().split()]
        self.assertEqual((len(parts), set(parts)), (1728, set(range(5))))
        read = self.planned(self.graph, "--partition", self.parts)
        self.assertEqual(read["fingerprint"], made["fingerprint"])
        self.assertEqual(self.intervals(read), self.intervals(made))
        self.assertEqual(list(read["seconds"]), ["read and classify", "plan"])
        self.assertEqual(list(made["seconds"]), ["read", "partition", "classify", "plan"])

    def test_the_seed_decides(self):
        prints = [self.planned(self.graph, "--parts", 5, "--seed", seed)["fingerprint"]
                  for seed in (1, 1, 2)]
        self.assertEqual(prints[0], prints[1])
        self.assertNotEqual(prints[0], prints[2])

    def test_plans_are_saved(self):
        plan = self.folder / "plan"
        text = self.ok("mesh", "plan", self.graph, "--parts", 5, "--save", plan)
        self.assertIn(f"plan: {plan}", text)
        first = plan.read_bytes()
        self.ok("mesh", "plan", self.graph, "--parts", 5, "--save", plan)
        self.assertEqual(plan.read_bytes(), first)

    def test_any_number_of_parts_up_to_one_a_node(self):
        mesh = TREE / "tests/data/mesh/device41.msh"
        for parts in range(1, 46):
            facts = self.planned(mesh, "--parts", parts, "--policy", "metis")
            self.assertEqual(len(facts["policies"][0]["nodes_of"]), parts)
            self.assertGreater(min(facts["policies"][0]["nodes_of"]), 0)

    def test_plans_replace_files_and_nothing_else(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        self.refused(1, "not a regular file", "mesh", "plan", self.graph, "--parts", 5, "--save",
                     pipe)
        self.assertEqual(sorted(os.listdir(self.folder)), ["box.graph", "pipe"])

    def test_text(self):
        text = self.ok("mesh", "plan", self.graph, "--parts", 6, "--policy", "all")
        self.assertIn("1,728 nodes and 4,752 elements (METIS graph)", text)
        self.assertIn("6 parts, made by METIS with seed 1", text)
        rows = [line.split()[0] for line in text.splitlines() if line.endswith("s")]
        self.assertEqual([row for row in rows if row in POLICIES], POLICIES)

    def test_one_part_has_one_interval(self):
        facts = self.planned(self.graph, "--parts", 1, "--policy", "all")
        self.assertEqual(set(self.intervals(facts).values()), {1})
        self.assertEqual(facts["replication_percent"], 0)

    def test_page(self):
        page = self.folder / "p.html"
        self.assertIn(f"page: {page}", self.ok("mesh", "plan", self.graph, "--parts", 6, "--policy",
                                               "all", "--html", page))
        html = page.read_text()
        self.assertEqual(html.count("<svg"), 3)
        self.assertNotIn("<script", html)
        for picture in re.findall(r"<svg.*?</svg>", html, re.S):
            root = xml.etree.ElementTree.fromstring(picture)
            width, height = map(float, root.get("viewBox").split()[2:])
            for rect in root.iter("rect"):
                x, y, w, h = (float(rect.get(key)) for key in ("x", "y", "width", "height"))
                self.assertTrue(0 <= x and x + w <= width and 0 <= y and y + h <= height + 0.01)


class Renumbering(Case):
    def test_orders_are_what_renumbering_makes(self):
        mesh = TREE / "tests/data/mesh/device41.msh"
        self.ok("mesh", "plan", mesh, "--parts", 4, "--write-partition", self.parts)
        for order in ("rcm", "x", "y", "z", "hilbert", "io"):
            out, parts = self.folder / f"{order}.msh", self.folder / f"{order}.part"
            text = self.ok("mesh", "renumber", mesh, out, "--order", order, "--partition",
                           self.parts, "--write-partition", parts)
            self.assertIn(f"in the order {order}", text)
            foreseen = self.planned(mesh, "--partition", self.parts, "--order", order, "--policy",
                                    "all")
            found = self.planned(out, "--partition", parts, "--policy", "all")
            self.assertEqual(self.intervals(found), self.intervals(foreseen))
            self.assertEqual(found["shared_nodes"], foreseen["shared_nodes"])
            self.assertEqual(found["fingerprint"], foreseen["fingerprint"])
            if order == "io":
                self.assertEqual(self.intervals(found)["metis"], 4)

    def test_every_format(self):
        for name in MESHES:
            mesh, out = TREE / "tests/data/mesh" / name, self.folder / name
            self.ok("mesh", "renumber", mesh, out, "--order", "rcm")
            self.assertEqual(self.planned(out, "--parts", 1)["nodes"],
                             self.planned(mesh, "--parts", 1)["nodes"])

    def test_gmsh_reads_what_was_renumbered(self):
        gmsh = shutil.which("gmsh")
        if gmsh is None:
            self.skipTest("gmsh is not installed")
        for name in MESHES:
            mesh, out = TREE / "tests/data/mesh" / name, self.folder / name
            again = self.folder / f"again_{name}"
            self.ok("mesh", "renumber", mesh, out, "--order", "hilbert")
            done = subprocess.run([gmsh, "-v", "2", out, "-0", "-format", "msh41", "-o", again,
                                   "-save_all", "-save"], text=True, capture_output=True,
                                  timeout=SECONDS_MAX, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            read, written = (self.planned(path, "--order", "hilbert", "--parts", 4, "--policy",
                                          "all") for path in (again, out))
            self.assertEqual((read["nodes"], read["elements"]),
                             (written["nodes"], written["elements"]))
            self.assertEqual(read["shared_nodes"], written["shared_nodes"])

    def test_a_mesh_without_its_partition_does_not_appear(self):
        mesh, out = TREE / "tests/data/mesh/device41.msh", self.folder / "out.msh"
        before = sorted(os.listdir(self.folder))
        self.refused(3, "No such file", "mesh", "renumber", mesh, out, "--order", "io", "--parts",
                     4, "--write-partition", self.folder / "none/p")
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        out.write_text("precious")
        self.refused(1, "--force", "mesh", "renumber", mesh, out, "--order", "io", "--parts", 4,
                     "--write-partition", self.parts)
        self.assertFalse(self.parts.exists())

    def test_a_node_in_no_element(self):
        mesh, out = self.folder / "a.mesh", self.folder / "b.mesh"
        mesh.write_text("3\n2 3 4\n3 4 5\n4 5 2\n")
        self.ok("mesh", "renumber", mesh, out, "--order", "rcm")
        self.assertEqual(self.planned(out, "--parts", 1)["nodes"], 5)

    def test_nothing_is_replaced_unasked(self):
        out = self.folder / "out.graph"
        out.write_text("precious")
        arguments = ("mesh", "renumber", self.graph, out, "--order", "rcm")
        self.refused(1, "--force", *arguments)
        self.assertEqual(out.read_text(), "precious")
        done = json.loads(self.ok(*arguments, "--force", "--json"))
        self.assertEqual((done["order"], done["nodes"]), ("rcm", 1728))
        self.ok("mesh", "renumber", self.graph, self.graph, "--order", "rcm", "--force")
        self.assertEqual(self.graph.read_text(), out.read_text())

    def test_refusals_leave_nothing(self):
        before = sorted(os.listdir(self.folder))
        out = self.folder / "out.graph"
        self.refused(1, "the order x needs positions of nodes", "mesh", "renumber", self.graph, out,
                     "--order", "x")
        self.refused(2, "the order io needs a partition", "mesh", "renumber", self.graph, out,
                     "--order", "io")
        self.refused(2, "--write-partition needs a partition", "mesh", "renumber", self.graph, out,
                     "--order", "rcm", "--write-partition", self.parts)
        self.refused(2, "is the one that the mesh has", "mesh", "renumber", self.graph, out,
                     "--order", "file")
        self.refused(3, "No such file", "mesh", "renumber", self.graph, self.folder / "no/x.graph",
                     "--order", "rcm")
        self.assertEqual(sorted(os.listdir(self.folder)), before)


class BadInput(Case):
    def test_command_lines(self):
        self.refused(2, "--parts", "mesh", "plan", self.graph)
        self.refused(2, "MESH", "mesh", "plan", "--parts", 4)
        self.refused(2, "subcommand", "mesh")
        self.refused(2, '"best"', "mesh", "plan", self.graph, "--parts", 4, "--policy", "best")
        self.refused(2, "'zigzag'", "mesh", "plan", self.graph, "--parts", 4, "--order", "zigzag")
        self.refused(2, "one --policy", "mesh", "plan", self.graph, "--parts", 4, "--policy", "all",
                     "--save", self.folder / "plan")
        self.refused(2, "tessera mesh renumber", "mesh", "plan", self.graph, "--parts", 4,
                     "--order", "rcm", "--save", self.folder / "plan")
        for parts in (0, -1, "many"):
            self.refused(2, "--parts", "mesh", "plan", self.graph, "--parts", parts)
        self.refused(2, "--max-imbalance", "mesh", "plan", self.graph, "--parts", 4,
                     "--max-imbalance", -1)
        self.assertEqual(sorted(os.listdir(self.folder)), ["box.graph"])

    def test_files_that_are_no_meshes(self):
        self.refused(3, "No such file", "mesh", "plan", self.folder / "none.msh", "--parts", 4)
        self.refused(1, "directory", "mesh", "plan", self.folder, "--parts", 4)
        other = self.folder / "text.txt"
        other.write_text("hello\n")
        self.refused(1, str(other), "mesh", "plan", other, "--parts", 4)

    def test_damaged_meshes_are_named(self):
        for name in MESHES:
            content = (TREE / "tests/data/mesh" / name).read_bytes()
            mesh = self.folder / name
            for keep in (len(content) // 2, len(content) * 9 // 10):
                mesh.write_bytes(content[:keep])
                self.refused(1, str(mesh), "mesh", "plan", mesh, "--parts", 4)
        text = self.graph.read_text().splitlines()
        text[5] = text[5] + " 1729"
        self.graph.write_text("\n".join(text) + "\n")
        self.refused(1, "box.graph", "mesh", "plan", self.graph, "--parts", 4)

    def test_partitions_of_other_meshes(self):
        good = "".join(f"{i % 4}\n" for i in range(1728))
        for content, message in ((good + "1\n", "1728"), (good[:-2], "1728"),
                                 (good.replace("2", "1"), "part 2"), (good[:-2] + "x\n", "1728"),
                                 ("-1\n" + good[2:], "line 1")):
            self.parts.write_text(content)
            self.refused(1, message, "mesh", "plan", self.graph, "--partition", self.parts)
        self.parts.write_text(good)
        self.ok("mesh", "plan", self.graph, "--partition", self.parts)
        self.refused(1, "4 parts, but --parts is 5", "mesh", "plan", self.graph, "--partition",
                     self.parts, "--parts", 5)
        self.refused(1, "cannot have 2000 parts", "mesh", "plan", self.graph, "--parts", 2000)

    def test_outputs_are_not_inputs(self):
        before = self.graph.read_bytes()
        for option in ("--save", "--write-partition", "--html"):
            self.refused(2, f"MESH and {option} are one file", "mesh", "plan", self.graph,
                         "--parts", 4, option, self.graph)
        out = self.folder / "out"
        self.refused(2, "--write-partition and --save are one file", "mesh", "plan", self.graph,
                     "--parts", 4, "--save", out, "--write-partition", out)
        self.refused(2, "OUT and --write-partition are one file", "mesh", "renumber", self.graph,
                     self.folder / "out.graph", "--parts", 4, "--order", "io",
                     "--write-partition", self.folder / "out.graph")
        self.assertEqual(self.graph.read_bytes(), before)
        self.assertFalse(out.exists())

    def test_outputs_replace_their_own_kind_only(self):
        out = self.folder / "out"
        plan = ("mesh", "plan", self.graph, "--parts", 4)
        mesh = self.graph.read_bytes()
        others = {"--save": b"1\n0\n", "--write-partition": b"1 2\n3 4\n", "--html": mesh}
        for option, content in others.items():
            out.unlink(missing_ok=True)
            self.ok(*plan, option, out)
            self.ok(*plan, option, out)
            for other in (content, b"notes\n"):
                out.write_bytes(other)
                self.refused(1, f"{out} is there and is no p", *plan, option, out)
                self.assertEqual(out.read_bytes(), other)

    def test_output_that_is_lost_is_an_error(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, "mesh", "plan", self.graph, "--parts", "4"],
                                  stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the output could not be written", done.stderr)

    def test_numbers_out_of_range(self):
        for option, value in (("--seed", -1), ("--max-imbalance", "nan"),
                              ("--max-imbalance", "inf"), ("--max-imbalance", -1)):
            self.refused(2, option, "mesh", "plan", self.graph, "--parts", 4, option, value)

    def test_errors_as_json(self):
        done = run("mesh", "plan", self.folder / "none.msh", "--parts", 4, "--json")
        self.assertEqual(json.loads(done.stdout)["error"]["code"], "not-found")
        done = run("mesh", "plan", self.graph, "--parts", 4, "--policy", "best", "--json")
        self.assertEqual(json.loads(done.stdout)["error"]["code"], "usage")


class Tables(Case):
    def tables(self, program, *arguments):
        return subprocess.run([sys.executable, TREE / "tools/mesh_tables.py", program,
                               *map(str, arguments)], text=True, capture_output=True,
                              timeout=SECONDS_MAX, check=False)

    def test_bounds_hold(self):
        done = self.tables(PROGRAM, self.graph, "--orders", "file,rcm", "--parts", "4,8")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(done.stdout.splitlines()), 1 + 4 * len(POLICIES))

    def test_bounds_hold_on_a_gmsh_mesh(self):
        """All orders and numbers of parts of the paper's table, for the smallest of its meshes."""
        made = subprocess.run([TREE / "tools/make_meshes.sh", self.folder, "mesh33k"], text=True,
                              capture_output=True, timeout=SECONDS_MAX, check=False)
        self.assertEqual(made.returncode, 0, made.stderr)
        done = self.tables(PROGRAM, self.folder / "mesh33k.msh", "--orders", "file,rcm,x",
                           "--parts", "8,16,32,64")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(done.stdout.splitlines()), 1 + 12 * (len(POLICIES) + 2))

    def test_broken_bounds_are_found(self):
        facts = self.planned(self.graph, "--parts", 4, "--policy", "all")
        fake = self.folder / "tessera"
        for policy, ratio in (("idg", 1.2), ("first", 0.99)):
            for one in facts["policies"]:
                one["of_optimal"] = ratio if one["policy"] == policy else 1.0
            (self.folder / "facts.json").write_text(json.dumps(facts))
            fake.write_text(f"#!/bin/sh\ncat {self.folder}/facts.json\n")
            fake.chmod(0o755)
            done = self.tables(fake, self.graph, "--orders", "file", "--parts", "4")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(policy, done.stderr)
        self.assertEqual(self.tables(PROGRAM, self.folder / "none.msh").returncode, 2)


if __name__ == "__main__":
    PROGRAM, TREE = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
