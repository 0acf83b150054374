# SPDX-License-Identifier: Apache-2.0
"""Finds links, anchors and blocks of code in Markdown, as far as tools/tidy and tools/site_pages.py need them."""
import re

FENCE = re.compile(r"^((?: |>)*)(```+|~~~+)([^`\n]*)\n((?:.*\n)*?)^(?: |>)*\2 *$", re.M)
LANGUAGE = re.compile(r"\s*\{?\s*\.?([\w+#-]*)")  # of a block, in what is behind its fence
CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)((?:(?!\n[ \t]*\n).)*?)(?<!`)\1(?!`)", re.S)  # within a paragraph
LINK = re.compile(r"\]\(\s*(?:<(?P<quoted>[^<>\n]+)>|(?P<plain>[^()\s<>]+(?:\([^()\s]*\)[^()\s]*)?))"
                  r"(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*\)")
DEFINITION = re.compile(r"^ {0,3}\[(?P<label>[^\]\n]+)\]:\s+<?(?P<plain>[^\s<>]+)>?", re.M)
REFERENCE = re.compile(r"(?<!\\)\[[^\[\]]+\]\[(?P<label>[^\[\]\n]+)\]")
LIST_ITEM = re.compile(r" {0,3}(?:[-*+]|\d+[.)])\s")
HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*\s*$", re.M)
HTML_ANCHOR = re.compile(r"<\w+[^>]*\b(?:id|name)=[\"']([^\"'>]+)[\"']")
HTML_TARGET = re.compile(r"<\w+[^>]*\b(?:src|srcset|href)=[\"'](?P<plain>[^\"'>]+)[\"']")
MARK = re.compile(r"<!-- (\S+) -->\n\Z")


def spaces(match):
    """Text of the same length and the same lines, without any letters."""
    return re.sub(r"[^\n]", " ", match[0])


def is_in_list(text, place):
    """Whether the indented text at `place` goes on with an item of a list, and is no code."""
    for line in reversed(text[:place].splitlines()):
        if LIST_ITEM.match(line):
            return True
        if line[:1].strip():
            return False
    return False


def without_blocks(text):
    """`text` with its blocks of code blank, fenced and indented ones, at the same places."""
    text = FENCE.sub(spaces, text)
    indented = re.compile(r"(?<=\n\n)((?: {4,}|\t)[^\n]*(?:\n|\Z)|[ \t]*\n)+")
    return indented.sub(lambda match: match[0] if is_in_list(text, match.start()) else spaces(match), text)


def line_of(text, place):
    return text.count("\n", 0, place) + 1


def links(text):
    """(first place, end, target) of each link and picture outside of code, in order."""
    prose = CODE_SPAN.sub(spaces, without_blocks(text))
    found = [(match, "quoted" if "quoted" in match.groupdict() and match["quoted"] else "plain")
             for pattern in (LINK, DEFINITION, HTML_TARGET) for match in pattern.finditer(prose)]
    return sorted((match.start(group), match.end(group), match[group]) for match, group in found)


def undefined_labels(text):
    """(place, label) of each [text][label] whose label has no definition in the page."""
    prose = CODE_SPAN.sub(spaces, without_blocks(text))
    defined = {match["label"].lower() for match in DEFINITION.finditer(prose)}
    return [(match.start(), match["label"]) for match in REFERENCE.finditer(prose) if match["label"].lower() not in defined]


def headings(text):
    """(level, plain title) of each heading."""
    for match in HEADING.finditer(FENCE.sub(spaces, text)):
        title = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", match[2])
        yield len(match[1]), re.sub(r"(?<!\w)[*_]+|[*_]+(?!\w)|`", "", title)


def anchors(text):
    """What `#anchor` can name in a page: its headings, as repository hosts name them, and HTML anchors."""
    named, times = set(HTML_ANCHOR.findall(text)), {}
    for _, title in headings(text):
        slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        count = times[slug] = times.get(slug, -1) + 1
        named.add(f"{slug}-{count}" if count else slug)
    return named


def blocks(text):
    """(line, language, file of its mark or None, code) of each fenced block."""
    for match in FENCE.finditer(text):
        mark = MARK.search(text, 0, match.start())
        yield line_of(text, match.start()), LANGUAGE.match(match[3])[1].lower(), mark and mark[1], match[4]


def indented_blocks(text):
    """(line, code) of each block of code by indentation, outside of fences."""
    prose = FENCE.sub(spaces, text)
    for match in re.finditer(r"(?<=\n\n)(?: {4,}[^\n]*\n(?:[ \t]*\n)*)+", prose):
        yield line_of(text, match.start()), match[0]
