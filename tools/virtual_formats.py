# SPDX-License-Identifier: Apache-2.0
"""What tools/virtual_tables.py writes tables with: a function takes the runs of the commands, and words of the marker."""
import re
import statistics


def significant(value):
    """`value` with three digits, at most two of them behind the point: 126, 12.6, 0.13."""
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


def rows(heading, lines):
    """A table of Markdown; cells are texts or numbers."""
    all_rows = [heading, ["---"] * len(heading), *lines]
    return "\n".join("|" + "|".join(["---"] * len(heading)) + "|" if row[0] == "---" else "| " + " | ".join(map(str, row)) + " |"
                     for row in all_rows).replace("|  |", "| |")


def verbatim(runs):
    """What the commands have printed, as code by indentation."""
    lines = "\n\n".join(run.output.strip("\n") for run in runs).splitlines()
    return "\n".join(("    " + line).rstrip() for line in lines)


def picture(runs):
    """The text of the picture that the command has written."""
    (text,) = (text for name, text in runs[0].files.items() if name.endswith(".svg"))
    return text


def seconds(runs, heading):
    """Virtual seconds, a row for each choice in braces."""
    return rows([heading, "virtual seconds"], [[f"`{run.choice[0]}`", f"{run.json()['seconds']:.4f}"] for run in runs])


def location_choice(runs, number):
    """The program of that number of location_choice: ms in all, ratio to the best, hops a message, updates."""
    found = runs[0].json()["rows"]
    title = list(dict.fromkeys(row["program"] for row in found))[int(number)]
    ranks = list(dict.fromkeys(row["ranks"] for row in found))
    cells = {(row["location"], row["ranks"]): f"{significant(row['all_ms'])} ({row['ratio_to_best']:.2f}), "
             f"{row['hops_a_message']:.2f}, {row['location_updates']:,.0f}" for row in found if row["program"] == title}
    policies = dict.fromkeys(location for location, _ in cells)
    return rows(["policy", f"{ranks[0]} simulated ranks", *ranks[1:]],
                [[f"`{policy}`", *(cells[policy, count] for count in ranks)] for policy in policies])


def location_worst(runs):
    """The most that each policy takes of the best one's time, on whatever number of ranks; and how often objects move."""
    found = runs[0].json()["rows"]
    titles = list(dict.fromkeys(row["program"] for row in found))
    policies = dict.fromkeys(row["location"] for row in found)
    moves = [sorted({round(row["migrations"]) for row in found if row["program"] == title}) for title in titles]
    worst = [[f"`{policy}`", *(f"{max(row['ratio_to_best'] for row in found if (row['program'], row['location']) == (title, policy)):.2f}"
                               for title in titles)] for policy in policies]
    return rows(["policy", "objects stay", "each moves once", "`--wander 16`", "`--wander 4`"],
                [*worst, ["migrations", *(f"{all_of[0]:,}" + (f" to {all_of[-1]:,}" if len(all_of) > 1 else "") for all_of in moves)]])


def location_stays(runs):
    """Objects that stay: ms in all, the least and the most of all policies."""
    found = [row for row in runs[0].json()["rows"] if row["program"] == runs[0].json()["rows"][0]["program"]]
    ranks = list(dict.fromkeys(row["ranks"] for row in found))
    spans = [[row["all_ms"] for row in found if row["ranks"] == count] for count in ranks]
    updates = [sum(row["location_updates"] for row in found if row["ranks"] == count) for count in ranks]
    return rows(["simulated ranks", *ranks],
                [["ms in all, under the fastest and the slowest policy", *(f"{significant(min(all_of))}, {significant(max(all_of))}"
                                                                           for all_of in spans)],
                 ["location updates", *(f"{count:,.0f}" for count in updates)]])


COSTS = ("equal", "exponential", "heavy")


def shares(runs, shape):
    """The part of the ideal that the default balancer reaches with task_trees: a row for each grain."""
    found = {(row["grain"], row["ranks"], row["costs"]): row["efficiency"] for row in runs[0].json() if row["shape"] == shape}
    grains, ranks = (sorted({key[place] for key in found}) for place in (0, 1))
    first = [f"tasks of {grains[0]:g} latencies: equal, exponential, heavy", *(f"of {grain:g} latencies" for grain in grains[1:])]
    return rows([f"a {shape} on", f"{ranks[0]} ranks", *(f"{count:,}" for count in ranks[1:])],
                [[text, *(", ".join(f"{found[grain, count, law]:.2f}" for law in COSTS) for count in ranks)]
                 for text, grain in zip(first, grains)])


