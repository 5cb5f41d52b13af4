#!/usr/bin/env python3
"""Runs clang-tidy on every translation unit of a build, in parallel, and remembers what passed.

    tools/tidy.py [--jobs N] BUILD [FILE...]

BUILD holds compile_commands.json; all its files are checked when none is named.

A file is checked again only when it, a header of ours that it includes, its compile command, the
configuration or clang-tidy itself changed: once passed, the hash of all that is kept in BUILD/tidy.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

TIDY = "clang-tidy-14"
ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(rb'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
# GoogleTest's headers are most of the work on a test, so tests get the checks that matter in them.
# Loops over a small universe may nest deeper there.
TEST_OPTIONS = [
    "--checks=-*,bugprone-assert-side-effect,bugprone-use-after-move,performance-for-range-copy,"
    "readability-duplicate-include,readability-function-size,readability-identifier-naming",
    "--config={InheritParentConfig: true, CheckOptions: ["
    "{key: readability-function-size.NestingThreshold, value: 6}]}",
]
SUMMARIES = re.compile(r"^(\d+ warnings? .*|Suppressed .*|Use -header-filter.*)$", re.M)


def our_includes(path):
    """The headers of this repository that a file includes directly."""
    for name in INCLUDE.findall(path.read_bytes()):
        for base in [path.parent, ROOT / "src", ROOT, ROOT / "include"]:
            header = base / name.decode()
            if header.is_file() and ROOT in header.resolve().parents:
                yield header.resolve()
                break


def closure(path):
    """The file and every header of ours it includes, directly or not."""
    found, waiting = set(), [path]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting.extend(our_includes(current))
    return sorted(found)


def key_of(path, command, configuration):
    digest = hashlib.sha256(configuration + command.encode())
    for part in closure(path):
        digest.update(str(part.relative_to(ROOT)).encode() + b"\0" + part.read_bytes() + b"\0")
    return digest.hexdigest()


def units(build):
    """Source path -> compile command of every unit of ours, once each."""
    entries = json.loads((build / "compile_commands.json").read_text())
    commands = {}
    for entry in entries:
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if ROOT in path.parents and build.resolve() not in path.parents:
            commands.setdefault(path, entry["command"])
    return commands


def run_tidy(build, path):
    begin = time.monotonic()
    options = TEST_OPTIONS if path.name.endswith("_test.cpp") else []
    done = subprocess.run([TIDY, "--quiet", "-p", str(build), *options, str(path)], text=True,
                          check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, SUMMARIES.sub("", done.stdout).strip(), time.monotonic() - begin


def check(build, path, stamp):
    status, output, seconds = run_tidy(build, path)
    if status == 0:
        stamp.touch()
    else:
        print(output, flush=True)
    if os.environ.get("TESSERA_VERBOSE"):
        print(f"{seconds:6.1f} s  {path.relative_to(ROOT)}", flush=True)
    return status == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    build = arguments.build
    named = {path.resolve() for path in arguments.files}
    version = subprocess.run([TIDY, "--version"], stdout=subprocess.PIPE, check=True).stdout
    configuration = version + (ROOT / ".clang-tidy").read_bytes() + "".join(TEST_OPTIONS).encode()
    stamps = build / "tidy"
    stamps.mkdir(exist_ok=True)
    commands = {path: command for path, command in units(build).items()
                if not named or path in named}
    stale = []
    for path, command in commands.items():
        stamp = stamps / key_of(path, " ".join(shlex.split(command)), configuration)
        if not stamp.exists():
            stale.append((path, stamp))
    stale.sort(key=lambda item: -item[0].stat().st_size)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        passed = list(pool.map(lambda item: check(build, *item), stale))
    print(f"tidy: {len(commands)} files, {len(commands) - len(stale)} unchanged, "
          f"{passed.count(False)} with findings")
    return 0 if commands and all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
