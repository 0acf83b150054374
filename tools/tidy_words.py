# SPDX-License-Identifier: Apache-2.0
"""The words that tools/tidy refuses: each with the files it is refused from, and what to write instead."""
import re

CODE = r"\.(cpp|hpp)$"
TESTS = r"(_(test|fuzz)\.cpp$|^tests/)"
# pattern, the files it is banned from, what to do instead
BANNED = [
    (r"\b(TODO|FIXME|XXX|HACK)\b", r"", "finish it now, or describe the limit as a fact where a user meets it"),
    (r"\b(sleep_for|sleep_until|usleep|nanosleep)\b", TESTS, "wait for the event itself: a future, a latch"),
    (r"\bDISABLED_", CODE, "repair the test or delete it"),
    (r"\busing namespace std\s*;", CODE, "name what is used: std::vector"),
    (r"\bstd::endl\b", CODE, "write '\\n'; flush only where it matters"),
    (r"^\s*#\s*ifndef\s+\w+_(HPP|H)_?\s*$", CODE, "use #pragma once"),
    (r"^\s*#\s*define\s+(?!NACRE_)", CODE, "use a constant, a function or a template; macros are NACRE_* only"),
    (r"\batomic_thread_fence\b", CODE, "order the operations themselves; the thread sanitizer cannot see fences"),
    (r"(?<![\w.$}>-])/(work|root|home)/", r"", "use a path relative to the repository"),
]
# Comments and documents speak the field's terms, one for each idea: docs/glossary.md. Word of the past, term of today; a
# word is refused in any form of its identifier, from the files that the pattern names.
PRODUCT = r"^(src|include)/.*\.(cpp|hpp)$"
RETIRED = [
    ("lanes?|lane_of", "thread context", PRODUCT),
    ("crews?", "worker pool, or process group", PRODUCT),
    ("tally|tallies", "counter", PRODUCT),
    ("outlets?", "send buffer", PRODUCT),
    ("ledger", "send window", PRODUCT),
    ("standstills?", "deadlock", PRODUCT),
    ("entrance|way_in", "listener, or join options", PRODUCT),
    ("guests?", "peer candidate", PRODUCT),
    ("goodbyes?|farewell", "shutdown", PRODUCT),
    ("lookout", "poll set", PRODUCT),
    ("bells?", "doorbell", PRODUCT),
    ("lent|lends?|recalls?", "registered region, register, deregister", PRODUCT),
    ("tickets?", "item, credentials or request id", PRODUCT),
    ("abridge|spell_out", "compress, expand", PRODUCT),
    ("vacancy|bury|obey|shuffle_balancer", "the term of docs/glossary.md", PRODUCT),
    ("stand_in_parker|relief_parker|take_seat", "substitute worker, fallback poller, worker slot", PRODUCT),
]
OPENING = re.compile(r"(The same|That of|Those of|As above|What|Whatever|Who|Whoever|Whom|Whose)\b")
# How often, in 1,000 words of comment in src/ and include/, words stand that make a reader look for a noun.
RATES = [("who, whom, whose, whoever", re.compile(r"\b(who|whom|whose|whoever|whomever)\b", re.I), 0.5),
         ("what, whatever", re.compile(r"\b(what|whatever)\b", re.I), 2.0)]
BANNED_EXEMPT = {"tools/tidy_words.py", "tools/tidy_test.py", "LICENSE"}
