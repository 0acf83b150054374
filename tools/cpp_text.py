# SPDX-License-Identifier: Apache-2.0
"""Finds comments and functions in C++ text, as far as tools/tidy needs them."""
import re

COMMENT_OR_LITERAL = re.compile(r"""//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|"""
                                r"""(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""", re.S)
RAW_LITERAL = re.compile(r'R"(\w*)\(.*?\)\1"', re.S)


def comments(text):
    """(line, text without its slashes) of each comment; lines of // comments come one by one."""
    for match in COMMENT_OR_LITERAL.finditer(text):
        if match[0].startswith(("//", "/*")):
            for offset, line in enumerate(match[0].splitlines()):
                yield text.count("\n", 0, match.start()) + 1 + offset, re.sub(r"^\s*(///?<?|/?\*+/?)\s?", "", line)


def blank(match):
    """Replaces comments and literals by nothing but their line breaks."""
    return "\n" * match[0].count("\n") or " "


def functions(text):
    """(first line, number of lines) of each function body, found by its braces."""
    text = re.sub(COMMENT_OR_LITERAL, blank, text)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)
    scopes = []  # of each open brace: (kind, line)
    line, header = 1, ""
    for piece in re.split(r"([{};\n])", text):
        if piece == "\n":
            line += 1
            header += " "
        elif piece == "{":
            outside = all(kind == "container" for kind, _ in scopes)
            scopes.append((scope_kind(header.strip(), outside), line))
            header = ""
        elif piece == "}":
            kind, first = scopes.pop() if scopes else ("stray", line)
            if kind == "function":
                yield first, line - first + 1
            header = ""
        elif piece == ";":
            header = ""
        else:
            header += piece


def scope_kind(header, outside):
    """What a brace opens, judged by the text before it and by whether all braces around it are containers."""
    while (shorter := re.sub(r"<[^<>()]*>", "", header)) != header:  # template parameters, also nested ones
        header = shorter
    if not outside:
        return "block"
    header = re.sub(r"\balignas\s*\([^()]*\)", "", header)
    if re.search(r"\b(namespace|class|struct|union|enum)\b[^()]*$", header) or header == "extern":
        return "container"
    before_parameters = re.sub(r"\boperator\s*\S+", "", header).split("(")[0]
    if "=" in before_parameters or ("(" not in header and header and header[0] not in ",:"):
        return "initializer"
    return "function"


UNNAMED_THING = re.compile(r"(?:struct|class|enum class) (?:alignas\(\w+\) )?(\w+)\b(?!;)|"
                           r"(?:constexpr|const) [^=({]*?\b(\w+)(?: = |\{)")


def unnamed_names(text):
    """(line, (enclosing namespace, name)) of types, constants and functions without linkage; of functions, those that take no
    type of this file, as another function of their name could be called instead of them."""
    closings = {number for number, line in enumerate(text.splitlines(), 1) if line == "}  // namespace"}
    text = re.sub(COMMENT_OR_LITERAL, blank, text)
    own_types = set(re.findall(r"^(?:struct|class|enum class|using)\s+(\w+)", text, re.M))
    enclosing, unnamed = "", False
    for number, line in enumerate(text.splitlines(), 1):
        if opened := re.match(r"namespace ?([\w:]*) ?\{", line):
            unnamed = not opened[1]
            enclosing = opened[1] or enclosing
        elif number in closings:
            unnamed = False
        elif unnamed and (found := re.match(r"(?!return|static_assert|struct|class)[\w\[][^=();]*[\s&*>](\w+)\((.*)", line)):
            if not own_types & set(re.findall(r"\w+", found[2])):
                yield number, (enclosing, found[1])
        elif unnamed and (found := UNNAMED_THING.match(line)):
            yield number, (enclosing, found[1] or found[2])
