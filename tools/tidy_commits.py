# SPDX-License-Identifier: Apache-2.0
"""Checks of tools/tidy: the subjects of the commits since the last release."""
import re
import subprocess

SUBJECT_COLUMNS_MAX = 72
SUBJECT = re.compile(r"[\w./*, -]+: \S")
VERSION = re.compile(r"^project\(nacre VERSION [0-9.]+", re.M)


def git(root, *arguments):
    """The lines that git prints; None where it fails."""
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, errors="replace", check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.splitlines()


def last_release(tree):
    """The tag v* that is nearest, or the commit that gave the sources their present version; None if there is neither."""
    if tag := git(tree.root, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*"):
        return tag[0]
    version = VERSION.search(tree.text.get("CMakeLists.txt", ""))
    commits = version and git(tree.root, "log", "--format=%H", f"-S{version[0]} ", "--", "CMakeLists.txt")
    return commits[-1] if commits else None


def check_commits(tree):
    """Outside of a repository, and in a clone that lacks older commits, nothing can be said."""
    top = git(tree.root, "rev-parse", "--show-toplevel", "--is-shallow-repository")
    if not top or top[1] != "false" or not tree.root.samefile(top[0]):
        return
    anchor = last_release(tree)
    for line in (anchor and git(tree.root, "log", "--no-merges", "--format=%h %s", f"{anchor}..HEAD")) or ():
        commit, _, subject = line.partition(" ")
        if len(subject) > SUBJECT_COLUMNS_MAX:
            tree.report(f"commit {commit}", 1, "subject", f"{len(subject)} columns, at most {SUBJECT_COLUMNS_MAX}: "
                        "say what changed, and why in the body")
        elif not SUBJECT.match(subject):
            tree.report(f"commit {commit}", 1, "subject", f"'{subject}' names no area: write 'area: what changed'")
