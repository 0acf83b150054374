# SPDX-License-Identifier: Apache-2.0
"""Checks of tools/tidy: links of documents lead somewhere, pages are found, and C++ blocks come from compiled files."""
import posixpath
import re

from markdown_text import anchors, blocks, indented_blocks, line_of, links

# Lines by which a block is C++ although no fence says so.
CPP_LINE = re.compile(r"^\s*(#include\b|template <|nacre::\w|(?:const )?auto \w+ = |(?:rt|ctx)\.\w+).*[;>{]\s*(//.*)?$", re.M)


def local_target(name, target):
    """(path from the tree's root, anchor) of a link in page `name`; None where it leads elsewhere."""
    if re.match(r"[a-z][a-z0-9+.-]*:", target):
        return None
    path, _, anchor = target.partition("#")
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name, anchor


def problem_of_link(tree, name, target):
    """What is wrong with a link; None if it leads to a file, a folder or a heading of this tree, or elsewhere."""
    if target.startswith(("/", "file:")):
        return f"{target} begins at the root of a machine: write it relative to this page"
    if (local := local_target(name, target)) is None:
        return None
    path, anchor = local
    if path.startswith("..") or not (tree.root / path).exists():
        return f"{target} does not exist: name the page that holds this now"
    if anchor and path.endswith(".md") and anchor not in anchors(tree.text[path]):
        return f"{path} has no heading #{anchor}: name the heading that it has now"
    return None


def check_links(tree):
    """Each link within the repository leads to a file, and its #anchor to a heading of it."""
    for name in (n for n in tree.text if n.endswith(".md")):
        for place, _, target in links(tree.text[name]):
            if problem := problem_of_link(tree, name, target):
                tree.report(name, line_of(tree.text[name], place), "link", problem)


def check_pages_are_found(tree):
    """Another page links to each page of docs/."""
    pages = {n for n in tree.text if n.endswith(".md")}
    linked = set()
    for name in pages:
        for _, _, target in links(tree.text[name]):
            local = local_target(name, target)
            if local and local[0] != name:
                linked.add(local[0])
    for name in sorted(n for n in pages if n.startswith("docs/") and n not in linked):
        tree.report(name, 1, "unlinked", "no other page links to this one: link to it from docs/README.md, or from "
                                         "the page that a reader comes from")


def check_blocks_are_tested(tree):
    """A block of C++ in a document is marked with the file that it is part of; check_documents compares the two."""
    for name in (n for n in tree.text if n.endswith(".md")):
        for line, language, mark, code in blocks(tree.text[name]):
            is_cpp = language in ("cpp", "cxx", "c") or (not language and CPP_LINE.search(code))
            if is_cpp and not mark:
                tree.report(name, line, "untested", "a block of C++ that no test compiles: put it into an example, and "
                                                    "<!-- examples/NAME.cpp --> in front of the block")
        for line, code in indented_blocks(tree.text[name]):
            if CPP_LINE.search(code):
                tree.report(name, line, "untested", "a block of C++ by indentation: write it as ```cpp, and "
                                                    "<!-- examples/NAME.cpp --> with its file in front")


def table_calls(text):
    """(line, file, code) of each call in the last column of a table that is marked with the file of its example."""
    path = None
    for number, line in enumerate(text.splitlines(), 1):
        if match := re.fullmatch(r"<!-- (\S+) -->", line):
            path = match[1]
        elif not line.startswith("|"):
            path = None
        elif path:
            last = re.split(r"(?<!\\)\|", line.rstrip().removesuffix("|"))[-1]
            yield from ((number, path, code) for code in re.findall(r"`([^`]+)`", last)
                        if "(" in code and not code.startswith("find_package"))


def check_tables_are_tested(tree):
    """Calls in a marked table stand in the example, whatever its blanks and what ... stands for."""
    for name in (n for n in tree.text if n.endswith(".md")):
        for line, path, code in table_calls(tree.text[name]):
            text = re.sub(r"\s", "", tree.text.get(path, ""))
            parts = re.split(r"(?:args|arguments)?\.\.\.", re.sub(r"\s", "", code))
            if not all(part in text for part in parts):
                tree.report(name, line, "untested", f"`{code}` is not in {path}: use it there as it is written here")
