#!/usr/bin/env python3
"""Runs clang-tidy on every translation unit of a build, in parallel, but for those that passed.

    tools/tidy.py [--jobs N] [--all | --record] BUILD [FILE...]

BUILD holds compile_commands.json, of a build without precompiled headers, so that each file is read
alone; all its files are checked when none is named.

A file is checked again only when it, a header of ours that it includes, its compile command, the
configuration or clang-tidy itself changed. What passed here is remembered in BUILD/passed. What
passed when everything was last checked is in tools/tidy_record.txt, for fresh clones: a line for
each file, with the hash of what it held, and one for the configuration. A unit is as recorded if it
and all headers of ours that it includes are; all others are checked. So an old record costs time
and hides nothing. Its first line is the hash of the others, since two records that are merged say
nothing of the two changes together: then everything is checked.

--record writes the record once everything passed. --all believes neither it nor BUILD/passed.
"""
import argparse
import concurrent.futures
import functools
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
RECORD = ROOT / "tools" / "tidy_record.txt"
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


@functools.lru_cache(maxsize=None)
def our_includes(path):
    """The headers of this repository that a file includes directly."""
    found = []
    for name in INCLUDE.findall(content_of(path)):
        for base in [path.parent, ROOT / "src", ROOT, ROOT / "include"]:
            header = base / name.decode()
            if header.is_file() and ROOT in header.resolve().parents:
                found.append(header.resolve())
                break
    return found


@functools.lru_cache(maxsize=None)
def closure(path):
    """The file and every header of ours it includes, directly or not."""
    found, waiting = set(), [path]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting.extend(our_includes(current))
    return sorted(found)


@functools.lru_cache(maxsize=None)
def content_of(path):
    return path.read_bytes()


def hash_of(content):
    return hashlib.sha256(content).hexdigest()[:16]


def key_of(path, command, configuration):
    digest = hashlib.sha256(configuration + command.encode())
    for part in closure(path):
        digest.update(str(part.relative_to(ROOT)).encode() + b"\0" + content_of(part) + b"\0")
    return digest.hexdigest()


def meaning(entry, build):
    """What clang-tidy takes from a compile command, wherever the tree and the build are."""
    words = shlex.split(entry["command"])
    kept = [f"{before} {word}" if before == "-isystem" else word
            for before, word in zip(words, words[1:])
            if before == "-isystem" or re.match(r"-[DIU]|-std=", word)]
    return " ".join(kept).replace(str(build.resolve()), "BUILD").replace(str(ROOT), "")


class State:
    """The files of a tree as a record has them: path -> hash, and of units with their commands."""

    def __init__(self, commands, configuration):
        self.lines = {"configuration": hash_of(configuration)}
        for unit in commands:
            for part in closure(unit):
                name = str(part.relative_to(ROOT))
                command = commands.get(part, "").encode()
                self.lines[name] = hash_of(command + b"\0" + content_of(part))

    def text(self):
        body = "".join(f"{digest} {name}\n" for name, digest in sorted(self.lines.items()))
        return f"{hash_of(body.encode())}\n{body}"

    def recorded(self, record, unit):
        """Whether the record has this unit and all that it includes as they are."""
        names = [str(part.relative_to(ROOT)) for part in closure(unit)] + ["configuration"]
        return all(f"{self.lines[name]} {name}" in record for name in names)


def read_record():
    """The lines of the record; none where there is none to believe."""
    text = RECORD.read_text() if RECORD.exists() else ""
    first, _, body = text.partition("\n")
    if text and first != hash_of(body.encode()):
        print(f"tidy: {RECORD.name} is not as it was written, so everything is checked; "
              "then write it again: make tidy-record", flush=True)
        return set()
    return set(body.splitlines())


def units(build):
    """Source path -> what its compile command means, for every unit of ours, once each."""
    entries = json.loads((build / "compile_commands.json").read_text())
    commands = {}
    for entry in entries:
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if ROOT in path.parents and build.resolve() not in path.parents:
            commands.setdefault(path, meaning(entry, build))
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


def stale_units(commands, state, arguments, configuration):
    """(unit, stamp) of those that must be checked, the longest first."""
    stamps = arguments.build / "passed"
    stamps.mkdir(exist_ok=True)
    record = set() if arguments.all else read_record()
    stale = []
    for path, command in commands.items():
        stamp = stamps / key_of(path, command, configuration)
        known = stamp.exists() or state.recorded(record, path)
        if arguments.all or not known:
            stale.append((path, stamp))
    return sorted(stale, key=lambda item: -item[0].stat().st_size)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    named = {path.resolve() for path in arguments.files}
    version = subprocess.run([TIDY, "--version"], stdout=subprocess.PIPE, check=True).stdout
    configuration = version + (ROOT / ".clang-tidy").read_bytes() + "".join(TEST_OPTIONS).encode()
    every = units(arguments.build)
    commands = {path: command for path, command in every.items() if not named or path in named}
    state = State(every, configuration)
    stale = stale_units(commands, state, arguments, configuration)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        passed = list(pool.map(lambda item: check(arguments.build, *item), stale))
    print(f"tidy: {len(commands)} files, {len(commands) - len(stale)} unchanged, "
          f"{passed.count(False)} with findings")
    if not commands or not all(passed):
        return 1
    if arguments.record and not named:
        RECORD.write_text(state.text())
    elif stale and not arguments.all:
        print("tidy: fresh clones check these again until they are recorded: make tidy-record")
    return 0


if __name__ == "__main__":
    sys.exit(main())
