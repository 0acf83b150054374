#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of the documents again that virtual time makes, and fails where one has changed.

A document has such a table between two lines:

    <!-- virtual FORMAT: COMMAND -->
    the table
    <!-- end virtual -->

COMMAND is what this program runs, FORMAT a function of tools/virtual_formats.py, with words for it behind its name, which
writes the table from what the command has printed or written. The first word of a command is a program of the build; {a,b}
stands for a run with a and one with b, machines/ for the folder of the source tree, `;` separates commands, `&&` steps of one in the same folder, which is a new one for
each command and gone afterwards. `<!-- nightly virtual ...` marks what takes more than some seconds.
"""
import argparse
import difflib
import itertools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from virtual_formats import FORMATS

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = re.compile(r"^<!-- (?P<nightly>nightly )?virtual (?P<format>\w+)(?P<words>[^:]*): (?P<command>.*?) -->\n"
                   r"(?P<text>.*?)^<!-- end virtual -->\n", re.S | re.M)
MARKER = re.compile(r"^<!-- (?:(?:nightly )?virtual|end virtual)\b", re.M)  # one that is indented shows how to write it
ALTERNATIVES = re.compile(r"\{([^{}]+)\}")


class problem(Exception):
    """What is wrong, in one line for the user."""


class run:
    """What one command has left: its standard output, its standard error, and the text of each file that it wrote."""

    def __init__(self, choice, output, errors, files):
        self.choice, self.output, self.errors, self.files = choice, output, errors, files

    def json(self):
        """The JSON that the command has printed, or written as its only file of that kind."""
        written = [text for name, text in sorted(self.files.items()) if name.endswith(".json")]
        return json.loads(written[0] if written else self.output)


def alternatives(command):
    """(choice, command) for each way to choose one word of each {a,b}."""
    parts = ALTERNATIVES.split(command)
    for choice in itertools.product(*(part.split(",") for part in parts[1::2])):
        words = list(parts)
        words[1::2] = choice
        yield choice, "".join(words)


def program_of(build, name):
    for folder in ("bin", "examples"):
        if os.access(path := build / folder / name, os.X_OK):
            return str(path)
    raise problem(f"{build} has no program {name}: build it, or name another build by --build")


def execute(command, build, folder):
    """Runs the steps of one command; returns the output and the errors of the last one."""
    steps = [[re.sub(r"(^|=)machines/", rf"\g<1>{ROOT}/machines/", word) for word in shlex.split(step)] for step in command.split("&&")]
    for words in steps:
        done = subprocess.run([program_of(build, words[0]), *words[1:]], cwd=folder, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise problem(f"`{shlex.join(words)}` ended with {done.returncode}: {done.stderr.strip() or 'no word'}")
    return done.stdout, done.stderr


class runner:
    """Runs commands of a build, each once."""

    def __init__(self, build):
        self.build, self.done = build, {}

    def runs_of(self, commands):
        return [self.run_of(choice, command) for each in commands.split(";") for choice, command in alternatives(each.strip())]

    def run_of(self, choice, command):
        if command not in self.done:
            with tempfile.TemporaryDirectory() as folder:
                output, errors = execute(command, self.build, folder)
                files = {path.name: path.read_text() for path in pathlib.Path(folder).iterdir() if path.suffix in (".json", ".svg")}
            self.done[command] = output, errors, files
        return run(choice, *self.done[command])


def tables_of(name, text):
    """The marked tables of a page. A marker that opens or ends none is a problem."""
    found = list(TABLE.finditer(text))
    inside = [(match.start(), match.end()) for match in found]
    for marker in MARKER.finditer(text):
        line = text.count("\n", 0, marker.start()) + 1
        if not any(begin <= marker.start() < end for begin, end in inside):
            raise problem(f"{name}:{line}: this marker has no partner: <!-- virtual FORMAT: COMMAND -->, the table, <!-- end virtual -->")
    for match in found:
        if match["format"] not in FORMATS:
            raise problem(f"{name}: tools/virtual_formats.py has no format {match['format']}: it has {', '.join(sorted(FORMATS))}")
        if MARKER.search(match["text"]):
            raise problem(f"{name}: the table of `{match['command']}` has no end: <!-- end virtual -->")
    return found


def framed(table):
    """`table` as it stands between its markers; code by indentation stands between empty lines."""
    table = table.strip("\n") + "\n"
    return f"\n{table}\n" if table.startswith(" ") else table


def made(page, match, programs):
    """The text of one table as the programs make it now; writes pictures beside the page as `pictures` of the format."""
    command = " ".join(match["command"].split())
    runs = programs.runs_of(command)
    try:
        return framed(FORMATS[match["format"]](runs, *match["words"].split()))
    except (ArithmeticError, LookupError, TypeError, ValueError) as found:
        raise problem(f"{page.name}: the format {match['format']} makes no table of what `{command}` left: {found!r}") from found


def compared(page, match, programs, write):
    """(the new text, lines that tell what has changed) of one table, or of the picture that it shows."""
    if match["format"] != "picture":
        new = made(page, match, programs)
        return new, list(difflib.unified_diff(match["text"].splitlines(), new.splitlines(), "document", "now", lineterm="", n=0))
    shown = re.search(r"\]\((\S+\.svg)\)", match["text"])
    if not shown:
        raise problem(f"{page}: the picture of `{match['command']}` is no .svg: ![what it shows](FILE.svg)")
    file, new = page.parent / shown[1], FORMATS["picture"](programs.runs_of(" ".join(match["command"].split())))
    if file.exists() and file.read_text() == new:
        return match["text"], []
    if write:
        file.write_text(new)
    return match["text"], [f"{shown[1]} is another picture now"]


def renewed(page, text, programs, wanted, write):
    """(the page's text with all tables as they are now, how many were compared, how many differ)"""
    parts, place, compared_count, changed_count = [], 0, 0, 0
    for match in tables_of(page.name, text):
        parts.append(text[place:match.start("text")])
        place = match.end("text")
        new, changes = match["text"], []
        if wanted(match):
            print(f"{page.name}: {match['format']}: {' '.join(match['command'].split())}", flush=True)
            new, changes = compared(page, match, programs, write)
            compared_count += 1
        if changes:
            changed_count += 1
            print(*("    " + line for line in changes), sep="\n", flush=True)
        parts.append(new)
    return "".join(parts) + text[place:], compared_count, changed_count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog="Exit code: 0; 1 when a table has changed and "
                                     "--write is not given; 2 when it cannot be made.")
    parser.add_argument("pages", nargs="*", type=pathlib.Path, help="documents; without: all of docs/")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="whose programs to run")
    parser.add_argument("--write", action="store_true", help="write what has changed into the documents")
    parser.add_argument("--nightly", action="store_true", help="also the tables that take minutes")
    parser.add_argument("--only", metavar="WORD", default="", help="the tables whose format or command has this word, nightly or not")
    parser.add_argument("--check", action="store_true", help="only whether all markers can be read; runs nothing")
    asked = parser.parse_args()
    programs, compared_count, changed_count = runner(asked.build.resolve()), 0, 0

    def wanted(match):
        if asked.check:
            return False
        return asked.only in match[0].partition("-->")[0] if asked.only else asked.nightly or not match["nightly"]

    try:
        for page in asked.pages or sorted((ROOT / "docs").rglob("*.md")):
            text = page.read_text()
            new, compared_here, changed_here = renewed(page, text, programs, wanted, asked.write)
            compared_count, changed_count = compared_count + compared_here, changed_count + changed_here
            if asked.write and new != text:
                page.write_text(new)
    except (problem, OSError) as found:
        print(f"virtual_tables.py: {found}", file=sys.stderr)
        return 2
    if asked.check:
        return 0
    print(f"{compared_count} tables compared, {changed_count} changed" + (" and written" if asked.write and changed_count else ""))
    if changed_count and not asked.write:
        print("The documents say what is no longer so: look whether that is meant, then renew them by --write.")
    return 1 if changed_count and not asked.write else 0


if __name__ == "__main__":
    sys.exit(main())
