#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the pages of the site of the documents into a folder, as Sphinx wants them.

site_pages.py SOURCES FOLDER

A page keeps its place in the tree, so that links between pages stay as they are; README.md becomes index.md. A file or folder
that a page links to and that is no page gets one: the text of the file, or what the folder holds. The navigation follows
docs/README.md: each heading is a part, the pages that it links to are its entries; folders are entries with their pages below.
"""
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys
import textwrap

sys.dont_write_bytecode = True
from markdown_text import FENCE, links
from tidy_links import local_target

LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".py": "python", ".sh": "sh", ".toml": "toml", ".json": "json", ".txt": "cmake",
             ".cmake": "cmake"}
PICTURES = (".svg", ".png")
OUTSIDE_OF_SITE = ("docs/site/", "build/", ".")


def page_of(path, root):
    """The path in the site, of the page for a file or folder of the tree."""
    if path == ".":
        return "index.md"
    if (root / path).is_dir():
        return f"{path}/index.md"
    if path.endswith(".md"):
        return re.sub(r"(^|/)README\.md$", r"\1index.md", path)
    return path if path.endswith(PICTURES) else f"{path}.md"


class site:
    """The pages of one site. Each is made once; a link to something else makes one more."""

    def __init__(self, root, folder):
        self.root, self.folder = pathlib.Path(root), pathlib.Path(folder)
        listed = subprocess.run(["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
                                capture_output=True, text=True)
        names = listed.stdout.split() if listed.returncode == 0 else [p.relative_to(root).as_posix() for p in self.root.rglob("*.md")]
        self.names = sorted(n for n in names if not n.startswith(OUTSIDE_OF_SITE) and (self.root / n).exists())
        self.pages = {}  # page: its text
        self.wanted = []  # files and folders that some page links to
        self.named = set()  # pages that the navigation has named

    def write(self):
        for name in self.names:
            self.pages[page_of(name, self.root)] = self.converted(name)
        while self.wanted:
            self.make(self.wanted.pop())
        self.pages["index.md"] += self.navigation()
        for page, text in self.pages.items():
            path = self.folder / page
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def make(self, path):
        """The page of a file or folder that some page links to."""
        page = page_of(path, self.root)
        if page in self.pages:
            return
        if path.endswith(PICTURES):
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.root / path, self.folder / path)
        elif (self.root / path).is_dir():
            self.pages[page] = self.contents(path)
        else:
            text = (self.root / path).read_text(encoding="utf-8", errors="replace")
            language = LANGUAGES.get(pathlib.PurePosixPath(path).suffix, "text")
            self.pages[page] = f"---\norphan: true\n---\n# {path}\n\n``````{language}\n{text}``````\n"

    def contents(self, path):
        """A page that lists what a folder holds."""
        inside = [n for n in self.names if posixpath.dirname(n) == path]
        if inside:
            self.named.update(page_of(n, self.root) for n in inside)
            return f"# {posixpath.basename(path).capitalize()}\n\n{toctree('', [posixpath.basename(page_of(n, self.root)) for n in inside])}"
        names = sorted(p.name for p in (self.root / path).iterdir() if p.is_file() and p.suffix in LANGUAGES)
        self.wanted += [f"{path}/{name}" for name in names]
        return f"---\norphan: true\n---\n# {path}\n\n" + "".join(f"- [{name}]({name}.md)\n" for name in names)

    def converted(self, name):
        """The text of a page, with links to where the site has what they lead to, and without the indentation of excerpts."""
        text = (self.root / name).read_text(encoding="utf-8")
        page, made, done = page_of(name, self.root), [], 0
        for first, end, target in links(text):
            local = local_target(name, target)
            if local is None or (local[0] == name and target.startswith("#")):
                continue
            path, anchor = local
            self.wanted.append(path)
            place = posixpath.relpath(page_of(path, self.root), posixpath.dirname(page) or ".")
            made += [text[done:first], place + (f"#{anchor}" if anchor else "")]
            done = end
        text = "".join(made) + text[done:]
        return FENCE.sub(dedented, text)

    def entry_of(self, path):
        """The page that the navigation names for one that docs/README.md links to: a folder of docs/ is one entry."""
        folder = posixpath.dirname(path)
        if folder.startswith("docs/") and path.endswith(".md"):
            self.make(folder)
            path = folder
        return page_of(path, self.root)

    def navigation(self):
        """The parts of docs/README.md, or of README.md where there is none, as tables of contents that only the side bar shows."""
        source = "docs/README.md" if "docs/README.md" in self.names else "README.md"
        text = (self.root / source).read_text(encoding="utf-8")
        parts, heading = [("", [])], re.compile(r"^## +(.+)$", re.M)
        if source != "README.md":
            self.named.add("docs/index.md")
            parts[0][1].append("docs/index.md")
        starts = [(m.start(), m[1]) for m in heading.finditer(text)]
        for first, _, target in links(text):
            local = local_target(source, target) if starts and first > starts[0][0] else None
            page = local and self.entry_of(local[0])
            if page not in self.pages or page in self.named or page == "index.md" or self.pages[page].startswith("---\norphan"):
                continue
            title = next((title for start, title in reversed(starts) if start < first), "")
            if parts[-1][0] != title:
                parts.append((title, []))
            parts[-1][1].append(page)
            self.named.add(page)
        rest = [p for p in sorted(self.pages) if p not in self.named and p != "index.md" and not self.pages[p].startswith("---\norphan")]
        parts.append(("More", rest))
        return "\n\n" + "\n".join(toctree(title, pages, ":hidden:") for title, pages in parts if pages)


def dedented(match):
    """A block of code without the indentation that all its lines have; blocks inside of lists stay as they are."""
    return match[0] if match[1] else match[0].replace(match[4], textwrap.dedent(match[4]))


def toctree(caption, pages, *options):
    lines = ["```{toctree}"] + [f":caption: {caption}"] * bool(caption) + [*options, ":maxdepth: 1", ""]
    return "\n".join(lines + pages + ["```", ""])


if __name__ == "__main__":
    site(sys.argv[1], sys.argv[2]).write()
