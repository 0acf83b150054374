#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each rule of tools/tidy for documents fires on an offence planted in a clean tree, and only on that."""
import sys
import unittest

sys.dont_write_bytecode = True
from planted_tree import HEAD, HEADER, planted_tree


class documents(planted_tree):
    def test_the_map_names_files_that_exist(self):
        self.write("src/README.md", "| question | file |\n|---|---|\n| Where? | `base/stone`, `wire/`, `include/nacre/book.hpp` |\n")
        self.assertEqual(self.run_tidy()[0], [])
        self.write("src/README.md", "| Where? | `base/pebble` |\n")
        self.assert_offence("src/README.md:1: map", "base/pebble does not exist")
        self.write("src/README.md", "| Where? | `wire/page.js` |\n")
        self.assert_offence("src/README.md:1: named", "wire/page.js does not exist")

    def test_the_map_of_programs_names_files_there_or_from_the_top(self):
        self.write("apps/mesh2d/cut.cpp", HEAD)
        self.write("apps/README.md", "| Where? | `mesh2d/cut`, `src/base/stone` |\n")
        self.assertEqual(self.run_tidy()[0], [])
        self.write("apps/README.md", "| Where? | `mesh2d/saw` |\n")
        self.assert_offence("apps/README.md:1: map", "mesh2d/saw does not exist")

    def test_a_file_that_a_comment_names_and_that_exists(self):
        self.write("docs/a.md", "Text.\n")
        self.append("src/wire/line.hpp", "/// See stone.hpp, base/stone.hpp, wire/line.cpp and docs/a.md, not <gtest.hpp> or x_test.cpp.\n"
                                         "inline int end = 1;  ///< api*.cpp, tl/expected, sits in nacre/book.hpp\n")
        self.append("apps/reader/shelf.hpp", "// reader/main.cpp and main.cpp are the same\n")
        self.assertEqual(self.run_tidy()[0], [])

    def test_a_file_that_a_comment_names_and_that_does_not_exist(self):
        for number, path in enumerate(["pebble.hpp", "wire/stone.hpp", "stone_test.cpp", "page/plane.js", "docs/b.md"]):
            with self.subTest(path):
                self.write("src/wire/line.hpp", HEADER + f"/// The ends (see {path}).\ninline int end = {number};\n")
                self.assert_offence("src/wire/line.hpp:4: named", f"{path} does not exist")

    def test_a_file_that_a_document_names(self):
        self.write("docs/a.md", "In `src/wire/line.cpp`, `wire/line.cpp` and `stone.hpp`; not the pebble.hpp of others.\n")
        self.assertEqual(self.run_tidy()[0], [])
        self.write("docs/a.md", "Text.\nThe test `pebbles`, in `src/wire/line_test.cpp`.\n")
        self.assert_offence("docs/a.md:2: named", "src/wire/line_test.cpp does not exist")

    def test_a_block_that_differs_from_its_example(self):
        self.write("docs/a.md", "Text.\n\n<!-- src/wire/line.cpp -->\n```cpp\nint line() { return 2; }\n```\n")
        self.assert_offence("docs/a.md:3: document", "not part of src/wire/line.cpp")

    def test_a_block_that_equals_a_part_of_its_example(self):
        self.write("docs/a.md", "<!-- src/wire/line.cpp -->\n```cpp\nint line() { return 1; }\n```\n")
        self.assertEqual(self.run_tidy()[0], [])

    def test_a_block_of_parts_of_its_example(self):
        self.write("docs/a.md", "<!-- src/wire/line.cpp -->\n```cpp\n#include <fmt/format.h>\n...\nint line() { return 1; }\n```\n")
        self.assertEqual(self.run_tidy()[0], [])
        self.write("docs/a.md", "<!-- src/wire/line.cpp -->\n```cpp\n#include <fmt/format.h>\n...\nint line() { return 2; }\n```\n")
        self.assert_offence("docs/a.md:1: document", "not part of src/wire/line.cpp")

    def test_a_block_without_the_indentation_of_its_example(self):
        self.append("src/wire/line.cpp", "int two() {\n  if (line() == 1)\n    return 2;\n}\n")
        self.write("docs/a.md", "<!-- src/wire/line.cpp -->\n```cpp\nif (line() == 1)\n  return 2;\n```\n")
        self.assertEqual(self.run_tidy()[0], [])

    def test_a_block_of_cpp_that_no_test_compiles(self):
        for fence in ("```cpp\nint line();\n```", "```\nconst auto p = rt.create<cell>();\n```", "    rt.send<&cell::add>(p, 1);",
                      "``` C++\nint line();\n```", "```{.cc}\nint line();\n```", "```\nint main() {\n```", "> ```hpp\n> int line();\n> ```"):
            with self.subTest(fence):
                self.write("docs/a.md", f"Text:\n\n{fence}\n")
                self.assert_offence("docs/a.md:3: untested", "<!-- examples/NAME.cpp -->")

    def test_a_block_of_cpp_from_a_file_that_nobody_compiles(self):
        self.write("docs/a.md", "Text:\n\n<!-- docs/a.md -->\n```cpp\nint line();\n```\n")
        self.assert_offence("docs/a.md:4: untested", "<!-- examples/NAME.cpp -->")

    def test_a_block_of_shell_or_output_needs_no_file(self):
        self.write("docs/a.md", "Text:\n\n    $ build/uts --tree T3; echo done\n    14200 solutions\n\n```sh\nmake demo\n```\n")
        self.assertEqual(self.run_tidy()[0], [])


    def test_calls_in_a_table(self):
        table = "Text.\n\n<!-- src/wire/line.cpp -->\n| other | here |\n|---|---|\n| `f(x)` | %s, or `nacre run` |\n"
        for good in ("`line( )`", "`int line() {...}`", "nothing"):
            with self.subTest(good):
                self.write("docs/a.md", table % good)
                self.assertEqual(self.run_tidy()[0], [])
        for bad in ("`lines()`", "`ne()`"):
            with self.subTest(bad):
                self.write("docs/a.md", table % bad)
                self.assert_offence("docs/a.md:6: untested", f"{bad} is not in src/wire/line.cpp")


