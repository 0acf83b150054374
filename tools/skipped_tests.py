#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""skipped_tests.py LOG: the reasons why tests were skipped, each with its count, from CTest's Testing/Temporary/LastTest.log.

The last line is the number of skipped tests alone.
"""
import collections
import re
import sys

# "path/x_test.cpp:12: Skipped", then the reason; or what a script says that ends with the code for a skip.
BY_GTEST = re.compile(r"^\S+:\d+: Skipped\n(.*)$", re.M)
BY_SCRIPT = re.compile(r"^(.*was skipped.*|\S+\.sh: .*)$", re.M)


def reasons_of(text):
    """The reason of each skipped test in the text of the log."""
    for record in text.split("\n----------------------------------------------------------\n"):
        pass
    for record in re.split(r"^\d+/\d+ Testing: ", text, flags=re.M)[1:]:
        if not re.search(r"^Test (Skipped|Not Run)", record, re.M):
            continue
        reason = BY_GTEST.search(record) or BY_SCRIPT.search(record)
        yield reason[1].strip() if reason and reason[1].strip() else "it gave no reason: " + record.split("\n", 1)[0]


def main():
    with open(sys.argv[1], encoding="utf-8", errors="replace") as log:
        counts = collections.Counter(reasons_of(log.read()))
    if counts:
        print("Skipped, and why:")
    for reason, count in counts.most_common():
        print(f"{count:6}  {reason}")
    print(sum(counts.values()))


if __name__ == "__main__":
    main()
