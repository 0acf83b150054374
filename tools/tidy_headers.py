# SPDX-License-Identifier: Apache-2.0
"""Compiles every header alone, and what only tools/libfuzzer.sh builds, for tools/tidy."""
import concurrent.futures
import hashlib
import json
import pathlib
import subprocess
import tempfile

from tidy_includes import STANDARD


def first_of_the_tree(tree, name):
    """The file of the tree that `name` includes behind nothing but standard headers, or None."""
    for _, _, path in tree.includes(name):
        if path not in STANDARD:
            return tree.included_file(name, path)
    return None


def is_product(name):
    return name.startswith(("include/", "src/")) and "_test_" not in name


def proven_by_others(tree):
    """The files that a source includes first, and those that a source or header of the product includes first behind
    standard headers. Which of those a header lacks tidy says without a compiler. The chain of who proves whom ends, as no
    header includes itself, at one that is compiled."""
    sources = [n for n in tree.code if n.endswith(".cpp") and not n.endswith("_libfuzzer.cpp")]
    first = ((n, next(tree.includes(n), None)) for n in sources if n.startswith(("src/", "tests/")))
    proven = {tree.included_file(n, include[2]) for n, include in first if include}
    return proven | {first_of_the_tree(tree, n) for n in [*sources, *tree.headers] if is_product(n)}


def check_headers_compile(tree, compiler, cache_file):
    """Compiles each header of the product alone, unless another file that includes it first proves the same, and each
    *_libfuzzer.cpp. Standard headers, which take a third of the time, are precompiled."""
    proven = proven_by_others(tree)
    cache = json.loads(cache_file.read_text()) if cache_file and cache_file.exists() else {}
    command = [compiler, *"-std=c++20 -Wall -Wextra -Werror -Iinclude -Isrc -Itests -Ibench".split(), '-DNACRE_BIN_DIR=""',
               '-DNACRE_SOURCE_DIR=""']

    def key(name):
        seen, todo = set(), [name]
        while todo:
            if (current := todo.pop()) not in seen:
                seen.add(current)
                todo += [t for _, _, p in tree.includes(current) if (t := tree.included_file(current, p))]
        content = "".join(f"{n}\n{tree.text[n]}" for n in sorted(seen)) + " ".join(command)
        return hashlib.sha256(content.encode()).hexdigest()

    def precompile(names, folder):
        """The options by which a compiler finds the standard headers of those `names` precompiled, if it can."""
        standard = sorted({path for name in names for _, _, path in tree.includes(name) if path in STANDARD})
        header = pathlib.Path(folder) / "standard.hpp"
        header.write_text("".join(f"#include <{path}>\n" for path in standard))
        made = subprocess.run([*command, "-x", "c++-header", header, "-o", f"{header}.gch"], cwd=tree.root,
                              capture_output=True)
        return ["-include", header] if made.returncode == 0 else []

    def compile_alone(name, options):
        source = f'#include "{(tree.root / name).resolve()}"\n'
        return name, subprocess.run([*command, "-fsyntax-only", *options, "-x", "c++", "-"], input=source, cwd=tree.root,
                                    text=True, capture_output=True)

    headers = [n for n in tree.headers if n not in proven and is_product(n)]
    fuzzers = [n for n in tree.code if n.endswith("_libfuzzer.cpp")]
    keys = {n: key(n) for n in [*headers, *fuzzers]}
    todo = [n for n in keys if cache.get(n) != keys[n]]
    print(f"tidy: {len(headers)} headers that no other file includes first, {len(fuzzers)} fuzzers, {len(todo)} compiled now")
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        options = precompile(todo, folder) if todo else []
        for name, result in pool.map(lambda name: compile_alone(name, options), todo):
            if result.returncode != 0:
                keys.pop(name)
                error = next((l for l in result.stderr.splitlines() if "error" in l), result.stderr.strip())
                tree.report(name, 1, "alone", f"does not compile alone: include what it uses. {error}")
    if cache_file:
        cache_file.write_text(json.dumps(keys, indent=1))
