#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/install_deps.sh installs what is missing, where it may, and says what to do where not; apt-get and others are stand-ins."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "install_deps.sh"
RECORD = 'echo "${0##*/} $*" >>"$(dirname "$0")/../calls"\n'
AS_ROOT = 'while case $1 in -n | env | *=*) true ;; *) false ;; esac; do shift; done\n"$@"\n'
PROGRAMS = {
    "id": "echo 0\n",
    "dpkg-query": 'for each in $(cat "$(dirname "$0")/../installed"); do echo "installed $each"; done\n',
    "apt-get": RECORD + 'case $* in *"$FAILS"*) [ -z "$FAILS" ] || exit 100 ;; esac\n',
    "apt-cache": '[ "$2" = ccache ]\n',
}


class install_deps(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        (self.root / "bin").mkdir()
        for name in ("sh", "cat", "dirname", "sed", "grep", "env"):
            (self.root / "bin" / name).symlink_to(shutil.which(name))
        for name, text in PROGRAMS.items():
            self.program(name, text)
        self.installed = ["fmt"]

    def program(self, name, text):
        (self.root / "bin" / name).write_text("#!/bin/sh\n" + text)
        (self.root / "bin" / name).chmod(0o755)

    def run_script(self, *arguments, **environment):
        """(exit code, what it says, the calls of apt-get and sudo)"""
        (self.root / "installed").write_text("\n".join(self.installed))
        (self.root / "calls").write_text("")
        done = subprocess.run(["/bin/sh", SCRIPT, *arguments], capture_output=True, text=True,
                              env={"PATH": str(self.root / "bin"), "FAILS": "", **environment})
        return done.returncode, done.stdout + done.stderr, (self.root / "calls").read_text().splitlines()

    def needed(self):
        (self.root / "bin/apt-get").rename(self.root / "apt-get")
        code, said, _ = self.run_script("demo")
        (self.root / "apt-get").rename(self.root / "bin/apt-get")
        self.assertEqual(code, 0)
        return said.splitlines()[-1].split()

    def test_what_is_missing_is_installed(self):
        code, _, calls = self.run_script("demo")
        self.assertEqual((code, calls[0], len(calls)), (0, "apt-get update -q", 2))
        self.assertIn("libfmt-dev", calls[1].split())
        self.assertIn("ccache", calls[1].split())
        self.assertNotIn("libmetis-dev", calls[1].split())

    def test_nothing_is_done_where_all_are_there(self):
        self.installed = self.needed()
        self.assertEqual(self.run_script("demo"), (0, "", []))

    def test_a_package_that_is_only_nice_to_have_fails_nothing(self):
        code, _, calls = self.run_script("demo", FAILS="ccache")
        self.assertEqual((code, len(calls)), (0, 3))
        self.assertNotIn("ccache", calls[2])

    def test_a_package_that_is_needed_and_cannot_be_had(self):
        code, _, _ = self.run_script("demo", FAILS="libfmt-dev")
        self.assertNotEqual(code, 0)

    def test_lists_of_packages_that_cannot_be_read_anew(self):
        code, said, calls = self.run_script("demo", FAILS="update")
        self.assertEqual((code, len(calls)), (0, 2))
        self.assertIn("apt-get update has failed", said)

    def test_another_user(self):
        self.program("id", "echo 1000\n")
        code, said, calls = self.run_script("demo")
        self.assertEqual((code, calls), (1, []))
        self.assertIn("sudo apt-get update && sudo apt-get install -y --no-install-recommends ninja-build", said)
        self.program("sudo", RECORD + AS_ROOT)
        code, _, calls = self.run_script("demo", http_proxy="http://proxy.example:3128")
        self.assertEqual(code, 0)
        self.assertTrue(any(each.startswith("sudo -n env http_proxy=http://proxy.example:3128 ") for each in calls), calls)

    def test_a_purpose_that_there_is_not(self):
        code, said, calls = self.run_script("demos")
        self.assertEqual((code, calls), (2, []))
        self.assertIn("usage: ", said)


if __name__ == "__main__":
    unittest.main()
