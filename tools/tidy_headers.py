# SPDX-License-Identifier: Apache-2.0
"""Compiles every header alone, for tools/tidy."""
import concurrent.futures
import hashlib
import json
import subprocess


def check_headers_compile(tree, compiler, cache_file):
    """Compiles each header of the product alone, unless a source that includes it first proves the same."""
    proven = set()
    for name in tree.code:
        if name.startswith(("src/", "tests/")) and name.endswith(".cpp") and not name.endswith("_libfuzzer.cpp"):
            first = next(tree.includes(name), None)
            proven.add(first and tree.included_file(name, first[2]))
    cache = json.loads(cache_file.read_text()) if cache_file and cache_file.exists() else {}
    command = [compiler, *"-std=c++20 -fsyntax-only -Wall -Wextra -Werror -Iinclude -Isrc -Itests -Ibench -DNACRE_BIN_DIR=\"\" -DNACRE_SOURCE_DIR=\"\" -x c++ -".split()]

    def key(name):
        seen, todo = set(), [name]
        while todo:
            if (current := todo.pop()) not in seen:
                seen.add(current)
                todo += [t for _, _, p in tree.includes(current) if (t := tree.included_file(current, p))]
        content = "".join(f"{n}\n{tree.text[n]}" for n in sorted(seen)) + " ".join(command)
        return hashlib.sha256(content.encode()).hexdigest()

    def compile_alone(name):
        source = f'#include "{(tree.root / name).resolve()}"\n'
        return name, subprocess.run(command, input=source, cwd=tree.root, text=True, capture_output=True)

    keys = {n: key(n) for n in tree.headers
            if n not in proven and n.startswith(("include/", "src/")) and "_test_" not in n}
    todo = [n for n in keys if cache.get(n) != keys[n]]
    print(f"tidy: {len(keys)} headers that no source includes first, {len(todo)} of them compiled now")
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for name, result in pool.map(compile_alone, todo):
            if result.returncode != 0:
                keys.pop(name)
                error = next((l for l in result.stderr.splitlines() if "error" in l), result.stderr.strip())
                tree.report(name, 1, "alone", f"does not compile alone: include what it uses. {error}")
    if cache_file:
        cache_file.write_text(json.dumps(keys, indent=1))
