# SPDX-License-Identifier: Apache-2.0
"""Counts declarations whose names are no nouns: variables and parameters called by a preposition, pronoun or question word."""
import re

from cpp_text import COMMENT_OR_LITERAL, blank

NO_NOUNS = ("about among around at before behind beside between by found from here how into is it its made of on over own that there "
            "to under what when where which who why with within").split()
RATE_MAX = 0.3  # in 1,000 lines; it only falls
WORD = "|".join(NO_NOUNS)
# A type, then the name, then what may follow a declared name. Words that stand before an expression are no types.
DECLARED = re.compile(rf"(?:(?P<type>[A-Za-z_]\w*)|[>\]])(?:\s*\.\.\.)?(?:\s*[&*]+\s*|\s+)(?:const\s+)?(?P<name>{WORD})\s*(?=[,)=;:{{\[]|\[\[)")
NO_TYPES = {"return", "co_return", "co_await", "co_yield", "throw", "case", "goto", "delete", "else", "new", "typename", "not", "and", "or",
            "operator", "namespace", "struct", "class", "enum", "using"}


def declared(text):
    """(line, name) of each declaration that is named so. An `x & on)` counts when it looks like one: few do."""
    text = re.sub(COMMENT_OR_LITERAL, blank, text)
    for match in DECLARED.finditer(text):
        if match["type"] not in NO_TYPES:
            yield text.count("\n", 0, match.start("name")) + 1, match["name"]


def check_names(tree):
    """Variables and parameters are nouns, but for a few in a thousand lines."""
    found = [(name, line, word) for name in tree.code for line, word in declared(tree.text[name])]
    lines = sum(len(tree.text[name].splitlines()) for name in tree.code)
    if lines > 1000 and 1000 * len(found) / lines > RATE_MAX:
        name, line, word = found[-1]
        tree.report(name, line, "name", f"{len(found)} variables in {lines} lines are called by a preposition, pronoun or question "
                                        f"word, such as '{word}' here; at most {RATE_MAX} in 1,000 lines: say what the thing is")
