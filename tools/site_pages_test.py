#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/site_pages.py writes pages whose links lead to pages, and a navigation of all pages that follows docs/README.md."""
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import site_pages
from markdown_text import links

TREE = {
    "README.md": "# Planted\n\nSee [documents](docs/README.md), [all](docs/protocols) and [the licence](LICENSE).\n",
    "LICENSE": "Take it.\n",
    "CONTRIBUTING.md": "# Contributing\n",
    "docs/README.md": "# Documents\n\nFirst [the sources](../src/README.md).\n\n## Start\n\n- [tutorial.md](tutorial.md#first): learn\n\n## Change it\n\n"
                      "- [src](../src/README.md), [again](tutorial.md)\n- [a](protocols/a.md)\n",
    "docs/tutorial.md": "# A *first* `program`\n\n## First\n\n[code](../src/main.cpp), [up](../README.md)\n\n![p](p.svg)\n\n"
                        "```cpp\n    int x;\n      int y;\n```\n",
    "docs/protocols/a.md": "# Protocol a\n\n[tutorial](../tutorial.md)\n",
    "docs/p.svg": "<svg/>\n",
    "docs/site/readme.md": "# Of the site itself\n",
    "src/README.md": "# Sources\n",
    "src/main.cpp": "int main() {}\n",
}


class pages(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        for name, text in TREE.items():
            path = self.root / "tree" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        site_pages.site(self.root / "tree", self.root / "pages").write()

    def text(self, page):
        return (self.root / "pages" / page).read_text()

    def test_every_link_leads_to_a_page(self):
        count = 0
        for page in (self.root / "pages").rglob("*.md"):
            for _, _, target in links(page.read_text()):
                count += 1
                self.assertTrue((page.parent / target.split("#")[0]).is_file(), f"{page}: {target}")
        self.assertEqual(count, 12)
        self.assertFalse((self.root / "pages/docs/site").exists())

    def test_a_linked_source_has_a_page_with_its_text(self):
        self.assertIn("``````cpp\nint main() {}\n``````", self.text("src/main.cpp.md"))
        self.assertIn("(../src/main.cpp.md)", self.text("docs/tutorial.md"))

    def test_an_excerpt_loses_the_indentation_of_its_source(self):
        self.assertIn("```cpp\nint x;\n  int y;\n```", self.text("docs/tutorial.md"))

    def test_the_navigation_follows_the_headings_of_the_index(self):
        parts = re.findall(r":caption: (.+)\n:hidden:\n:maxdepth: 1\n\n((?:.+\n)+)```", self.text("index.md"))
        self.assertEqual([(caption, entries.split()) for caption, entries in parts],
                         [("Start", ["docs/tutorial.md"]), ("Change it", ["src/index.md", "docs/protocols/index.md"]),
                          ("More", ["CONTRIBUTING.md"])])
        self.assertIn("\na.md\n", self.text("docs/protocols/index.md"))


if __name__ == "__main__":
    unittest.main()
