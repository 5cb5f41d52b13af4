#!/usr/bin/env python3
"""Checks the documents: every relative link and heading they point to exists, every `make TARGET`
they name is in the Makefile, every sub-command of `tessera` they name is in the program when it is
built, docs/hints.md is what it prints, the layers in docs/architecture.md are those of
tools/layers.txt, and the README fits one screen.

    tools/check_docs.py [TREE [TESSERA]]      TESSERA is the built program
"""
import pathlib
import re
import subprocess
import sys

README_LINES = 80
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+\s+(.*)$", re.M)
CODE_BLOCK = re.compile(r"^```.*?^```", re.M | re.S)
MAKE = re.compile(r"(?:`|^\s*|\$ )make ([a-z][a-z-]*)(?![-A-Za-z])", re.M)
# "tessera client proof" and the like name keys of the handshake.
TESSERA = re.compile(
    r"(?:`|^\s*|\$ )(?:build/bin/)?tessera (?!client |server )([a-z][a-z-]*)", re.M)
TARGET = re.compile(r"^([a-z][a-z -]*):", re.M)


def anchors(text):
    """The anchors of a document's headings, as code hosts form them."""
    plain = CODE_BLOCK.sub("", text)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
            for heading in HEADING.findall(plain)}


def check_links(path, text):
    for match in LINK.finditer(CODE_BLOCK.sub("", text)):
        target = match.group(1) or match.group(2)
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name) if name else path
        if not file.exists():
            yield f"link to {target}: there is no such file"
        elif anchor and anchor not in anchors(file.read_text()):
            yield f"link to {target}: there is no such heading"


def make_targets(tree):
    text = (tree / "Makefile").read_text()
    targets = {name for line in TARGET.findall(text) for name in line.split()}
    stages = re.search(r"^STAGES := (.*)$", text, re.M).group(1).split()
    return targets | {f"test-{stage}" for stage in stages}


def check_layers(tree):
    """docs/architecture.md states the layers as `a` <- `b`, `c` <- ..."""
    rows = [line.split()[1:] for line in (tree / "tools/layers.txt").read_text().splitlines()
            if line.startswith("layer ")]
    expected = " <- ".join(", ".join(f"`{folder}`" for folder in row) for row in rows)
    text = " ".join((tree / "docs/architecture.md").read_text().split())
    if expected not in text:
        yield f"does not state the layers of tools/layers.txt: {expected}"


def knows_command(program, command):
    done = subprocess.run([program, command, "--help"], check=False, timeout=30,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return done.returncode == 0


def check_hints(tree, program):
    """docs/hints.md is generated from the table in the code."""
    done = subprocess.run([program, "hints", "--markdown"], check=False, timeout=30, text=True,
                          capture_output=True)
    document = tree / "docs/hints.md"
    if not document.exists() or document.read_text() != done.stdout:
        yield "is not what the program prints; run: tessera hints --markdown > docs/hints.md"


def main():
    tree = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    program = sys.argv[2] if len(sys.argv) > 2 and pathlib.Path(sys.argv[2]).exists() else None
    targets = make_targets(tree)
    documents = sorted(tree.glob("*.md")) + sorted((tree / "docs").rglob("*.md"))
    findings, commands = [], {}
    for path in documents:
        text = path.read_text()
        where = path.relative_to(tree)
        findings += [f"{where}: {finding}" for finding in check_links(path, text)]
        findings += [f"{where}: make {name}: there is no such target"
                     for name in sorted(set(MAKE.findall(text)) - targets)]
        for name in TESSERA.findall(text):
            commands.setdefault(name, where)
    if program:
        findings += [f"{where}: tessera {name}: there is no such sub-command"
                     for name, where in commands.items() if not knows_command(program, name)]
        findings += [f"docs/hints.md: {finding}" for finding in check_hints(tree, program)]
    findings += [f"docs/architecture.md: {finding}" for finding in check_layers(tree)]
    readme_lines = len((tree / "README.md").read_text().splitlines())
    if readme_lines > README_LINES:
        findings.append(f"README.md: {readme_lines} lines do not fit one screen ({README_LINES})")
    print("\n".join(findings + [f"docs: {len(documents)} documents, {len(findings)} findings"]))
    return 1 if findings or not documents else 0


if __name__ == "__main__":
    sys.exit(main())
