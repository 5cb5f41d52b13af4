#!/usr/bin/env python3
"""Checks the models of docs/models with spin: every reachable state of each, and that each control,
which takes one protection away, fails.

    tests/models/check_models.py DOCS_MODELS
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

MODELS = pathlib.Path()
SECONDS_MAX = 300
DEPTH_MAX = 1_000_000


def search(model, *defined):
    """Explores a model with these names defined; answers what the verifier printed."""
    with tempfile.TemporaryDirectory() as folder:
        def run(*command):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True,
                                  timeout=SECONDS_MAX, check=False)
            if done.returncode != 0:
                raise RuntimeError(f"{command[0]}: {done.stdout}{done.stderr}")
            return done.stdout

        run("spin", *(f"-D{name}" for name in defined), "-a", str(model))
        run(os.environ.get("CC", "cc"), "-O2", "-w", "-DSAFETY", "-DCOLLAPSE", "-o", "pan", "pan.c")
        return run("./pan", f"-m{DEPTH_MAX}")


class LockService(unittest.TestCase):
    def setUp(self):
        self.model = MODELS / "lock_service.pml"

    def check_all(self, *defined):
        told = search(self.model, *defined)
        self.assertIn("errors: 0", told)
        self.assertNotIn("Search not completed", told)
        self.assertNotIn("max search depth too small", told)
        # Nothing of the model is dead: only the ends of processes that run for ever.
        unreached = re.findall(r"lock_service\.pml:\d+, state \d+, \"(.*)\"", told)
        self.assertTrue(all(what == "-end-" for what in unreached), unreached)

    def check_controls(self, controls, *defined):
        text = self.model.read_text()
        for control in controls:
            self.assertIn(f"def {control}", text)
            self.assertIn("assertion violated", search(self.model, control, *defined), control)

    def test_every_state_keeps_the_rules(self):
        self.check_all()

    def test_each_control_fails(self):
        self.check_controls(("NO_FENCE", "NO_GRACE", "RESUME"))

    def test_every_state_with_a_proxy_keeps_the_rules(self):
        self.check_all("PROXY")

    def test_each_control_with_a_proxy_fails(self):
        self.check_controls(("NO_DRAIN", "NO_VIA", "NO_FENCE", "NO_GRACE"), "PROXY")


if __name__ == "__main__":
    MODELS = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
