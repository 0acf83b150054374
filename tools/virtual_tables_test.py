#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/virtual_tables.py sees a table that has changed, renews it, and says what it cannot read or run."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parent / "virtual_tables.py"
TABLE = "| NAME | virtual seconds |\n|---|---|\n| `one` | 0.0100 |\n| `two` | 0.0200 |\n"
SECONDS = "<!-- virtual seconds NAME: clock {one,two} -->\n"
END = "<!-- end virtual -->\n"


class virtual_tables(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        self.program("clock", 'case $1 in one) s=0.01;; two) s=0.02;; *) echo "no $1" >&2; exit 3;; esac; echo "{\\"seconds\\": $s}"')
        self.program("speaker", 'echo "first $1"; echo; echo "   second"')
        self.program("writer", 'echo "$2" > "$1"')
        self.program("reader", 'cat "$1"')

    def program(self, name, script):
        (path := self.root / "build/bin" / name).parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def make(self, text, *options):
        """(exit code, what is printed, the page afterwards) for a page of that text."""
        page = self.root / "page.md"
        page.write_text(text)
        done = subprocess.run([sys.executable, TOOL, "--build", self.root / "build", *options, page], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr, page.read_text()

    def test_a_table_that_is_true(self):
        text = "Before.\n\n" + SECONDS + TABLE + END + "\nBehind.\n"
        code, printed, after = self.make(text)
        self.assertEqual((code, after), (0, text), printed)
        self.assertIn("1 tables compared, 0 changed", printed)

    def test_a_marker_in_a_block_of_code_is_text(self):
        text = "    " + SECONDS + "    the table\n    " + END
        self.assertEqual(self.make(text, "--write")[::2], (0, text))

    def test_a_table_that_has_changed_fails_and_stays_as_it_is(self):
        text = SECONDS + TABLE.replace("0.0200", "0.0300") + END
        code, printed, after = self.make(text)
        self.assertEqual((code, after), (1, text))
        self.assertIn("-| `two` | 0.0300 |", printed)
        self.assertIn("+| `two` | 0.0200 |", printed)

    def test_a_table_that_has_changed_is_written(self):
        code, printed, after = self.make("Before.\n\n" + SECONDS + "nothing yet\n" + END + "\nBehind.\n", "--write")
        self.assertEqual((code, after), (0, "Before.\n\n" + SECONDS + TABLE + END + "\nBehind.\n"), printed)

    def test_output_as_code_by_indentation(self):
        page = "<!-- virtual verbatim: speaker {a,b} -->\n" + END
        self.assertEqual(self.make(page, "--write")[2], page.replace(
            END, "\n    first a\n\n       second\n\n    first b\n\n       second\n\n" + END))

    def test_steps_of_a_command_share_a_folder(self):
        page = "<!-- virtual seconds NAME: writer a {one,two} && clock one; clock two -->\n" + END
        self.assertEqual(self.make(page.replace("clock two", "clock {two}").replace("{one,two}", "{x}"), "--write")[0], 0)
        code, printed, after = self.make("<!-- virtual verbatim: writer a {left,right} && reader a -->\n" + END, "--write")
        self.assertIn("\n    left\n\n    right\n", after, printed)
        self.assertEqual(code, 0)

    def test_a_picture(self):
        page = "<!-- virtual picture: writer out.svg '<svg>' -->\n![It](shown.svg)\n" + END
        self.assertEqual(self.make(page)[0], 1)  # there is none yet
        self.assertEqual(self.make(page, "--write")[::2], (0, page))
        self.assertEqual((self.root / "shown.svg").read_text(), "<svg>\n")
        self.assertEqual(self.make(page)[0], 0)
        (self.root / "shown.svg").write_text("<other>\n")
        self.assertIn("shown.svg is another picture now", self.make(page)[1])

    def test_what_takes_long_is_for_the_night(self):
        page = SECONDS.replace("virtual", "nightly virtual") + "wrong\n" + END
        self.assertEqual(self.make(page)[0], 0)
        self.assertEqual(self.make(page, "--nightly")[0], 1)
        self.assertEqual(self.make(page, "--only", "clock")[0], 1)
        self.assertEqual(self.make(page, "--only", "other")[0], 0)

    def test_what_cannot_be_read_or_run(self):
        for text, told in ((SECONDS + TABLE, "page.md:1: this marker has no partner"),
                           (TABLE + END, "page.md:5: this marker has no partner"),
                           (SECONDS + TABLE + SECONDS + TABLE + END, "has no end"),
                           ("<!-- virtual minutes: clock one -->\n" + END, "has no format minutes"),
                           ("<!-- virtual verbatim: bell -->\n" + END, "has no program bell"),
                           ("<!-- virtual seconds NAME: clock one -->\n" + END, "the format seconds makes no table of what `clock one` left"),
                           ("<!-- virtual verbatim: clock three -->\n" + END, "`clock three` ended with 3: no three"),
                           ("<!-- virtual picture: clock one -->\nText.\n" + END, "is no .svg")):
            with self.subTest(text):
                code, printed, after = self.make(text)
                self.assertEqual((code, after), (2, text), printed)
                self.assertIn(told, printed)

    def test_all_markers_of_the_documents_can_be_read(self):
        done = subprocess.run([sys.executable, TOOL, "--check"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
