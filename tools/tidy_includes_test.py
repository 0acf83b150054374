#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the rule of tools/tidy that every source includes the headers of the standard names that it uses."""
import sys
import unittest

sys.dont_write_bytecode = True
from planted_tree import HEAD, HEADER, planted_tree


class standard_includes(planted_tree):
    checks_includes = True
    LINE = "src/wire/line.cpp"

    def test_a_standard_name_without_its_header(self):
        for use, header in (("std::uint32_t count = 1;", "cstdint"), ("std::string text;", "string"), ("int code = errno;", "cerrno"),
                            ("auto least = std::ranges::find(all, 1);", "algorithm"), ("void f(std::size_t);", "cstddef")):
            with self.subTest(use):
                self.write(self.LINE, HEAD + f'#include "wire/line.hpp"\n{use}\n')
                self.assert_offence("src/wire/line.cpp:4: include", f"<{header}>: include it")

    def test_a_standard_name_that_the_rule_does_not_know(self):
        for use in ("std::mdspan<int, 2> all;", "auto least = std::ranges::fold_left(all);"):
            with self.subTest(use):
                self.write(self.LINE, HEAD + f"#include <mdspan>\n{use}\n")
                self.assert_offence("src/wire/line.cpp:4: include", "NAMES_OF of tools/tidy_includes.py")

    def test_names_that_are_declared(self):
        for line in ("#include <cstdint>\nstd::uint32_t count = 1;", "#include <cstring>\nstd::size_t bytes = 1;",
                     "// std::string", 'const char* text = "std::string";', "int my_errno = 1;"):
            with self.subTest(line):
                self.write(self.LINE, HEAD + line + "\n")
                self.assertEqual(self.run_tidy()[0], [])

    def test_a_source_and_its_tests_have_what_their_header_includes(self):
        self.write("src/wire/line.hpp", HEADER + "#include <string>\n")
        for name in ("line.cpp", "line_test.cpp", "line_fuzz.cpp"):
            self.write("src/wire/" + name, HEAD + '#include "wire/line.hpp"\nstd::string text;\n')
        self.assertEqual(self.run_tidy()[0], [])
        self.write("src/wire/other.cpp", HEAD + '#include "wire/line.hpp"\nstd::string text;\n')
        self.assert_offence("src/wire/other.cpp:4: include", "<string>: include it")

    def assert_added(self, before, after):
        uses = "std::string text;\nstd::vector<std::uint8_t> bytes;\n"
        self.write("src/wire/other.cpp", HEAD + before + uses)
        self.run_tidy("--add-includes")
        self.assertEqual((self.root / "src/wire/other.cpp").read_text(), HEAD + after + uses)
        self.assertEqual(self.run_tidy()[0], [])

    def test_headers_are_added_where_they_belong(self):
        added = "#include <cstdint>\n#include <string>\n#include <vector>\n\n"
        self.assert_added("", added)
        self.assert_added('#include "wire/line.hpp"\n\n', '#include "wire/line.hpp"\n\n' + added)
        self.assert_added("#include <unistd.h>\n\n#include <fmt/format.h>\n\n",
                          "#include <unistd.h>\n\n" + added + "#include <fmt/format.h>\n\n")
        self.assert_added("#include <array>\n#include <string>\n\n",
                          "#include <array>\n#include <cstdint>\n#include <string>\n#include <vector>\n\n")


if __name__ == "__main__":
    unittest.main()
