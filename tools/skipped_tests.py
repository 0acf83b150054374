#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""skipped_tests.py LOG: why tests were skipped, each reason with its count, from CTest's Testing/Temporary/LastTest.log.

The last line is the number of skipped tests alone.
"""
import collections
import re
import sys

SKIPPED = re.compile(r"^Test Pass Reason:\nSkip ", re.M)
# "path/x_test.cpp:12: Skipped", then the reason; a script or a benchmark says it in a line of its own.
BY_GTEST = re.compile(r"^\S+:\d+: Skipped\n(.*)$", re.M)
BY_PROGRAM = re.compile(r"^(\S+\.sh: .*|.*\bskipped\b.*)$", re.M)


def reasons_of(log):
    """The reason of each skipped test in the text of the log."""
    for record in re.split(r"^\d+/\d+ Testing: ", log, flags=re.M)[1:]:
        if not SKIPPED.search(record):
            continue
        title = record.split("\n", 1)[0]
        output = record.partition("\nOutput:\n")[2].partition("<end of output>")[0]
        reason = BY_GTEST.search(output) or BY_PROGRAM.search(output)
        yield reason[1].strip() if reason and reason[1].strip() else f"{title} gives no reason"


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