class linked(planted_tree):
    def test_a_link_to_a_file_that_does_not_exist(self):
        for link in ("[b](b.md)", "[c](../src/c.cpp)", "![picture](d.svg)", '<img src="e.png">', "[f][g]\n\n[g]: f.md", "[b](b.md 'B')",
                     "[b](<b and c.md>)", "<a href='b.md'>b</a>", "a `\n\n[b](b.md)\n\nand another ` ", "this:\n\n- a\n\n    [b](b.md)",
                     "this:\n\n1. a\n\n    - [b](b.md)"):
            with self.subTest(link):
                self.write("docs/a.md", f"Text.\n\nSee {link}.\n")
                offences, _ = self.run_tidy()
                self.assertEqual(len(offences), 1, offences)
                self.assertRegex(offences[0], r"docs/a\.md:\d: link: .* does not exist")
        self.write("docs/a.md", "See [b][nowhere], `[f][g]` and [f][G].\n\n[g]: a.md\n")
        self.assert_offence("docs/a.md:1: link", "[nowhere] is defined nowhere")

    def test_a_link_to_a_heading_that_does_not_exist(self):
        self.append("README.md", "## Use it, *now*: `a_b`\n\n[see](docs/a.md#two-words) [too](#use-it-now-a_b) [last](#twice-1)\n\n"
                                 "## Twice\n\n## Twice\n")
        self.write("docs/a.md", "Text.\n\n## Two words\n")
        self.assertEqual(self.run_tidy()[0], [])
        self.write("docs/a.md", "Text.\n\n## Three words\n")
        self.assert_offence("README.md:6: link", "docs/a.md has no heading #two-words")

    def test_a_link_that_leaves_the_tree_or_names_a_machine(self):
        for target in ("/usr/share/doc", "file:///etc/hosts"):
            with self.subTest(target):
                self.write("docs/a.md", f"[see]({target})\n")
                self.assert_offence("docs/a.md:1: link", "relative to this page")
        self.write("docs/a.md", "[see](../../other/README.md)\n")
        self.assert_offence("docs/a.md:1: link", "does not exist")

    def test_what_is_no_link_of_this_tree(self):
        self.write("docs/a.md", "[see](https://nacre.example/b.md#c), `[](nacre::runtime& rt)`\n\n```sh\n[b](b.md)\n```\n\n    [b](b.md)\n")
        self.assertEqual(self.run_tidy()[0], [])

    def test_a_page_that_no_page_links_to(self):
        self.write("docs/b.md", "Text, and [itself](b.md#text).\n\n## Text\n")
        self.assert_offence("docs/b.md:1: unlinked", "link to it from docs/README.md")
        self.append("docs/a.md", "See [b](b.md).\n")
        self.assertEqual(self.run_tidy()[0], [])
        self.write("docs/a.md", "Text.\n")
        self.write("docs/b.md", "See [c](c.md).\n")
        self.write("docs/c.md", "See [b](b.md).\n")
        offences, _ = self.run_tidy()
        self.assertEqual([each.split(":")[0] for each in offences], ["docs/b.md", "docs/c.md"], "they link to each other alone")


if __name__ == "__main__":
    unittest.main()
