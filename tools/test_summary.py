#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_summary.py OUTPUT LOG: why tests were skipped, each reason with its count, then "N passed, M failed[, K skipped]".

OUTPUT is what ctest printed, LOG its Testing/Temporary/LastTest.log. CTest takes a test that prints "[  SKIPPED ]" for skipped
whatever its exit code is; one that shows a failure too counts as failed here. The exit code is 1 then, and also where ctest
has printed no summary.
"""
import collections
import re
import sys

SUMMARY = re.compile(r"^\d+% tests passed, (\d+) tests? failed out of (\d+)$", re.M)
SKIPPED = re.compile(r"^\t *\d+ - (.*) \(Skipped\)", re.M)
FAILURE = re.compile(r"\[  FAILED  \]|(?:ERROR|WARNING): \w+Sanitizer|: runtime error: ")
# "path/x_test.cpp:12: Skipped", then the reason; a script or a benchmark says it in a line of its own.
BY_GTEST = re.compile(r"^\S+:\d+: Skipped\n(.*)$", re.M)
BY_PROGRAM = re.compile(r"^(\S+\.sh: .*|.*\bskipped\b.*)$", re.M)


def outputs_of(log):
    """{name of a test: its output} from the text of the log."""
    outputs = {}
    for record in re.split(r"^\d+/\d+ Testing: ", log, flags=re.M)[1:]:
        name = record.split("\n", 1)[0]
        outputs[name] = record.partition("\nOutput:\n")[2].rpartition("<end of output>")[0]
    return outputs


def reason_of(name, output):
    reason = BY_GTEST.search(output) or BY_PROGRAM.search(output)
    return reason[1].strip() if reason and reason[1].strip() else f"{name} gives no reason"


def summary_of(printed, log):
    """(lines to print, exit code)"""
    totals = SUMMARY.findall(printed)
    if not totals:
        return ["test_summary.py: ctest has printed no summary"], 1
    failed, tests = (int(number) for number in totals[-1])
    outputs = outputs_of(log)
    skipped = SKIPPED.findall(printed)
    red = [name for name in skipped if FAILURE.search(outputs.get(name, ""))]
    reasons = collections.Counter(reason_of(name, outputs.get(name, "")) for name in skipped if name not in red)
    lines = ["Skipped, and why:"] if reasons else []
    lines += [f"{count:6}  {reason}" for reason, count in reasons.most_common()]
    lines += [f"Failed, although ctest calls it skipped: {name}" for name in red]
    count = len(skipped) - len(red)
    lines.append(f"{tests - failed - len(skipped)} passed, {failed + len(red)} failed" + (f", {count} skipped" if count else ""))
    return lines, 1 if red else 0


def main():
    printed, log = (open(path, encoding="utf-8", errors="replace").read() for path in sys.argv[1:])
    lines, code = summary_of(printed, log)
    print(*lines, sep="\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
