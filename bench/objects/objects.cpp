// SPDX-License-Identifier: Apache-2.0
// What do mobile objects cost: messages, memory, creation, migration, an idle wait for quiescence?
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <program_options.hpp>

#include <nacre/nacre.hpp>

#include "calibration/cost_table.hpp"
#include "calibration/moves.hpp"
#include "calibration/rungs.hpp"
#include "calibration/runtime_costs.hpp"
#include "figures_file.hpp"
#include "jobs.hpp"
#include "parts/figures.hpp"

namespace {

namespace calibration = nacre::calibration;

struct row {
  std::string name, unit;
  double aim;  // at most; at least, where `more`; 0: none
  bool more;
  std::string floor_name;
  std::vector<double> measured{}, floor{};
};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class table {
 public:
  void add(const row& kind, double measured, double floor) {
    const auto position =
        std::find_if(rows_.begin(), rows_.end(), [&](const row& each) { return each.name == kind.name; });
    row& target = position != rows_.end() ? *position : rows_.emplace_back(kind);
    target.measured.push_back(measured);
    target.floor.push_back(floor);
  }
  void print() const {
    fmt::print("{:<52} {:>12} {:>12} {:>12}   {}\n", "median", "measured", "aim", "by hand", "by hand is");
    for (const row& each : rows_) {
      const std::string aim = each.aim == 0 ? "" : fmt::format("{} {:g}", each.more ? ">=" : "<=", each.aim);
      const double floor = median(each.floor);
      fmt::print("{:<52} {:>12.5g} {:>12} {:>12}   {}\n", fmt::format("{}, {}", each.name, each.unit),
                 median(each.measured), aim, floor == 0 ? "" : fmt::format("{:.5g}", floor), each.floor_name);
    }
  }
  void write(const std::string& file) const {
    auto all = nlohmann::json::array();
    for (const row& each : rows_) {
      all.push_back({{"what", each.name},
                     {"unit", each.unit},
                     {"aim", each.aim},
                     {"at_least", each.more},
                     {"by_hand", each.floor_name},
                     {"measured", each.measured},
                     {"floor", each.floor}});
    }
    bench::write_json(file, all);
  }

 private:
  std::vector<row> rows_;
};

/// The objects that move: their sizes in bytes, and their aims, one way in us and many under way in millions a second;
/// 0: none.
struct moved_object {
  std::string name;
  std::uint32_t bytes;
  bool in_buffer;
  double one_way_us, million_a_second;
};
const std::vector<moved_object> moved{
    {"1 KiB object", 1024, false, 1.5, 0.7},           {"64 KiB object", 1 << 16, false, 20, 0},
    {"64 KiB object, a buffer", 1 << 16, true, 20, 0}, {"1 MiB object", 1 << 20, false, 0, 0},
    {"1 MiB object, a buffer", 1 << 20, true, 0, 0},   {"16 MiB object", 1 << 24, false, 0, 0},
    {"16 MiB object, a buffer", 1 << 24, true, 0, 0}};

/// What copying as many bytes costs, once: the unit of what moving an object costs.
std::vector<double> copies_of_all() {
  std::vector<double> all;
  for (const moved_object& each : moved) all.push_back(objects::copy_us(each.bytes));
  return all;
}

void add_moves(table& table, const std::string& place, const std::vector<calibration::moves>& moves,
               const std::vector<double>& copies, bool aims) {
  for (std::size_t index = 0; index < moves.size() && index < moved.size(); ++index) {
    const moved_object& one = moved[index];
    table.add({one.name + ", one way, " + place, "us", aims ? one.one_way_us : 0, false, "copied once"},
              moves[index].one_way_us, copies[index]);
    if (one.million_a_second == 0) continue;
    table.add({one.name + ", many under way, " + place, "million/s", aims ? one.million_a_second : 0, true, ""},
              moves[index].moves_a_second * 1e-6, 0);
  }
}

std::vector<calibration::moves> moves_in_one_process() {
  std::vector<calibration::moves> all;
  nacre::config configuration;
  for (const auto& [name, value] :
       {std::pair{"ranks", "2"}, {"workers", "1"}, {"spin", "10ms"}, {"progress", "shared"}}) {
    configuration.set(name, value);
  }
  nacre::run(configuration, [&](nacre::runtime& rt) {
    for (const moved_object& each : moved) {
      const calibration::moves moves = calibration::measure_moves(rt, each.bytes, each.in_buffer);
      if (rt.rank() == nacre::rank_id(0)) all.push_back(moves);
    }
  });
  return all;
}

/// As one of two ranks that a launcher has started: rank 0 prints what it has found.
int serve_job(const nacre::config& configuration) {
  return nacre::run(configuration, [](nacre::runtime& rt) {
    for (const moved_object& each : moved) {
      const calibration::moves moves = calibration::measure_moves(rt, each.bytes, each.in_buffer);
      if (rt.rank() == nacre::rank_id(0)) {
        bench::print_json({{"one_way", moves.one_way_us}, {"a_second", moves.moves_a_second}});
      }
    }
  });
}

std::vector<calibration::moves> moves_between_processes(const std::string& transport) {
  const bench::launcher start = bench::launcher_of(transport, 2);
  if (start.words.empty()) {
    fmt::print(stderr, "objects: {}\n", start.missing);
    return {};
  }
  std::vector<std::string> command = start.words;
  command.insert(command.end(), {(bench::own_folder() / "objects").string(), "--as-job", "--nacre.workers=1",
                                 "--nacre.spin=10ms", "--nacre.progress=shared"});
  std::vector<calibration::moves> all;
  for (const std::string& line : bench::run_command(command).lines) {
    const auto one = bench::read_json(line);
    if (one.is_object()) all.push_back({one.at("one_way"), one.at("a_second")});
  }
  return all;
}

void measure(table& table, std::uint64_t count) {
  constexpr std::uint64_t messages = 1'000'000;
  table.add({"local message to an idle object, sent and run", "ns", 80, false, "closure, locked queue"},
            calibration::local_object_message().round_trip_seconds * 1e9, objects::locked_queue_ns(messages));
  table.add({"message to an object of another worker", "ns", 200, false, ""}, objects::other_worker_ns(messages), 0);
  const objects::crowd many = objects::measure_crowd(count), map = objects::measure_map(count);
  const std::string by_map = "unordered_map, virtual calls";
  table.add({"an empty object", "B", 160, false, by_map}, many.bytes_at_rest, map.bytes_at_rest);
  table.add({"an empty object after a message", "B", 160, false, by_map}, many.bytes_after_message, map.bytes_at_rest);
  table.add({fmt::format("{} objects created", count), "s", 0.3, false, by_map}, many.create_seconds,
            map.create_seconds);
  table.add({"one message to each of them, the first", "ns", 150, false, by_map}, many.first_message_ns,
            map.first_message_ns);
  table.add({"one message to each of them, a later", "ns", 150, false, by_map}, many.later_message_ns,
            map.later_message_ns);
  table.add({fmt::format("a message to all {} elements of an array", count), "ns", 25, false, "vector, virtual calls"},
            objects::broadcast_ns(count), objects::virtual_calls_ns(count));
  const std::vector<double> copies = copies_of_all();
  add_moves(table, "in one process", moves_in_one_process(), copies, true);
  for (const std::string transport : {"shm", "tcp"}) {
    add_moves(table, fmt::format("over {}", transport), moves_between_processes(transport), copies, transport == "shm");
  }
  table.add({"idle wait for quiescence, 2 ranks in one process", "us", 5, false, "two threads meet"},
            objects::idle_quiescence_us(), objects::meeting_us());
}

/// As one of the ranks that measure costs: rank 0 prints them.
int serve_costs(const nacre::config& configuration) {
  return nacre::run(configuration, [](nacre::runtime& rt) {
    calibration::measure_costs(rt, calibration::usual_rounds, [](const std::string& name, double ns) {
      bench::print_json({{"name", name}, {"ns", ns}});
    });
  });
}

int write_costs(const std::string& file) {
  const bench::launcher start = bench::launcher_of("shm", 3);
  if (start.words.empty()) throw std::runtime_error(start.missing);
  std::vector<std::string> command = start.words;
  command.insert(command.end(), {(bench::own_folder() / "objects").string(), "--as-cost-job"});
  for (const std::string& option : calibration::cost_job_options()) command.push_back(option);
  const bench::outcome got = bench::run_command(command);
  if (got.exit_code != 0) throw std::runtime_error("the ranks that measure costs failed");
  std::map<std::string, double> measured;
  for (const std::string& line : got.lines) {
    const auto one = bench::read_json(line);
    if (one.is_object()) measured[one.at("name")] = one.at("ns");
  }
  for (const auto& [name, ns] : measured) fmt::print("{:24}{:>12.1f} ns\n", name, ns);
  const calibration::cost_rows rows =
      calibration::rows_of(measured, calibration::local_object_message().round_trip_seconds * 1e9);
  for (const auto& [name, value] : rows) fmt::print("{:24}{:>12}\n", name, value);
  calibration::update_costs(file, rows);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int runs = 3;
  std::uint64_t count = 1'000'000;
  std::string json;
  std::string costs;
  bool as_job = false, as_cost_job = false;
  try {
    const nacre::config configuration = nacre::read_config(argc, argv);  // a job is given some
    nacre::program_options options(
        "objects", "What mobile objects cost, each figure beside its aim and what is nearest to it by hand.");
    options.add("--runs", runs, "Runs of every figure").between(1, 100);
    options.add("--objects", count, "How many make a crowd").between(1000, 100'000'000);
    options.add("--json", json, "Also write all figures of all runs to this file").called("FILE");
    options
        .add("--costs", costs,
             "Measure only what the runtime's own work takes, into this file of options for --nacre.transport=sim")
        .called("FILE");
    options.add("--as-job", as_job, "").hidden();            // for the program itself
    options.add("--as-cost-job", as_cost_job, "").hidden();  // likewise
    if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
    if (as_job) return serve_job(configuration);
    if (as_cost_job) return serve_costs(configuration);
    if (!costs.empty()) return write_costs(costs);
    table all;
    for (int run = 0; run < runs; ++run) measure(all, count);
    all.print();
    if (!json.empty()) all.write(json);
    return 0;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "objects: {}\n", problem.what());
    return 1;
  }
}
