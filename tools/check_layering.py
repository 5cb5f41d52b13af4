#!/usr/bin/env python3
"""Checks that the sources keep the layers of tools/layers.txt and the sizes of the style.

    tools/check_layering.py [TREE]      TREE is the root of the repository, by default this one

Checked: no #include goes upward or sideways; MPI, thread and socket headers appear only where the
table says; the folders that CMakeLists.txt files link agree with the table; no folder is called
utils, common or helpers; no file is longer than 1000 lines and no line wider than 100 columns;
nothing of std::filesystem is called in a way that throws, since none may leave a library.
Prints one line "file:line: what is wrong" per finding and exits with 1 when there is one.
"""
import fnmatch
import pathlib
import re
import sys

MAX_LINES = 1000
MAX_COLUMNS = 100
SOURCE_SUFFIXES = {".hpp", ".cpp", ".h", ".c"}
SIZED_SUFFIXES = SOURCE_SUFFIXES | {".py", ".sh", ".cmake"}
SIZED_FOLDERS = ["src", "include", "bench", "tests", "examples", "tools", "cmake"]
NAMELESS_FOLDERS = {"util", "utils", "common", "helper", "helpers", "misc"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
LINKED = re.compile(r"tessera_folder\(\s*(\w+)[^)]*?\bDEPENDS\b([^)]*)\)", re.S)
# What looks at files or changes them throws, unless its last argument is a std::error_code.
THROWING = re.compile(r"\b(?:std::filesystem|fs)::(absolute|canonical|copy\w*|create_\w+|"
                      r"current_path|equivalent|exists|file_size|hard_link_count|is_\w+|"
                      r"last_write_time|permissions|proximate|read_symlink|relative|remove|"
                      r"remove_all|rename|resize_file|space|status|symlink_status|"
                      r"temp_directory_path|weakly_canonical|"
                      r"(?:recursive_)?directory_iterator(?:\s+\w+)?)\s*[({]")
ERROR_CODE = re.compile(r"\berror_code\s*&?\s*(\w+)")
LOOPED = re.compile(r"for\s*\([^;()]*:\s*(?:std::filesystem|fs)::"
                    r"(?:recursive_)?directory_iterator\b")
# The same under another name would not be seen.
ALIAS = re.compile(r"\b(?:using\s+\w+\s*=\s*(?:std::filesystem|fs)::"
                   r"(?:(?:recursive_)?directory_iterator|directory_entry)\b|"
                   r"using\s+(?:namespace\s+)?std::filesystem\b(?!::path\s*;)|"
                   r"namespace\s+(?!fs\b)\w+\s*=\s*std::filesystem\b)")
ITERATOR = re.compile(r"\b(?:recursive_)?directory_iterator\s+(\w+)|"
                      r"\bauto&?\s+(\w+)\s*=\s*(?:std::filesystem|fs)::"
                      r"(?:recursive_)?directory_iterator\b")
# Of an entry; asked for in files with iterators or entries only, since other classes have them too.
MEMBER = re.compile(r"(?:->|\.)(exists|is_\w+|file_size|hard_link_count|last_write_time|"
                    r"(?:symlink_)?status|refresh)\s*\(")
# What a path answers for itself.
OF_PATHS = {"is_absolute", "is_relative"}
LINK_KEYWORDS = {"INSTALL", "LIBRARIES", "DEPENDS", "ALONE"}


class Table:
    """The rules of layers.txt."""

    def __init__(self, text):
        self.rank = {}
        self.allowed = {}
        self.only = []
        rank = 0
        for line in text.splitlines():
            words = line.split("#")[0].split()
            if not words:
                continue
            if words[0] == "layer":
                self.rank.update({folder: rank for folder in words[1:]})
                rank += 1
            elif words[0] == "allow":
                self.allowed.setdefault(words[1], set()).update(words[2:])
            elif words[0] == "only":
                colon = words.index(":")
                self.only.append((words[1:colon], words[colon + 1:]))
            else:
                raise SystemExit(f"layers.txt: no such rule: {line}")

    def knows(self, folder):
        return folder in self.rank or folder in self.allowed

    def may_include(self, folder, other):
        if folder == other or self.allowed.get(folder, set()) & {other, "*"}:
            return True
        if folder not in self.rank or other not in self.rank:
            return False
        return self.rank[other] < self.rank[folder]

    def may_use_header(self, path, header):
        """path is relative to src/tessera, as mpiio/open.cpp."""
        return all(any(fnmatch.fnmatch(path, pattern) for pattern in paths)
                   for paths, headers in self.only
                   if any(fnmatch.fnmatch(header, pattern) for pattern in headers))


def last_argument(text, begin):
    """Of the call whose arguments begin there, without the spaces around it."""
    depth = 0
    last = begin
    for at in range(begin, len(text)):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            if depth == 0:
                return text[last:at].strip()
            depth -= 1
        elif text[at] == "," and depth == 0:
            last = at + 1
    return ""


class Checker:
    def __init__(self, tree, table):
        self.tree = tree
        self.table = table
        self.findings = []
        self.checked = 0

    def report(self, path, line, message):
        self.findings.append(f"{path.relative_to(self.tree)}:{line}: {message}")

    def check(self):
        for top in SIZED_FOLDERS:
            for path in sorted((self.tree / top).rglob("*")):
                if path.is_dir():
                    self.check_folder_name(path)
                elif path.suffix in SIZED_SUFFIXES:
                    self.check_size(path)
        for root in ["src/tessera", "bench"]:
            for path in sorted((self.tree / root).rglob("*")):
                if path.suffix in SOURCE_SUFFIXES:
                    self.check_includes(path)
                    if root != "bench":
                        self.check_filesystem(path)
                elif path.name == "CMakeLists.txt":
                    self.check_links(path)
        for path in sorted((self.tree / "include").rglob("*")):
            if path.suffix in SOURCE_SUFFIXES:
                self.check_public_header(path)

    def check_folder_name(self, path):
        if path.name in NAMELESS_FOLDERS:
            self.report(path, 1, f"a folder called {path.name} says nothing of what is in it")

    def check_size(self, path):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        if len(lines) > MAX_LINES:
            self.report(path, len(lines), f"the file is longer than {MAX_LINES} lines")
        for number, line in enumerate(lines, 1):
            if len(line) > MAX_COLUMNS:
                self.report(path, number, f"the line is wider than {MAX_COLUMNS} columns")

    def check_filesystem(self, path):
        """Tests may throw: what they do not expect ends them."""
        if path.stem.endswith("_test") or path.stem.startswith("test_"):
            return
        text = path.read_text(errors="replace")
        line = lambda match: text.count("\n", 0, match.start()) + 1
        codes = set(ERROR_CODE.findall(text))
        calls = list(THROWING.finditer(text))
        if re.search(r"directory_(?:iterator|entry)\b", text):
            calls += [match for match in MEMBER.finditer(text) if match.group(1) not in OF_PATHS]
        for match in calls:
            if last_argument(text, match.end()) not in codes:
                self.report(path, line(match),
                            f"{match.group(1).split()[0]} throws; give it a std::error_code")
        for match in ALIAS.finditer(text):
            self.report(path, line(match),
                        "another name hides what throws; write std::filesystem:: or fs::")
        iterators = "|".join({name for pair in ITERATOR.findall(text) for name in pair if name})
        steps = (re.compile(rf"\+\+\s*(?:{iterators})\b|\b(?:{iterators})\s*\+\+").finditer(text)
                 if iterators else [])
        for match in [*LOOPED.finditer(text), *steps]:
            self.report(path, line(match),
                        "going on to the next entry throws; call increment() with an error_code")

    def place(self, path):
        """The folder of a source, and its path as layers.txt spells it."""
        relative = path.relative_to(self.tree)
        inside = relative if relative.parts[0] == "bench" else relative.relative_to("src/tessera")
        return inside.parts[0], inside.as_posix()

    def includes(self, path):
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1) == '"', match.group(2)

    def check_includes(self, path):
        self.checked += 1
        folder, inside = self.place(path)
        if not self.table.knows(folder):
            self.report(path, 1, f"folder {folder} is not in tools/layers.txt")
            return
        for number, quoted, header in self.includes(path):
            other = self.folder_of(header)
            if other and not self.table.may_include(folder, other):
                self.report(path, number, f"{folder} may not include {other} ({header})")
            elif quoted and not other and not header.startswith("tessera/"):
                self.report(path, number, f'"{header}": name it from the root, tessera/FOLDER/FILE')
            elif not self.table.may_use_header(inside, header):
                self.report(path, number, f"<{header}> may not be included in {folder}")

    def check_public_header(self, path):
        self.checked += 1
        for number, _, header in self.includes(path):
            if self.folder_of(header):
                self.report(path, number, f"an installed header may not include {header}")

    def folder_of(self, header):
        """The folder a header of ours lies in; None for all others."""
        parts = header.split("/")
        if parts[0] == "tessera" and len(parts) > 2:
            return parts[1]
        return "bench" if parts[0] == "bench" and len(parts) > 1 else None

    def check_links(self, path):
        text = path.read_text(errors="replace")
        for match in LINKED.finditer(text):
            number = text.count("\n", 0, match.start()) + 1
            for other in match.group(2).split():
                if other in LINK_KEYWORDS:
                    break
                if not self.table.may_include(match.group(1), other):
                    self.report(path, number, f"{match.group(1)} may not depend on {other}")


def main():
    here = pathlib.Path(__file__).resolve().parent
    tree = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else here.parent
    checker = Checker(tree, Table((here / "layers.txt").read_text()))
    checker.check()
    for finding in checker.findings:
        print(finding)
    if checker.checked == 0:
        print(f"{tree}: no sources to check")
        return 1
    print(f"layering: {checker.checked} files, {len(checker.findings)} findings")
    return 1 if checker.findings else 0


if __name__ == "__main__":
    sys.exit(main())
