# SPDX-License-Identifier: Apache-2.0
"""A small tree of sources in which the tests of tools/tidy plant offences."""
import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import shutil
import tempfile
import unittest

LOADER = importlib.machinery.SourceFileLoader("tidy", str(pathlib.Path(__file__).resolve().parent / "tidy"))
LOADER_SPEC = importlib.util.spec_from_loader("tidy", LOADER)
tidy = importlib.util.module_from_spec(LOADER_SPEC)
LOADER.exec_module(tidy)

HEAD = "// SPDX-License-Identifier: Apache-2.0\n// A file of the planted tree.\n"
HEADER = HEAD + "#pragma once\n"
BOOK = "include/nacre/book.hpp"


class planted_tree(unittest.TestCase):
    """A clean tree of three layers in a temporary folder. Sources that are planted need not include what they use, unless that is
    what is tested."""
    checks_includes = False

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        self.table, tidy.PUBLIC_HEADERS = tidy.PUBLIC_HEADERS, {"wire": "book pages/"}
        self.addCleanup(setattr, tidy, "PUBLIC_HEADERS", self.table)
        if not self.checks_includes:
            self.addCleanup(setattr, tidy, "CHECKS", tidy.CHECKS)
            tidy.CHECKS = [check for check in tidy.CHECKS if check is not tidy.check_includes]
        self.write(BOOK, HEADER + "#include <nacre/pages/page.hpp>\n#include <vector>\ninline nacre_page book;\n")
        self.write("include/nacre/pages/page.hpp", HEADER + "struct nacre_page {};\n")
        self.write("src/base/stone.hpp", HEADER + "inline int stone = 1;\n")
        self.write("src/wire/line.hpp", HEADER + '#include "base/stone.hpp"\n#include <nacre/book.hpp>\n')
        self.write("src/wire/line.cpp",
                   HEAD + '#include "wire/line.hpp"\n#include <fmt/format.h>\nint line() { return 1; }\n')
        self.write("apps/reader/main.cpp", HEAD + '#include "shelf.hpp"\n#include <nacre/book.hpp>\nint main() {}\n')
        self.write("apps/reader/shelf.hpp", HEADER)
        self.write("README.md", "# Planted\n\nSee [the page](docs/a.md).\n")
        self.write("docs/a.md", "Text.\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def append(self, name, text):
        self.write(name, (self.root / name).read_text() + text)

    def run_tidy(self, *arguments):
        with contextlib.redirect_stdout(io.StringIO()) as output:
            code = tidy.main(["--root", str(self.root), *arguments])
        lines = output.getvalue().splitlines()
        offences = [line for line in lines if not line.startswith("tidy: ")]
        self.assertEqual(code, 1 if offences else 0)
        return offences, lines

    def assert_offence(self, place_and_rule, fix):
        """Exactly one offence, at this place, under this rule, whose message holds `fix`."""
        offences, _ = self.run_tidy()
        self.assertEqual(len(offences), 1, offences)
        self.assertTrue(offences[0].startswith(place_and_rule), offences[0])
        self.assertIn(fix, offences[0])
