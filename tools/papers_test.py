#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/papers sees a figure of docs/papers.md that has changed, renews it, and says what it cannot read or run; figures
that stand in docs/balancing.md or docs/meshes.md, too, are the same there."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs/papers.md").read_text()
MESHES = (ROOT / "docs/meshes.md").read_text()
BALANCING = (ROOT / "docs/balancing.md").read_text()
REDUCTION = "Section 5.2, reduction"
# Lines of a table of prema_table1 or prema_table2: seconds, most of a core; the same, gain and mean overhead.
STATIC = re.compile(r"^ +static +(\S+) +\S+ +(\S+)", re.M)
DIFFUSION = re.compile(r"^ +diffusion, measured +(\S+) +\S+ +(\S+) +(\S+) +\S+ +\S+ +\S+ +(\S+)", re.M)


def prema_tables(text):
    """{(program, cores): figures} of the tables of PREMA's benchmarks in docs/balancing.md, as docs/papers.md has them."""
    found = {}
    for program, tables in re.findall(r"^<!-- nightly virtual verbatim: (prema_table\d)[^\n]*\n(.*?)^<!-- end virtual", text, re.S | re.M):
        for cores, table in re.findall(r"^    (\d+) cores, (.*?)(?=^    \d+ cores, |\Z)", tables, re.S | re.M):
            (before, most_before), (after, most_after, gain, overhead) = STATIC.search(table).groups(), DIFFUSION.search(table).groups()
            found[program, int(cores)] = [before, after, gain, most_before, most_after, overhead]
    return found


def prema_cells(text):
    """The same of the rows of docs/papers.md."""
    found = {}
    for row in re.findall(r"^\|.*\| `prema_table\d --.*$", text, re.M):
        cells = row.split("|")
        program = re.search(r"prema_table\d", cells[2])[0]
        for cores, figures in re.findall(r"([\d,]+): ([^;]*[^; ])", cells[4]):
            before, after, gain, most_before, most_after, _, overhead = re.findall(r"[\d.]+", figures)
            found[program, int(cores.replace(",", ""))] = [before, after, gain, most_before, most_after, overhead]
    return found


class of_a_page(unittest.TestCase):
    """Runs rows of a page; the program of the emulator's rows is replaced by a script."""

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        self.emulate('echo "{\\"program\\": \\"reduce\\", \\"predicted_us\\": 95}"')

    def emulate(self, script):
        (path := self.root / "build/bin/emulate").parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def make(self, text, *options, only=REDUCTION):
        """(exit code, what is printed, the page afterwards) for a page of that text."""
        page = self.root / "papers.md"
        page.write_text(text)
        command = [sys.executable, ROOT / "bench/papers", "--build", self.root / "build", "--page", page, "--only", only, *options]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr, page.read_text()


