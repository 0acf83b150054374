# SPDX-License-Identifier: Apache-2.0
"""Counts the member functions of classes: a class that does one thing has few."""
import re

from cpp_text import COMMENT_OR_LITERAL, blank

MEMBERS_MAX = 40
# Classes above the limit, which may not grow: what each has, and why it is one class.
LARGE = {
    "ucx_endpoint": (64, "one lock covers sending, receiving, control and direct copies, a source file each"),
    "am_engine": (55, "the interface of a rank's messages to every layer above: sending, calls, counts"),
    "mpi_endpoint": (44, "one lock covers sending and receiving, a source file each"),
    "worker_pool": (48, "the interface that pools of threads and of simulated workers implement, and what they share"),
    "engine": (45, "the composition root: one accessor for each part of a rank"),
    "node_loop": (63, "the hot loop of a block: queues, threads and ports of its nodes, a source file each"),
}
DECLARED = re.compile(r"\boperator\s*[^\s\w(]+|\boperator\s*\(\s*\)|\[\[.*?\]\]|\balignas\s*\([^()]*\)|\bnoexcept\s*\([^()]*\)")


def without_template_arguments(header):
    header = re.sub(r"(<=>|<<|>>=|->|<=|>=)", " ", DECLARED.sub(" operator_of ", header) if "operator" in header
                    else DECLARED.sub(" ", header))
    while (shorter := re.sub(r"<[^<>]*>", " ", header)) != header:
        header = shorter
    return header


def is_member_function(header):
    """Whether the text of a declaration, up to its semicolon or brace, declares a function that somebody has written."""
    header = re.sub(r"\b(public|private|protected)\s*:", " ", without_template_arguments(header)).strip()
    if re.match(r"(,|(friend|using|typedef|static_assert|enum|struct|class|union)\b)", header):
        return False
    if re.search(r"=\s*(default|delete)\s*$", header):
        return False
    return bool(re.match(r"[^=(]*[\w~]\s*\(", header))


def member_functions(text):
    """(line, name, number of member functions) of each class that has a body."""
    text = re.sub(COMMENT_OR_LITERAL, blank, text)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)
    scopes, line, header = [], 1, ""  # of each open brace: None, or [line, name, count] of a class
    parentheses = 0
    for piece in re.split(r"([{};()\n])", text):
        inside = scopes[-1] if scopes else None
        if piece in ("(", ")"):
            parentheses += 1 if piece == "(" else -1
        if piece == "\n":
            line, header = line + 1, header + " "
        elif parentheses or piece == ")":  # a brace there is a default argument's
            header += piece
        elif piece in "{;" and piece:
            named = re.search(r"\b(?:class|struct)\s+(?:alignas\s*\([^()]*\)\s*)?(\w+)[^();=]*$",
                              without_template_arguments(header)) if piece == "{" else None
            if inside and not named and is_member_function(header):
                inside[2] += 1
            if piece == "{":
                is_enum = re.search(r"\benum\b", header)
                scopes.append([line, named[1], 0] if named and not is_enum else None)
            header = ""
        elif piece == "}":
            if scopes and (ended := scopes.pop()):
                yield tuple(ended)
            header = ""
        else:
            header += piece


def check_classes(tree):
    for name in tree.headers:
        if name.startswith(("src/", "include/", "apps/")):
            for line, of, count in member_functions(tree.text[name]):
                most = max(MEMBERS_MAX, LARGE.get(of, (0, ""))[0])
                if count > most:
                    tree.report(name, line, "class", f"{of} has {count} member functions, at most {most}: give a part of "
                                                     "its state a class of its own")
