// SPDX-License-Identifier: Apache-2.0
// A program that replays a recorded load: its objects work as long as the recorded objects did.
#include "tool/replay.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <nacre/nacre.hpp>

#include "program_options/program_options.hpp"
#include "program_options/standard_output.hpp"
#include "runtime/job.hpp"
#include "runtime/options.hpp"
#include "tool/text_file.hpp"

namespace nacre::tool {
namespace {

/// Stands for a recorded object.
struct replayed_object {
  std::vector<std::byte> body{};

  void work(context& ctx, double seconds) { ctx.charge(seconds); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(body);
  }
};

/// A recorded object: its start rank, its size, and the object that stands for it in the replay.
struct placement {
  std::uint32_t home = 0;
  std::uint64_t bytes = 0;  // the maximum over the trace
  mobile_ptr<replayed_object> object{};
};
using placements = std::map<std::uint64_t, placement>;

using rows_of_object = std::span<const balance::load_row* const>;  // in the order of time

/// The rank on which an object first did real work: the rank where it worked most in the first interval that counts. An
/// interval counts when the object worked at least a hundredth as long as in its busiest interval. In others it was
/// often only made and sent elsewhere.
std::uint32_t first_rank_of(rows_of_object rows) {
  std::map<std::uint32_t, double> seconds;  // by interval
  for (const balance::load_row* each : rows) seconds[each->interval] += each->seconds;
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  const double enough = std::max_element(seconds.begin(), seconds.end(), less)->second / 100;
  const auto first =
      std::find_if(seconds.begin(), seconds.end(), [&](const auto& each) { return each.second >= enough; });
  const balance::load_row* most = nullptr;
  for (const balance::load_row* each : rows) {
    if (each->interval == first->first && (most == nullptr || each->seconds > most->seconds)) most = each;
  }
  return most->rank;
}

/// Assigns every object its start rank. With another number of ranks, a recorded rank stands for the ranks in the same
/// relative place, and its objects go to them round robin.
placements assign(const balance::load_trace& trace, std::uint32_t ranks) {
  std::vector<const balance::load_row*> rows;
  for (const balance::load_row& each : trace.rows) rows.push_back(&each);
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) { return a->object < b->object; });
  placements all;
  std::map<std::uint32_t, std::uint64_t> seen;  // objects of a recorded rank
  for (auto begin = rows.begin(); begin != rows.end();) {
    const auto end =
        std::find_if(begin, rows.end(), [&](const auto* each) { return each->object != (*begin)->object; });
    placement& played = all[(*begin)->object];
    for (auto each = begin; each != end; ++each) played.bytes = std::max(played.bytes, (*each)->bytes);
    const std::uint64_t rank = first_rank_of(rows_of_object(begin, end));
    const std::uint64_t first = rank * ranks / trace.ranks;
    const std::uint64_t last = std::max(first + 1, (rank + 1) * ranks / trace.ranks);
    played.home = static_cast<std::uint32_t>(first + seen[static_cast<std::uint32_t>(rank)]++ % (last - first));
    begin = end;
  }
  return all;
}

/// The work of one object in one interval, summed over all ranks.
struct share {
  double seconds = 0;
  std::uint64_t messages = 0;
};
using interval_work = std::map<std::uint64_t, share>;

std::map<std::uint32_t, interval_work> work_by_interval(const balance::load_trace& trace) {
  std::map<std::uint32_t, interval_work> all;
  for (const balance::load_row& row : trace.rows) {
    share& share = all[row.interval][row.object];
    share.seconds += row.seconds;
    share.messages += row.messages;
  }
  return all;
}

