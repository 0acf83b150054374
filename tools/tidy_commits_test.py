#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rules of tools/tidy about commits fire on subjects planted in a small repository, and only on those."""
import os
import shutil
import subprocess
import sys
import unittest
from unittest import mock

sys.dont_write_bytecode = True
from planted_tree import planted_tree

LONG = "wire: " + "x" * 67
VERSION = "project(nacre VERSION 0.%d.0 LANGUAGES CXX)\n"


@unittest.skipUnless(shutil.which("git"), "there is no git")
class commits(planted_tree):
    def setUp(self):
        super().setUp()
        for who in ("AUTHOR", "COMMITTER"):
            for what in ("NAME", "EMAIL"):
                os.environ[f"GIT_{who}_{what}"] = "planted"
        self.git("init", "-q")
        self.commit_version(1)

    def git(self, *arguments):
        subprocess.run(["git", "-C", str(self.root), *arguments], check=True, capture_output=True)

    def commit(self, subject):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", subject)

    def commit_version(self, minor):
        self.write("CMakeLists.txt", VERSION % minor)
        self.commit("x" * 100)

    def test_subjects_that_fit(self):
        for subject in (LONG[:-1], "README, docs: two areas", ".ci: one: with another", "src/wire: a folder"):
            self.commit(subject)
        self.assertEqual(self.run_tidy()[0], [])

    def test_a_long_subject(self):
        self.commit(LONG)
        self.assert_offence("commit ", "73 columns, at most 72")

    def test_a_subject_without_an_area(self):
        self.commit("Fixes the build")
        self.assert_offence("commit ", "write 'area: what changed'")

    def test_what_came_before_the_present_version_or_the_tag_of_a_release(self):
        self.commit(LONG)
        self.commit_version(2)
        self.commit("wire: short")
        self.assertEqual(self.run_tidy()[0], [])
        self.commit(LONG)
        self.assert_offence("commit ", "73 columns")
        self.git("tag", "v0.2.0")
        self.assertEqual(self.run_tidy()[0], [])

    def test_a_merge_is_no_change(self):
        self.git("checkout", "-q", "-b", "side")
        self.commit("wire: one side")
        self.git("checkout", "-q", "-")
        self.commit("wire: the other side")
        self.git("merge", "-q", "-m", "Merge " + LONG, "side")
        self.assertEqual(self.run_tidy()[0], [])

    def test_where_nothing_can_be_known_nothing_is_said(self):
        self.commit(LONG)
        with self.subTest("no git"), mock.patch.dict(os.environ, {"PATH": "/no/such/folder"}):
            self.assertEqual(self.run_tidy()[0], [])
        whole = self.root
        with self.subTest("a shallow clone"):
            self.git("clone", "-q", "--depth", "1", f"file://{whole}", str(whole / "build/shallow"))
            self.root = whole / "build/shallow"
            self.assertEqual(self.run_tidy()[0], [])
        with self.subTest("a folder of a repository of others"):
            self.root = whole / "build/folder"
            shutil.copytree(whole / "src", self.root / "src")
            shutil.copytree(whole / "include", self.root / "include")
            self.write("CMakeLists.txt", VERSION % 1)
            self.assertEqual(self.run_tidy()[0], [])
        with self.subTest("no repository"):
            self.root = whole
            shutil.rmtree(self.root / "build")
            shutil.rmtree(self.root / ".git")
            self.assertEqual(self.run_tidy()[0], [])


if __name__ == "__main__":
    unittest.main()
