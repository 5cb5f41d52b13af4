#!/usr/bin/env python3
"""Prints what each policy comes to for meshes x orders of nodes x numbers of parts, beside Table 4
of the paper (Filgueira et al., Optimization and evaluation of parallel I/O in BIPS3D), and fails if
interval data grouping is more than 1.15 times above the fewest intervals that there can be, or if
any policy is below them.

    tools/mesh_tables.py TESSERA MESH... [--parts 8,16,32,64] [--orders file,rcm,x,hilbert]
                         [--seed 1] [--markdown]

`a process` is the intervals in all divided by the processes, which is what the paper's table has.
Exit codes: 0 ok, 1 a bound is broken, 2 usage or a failed command.
"""
import argparse
import json
import pathlib
import subprocess
import sys

IDG_BOUND = 1.15
SECONDS_MAX = 600
# Intervals of a process and average length, METIS then IDG, by nodes of the mesh and parts.
TABLE_4 = {
    47219: {8: (258.0, 22.5, 88.3, 70.6), 16: (217.4, 13.4, 71.6, 43.5),
            32: (169.6, 8.0, 54.5, 28.1), 64: (137.0, 4.5, 41.2, 19.1)},
    32888: {8: (203.8, 19.8, 67.1, 63.1), 16: (171.3, 11.5, 58.3, 37.9),
            32: (136.7, 6.9, 44.9, 24.6), 64: (99.1, 4.3, 31.7, 17.5)},
    73260: {8: (244.0, 96.6, 57.0, 251.8), 16: (189.8, 27.9, 49.5, 151.2),
            32: (149.4, 15.8, 38.7, 73.6), 64: (112.9, 10.3, 25.4, 55.1)},
    289650: {8: (965.5, 38.7, 126.0, 306.5), 16: (642.4, 29.7, 99.8, 195.4),
             32: (511.7, 19.3, 75.2, 141.5), 64: (344.4, 13.7, 51.7, 99.2)},
}
NEAR = 0.10  # a mesh is beside one of the paper's if its nodes are as many to within this
TITLES = ("mesh", "nodes", "order", "parts", "policy", "intervals", "a process", "length", "LB",
          "of optimal")


def plan(program, mesh, order, parts, seed):
    done = subprocess.run(
        [program, "mesh", "plan", mesh, "--parts", str(parts), "--order", order, "--seed",
         str(seed), "--policy", "all", "--json"],
        text=True, capture_output=True, timeout=SECONDS_MAX, check=False)
    if done.returncode != 0:
        raise ValueError(f"{mesh}, {order}, {parts} parts: {done.stderr.strip()}")
    return json.loads(done.stdout)


def paper_row(nodes, parts):
    """The paper's figures for a mesh of about that size, or nothing."""
    nearest = min(TABLE_4, key=lambda known: abs(known - nodes))
    if abs(nearest - nodes) > NEAR * nearest:
        return None
    return TABLE_4[nearest].get(parts)


def rows_of(facts):
    common = (pathlib.Path(facts["mesh"]).name, f"{facts['nodes']:,}", facts["order"],
              str(facts["parts"]))
    for policy in facts["policies"]:
        if "failure" in policy:
            yield (*common, policy["policy"], "none", "", "", "", "")
            continue
        yield (*common, policy["policy"], f"{policy['intervals']:,}",
               f"{policy['intervals_per_process']:.1f}", f"{policy['average_length']:.1f}",
               f"{policy['imbalance']:.3f}", f"{policy['of_optimal']:.3f}")
    paper = paper_row(facts["nodes"], facts["parts"])
    if paper:
        for name, at in (("paper: metis", 0), ("paper: idg", 2)):
            yield (*common, name, "", f"{paper[at]:.1f}", f"{paper[at + 1]:.1f}", "", "")


def broken_bounds(facts):
    where = f"{facts['mesh']}, order {facts['order']}, {facts['parts']} parts"
    for policy in facts["policies"]:
        if "failure" in policy:
            continue
        if policy["of_optimal"] < 1:
            yield f"{where}: {policy['policy']} has fewer intervals than optimal"
        if policy["policy"] == "idg" and policy["of_optimal"] > IDG_BOUND:
            yield f"{where}: idg is {policy['of_optimal']:.3f} times optimal"


def print_table(rows, markdown):
    if markdown:
        print("| " + " | ".join(TITLES) + " |")
        print("|---|--:|---|--:|---|" + "--:|" * (len(TITLES) - 5))
        for row in rows:
            print("| " + " | ".join(row) + " |")
        return
    widths = [max(len(row[i]) for row in (TITLES, *rows)) for i in range(len(TITLES))]
    for row in (TITLES, *rows):
        cells = [cell.ljust(width) if i in (0, 2, 4) else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tessera")
    parser.add_argument("meshes", nargs="+")
    parser.add_argument("--parts", default="8,16,32,64")
    parser.add_argument("--orders", default="file,rcm,x,hilbert")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--markdown", action="store_true")
    return parser.parse_args()


def main():
    options = arguments()
    rows, broken = [], []
    for mesh in options.meshes:
        for order in options.orders.split(","):
            for parts in options.parts.split(","):
                facts = plan(options.tessera, mesh, order, int(parts), options.seed)
                rows += rows_of(facts)
                broken += broken_bounds(facts)
    print_table(rows, options.markdown)
    for line in broken:
        print(line, file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        print(f"mesh_tables: {error}", file=sys.stderr)
        sys.exit(2)