/// Things that have a home, those of one home together and else in the order in which they were given, so that a rank
/// finds its own without a look at all.
template <class Thing>
class by_home {
 public:
  void add(std::uint32_t home, Thing thing) { things_.emplace_back(home, std::move(thing)); }
  /// After the last `add`.
  void sort() {
    std::stable_sort(things_.begin(), things_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  template <class Visit>
  void for_each_of(std::uint32_t home, Visit visit) const {
    const auto less = [](const auto& thing, std::uint32_t bound) { return thing.first < bound; };
    auto thing = std::lower_bound(things_.begin(), things_.end(), home, less);
    for (; thing != things_.end() && thing->first == home; ++thing) visit(thing->second);
  }

 private:
  std::vector<std::pair<std::uint32_t, Thing>> things_;
};

/// An object and its work in one interval.
struct task {
  const placement* played;
  share sums;
};
struct planned_interval {
  std::uint32_t number = 0;
  double seconds = 0;  // of all objects
  by_home<task> tasks;
};

std::vector<planned_interval> plan(const balance::load_trace& trace, const placements& all) {
  std::vector<planned_interval> planned;
  for (const auto& [number, work] : work_by_interval(trace)) {
    planned_interval& interval = planned.emplace_back();
    interval.number = number;
    for (const auto& [name, sums] : work) {
      const placement& played = all.at(name);
      interval.seconds += sums.seconds;
      interval.tasks.add(played.home, {&played, sums});
    }
    interval.tasks.sort();
  }
  return planned;
}

void play(runtime& rt, const by_home<task>& tasks) {
  constexpr std::uint64_t messages_max = 64;  // of an object in an interval; if it had more, each takes longer
  tasks.for_each_of(rt.rank().value(), [&](const task& task) {
    const std::uint64_t count = std::clamp<std::uint64_t>(task.sums.messages, 1, messages_max);
    for (std::uint64_t n = 0; n < count; ++n) {
      rt.send<&replayed_object::work>(task.played->object, task.sums.seconds / static_cast<double>(count));
    }
  });
}

struct totals {
  std::uint64_t moves = 0;
  std::uint64_t bytes = 0;
};
totals sums(runtime& rt) {
  const rank_counters rank_counters = rt.counters();
  return {rt.all_reduce(rank_counters.migrations_in, std::plus<>{}),
          rt.all_reduce(rank_counters.bytes_sent, std::plus<>{})};
}

/// Refuses --set for an option of Nacre that the replay sets itself, and names the replay's own option instead.
[[noreturn]] void refuse_setting(const std::string& name, const std::string& instead) {
  throw setup_error({.problem = "--set " + name + " cannot be",
                     .why = "the replay runs on a simulated machine that its own options describe",
                     .remedy = instead});
}
void check_setting(const std::string& name) {
  static const std::map<std::string, std::string, std::less<>> table{
      {"transport", "leave it out: it is sim"}, {"ranks", "write --ranks N"},
      {"workers", "write --workers N"},         {"seed", "write --seed NUMBER"},
      {"balancer", "write --balancer NAME"},    {"balance.load", "write --load NAME"}};
  if (const auto match = table.find(name); match != table.end()) refuse_setting(name, match->second);
}

config configured(const replay_options& options, std::uint32_t ranks, std::uint32_t workers) {
  config configuration(all_option_tables());
  configuration.set("transport", "sim");
  configuration.set("ranks", std::to_string(ranks));
  configuration.set("workers", std::to_string(workers));
  configuration.set("seed", std::to_string(options.seed));
  configuration.set("balancer", options.balancer);
  configuration.set("balance.load", options.load);
  for (const std::string& each : options.settings) {
    const std::size_t equals = each.find('=');
    if (equals == std::string::npos) {
      throw setup_error({.problem = "--set " + each + " gives no value",
                         .why = "it sets an option of Nacre for the simulated machine",
                         .remedy = "write --set NAME=VALUE, as in --set balance.tick=1ms"});
    }
    const std::string name = each.substr(0, equals);
    check_setting(name);
    configuration.set(name, each.substr(equals + 1));
  }
  return configuration;
}

/// The earliest and the latest time at which the recorded run can have ended. The trace must have rows.
std::pair<double, double> recorded_seconds(const balance::load_trace& trace) {
  const double begun = trace.interval * trace.rows.back().interval;
  return {begun, begun + trace.interval};
}

}  // namespace

std::vector<replayed_interval> replay(const balance::load_trace& trace, const replay_options& options) {
  const std::uint32_t ranks = options.ranks != 0 ? options.ranks : trace.ranks;
  const std::uint32_t workers = options.workers != 0 ? options.workers : trace.workers;
  placements all = assign(trace, ranks);
  by_home<placement*> objects;
  for (auto& [name, each] : all) objects.add(each.home, &each);
  objects.sort();
  const std::vector<planned_interval> intervals = plan(trace, all);
  std::vector<replayed_interval> result;
  const job_report report = run_job(configured(options, ranks, workers), [&](runtime& rt) {
    const bool tells = rt.rank() == rank_id{0};
    // Simulated ranks live in one thread, so they may share the objects' places.
    objects.for_each_of(rt.rank().value(), [&](placement* each) {
      each->object = rt.create<replayed_object>(std::vector<std::byte>(each->bytes));
    });
    rt.barrier();
    totals previous = sums(rt);
    for (const planned_interval& interval : intervals) {
      rt.barrier();
      const double begin = rt.now();
      play(rt, interval.tasks);
      rt.wait_quiescence();
      const double seconds = rt.now() - begin;
      const totals now = sums(rt);
      if (tells) {
        const double ideal = interval.seconds / (static_cast<double>(ranks) * workers);
        result.push_back({interval.number, seconds, interval.seconds, ideal > 0 ? seconds / ideal : 0,
                          now.moves - previous.moves, now.bytes - previous.bytes});
      }
      previous = now;
    }
  });
  if (report.code != 0 || !report.left_all) {
    throw std::runtime_error("the replay has run, but not all that was asked for is there: see the line above");
  }
  return result;
}

std::string replay_text(const std::vector<replayed_interval>& replayed_intervals) {
  std::string text = "interval      seconds         work  imbalance    moves         bytes\n";
  replayed_interval sum;
  double ideal = 0;
  for (const replayed_interval& each : replayed_intervals) {
    text += fmt::format("{:>8}{:>13.6f}{:>13.6f}{:>11.2f}{:>9}{:>14}\n", each.number, each.seconds, each.work,
                        each.imbalance, each.moves, each.bytes);
    sum.seconds += each.seconds;
    sum.work += each.work;
    sum.moves += each.moves;
    sum.bytes += each.bytes;
    if (each.imbalance > 0) ideal += each.seconds / each.imbalance;
  }
  return text + fmt::format("     all{:>13.6f}{:>13.6f}{:>11.2f}{:>9}{:>14}\n", sum.seconds, sum.work,
                            ideal > 0 ? sum.seconds / ideal : 0, sum.moves, sum.bytes);
}

std::string recorded_text(const balance::load_trace& trace) {
  if (trace.rows.empty()) return "recorded: nothing\n";
  const auto [least, most] = recorded_seconds(trace);
  return fmt::format("recorded: {:.6f} to {:.6f} seconds on {} ranks of {} workers\n", least, most, trace.ranks,
                     trace.workers);
}

std::string replay_json(const std::vector<replayed_interval>& replayed_intervals, const balance::load_trace& trace) {
  nlohmann::ordered_json recorded;  // null: nothing
  if (!trace.rows.empty()) {
    const auto [least, most] = recorded_seconds(trace);
    recorded = {{"seconds_min", least}, {"seconds_max", most}, {"ranks", trace.ranks}, {"workers", trace.workers}};
  }
  nlohmann::ordered_json intervals = nlohmann::ordered_json::array();
  for (const replayed_interval& each : replayed_intervals) {
    intervals.push_back({{"interval", each.number},
                         {"seconds", each.seconds},
                         {"work", each.work},
                         {"imbalance", each.imbalance},
                         {"moves", each.moves},
                         {"bytes", each.bytes}});
  }
  return nlohmann::ordered_json{{"recorded", recorded}, {"intervals", intervals}}.dump(
             -1, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

CLI::App* add_replay(CLI::App& app, replay_arguments& given) {
  program_options options(app, "replay", "Try a balancer on a recorded load, on a simulated machine");
  options.footer(
      "A run records its load with --nacre.record_load=FILE. Every interval of it begins when the one before has "
      "ended\n"
      "everywhere; imbalance is its time in units of what it would take if all workers worked all the time.\n"
      "Objects begin where they first did real work; the last line tells how long the recorded run took.\n\n"
      "Example: nacre replay load.txt --balancer gossip --ranks 256 --set balance.tick=1ms");
  options.add("FILE", given.file, "The recorded load").required();
  options.add("--balancer", given.options.balancer, "Who moves objects").called("NAME");
  options.add("--load", given.options.load, "What an object counts for").called("NAME");
  options.add("--ranks", given.options.ranks, "Simulated ranks").between(1, 1'000'000).otherwise("as recorded");
  options.add("--workers", given.options.workers, "Workers of each rank").between(1, 65536).otherwise("as recorded");
  options.add("--seed", given.options.seed, "Of all that is random").called("NUMBER");
  options.add("--set", given.options.settings, "A further option of Nacre; can be repeated")
      .called("NAME=VALUE")
      .verbatim();
  options.add("--json", given.json, "Print the rows as JSON");
  return options.command();
}

void run_replay(const replay_arguments& given) {
  const auto text =
      text_of_file(given.file, "nacre replay plays what a run has recorded with --nacre.record_load=FILE");
  const balance::load_trace trace = balance::parse_load_trace(text, given.file);
  const auto played = replay(trace, given.options);
  print(given.json ? replay_json(played, trace) : replay_text(played) + recorded_text(trace));
}

}  // namespace nacre::tool
