#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two commits: builds both with the same options, runs the same programs of both in turns, and prints ratios.

    bench/history/history.py OLD [NEW]      NEW is HEAD if not given

The programs beside this file are compiled against an installed copy of each commit, as a user compiles them; ladder,
message_rate and containers are each commit's own. A ratio is NEW to OLD, above 1 where NEW is faster.
The spread is how far apart the halves of OLD's own runs are: a ratio within it says nothing. Run it on an idle machine.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OWN = ["ladder", "message_rate", "containers"]


def run(command, **settings):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, **settings)
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        sys.exit(f"history: {' '.join(str(word) for word in command)} ended with {done.returncode}\n{tail}")
    return done.stdout


class Commit:
    """A checked out, built and installed commit."""

    def __init__(self, name, work, jobs):
        self.id = run(["git", "rev-parse", "--short=10", name + "^{commit}"], cwd=ROOT).strip()
        self.tree, self.build = work / self.id, work / (self.id + ".build")
        self.prefix = work / (self.id + ".installed")
        if not self.tree.exists():
            run(["git", "worktree", "prune"], cwd=ROOT)
            run(["git", "worktree", "add", "--detach", self.tree, self.id], cwd=ROOT)
        print(f"history: builds {self.id}", file=sys.stderr)
        run(["cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
             f"-DCMAKE_INSTALL_PREFIX={self.prefix}", "-DNACRE_BENCH=ON"])
        known = run(["ninja", "-C", self.build, "-t", "targets", "all"])
        own = [name for name in OWN if re.search(rf"^{name}: ", known, re.MULTILINE)]
        package = "nacre_package" if re.search(r"nacre_package: ", known) else "all"
        run(["cmake", "--build", self.build, "-j", jobs, "--target", package, *own])
        self.own = {name: next(self.build.rglob(f"bin/{name}")) for name in own}
        run(["cmake", "--install", self.build])
        self.compile_programs()

    def compile_programs(self):
        found = list(self.prefix.rglob("nacre.pc"))
        if not found:
            sys.exit(f"history: {self.id} installs no nacre.pc: choose a later commit")
        environment = dict(os.environ, PKG_CONFIG_PATH=str(found[0].parent))
        flags = run(["pkg-config", "--cflags", "--libs", "nacre"], env=environment).split()
        self.programs = {}
        for source in sorted(HERE.glob("*.cpp")):
            program = self.build / ("history_" + source.stem)
            run(["c++", "-std=c++20", "-O2", source, "-o", program, *flags])
            self.programs[source.stem] = program
        self.command = next(self.prefix.rglob("bin/nacre"))


def lines_of(text):
    """NAME<tab>VALUE<tab>M/s, as the programs beside this file print."""
    return {match[1]: float(match[2]) for match in re.finditer(r"^([^\t\n]+)\t([0-9.e+-]+)\tM/s$", text, re.MULTILINE)}


def user_programs(commit):
    for name, program in commit.programs.items():
        for transport in ("shm", "inproc"):
            words = [commit.command, "run", "-n", 2, program] if transport == "shm" else [program, "--nacre.ranks=2"]
            yield f"{name} over {transport}", words, lines_of


def own_programs(commit):
    rate = lambda text: {"stream of short messages": float(re.search(r"([0-9.]+) M messages/s", text)[1])}
    if "message_rate" in commit.own:
        yield "message_rate over inproc", [commit.own["message_rate"], "--nacre.ranks=2", "--messages=2000000"], rate
        yield "message_rate over shm", [commit.command, "run", "-n", 2, commit.own["message_rate"], "--messages=2000000"], rate
        yield ("message_rate to elements", [commit.command, "run", "-n", 2, commit.own["message_rate"],
                                            "--messages=2000000", "--elements=100000"], rate)
    if "containers" in commit.own:
        def rates(text):
            rows = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
            return {row["variant"]: float(row["millions"]) for row in rows}
        yield "containers", [commit.command, "run", "-n", 2, commit.own["containers"], "--json", "--runs=1"], rates
    if "ladder" in commit.own:
        yield "ladder", [commit.own["ladder"], "--transport", "inproc", "--sizes", "8", "--runs", "1", "--json", "{json}"], None


def ladder_figures(path):
    """Round trips become their number in a second, so that more is better in every row."""
    figures = {}
    for row in json.loads(Path(path).read_text())["rungs"]:
        if row["floor"]:
            continue
        if "round_trip_ns" in row:
            figures[f"{row['rung']}, round trips"] = 1e3 / row["round_trip_ns"]["median"]
        if "messages_per_second" in row:
            figures[f"{row['rung']}, stream"] = 1e-6 * row["messages_per_second"]["median"]
    return figures


def measure(entry):
    name, words, read = entry
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "figures.json")
        words = [str(word).replace("{json}", path) for word in words]
        text = run(words, cwd=folder)
        figures = ladder_figures(path) if read is None else read(text)
    if not figures:
        sys.exit(f"history: {' '.join(words)} printed no figure")
    return {f"{name}: {figure}": value for figure, value in figures.items()}


def spread_of(values):
    """How far the medians of the odd and the even runs are apart."""
    if len(values) < 4:
        return float("nan")
    even, odd = statistics.median(values[::2]), statistics.median(values[1::2])
    return max(even, odd) / min(even, odd) - 1


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("old", help="the commit to compare with")
    options.add_argument("new", nargs="?", default="HEAD")
    options.add_argument("--runs", type=int, default=8, help="of each program and commit (8)")
    options.add_argument("--only", default="", help="only programs whose name contains this")
    options.add_argument("--work", type=Path, default=ROOT / "build" / "history", help="folder of the builds")
    options.add_argument("--jobs", type=int, default=os.cpu_count(), help="of the builds")
    options.add_argument("--json", type=Path, help="also write all figures of all runs to this file")
    asked = options.parse_args()
    asked.work.mkdir(parents=True, exist_ok=True)
    commits = [Commit(name, asked.work.resolve(), asked.jobs) for name in (asked.old, asked.new)]
    tables = [{entry[0]: entry for entry in [*user_programs(c), *own_programs(c)]} for c in commits]
    names = [name for name in tables[0] if name in tables[1] and asked.only in name]
    figures = [{}, {}]
    for turn in range(asked.runs):
        print(f"history: turn {turn + 1} of {asked.runs}", file=sys.stderr)
        for name in names:
            for side in (0, 1) if turn % 2 == 0 else (1, 0):
                for figure, value in measure(tables[side][name]).items():
                    figures[side].setdefault(figure, []).append(value)
    print(f"{commits[1].id} to {commits[0].id}, medians of {asked.runs} runs each in turns; above 1 is faster\n")
    print("| program | before | now | ratio | spread of before |\n|---|---|---|---|---|")
    for figure, before in figures[0].items():
        now = figures[1].get(figure)
        if not now:
            continue
        old, new = statistics.median(before), statistics.median(now)
        print(f"| {figure} | {old:.4g} | {new:.4g} | {new / old:.3f} | {100 * spread_of(before):.1f} % |")
    if asked.json:
        asked.json.write_text(json.dumps({"commits": [c.id for c in commits], "figures": figures}, indent=1) + "\n")


if __name__ == "__main__":
    main()
