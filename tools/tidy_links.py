# SPDX-License-Identifier: Apache-2.0
"""Checks of tools/tidy: links of documents lead somewhere, pages are found, and C++ blocks come from compiled files."""
import posixpath
import re

from markdown_text import anchors, blocks, indented_blocks, line_of, links, undefined_labels

CPP_LANGUAGES = {"c", "cc", "cpp", "c++", "cxx", "h", "hpp"}
# Lines by which a block is C++ although no fence says so.
CPP_LINE = re.compile(r"^\s*(#include\b|template <|nacre::\w|(?:const )?auto \w+ = |(?:rt|ctx)\.\w+|int main\(|(?:struct|class) \w+ ).*"
                      r"[;>{]\s*(//.*)?$", re.M)


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
        for place, label in undefined_labels(tree.text[name]):
            tree.report(name, line_of(tree.text[name], place), "link", f"[{label}] is defined nowhere in this page: write its target")


def check_pages_are_found(tree):
    """Links lead from the pages outside of docs/ to each page in it, over pages in between."""
    pages = {n for n in tree.text if n.endswith(".md")}
    found = {n for n in pages if not n.startswith("docs/")}
    to_follow = sorted(found)
    while to_follow:
        name = to_follow.pop()
        for _, _, target in links(tree.text[name]):
            local = local_target(name, target)
            if local and local[0] in pages - found:
                found.add(local[0])
                to_follow.append(local[0])
    for name in sorted(pages - found):
        tree.report(name, 1, "unlinked", "no page that a reader finds links to this one: link to it from docs/README.md, or from "
                                         "the page that a reader comes from")


def check_blocks_are_tested(tree):
    """A block of C++ in a document is marked with the file that it is part of; check_documents compares the two."""
    for name in (n for n in tree.text if n.endswith(".md")):
        for line, language, mark, code in blocks(tree.text[name]):
            is_cpp = language in CPP_LANGUAGES or (not language and CPP_LINE.search(code))
            if is_cpp and mark not in tree.code:
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


def squeezed(code):
    """`code` with blanks only where two words would become one."""
    return re.sub(r" ?([^\w ]) ?", r"\1", re.sub(r"\s+", " ", code))


def stands_in(part, text):
    """Whether `part` stands in `text`, and is no end or beginning of longer words there."""
    pattern = r"\b" * bool(re.match(r"\w", part)) + re.escape(part) + r"\b" * bool(re.search(r"\w\Z", part))
    return re.search(pattern, text) is not None


def check_tables_are_tested(tree):
    """Calls in a marked table stand in the example, whatever its blanks and what ... stands for."""
    for name in (n for n in tree.text if n.endswith(".md")):
        for line, path, code in table_calls(tree.text[name]):
            text = squeezed(tree.text.get(path, ""))
            parts = re.split(r"(?:args|arguments)?\.\.\.", squeezed(code))
            if not all(stands_in(part, text) for part in parts):
                tree.report(name, line, "untested", f"`{code}` is not in {path}: use it there as it is written here")
