#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Are the default scheduler and balancer as good as the best ones that a user could choose? Runs programs under each.

    bench/defaults/defaults.py BIN               schedulers, on threads; BIN: the folder of the built programs
    bench/defaults/defaults.py BIN --simulated   balancers, in virtual time: programs that step, trees and bags

The first prints the rate of each program by scheduler, the ratio of the default to the best of the others, and for the
stencil the bare loop without Nacre; run it on an idle machine. The second prints, for programs that step, the time over the
ideal (the work of all steps / workers), messages between ranks and how many of them were the balancers' and those of the
detectors of quiescence, moves, and how long workers were busy, handlers and in all; for trees and bags the part of the ideal
time. It is exact: all runs are alike.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SCHEDULERS = ["steal", "lifo", "fifo", "shared"]  # the first is the default
BALANCERS = ["default", "none", "lifeline", "steal", "hierarchical", "diffusion", "gossip", "greedy_refine", "share",
             "master_worker", "rotate", "random"]
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


def stepping_programs(folder):
    """(name, command of a simulated run, options that place its objects by hand)"""
    particles, blocks = str(folder / "defaults_particles"), str(folder / "defaults_blocks")
    yield "particles, 64 ranks, neighbours", [particles, "--nacre.ranks=64"], ["--replan", "20"]
    yield "particles, 64 ranks, a reduction", [particles, "--nacre.ranks=64", "--bound=reduction"], ["--replan", "20"]
    yield "AMR blocks, 256 ranks", [blocks, "--nacre.ranks=256"], ["--by-hand"]


def simulate(command):
    """What a simulated run of a program that steps has printed, and the sums of its summary."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "summary.json"
        simulated = ["--nacre.transport=sim", "--nacre.workers=1", f"--nacre.summary_json={path}"]
        done = subprocess.run(command + simulated, text=True, capture_output=True)
        found = re.search(r"took / ideal ([0-9.]+), messages (\d+), moves (\d+)", done.stdout)
        if done.returncode != 0 or found is None:
            sys.exit(f"defaults: {' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        summary = json.loads(path.read_text())
    sums = {name: sum(row[name] for row in summary["workers"])
            for name in ("handler_seconds", "runtime_seconds", "idle_seconds")}
    whole = sum(sums.values())
    return {"over_ideal": float(found[1]), "messages": int(found[2]), "moves": int(found[3]),
            "balancer": sum(row["balancer_messages"] for row in summary["ranks"]),
            "quiescence": sum(row["quiescence_messages"] for row in summary["ranks"]),
            "handlers": sums["handler_seconds"] / whole,
            "busy": (sums["handler_seconds"] + sums["runtime_seconds"]) / whole}


def compare_balancers(folder, only, balancers):
    print("| time over ideal | balancer | time / ideal | messages | balancer's | quiescence's | moves | handlers | busy |")
    print("|---" * 9 + "|")
    for name, command, by_hand in stepping_programs(folder):
        if only not in name:
            continue
        choices = [(each, [] if each == "default" else [f"--nacre.balancer={each}"]) for each in balancers]
        for choice, extra in [*choices, ("none, placed by hand", ["--nacre.balancer=none", *by_hand])]:
            row = simulate(command + extra)
            print(f"| {name} | {choice} | {row['over_ideal']:.2f} | {row['messages']} | {row['balancer']} | "
                  f"{row['quiescence']} | {row['moves']} | {row['handlers']:.0%} | {row['busy']:.0%} |", flush=True)


def compare_on_tasks(folder, only):
    """Trees and bags, for which lifelines are made: the default must reach what lifeline does."""
    for shape in ("tree", "bag"):
        if only not in shape:
            continue
        ranks = "16,64,256" if shape == "tree" else "16,64"
        done = subprocess.run([folder / "task_trees", "--shapes", shape, "--ranks", ranks, "--balancers", "default,lifeline"],
                              text=True, capture_output=True)
        if done.returncode != 0:
            sys.exit(f"defaults: task_trees ended with {done.returncode}\n{done.stdout}{done.stderr}")
        rows = [line.split() for line in done.stdout.splitlines() if line.startswith(shape)]
        print(f"\n| {shape}s: part of the ideal | default | lifeline | ratio |")
        print("|---" * 4 + "|")
        for own, other in zip(rows[::2], rows[1::2]):
            print(f"| {own[1]}, {own[2]} latencies, {own[3]} ranks | {own[8]} | {other[8]} | "
                  f"{float(own[8]) / float(other[8]):.3f} |")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path, metavar="BIN")
    options.add_argument("--runs", type=int, default=5, help="of each program and scheduler (5)")
    options.add_argument("--only", default="", help="only programs whose name contains this")
    options.add_argument("--simulated", action="store_true", help="balancers in virtual time, not schedulers on threads")
    options.add_argument("--balancers", default=",".join(BALANCERS), help="for --simulated (all)")
    asked = options.parse_args()
    if asked.simulated:
        compare_balancers(asked.folder, asked.only, asked.balancers.split(","))
        return compare_on_tasks(asked.folder, asked.only)
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
