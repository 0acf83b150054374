// SPDX-License-Identifier: Apache-2.0
// How near balancers come to the ideal for trees and bags of small objects, over grain and ranks, simulated and real.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <program_options.hpp>

#include "figures_file.hpp"
#include "task_trees/parts/study.hpp"

namespace {

void print_heading() {
  fmt::print("{:5} {:12}{:>7}{:>7}{:>9}  {:14}{:>10}{:>10}{:>7}{:>8}{:>9}{:>10}\n", "shape", "costs", "grain", "ranks",
             "tasks", "balancer", "ideal ms", "ms", "eff.", "greedy", "moves", "messages");
}

void print(const task_trees::row& each) {
  fmt::print("{:5} {:12}{:>7}{:>7}{:>9}  {:14}{:>10.3f}{:>10.3f}{:>7.3f}{:>8.3f}{:>9}{:>10}\n",
             name_of(each.conditions.shape), name_of(each.conditions.law), each.conditions.grain, each.conditions.ranks,
             each.tasks, each.conditions.balancer, each.ideal * 1e3, each.took.seconds * 1e3, each.efficiency(),
             std::min(each.ideal / each.greedy, 1.0), each.took.moves, each.took.messages);
  std::fflush(stdout);
}

void print_real(const task_trees::real_row& each) {
  fmt::print("{:7}{:5} {:12}{:>5} us  {:14}{:>10.3f}{:>10.3f}{:>10.3f}{:>10.3f}{:>7.3f}{:>7.3f}{:>9}\n", each.transport,
             name_of(each.shape), name_of(each.law), each.micros, each.balancer, each.ideal * 1e3, each.median() * 1e3,
             each.seconds.front() * 1e3, each.seconds.back() * 1e3, each.ideal / each.median(), each.over_best,
             each.moves);
  std::fflush(stdout);
}

nlohmann::ordered_json json_of(const task_trees::real_row& each) {
  return {{"transport", each.transport}, {"shape", name_of(each.shape)}, {"costs", name_of(each.law)},
          {"micros", each.micros},       {"balancer", each.balancer},    {"ideal_seconds", each.ideal},
          {"seconds", each.seconds},     {"over_best", each.over_best},  {"moves", each.moves}};
}

nlohmann::ordered_json measure_real(const task_trees::plan& plan) {
  fmt::print("{:7}{:5} {:12}{:>5}     {:14}{:>10}{:>10}{:>10}{:>10}{:>7}{:>7}{:>9}\n", "over", "shape", "costs", "task",
             "balancer", "ideal ms", "median", "least", "most", "eff.", "/ best", "moves");
  auto all = nlohmann::ordered_json::array();
  task_trees::measure_real(plan, [&](const task_trees::real_row& each) {
    print_real(each);
    all.push_back(json_of(each));
  });
  return all;
}

int simulate(const task_trees::plan& plan, const std::string& json, const std::string& svg) {
  print_heading();
  const task_trees::rows all = task_trees::simulate(plan, print);
  bench::write_json(json, task_trees::json_of(all));
  if (!svg.empty()) bench::write_file(svg, task_trees::svg_of(plan, all));
  return task_trees::least_efficiency(plan, all) < plan.least ? 1 : 0;
}

int serve(const nacre::config& configuration, const task_trees::plan& plan, double rounds_a_second) {
  // Simulated ranks of a real program declare what real ones compute.
  const bool simulated = configuration.get_string("transport") == "sim";
  return task_trees::serve(configuration,
                           {.shape = task_trees::shape_of(plan.shapes.front()),
                            .law = task_trees::law_of(plan.laws.front()),
                            .tasks = plan.real_tasks,
                            .mean_seconds = plan.micros.front() * 1e-6,
                            .seed = plan.seed,
                            .work = simulated ? task_trees::work::declared : task_trees::work::computed,
                            .rounds_a_second = rounds_a_second > 0 ? rounds_a_second : task_trees::calibrate()});
}

}  // namespace

int main(int argc, char** argv) {
  task_trees::plan plan;
  std::string json, svg;
  bool real = false, as_job = false;
  double rounds = 0;
  const nacre::config configuration = nacre::read_config(argc, argv);
  nacre::program_options options(
      "task_trees",
      "The part of the ideal that balancers reach with a tree of small objects of which each "
      "creates its children, and with a bag of them made on one rank.");
  options.add("--shapes", plan.shapes, "tree, bag").one_of({"tree", "bag"});
  options.add("--costs", plan.laws, "How the tasks' costs are distributed").one_of({"equal", "exponential", "heavy"});
  options.add("--grain", plan.grains, "Mean costs of a task, in latencies of the network").between(1, 1e6);
  options.add("--ranks", plan.ranks, "Ranks of one worker").between(1, task_trees::ranks_max);
  options.add("--balancers", plan.balancers, "Balancers; default: as without an option");
  options.add("--tasks", plan.tasks_a_rank, "Tasks for each rank on average").between(1, 1e6);
  options.add("--seed", plan.seed, "Of trees, costs, and the simulated machine");
  options.add("--set", plan.settings, "An option of Nacre for all runs, such as balance.tick=50us; can be repeated")
      .verbatim();
  options.add("--least", plan.least, "Exit with 1 if the first balancer's efficiency is below this anywhere")
      .between(0, 1);
  options.add("--real", real, "On two ranks of this host that compute, not on simulated ones");
  options.add("--transports", plan.transports, "Of real ranks").one_of({"inproc", "shm", "tcp"});
  options.add("--micros", plan.micros, "Mean costs of a task of real ranks, in microseconds").between(1, 1e6);
  options.add("--real-tasks", plan.real_tasks, "Tasks of real ranks, in all").between(1, 1e9);
  options.add("--runs", plan.runs, "Real runs of each balancer; the median counts").between(1, 1000);
  options.add("--as-job", as_job, "Be a rank of a real run").hidden();
  options.add("--rounds", rounds, "Of the loop in a second; 0: each process measures them").hidden();
  options.add("--json", json, "Write all figures to this file").called("FILE");
  options.add("--svg", svg, "Draw efficiency over grain and ranks into this file").called("FILE");
  options.footer(task_trees::meaning_of_ideal);
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  try {
    if (as_job) return serve(configuration, plan, rounds);
    if (!real) return simulate(plan, json, svg);
    const nlohmann::ordered_json all = measure_real(plan);
    bench::write_json(json, all);
    return 0;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "task_trees: {}\n", problem.what());
    return 1;
  }
}
