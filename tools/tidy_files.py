# SPDX-License-Identifier: Apache-2.0
"""Checks of tools/tidy: the files, folders and blocks that comments and documents name exist."""
import re
import textwrap

from cpp_text import comments
from markdown_text import blocks

# A file's name with the folder that it is written with. Names in angle brackets are headers of others, or <nacre/...>,
# which the includes check; "x" stands for any name.
FILE_NAME = re.compile(r"(?<![\w/*.<>{}$-])((?:[\w-]+/)*(?!x(?:_\w+)?\.)[\w-]+\.(?:hpp|cpp|js|md))(?![\w/*-])")


def named_files(name, text):
    """(line, path) of each file that a comment, or the code of a document, names."""
    if name.endswith(".md"):
        lines = ((number, " ".join(re.findall(r"`([^`]*)`", line))) for number, line in enumerate(text.splitlines(), 1))
    else:
        lines = comments(text) if name.endswith((".hpp", ".cpp", ".js")) else ()
    for number, line in lines:
        for match in FILE_NAME.finditer(line):
            yield number, match[1]


def check_named_files(tree):
    """A path is written from src/, include/, the tree's root, or a folder around the file that names it."""
    names = {path.rsplit("/", 1)[-1] for path in tree.text}
    for name, text in tree.text.items():
        folders = name.split("/")[:-1]
        around = ["/".join(folders[:depth] + [""]) if depth else "" for depth in range(len(folders) + 1)]
        for number, path in named_files(name, text):
            there = any(f"{place}{path}" in tree.text for place in around + ["src/", "include/"]) if "/" in path else path in names
            if not there:
                tree.report(name, number, "named", f"{path} does not exist: name the file that holds this now")


def is_part(code, text):
    """Whether the parts of `code`, between lines that say ..., stand in `text`, each with any indentation."""
    parts = re.split(r"^ *\.\.\.\n", code, flags=re.M)
    return all(any(textwrap.indent(part, " " * depth) in text for depth in range(0, 13, 2)) for part in parts)


def check_documents(tree):
    for name in (n for n in tree.text if n.endswith(".md")):
        for line, _, path, code in blocks(tree.text[name]):
            if path and not is_part(code, tree.text.get(path, "")):
                tree.report(name, line - 1, "document", f"the block is not part of {path}: copy it from there, with a line ... "
                                                        "for what is left out")


def check_map(tree):
    """The folders and files without suffix that the maps name exist; see check_named_files for the others."""
    for name, folders in (("src/README.md", ("src/",)), ("apps/README.md", ("apps/", ""))):
        for number, line in enumerate(tree.text.get(name, "").splitlines(), 1):
            for path in re.findall(r"`([a-z0-9_]+/[a-z0-9_/]+)`", line) if line.startswith("|") else ():
                ends = ("",) if path.endswith("/") else (".", "/")
                starts = tuple(f"{folder}{path}{end}" for folder in folders for end in ends)
                if not any(n.startswith(starts) for n in tree.text):
                    tree.report(name, number, "map", f"{path} does not exist: name the file that answers the question now")
