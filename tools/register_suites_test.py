#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cmake/nacre_register_suites.cmake registers each suite that a test executable lists, whatever its name; one without tests is refused."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "cmake/nacre_register_suites.cmake"
# Lists what $all says, or with a filter what $filtered says.
PROGRAM = """#!/bin/sh
case $1 in
  --gtest_filter=*) cat "$0.filtered" ;;
  *) cat "$0.all" ;;
esac
"""


@unittest.skipUnless(shutil.which("cmake"), "there is no cmake")
class registered_suites(unittest.TestCase):
    def registered(self, listing, filtered=None):
        """({name: (arguments, environment)} or None where the script refuses, what it says)"""
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        (folder / "program").write_text(PROGRAM)
        (folder / "program").chmod(0o755)
        (folder / "program.all").write_text("Running main() from gtest_main.cc\n" + listing)
        (folder / "program.filtered").write_text("Running main() from gtest_main.cc\n" + (filtered or ""))
        options = {"TARGET": "x_tests", "EXECUTABLE": folder / "program", "FILTER": "" if filtered is None else "-left.out", "COST": 0,
                   "TIMEOUT": 9, "CTEST_FILE": folder / "tests.cmake"}
        done = subprocess.run(["cmake", *(f"-D{key}={value}" for key, value in options.items()), "-P", SCRIPT],
                              capture_output=True, text=True)
        if done.returncode != 0:
            return None, done.stderr
        text = (folder / "tests.cmake").read_text()
        environments = dict(re.findall(r"set_tests_properties\(\[=\[(.*?)\]=\].* ENVIRONMENT \[=\[(.*?)\]=\]\)", text))
        return {name: (arguments, environments.get(name)) for name, arguments in
                re.findall(r"add_test\(\[=\[(.*?)\]=\] \[=\[.*?\]=\] \[=\[(.*?)\]=\]\)", text)}, done.stderr

    def test_suites_of_every_kind(self):
        listing = ("plain.\n  a\n  b\noff.\n  a\nNO.\n  a\nover/Typed/0.  # TypeParam = std::array<int[2], 3>;\n  a\n"
                   "each/value.\n  a/0  # GetParam() = \"[;\\\"\n  a/1  # GetParam() = \"]x\\\nlast.\n  a\n")
        got, _ = self.registered(listing)
        self.assertEqual(got, {f"x_tests.{name}": (f"--gtest_filter={name}.*", None)
                               for name in ("plain", "off", "NO", "over/Typed/0", "each/value", "last")})

    def test_a_large_suite_is_several_tests(self):
        got, _ = self.registered("large.\n" + "".join(f"  case/{number}\n" for number in range(81)))
        self.assertEqual(got, {f"x_tests.large.{part}": ("--gtest_filter=large.*", f"GTEST_TOTAL_SHARDS=3;GTEST_SHARD_INDEX={part - 1}")
                               for part in (1, 2, 3)})

    def test_what_a_filter_leaves_out(self):
        self.assertEqual(self.registered("a.\n  a\nleft.\n  out\n", "a.\n  a\n")[0], {"x_tests.a": ("--gtest_filter=a.*-left.out", None)})
        self.assertEqual(self.registered("left.\n  out\n", "")[0], {})

    def test_an_executable_without_tests(self):
        for filtered in (None, ""):
            got, said = self.registered("nothing\n", filtered)
            self.assertIsNone(got)
            self.assertIn("has no test", said)


if __name__ == "__main__":
    unittest.main()