def share_means(runs):
    """Means over the seeds: what the default reaches, and what `greedy` does, which knows no costs but the tasks'."""
    found = [row for run in runs for row in run.json()]
    ranks = sorted({row["ranks"] for row in found})

    def mean(part, count):
        return f"{statistics.mean(part(row) for row in found if row['ranks'] == count):.2f}"

    return rows(["heavy tasks of 10 latencies, mean of six seeds", f"{ranks[0]} ranks", *(f"{count:,}" for count in ranks[1:])],
                [["the default", *(mean(lambda row: row["efficiency"], count) for count in ranks)],
                 ["`greedy`", *(mean(lambda row: min(row["ideal_seconds"] / row["greedy_seconds"], 1), count) for count in ranks)]])


def share_balancers(runs):
    """The part of the ideal that each balancer reaches: a row for each grain and number of ranks."""
    found = {(row["grain"], row["ranks"], row["balancer"]): row["efficiency"] for row in runs[0].json()}
    names = dict.fromkeys(name for _, _, name in found)
    return rows(["ranks, latencies a task", *(f"`{name}`" for name in names)],
                [[f"{count}, {grain:g}", *(f"{found[grain, count, name]:.2f}" for name in names)]
                 for grain, count in sorted({key[:2] for key in found})])


def prema_aims(runs):
    """The paper's gains and other aims, from the runs of prema_table1 at several numbers of cores."""
    found = {}
    for row in (row for run in runs for row in run.json()):
        found.setdefault(row["cores"], []).append(row)

    def best(count, declared):
        return min(100 * (row["seconds"] / row["longest_first_seconds"] - 1) for row in found[count]
                   if row["policy"] != "none" and row["declared"] == declared)

    def gains(count):
        both = {row["declared"]: row["gain"] for row in found[count] if row["policy"] == "diffusion"}
        return f"{100 * both[False]:.1f}; {100 * both[True]:.1f}"

    return rows(["aim", *found],
                [["`diffusion` gains at least 27.4, 29.3, 25.5, 28.1 % as in the paper: measured; declared", *map(gains, found)],
                 ["best policy at most 10 % over LPT, measured", *(f"{best(count, False):.1f}" for count in found)],
                 ["best policy at most 5 % over LPT, declared", *(f"{best(count, True):.1f}" for count in found)],
                 ["overhead of a core below 0.07 s on average, most of all policies",
                  *(f"{max(row['overhead_mean'] for row in found[count]):.4f}" for count in found)]])


def replays(runs):
    """A run, and replays of it as it was recorded in intervals, under balancers: virtual seconds."""
    def took(run):
        return f"{sum(each['seconds'] for each in run.json()['intervals']):.1f}"

    return rows(["", "virtual seconds"],
                [["the run", f"{runs[0].json()['seconds']:.1f}"],
                 *([f"recorded every {run.choice[0].replace('s', ' s')}, replayed "
                    + (f"with `{run.choice[1]}`" if len(run.choice) > 1 else "without a balancer"), took(run)] for run in runs[1:])])


def clam_mesh(runs):
    """Clam's experiment: a row for each balancer."""
    found = runs[0].json()
    if not all(row["checked"] for row in found):
        raise ValueError("a mesh of clam_mesh is wrong")
    return rows([f"balancer, {len(found[0]['ranks'])} ranks", "triangles", "virtual seconds", "busiest rank", "messages and balancing",
                 "moves", "time cut by"],
                [[f"`{row['balancer']}`", f"{row['triangles']:,}",
                  f"{row['seconds']:.3f}", f"{row['busiest_rank_seconds']:.3f}", f"{100 * row['overhead']:.2g} %", f"{row['moves']:,}",
                  f"{100 * row['cut_by']:.1f} %" if row["balancer"] != "none" else ""] for row in found])


