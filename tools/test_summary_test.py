#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/test_summary.py counts what ctest runs, skips and fails, and takes no failure for a skipped test."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from test_summary import summary_of

HEAD = "cmake_minimum_required(VERSION 3.25)\nproject(planted NONE)\nenable_testing()\n"
GTEST_SKIP = 'SKIP_REGULAR_EXPRESSION "\\\\[  SKIPPED \\\\]"'


@unittest.skipUnless(shutil.which("ctest"), "there is no ctest")
class summaries(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)

    def summary(self, *tests):
        """What is said of tests, each (script, properties)."""
        text = HEAD
        for number, (script, properties) in enumerate(tests):
            (self.root / f"{number}.sh").write_text(script)
            text += f"add_test(NAME test.{number} COMMAND sh ${{CMAKE_CURRENT_SOURCE_DIR}}/{number}.sh)\n"
            text += f"set_tests_properties(test.{number} PROPERTIES TIMEOUT 60 {properties})\n"
        (self.root / "CMakeLists.txt").write_text(text)
        subprocess.run(["cmake", "-S", self.root, "-B", self.root / "build"], check=True, capture_output=True)
        printed = subprocess.run(["ctest", "--test-dir", self.root / "build"], capture_output=True, text=True).stdout
        return summary_of(printed, (self.root / "build/Testing/Temporary/LastTest.log").read_text())

    def test_passed_failed_and_skipped(self):
        by_gtest = "echo 'a/x_test.cpp:12: Skipped'; echo 'no such thing'; echo '[  SKIPPED ] a.b (0 ms)'"
        lines, code = self.summary(("exit 0", ""), ("exit 1", ""), ("kill -SEGV $$", ""), (by_gtest, GTEST_SKIP),
                                   ("echo 'x.sh: skipped: no tool'; exit 77", "SKIP_RETURN_CODE 77"), ("exit 0", "DISABLED TRUE"))
        self.assertEqual((lines[0], lines[-1], code), ("Skipped, and why:", "1 passed, 2 failed, 2 skipped", 0))
        self.assertEqual(sorted(lines[1:3]), ["     1  no such thing", "     1  x.sh: skipped: no tool"])

    def test_only_passed(self):
        self.assertEqual(self.summary(("exit 0", ""), ("exit 0", "")), (["2 passed, 0 failed"], 0))

    def test_a_failure_that_ctest_calls_skipped(self):
        for failure in ("[  FAILED  ] a.c (0 ms)", "==1==ERROR: LeakSanitizer: detected memory leaks", "x.cpp:1:2: runtime error: overflow"):
            with self.subTest(failure):
                lines, code = self.summary((f"echo '[  SKIPPED ] a.b (0 ms)'; echo '{failure}'; exit 1", GTEST_SKIP))
                self.assertEqual(lines, ["Failed, although ctest calls it skipped: test.0", "0 passed, 1 failed"])
                self.assertEqual(code, 1)

    def test_no_summary(self):
        self.assertEqual(summary_of("No tests were found!!!\n", "")[1], 1)


if __name__ == "__main__":
    unittest.main()
