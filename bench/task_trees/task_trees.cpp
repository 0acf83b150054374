// SPDX-License-Identifier: Apache-2.0
// How near balancers come to the ideal for trees and bags of small objects, over grain and ranks, simulated and real.
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <program_options.hpp>

#include "task_trees/parts/study.hpp"

namespace {

void print_heading() {
  fmt::print("{:5} {:12}{:>7}{:>7}{:>9}  {:14}{:>10}{:>10}{:>7}{:>9}{:>10}\n", "shape", "costs", "grain", "ranks",
             "tasks", "balancer", "ideal ms", "ms", "eff.", "moves", "messages");
}

void print(const task_trees::row& each) {
  fmt::print("{:5} {:12}{:>7}{:>7}{:>9}  {:14}{:>10.3f}{:>10.3f}{:>7.3f}{:>9}{:>10}\n", name_of(each.of.shape),
             name_of(each.of.law), each.of.grain, each.of.ranks, each.tasks, each.of.balancer, each.ideal * 1e3,
             each.took.seconds * 1e3, each.efficiency(), each.took.moves, each.took.messages);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  task_trees::plan how;
  std::string json, svg;
  nacre::program_options options("task_trees",
                                 "The part of the ideal that balancers reach with a tree of small objects of which each "
                                 "creates its children, and with a bag of them made on one rank.");
  options.add("--shapes", how.shapes, "tree, bag").one_of({"tree", "bag"});
  options.add("--costs", how.laws, "How the tasks' costs are distributed").one_of({"equal", "exponential", "heavy"});
  options.add("--grain", how.grains, "Mean costs of a task, in latencies of the network").between(1, 1e6);
  options.add("--ranks", how.ranks, "Ranks of one worker").between(1, task_trees::ranks_max);
  options.add("--balancers", how.balancers, "Balancers");
  options.add("--tasks", how.tasks_a_rank, "Tasks for each rank on average").between(1, 1e6);
  options.add("--seed", how.seed, "Of trees, costs, and the simulated machine");
  options.add("--set", how.settings, "An option of Nacre for all runs, such as balance.tick=50us; can be repeated")
      .verbatim();
  options.add("--least", how.least, "Exit with 1 if the first balancer's efficiency is below this anywhere")
      .between(0, 1);
  options.add("--json", json, "Write all figures to this file").called("FILE");
  options.add("--svg", svg, "Draw efficiency over grain and ranks into this file").called("FILE");
  options.footer(task_trees::meaning_of_ideal);
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  try {
    print_heading();
    const task_trees::rows all = task_trees::simulate(how, print);
    if (!json.empty()) std::ofstream(json) << task_trees::json_of(all).dump(1) << '\n';
    if (!svg.empty()) std::ofstream(svg) << task_trees::svg_of(how, all);
    return task_trees::least_efficiency(how, all) < how.least ? 1 : 0;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "task_trees: {}\n", problem.what());
    return 1;
  }
}
