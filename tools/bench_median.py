#!/usr/bin/env python3
"""Takes the JSON of several runs of `tessera bench` and prints each case's median ratio to the best
peer, the worst of them, and their geometric mean; likewise of the ratios to another build, where
the runs were `--against` one, beside those of this build to itself (A/A).

    tools/bench_median.py FILE... [--floor 0.85]

A case below the floor is marked BELOW; one from there to the noise band (the median of its low
ends) is marked as within the two. Means are over the cases that count in the runs' own means. Exit
codes: 0 no case is below, 1 one is, 2 usage, or a file is no result of a run.
"""
import argparse
import json
import math
import pathlib
import statistics
import sys


def load(path):
    try:
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))["cases"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"{path}: no result of tessera bench: {error!r}", file=sys.stderr)
        sys.exit(2)


def by_name(runs):
    """The outcomes of each case, in the order of the first run that has it."""
    cases = {}
    for run in runs:
        for outcome in run:
            cases.setdefault(outcome["case"], []).append(outcome)
    return cases


def median_of(outcomes, value):
    """The median of what `value` finds in those outcomes that have it and count; None without."""
    found = [value(outcome) for outcome in outcomes]
    found = [number for number in found if number is not None]
    return statistics.median(found) if found else None


def to_peer(outcome):
    return outcome["ratio"] if outcome["in_mean"] else None


def noise_low(outcome):
    return outcome["noise"][0] if outcome["noise"] else None


def against(key):
    def value(outcome):
        compared = outcome.get("against")
        return compared[key] if compared and compared["in_mean"] else None
    return value


def medians(cases, value):
    found = {name: median_of(outcomes, value) for name, outcomes in cases.items()}
    return {name: number for name, number in found.items() if number is not None}


def mean_line(title, ratios):
    if not ratios:
        return []
    worst = min(ratios, key=ratios.get)
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios.values()))
    return [f"{title}: geometric mean {mean:.3f} of {len(ratios)} cases, worst "
            f"{ratios[worst]:.3f} ({worst})"]


def mark_of(ratio, low, floor):
    if ratio < floor:
        return f"  BELOW {floor:g}"
    if low is not None and ratio < low:
        return f"  within {floor:g} and the noise band"
    return ""


def summary(runs, floor):
    """The lines, and whether a case is below the floor."""
    cases = by_name(runs)
    peers, lows = medians(cases, to_peer), medians(cases, noise_low)
    builds, twins = medians(cases, against("ratio")), medians(cases, against("twin_ratio"))
    lines = [f"{'case':<72}{'ratio':>8}{'before':>8}{'A/A':>8}{'runs':>6}"]
    for name, outcomes in cases.items():
        numbers = "".join(f"{found[name]:>8.3f}" if name in found else f"{'-':>8}"
                          for found in (peers, builds, twins))
        mark = mark_of(peers[name], lows.get(name), floor) if name in peers else ""
        lines.append(f"{name:<72}{numbers}{len(outcomes):>6}{mark}")
    lines += mean_line("against the best peer", peers)
    lines += mean_line("against the build before", builds)
    lines += mean_line("this build against itself (A/A)", twins)
    return lines, any(ratio < floor for ratio in peers.values())


def main():
    parser = argparse.ArgumentParser(description="medians of several runs of tessera bench")
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--floor", type=float, default=0.85)
    options = parser.parse_args()
    lines, below = summary([load(path) for path in options.files], options.floor)
    print("\n".join(lines))
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