def goodput(runs):
    """incast on the simulated switch: goodput by policy and number of senders, and what is said of fairness and drops."""
    found = {(run.json()["policy"], run.json()["senders"]): run.json() for run in runs}
    policies, senders = (list(dict.fromkeys(key[place] for key in found)) for place in (0, 1))
    most = max(senders)
    return rows(["policy", *(f"{count} sender{'s' * (count > 1)}" for count in senders), f"fairness of {most}", f"drops of {most}"],
                [[f"`{policy}`", *(f"{100 * found[policy, count]['goodput_fraction']:.1f} %" for count in senders),
                  f"{found[policy, most]['fairness']:.3f}", f"{found[policy, most]['drops']:,.0f}"] for policy in policies])


def goodput_by_size(runs, *names):
    """incast: goodput, a row for each size, which is the last choice of the commands; a column for the others, called `names`, with _ for blanks."""
    found = {}
    for run in runs:
        found.setdefault(run.choice[:-1], {})[run.json()["bytes"]] = f"{100 * run.json()['goodput_fraction']:.1f} %"
    if len(found) != len(names):
        raise ValueError(f"{len(found)} columns have {len(names)} names")
    sizes = dict.fromkeys(size for each in found.values() for size in each)
    return rows(["message", *(name.replace("_", " ") for name in names)],
                [[f"{size:,} B", *(each[size] for each in found.values())] for size in sizes])


def auto_beside_none(runs):
    """incast by number of senders, policy and size: goodput under `auto` and under `none`, and the least ratio of the two in all."""
    found = {(run.json()["senders"], run.json()["policy"], run.json()["bytes"]): run.json()["goodput_fraction"] for run in runs}
    senders, _, sizes = (list(dict.fromkeys(key[place] for key in found)) for place in range(3))
    least = min(found[count, "auto", size] / found[count, "none", size] for count in senders for size in sizes
                if found[count, "none", size])
    return rows(["message", *(f"{count} sender{'s' * (count > 1)}: `auto`, `none`" for count in senders)],
                [*([f"{size:,} B", *(f"{100 * found[count, 'auto', size]:.1f}, {100 * found[count, 'none', size]:.1f} %" for count in senders)]
                   for size in sizes), [f"least `auto` / `none`: {least:.2f}", *[""] * len(senders)]])


def emulated(runs):
    """Virtual microseconds of programs of emulate: a row for each program, a column for each time of a hop."""
    found = {run.choice: run.json()["predicted_us"] for run in runs}
    programs, hops = (list(dict.fromkeys(choice[place] for choice in found)) for place in (0, 1))
    return rows(["program", *(f"hop of {hop.replace('ns', ' ns')}" for hop in hops)],
                [[f"`{name}`", *(f"{found[name, hop]:.3f} µs" for hop in hops)] for name in programs])


def queens(runs):
    """Seconds that example_tutorial_5 prints, by the number of ranks in braces."""
    return rows(["RANKS", "simulated seconds"],
                [[run.choice[0], f"{float(re.search(r'([0-9.]+) seconds on', run.output)[1]):.4f}"] for run in runs])


WHO_IS_TOLD = {"lazy_forwarding": "nobody", "jump_update": "who has sent to an old place",
               "path_update": "also the ranks that passed that on", "home": "as `jump_update`; old places send to the home",
               "broadcast_update": "every rank, of every move", "subscriber_update": "who has sent to an old place, of later moves"}


def told(runs):
    """Hops, forwards and updates of a program, by the location policy in braces, from its summary."""
    lines = []
    for run in runs:
        ranks = run.json()["ranks"]
        sums = [sum(rank[key] for rank in ranks) for key in ("hops", "forwards", "updates_sent", "migrations_out")]
        name = run.choice[0]
        lines.append([f"`{name}`" + (" (default)" if name == "jump_update" else ""), WHO_IS_TOLD[name], *(f"{each:,}" for each in sums)])
    return rows(["POLICY", "who is told, besides the home", "hops", "of them forwards", "updates", "moves"], lines)


def trees(runs):
    """uts on simulated ranks: a row for each tree and number of ranks; a node takes 20 ns."""
    lines = []
    for run in runs:
        found, work, count = run.json(), run.json()["nodes"] * 20e-9, int(run.choice[1])
        lines.append([f"{run.choice[0]}, {significant(work)} s", f"{count:,}", f"{found['seconds']:.3g}",
                      f"{work / count / found['seconds']:.2f}"])
    return rows(["tree, its work", "ranks", "virtual seconds", "of ideal"], lines)