class papers(of_a_page):
    """Each test runs the row of the emulator's reduction."""

    def page(self, cell):
        """The page with that cell as Nacre's figure of the reduction."""
        text, count = re.subn(rf"(\| {REDUCTION}:[^|]*\|[^|]*\|[^|]*\|)[^|]*\|", rf"\1 {cell} |", PAGE)
        self.assertEqual(count, 1)
        return text

    def test_a_figure_that_is_true(self):
        text = self.page("reduce: 95.000 µs")
        code, printed, after = self.make(text)
        self.assertEqual((code, after), (0, text), printed)
        self.assertIn("1 figures compared, 0 changed", printed)

    def test_a_figure_that_has_changed_fails_and_stays_as_it_is(self):
        text = self.page("reduce: 96.000 µs")
        code, printed, after = self.make(text)
        self.assertEqual((code, after), (1, text))
        self.assertIn("page: reduce: 96.000 µs\n    now:  reduce: 95.000 µs", printed)

    def test_a_figure_that_has_changed_is_written(self):
        code, printed, after = self.make(self.page("?"), "--write")
        self.assertEqual((code, after), (0, self.page("reduce: 95.000 µs")), printed)

    def test_a_program_that_fails(self):
        self.emulate("echo no >&2; exit 3")
        code, printed, _ = self.make(PAGE)
        self.assertEqual(code, 2)
        self.assertIn("`emulate --program reduce --json -` ended with 3: no", printed)

    def test_a_program_that_prints_something_else(self):
        self.emulate("echo '{}'")
        code, printed, _ = self.make(PAGE)
        self.assertEqual(code, 2)
        self.assertIn("no figure in what `emulate --program reduce --json -` left: KeyError", printed)

    def test_a_row_that_is_lost_or_unknown(self):
        code, printed, _ = self.make(PAGE.replace(f"| {REDUCTION}:", "| Section 5.3:"))
        self.assertEqual(code, 2)
        self.assertIn("bench/papers has no function for Emulator, Section 5.3", printed)
        code, printed, _ = self.make(re.sub(rf"\| {REDUCTION}:.*\n", "", PAGE))
        self.assertEqual(code, 2)
        self.assertIn(f"has no row for Emulator, {REDUCTION}", printed)

    def test_a_row_of_another_kind_or_length(self):
        for wrong in ("| simulation |", "| simulated | again |"):
            code, printed, _ = self.make(PAGE.replace("| simulated |", wrong, 1))
            self.assertEqual(code, 2)
            self.assertIn("a row has 7 cells", printed)

    def test_words_that_no_row_has(self):
        code, printed, _ = self.make(PAGE, only="Figure 99")
        self.assertEqual(code, 2)
        self.assertIn("no row has the words Figure 99", printed)

    def test_what_is_measured_is_shown_and_not_compared(self):
        self.emulate("echo fast")
        code, printed, after = self.make(PAGE, "--real", only="time of the emulation")
        self.assertEqual((code, after), (0, PAGE), printed)
        self.assertEqual(printed.count("    fast\n"), 3)


class counted_lines(of_a_page):
    """The row of a module whose lines are counted."""
    MODULE = "Section 4.2"

    def count(self, text, *options):
        page = re.sub(r"(\| Section 4.2: .*\| )[\d,]+ lines", rf"\g<1>{text}", PAGE)
        self.assertNotEqual(page, PAGE)
        return self.make(page, *options, only=self.MODULE)

    def lines(self):
        return int(re.search(r"\| Section 4.2: .*\| ([\d,]+) lines", PAGE)[1].replace(",", ""))

    def test_lines_that_are_near_are_left(self):
        code, printed, _ = self.count(f"{self.lines() + 1:,} lines")
        self.assertEqual(code, 0, printed)

    def test_lines_that_are_far_off_fail_and_are_written(self):
        code, printed, _ = self.count("1,500 lines")
        self.assertEqual(code, 1, printed)
        self.assertIn("page: 1,500 lines", printed)
        code, printed, after = self.count("1,500 lines", "--write")
        self.assertEqual(code, 0, printed)
        self.assertNotIn("1,500 lines", after)

    def test_a_command_without_a_number(self):
        code, printed, _ = self.count("some")
        self.assertEqual(code, 2)
        self.assertIn("each `wc -l` of the row of Section 4.2 is for a number of lines", printed)


class beside_balancing(unittest.TestCase):
    def test_both_pages_have_the_same_figures_of_prema(self):
        cells, tables = prema_cells(PAGE), prema_tables(BALANCING)
        self.assertEqual(len(cells), 7)
        for table, figures in cells.items():
            for here, there in zip(figures, tables[table], strict=True):
                with self.subTest(table):
                    self.assertAlmostEqual(float(here), float(there), delta=0.6 if float(there) >= 1400 else 0)  # four digits of 3,200 cores there


class beside_meshes(unittest.TestCase):
    def test_both_pages_have_the_same_figures_of_clams_mesh(self):
        overhead, cut = re.search(r"^\| `diffusion` \|(?:[^|]*\|){3} ([\d.]+ %) \|[^|]*\| ([\d.]+ %) \|$", MESHES, re.M).groups()
        self.assertIn(f"| {cut} less time; {overhead} |", PAGE)


if __name__ == "__main__":
    unittest.main()
