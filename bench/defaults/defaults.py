#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is the default scheduler as good as the best one that a user could choose? Runs programs under each in turns.

    bench/defaults/defaults.py BIN          BIN: the folder of the built programs, as build/release/bin

Prints the rate of each program by scheduler, the ratio of the default to the best of the others, and for the stencil the
bare loop without Nacre. Run it on an idle machine.
"""

import argparse
import re
import statistics
import subprocess
import sys
from pathlib import Path

SCHEDULERS = ["steal", "lifo", "fifo", "shared"]  # the first is the default
RATE = re.compile(r"([0-9.]+(?:e[+-]?\d+)?)\s+M/s")


def programs(folder):
    """(name, command, pattern of its rate, whether schedulers matter to it)"""
    stencil, places = str(folder / "defaults_stencil"), [("1 worker", ["--nacre.ranks=1", "--nacre.workers=1"]),
                                                          ("2 workers", ["--nacre.ranks=1", "--nacre.workers=2"]),
                                                          ("2 ranks", ["--nacre.ranks=2", "--nacre.workers=1"])]
    for tiles, width, steps in ((64, 8, 100), (32, 32, 60), (16, 8, 1000), (8, 128, 60)):
        shape = ["--tiles", str(tiles), "--width", str(width), "--steps", str(steps)]
        name = f"{tiles} x {tiles} tiles of {width} x {width}"
        yield f"{name}, bare loop", [stencil, "--style", "bare", *shape], RATE, False
        for place, options in places:
            for style in ("counting", "next"):
                yield f"{name}, {style}, {place}", [stencil, "--style", style, *shape, *options], RATE, True
    for place, options in places:
        yield f"words, {place}", [str(folder / "history_words"), *options], RATE, True
        yield f"chains of calls, {place}", [str(folder / "history_chains"), *options], RATE, True


def rate_of(command, pattern):
    done = subprocess.run(command, text=True, capture_output=True)
    found = pattern.search(done.stdout)
    if done.returncode != 0 or found is None:
        sys.exit(f"defaults: {' '.join(command)} ended with {done.returncode} and no rate\n{done.stdout}{done.stderr}")
    return float(found[1])


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path, metavar="BIN")
    options.add_argument("--runs", type=int, default=5, help="of each program and scheduler (5)")
    options.add_argument("--only", default="", help="only programs whose name contains this")
    asked = options.parse_args()
    print(f"| M/s, median of {asked.runs} | {' | '.join(SCHEDULERS)} | default to best other |")
    print("|---" * (len(SCHEDULERS) + 2) + "|")
    for name, command, pattern, scheduled in programs(asked.folder):
        if asked.only not in name:
            continue
        choices = SCHEDULERS if scheduled else [None]
        rates = {choice: [] for choice in choices}
        for turn in range(asked.runs):
            for choice in choices if turn % 2 == 0 else reversed(choices):
                extra = [] if choice is None else [f"--nacre.scheduler={choice}"]
                rates[choice].append(rate_of(command + extra, pattern))
        medians = [statistics.median(rates[choice]) for choice in choices]
        shown = " | ".join(f"{each:.4g}" for each in medians)
        if scheduled:
            print(f"| {name} | {shown} | {medians[0] / max(medians[1:]):.2f} |", flush=True)
        else:
            print(f"| {name} | {shown} |" + " |" * len(SCHEDULERS), flush=True)


if __name__ == "__main__":
    main()