def study(runs):
    """uts_study on both machines, a row for each tree, mode and number of ranks."""
    cells = {}
    for run in runs:
        for row in run.json()["table"]:
            cells.setdefault((row["tree"], row["mode"], row["ranks"]), []).extend(
                [f"{row['chunk']}, {row['interval']}", f"{row['best_fixed'] * 1e-6:.1f}",
                 f"{100 * row['best_fixed'] / row['ideal']:.0f} %", f"{row['auto'] / row['best_fixed']:.2f}"])
    heads = [f"{run.json()['machine']}: best chunk, interval" for run in runs]
    return rows(["tree", "mode", "ranks", *(word for head in heads for word in (head, "M nodes/s", "of ideal", "auto / best"))],
                [[*key, *values] for key, values in cells.items()])


def ends(runs):
    """uts_study on one number of ranks: when the last node is counted, and when the end is known."""
    found, lines = runs[0].json(), []
    for row in found["table"]:
        for settings in ({"chunk": row["chunk"], "interval": row["interval"]}, {"chunk": "auto", "interval": "auto"}):
            key = {"tree": row["tree"], "mode": row["mode"], "ranks": row["ranks"], "seed": 1, **settings}
            (point,) = (each for each in found["points"] if all(each[name] == value for name, value in key.items()))
            lines.append([f"{row['tree']}, {row['mode']}", "auto" if settings["chunk"] == "auto" else f"{row['chunk']}, {row['interval']}",
                          f"{1e3 * point['last_node']:.2f} ms", f"{1e3 * (point['seconds'] - point['last_node']):.2f} ms more",
                          f"{point['chunks']:,}", f"{point['refusals']:,}" if row["mode"] == "stealing" else ""])
    return rows(["64 ranks of today, `--descriptor 0`", "chunk, interval", "until the last node", "until the end is known",
                 "chunks given", "refusals"], lines)


def near_victims(runs):
    """uts --mode steal by requests to the own host first: medians over seeds, a row for each tree, latency and number of requests.

    The choices are the tree, the latency between hosts, the requests, the seed."""
    found = {}
    for run in runs:
        found.setdefault(run.choice[:3], []).append(run.json())
    lines = []
    for (tree, latency, near), each in found.items():
        def median(value):
            return statistics.median(value(one) for one in each)
        seconds = median(lambda one: one["seconds"])
        before = statistics.median(one["seconds"] for one in found[tree, latency, next(key[2] for key in found)])
        inside = median(lambda one: one["sharing"]["chunks_near"] / max(one["sharing"]["chunks"], 1))
        lines.append([tree, latency, near, f"{1e3 * seconds:.3f}", f"{before / seconds:.2f}",
                      f"{median(lambda one: one['sharing']['chunks']):,.0f}", f"{100 * inside:.0f} %" if int(near) else "",
                      f"{median(lambda one: one['sharing']['refusals']):,.0f}"])
    return rows(["tree", "latency between hosts", "`--near`", "ms", "speed beside 0", "chunks given", "of them within a host", "refusals"], lines)


def wave_scaling(runs):
    """waves_scaling: microseconds of a step and efficiencies, a row for each number of ranks."""
    found = runs[0].json()
    kinds = list(dict.fromkeys((row["kind"], row["patches"] if row["kind"] == "weak" else 0) for row in found))
    cells = {(kind, row["ranks"]): f"{1e6 * row['seconds']:,.0f} ({row['efficiency']:.2f})" for row in found for kind in kinds
             if kind == (row["kind"], row["patches"] if row["kind"] == "weak" else 0)}
    heads = [f"weak, {patches} patch{'es' * (patches > 1)} a rank" if kind == "weak" else "strong" for kind, patches in kinds]
    return rows(["simulated ranks", *heads],
                [[f"{ranks:,}", *(cells[kind, ranks] for kind in kinds)] for ranks in dict.fromkeys(row["ranks"] for row in found)])


FORMATS = {each.__name__: each for each in (verbatim, picture, seconds, location_choice, location_worst, location_stays, shares,
                                            share_means, share_balancers, prema_aims, replays, clam_mesh, goodput,
                                             goodput_by_size, auto_beside_none, emulated, queens, told, trees, study, ends,
                                             near_victims, wave_scaling)}
