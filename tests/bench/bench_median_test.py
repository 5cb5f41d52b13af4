#!/usr/bin/env python3
"""Proves that tools/bench_median.py takes the median of each case over the runs, counts what the
runs count, and marks what is below the floor."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import bench_median


def case(name, ratio, low=0.9, in_mean=True, before=None):
    outcome = {"case": name, "ratio": ratio, "noise": [low, 1 / low], "in_mean": in_mean}
    if before is not None:
        outcome["against"] = {"ratio": before, "twin_ratio": 1.01, "in_mean": True}
    return outcome


class Medians(unittest.TestCase):
    def text(self, runs, floor=0.85):
        lines, below = bench_median.summary(runs, floor)
        return "\n".join(lines), below

    def test_the_median_decides_and_not_a_run(self):
        text, below = self.text([[case("a", 0.2)], [case("a", 4)], [case("a", 2)]])
        self.assertFalse(below)
        self.assertIn("geometric mean 2.000 of 1 cases, worst 2.000 (a)", text)
        _, below = self.text([[case("a", 0.84)], [case("a", 4)], [case("a", 0.2)]])
        self.assertTrue(below)

    def test_marks(self):
        text, _ = self.text([[case("low", 0.8), case("near", 0.88), case("good", 0.95)]])
        marks = {line.split()[0]: line for line in text.splitlines()}
        self.assertIn("BELOW 0.85", marks["low"])
        self.assertIn("within 0.85 and the noise band", marks["near"])
        self.assertNotIn("noise", marks["good"])

    def test_means_are_of_what_counts(self):
        run = [case("a", 2, before=0.5), case("b", 8, before=2), case("c", 0.1, in_mean=False),
               {"case": "size", "ratio": None, "noise": None, "in_mean": False}]
        text, below = self.text([run])
        self.assertFalse(below)
        self.assertIn("best peer: geometric mean 4.000 of 2 cases, worst 2.000 (a)", text)
        self.assertIn("build before: geometric mean 1.000 of 2 cases, worst 0.500 (a)", text)
        self.assertIn("itself (A/A): geometric mean 1.010 of 2 cases", text)

    def test_a_case_may_be_missing_in_a_run(self):
        text, _ = self.text([[case("a", 2)], [case("a", 4), case("b", 1)]])
        self.assertIn("geometric mean 1.732 of 2 cases", text)

    def test_exit_codes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "run.json")
            for content, code in ((json.dumps({"cases": [case("a", 2)]}), 0),
                                  (json.dumps({"cases": [case("a", 0.5)]}), 1), ("[]", 2)):
                path.write_text(content, encoding="utf-8")
                quiet = io.StringIO()
                with mock.patch.object(sys, "argv", ["bench_median.py", str(path)]), \
                        contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
                    try:
                        done = bench_median.main()
                    except SystemExit as ended:
                        done = ended.code
                self.assertEqual(done, code)


if __name__ == "__main__":
    unittest.main()
