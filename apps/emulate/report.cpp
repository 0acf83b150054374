// SPDX-License-Identifier: Apache-2.0
// Formats results.
#include "report.hpp"

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace emulate {

double report::predicted_us() const noexcept { return static_cast<double>(result.run.time().count()) / 1e3; }

double report::messages_per_second() const noexcept {
  return result.run.seconds() > 0 ? static_cast<double>(result.run.messages()) / result.run.seconds() : 0;
}

double report::bytes_per_thread() const noexcept {
  return static_cast<double>(result.run.counts().bytes) /
         (static_cast<double>(asked->machine.nodes()) * asked->machine.threads);
}

double report::slowdown() const noexcept {
  return predicted_us() > 0 ? result.run.seconds() * 1e6 / predicted_us() : 0;
}

double report::efficiency() const noexcept {
  const double ratio = static_cast<double>(asked->machine.nodes()) * asked->machine.threads / host_workers;
  return result.run.seconds() > 0 ? predicted_us() * 1e-6 * ratio / result.run.seconds() : 0;
}

double report::busy_share() const {
  const double threads = static_cast<double>(asked->machine.nodes_present()) * asked->machine.threads;
  const auto time = static_cast<double>(result.run.time().count());
  return time > 0 ? static_cast<double>(result.run.counts().busy.count()) / (time * threads) : 0;
}

namespace {

std::string text_of(const nacre::critical_path& path) {
  const auto us = [](std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1e3; };
  if (!path.known) return "critical path         too many handlers to record\n";
  std::string text = fmt::format(
      "{:<22}{} handlers run for {:.3f} us, {:.3f} us between them; {} waited for a thread\n"
      "{:<22}its longest parts, in us:\n{:>12}{:>12}{:>12}  {:<18}{:>7}  handler\n",
      "critical path", path.handlers, us(path.running), us(path.under_way), path.waits, "", "start", "runs",
      "before it", "node", "thread");
  for (const nacre::critical_step& each : path.longest) {
    text += fmt::format("{:>12.3f}{:>12.3f}{:>12}  {:<18}{:>7}  {}\n", us(each.start), us(each.cost),
                        each.waited ? "its thread" : fmt::format("{:.3f}", us(each.before)),
                        fmt::format("({}, {}, {})", each.at.x, each.at.y, each.at.z), each.thread, each.handler);
  }
  return text;
}

nlohmann::ordered_json json_of(const nacre::critical_path& path) {
  if (!path.known) return nullptr;
  auto longest = nlohmann::ordered_json::array();
  for (const nacre::critical_step& each : path.longest) {
    longest.push_back({{"node", {each.at.x, each.at.y, each.at.z}},
                       {"thread", each.thread},
                       {"handler", each.handler},
                       {"start_ns", each.start.count()},
                       {"cost_ns", each.cost.count()},
                       {"before_ns", each.before.count()},
                       {"waited", each.waited}});
  }
  return {{"handlers", path.handlers},
          {"waits", path.waits},
          {"running_ns", path.running.count()},
          {"under_way_ns", path.under_way.count()},
          {"longest", std::move(longest)}};
}

/// Pairs of a number of hops and the packets that took so many, where there are any.
nlohmann::ordered_json histogram_of(const std::vector<std::uint64_t>& by_hops) {
  auto pairs = nlohmann::ordered_json::array();
  for (std::size_t hops = 0; hops < by_hops.size(); ++hops) {
    if (by_hops[hops] != 0) pairs.push_back({hops, by_hops[hops]});
  }
  return pairs;
}

}  // namespace

std::string text_of(const report& report) {
  const nacre::emulated_machine& m = report.asked->machine;
  const nacre::emulation& run = report.result.run;
  const std::string missing =
      m.missing.empty() ? "" : fmt::format(", {} of them missing", m.nodes() - m.nodes_present());
  std::string text = fmt::format("{} on {} x {} x {} nodes of {} threads{}\n", report.asked->runs->name, m.grid.x,
                                 m.grid.y, m.grid.z, m.threads, missing);
  const auto row = [&](const char* label, const std::string& value) {
    text += fmt::format("{:<22}{}\n", label, value);
  };
  row("predicted time", fmt::format("{:.3f} us", report.predicted_us()));
  row("emulation time", fmt::format("{:.3f} s in {} windows", run.seconds(), run.windows()));
  row("slowdown", fmt::format("{:.4g}", report.slowdown()));
  row("emulation efficiency",
      fmt::format("{:.4g} (the paper's: ideal over actual emulation time, a worker here for a thread there)",
                  report.efficiency()));
  const bool is_cut = run.counts().busy == std::chrono::nanoseconds::max();
  row("threads busy",
      fmt::format("{}{:.4g} % of their virtual time", is_cut ? "at least " : "", 100 * report.busy_share()));
  row("messages",
      fmt::format("{} ({:.4g} a second), {} hops", run.messages(), report.messages_per_second(), run.counts().hops));
  row("handlers", fmt::format("{}, {} had to wait for a thread", run.counts().events, run.counts().delayed));
  if (run.counts().stalled != 0) {
    row("output buffers full", fmt::format("{} packets had to wait; threads waited for {:.3f} us", run.counts().stalled,
                                           static_cast<double>(run.counts().stall.count()) / 1e3));
  }
  if (run.counts().link_waits != 0) {
    row("links busy", fmt::format("packets had to wait for {} of their links, for {:.3f} us together",
                                  run.counts().link_waits, static_cast<double>(run.counts().link_wait.count()) / 1e3));
  }
  if (run.counts().held_back != 0) {
    row("input buffers full", fmt::format("{} packets waited in the network", run.counts().held_back));
  }
  if (run.counts().late != 0)
    row("late", fmt::format("{} packets came for windows that their block had run already", run.counts().late));
  row("memory", fmt::format("{:.2f} bytes a thread", report.bytes_per_thread()));
  for (const auto& [label, value] : report.result.figures) row(label.c_str(), fmt::format("{:.6g}", value));
  if (report.result.digest != 0) row("digest", fmt::format("{:016x}", report.result.digest));
  if (report.asked->critical_path) text += text_of(run.path());
  if (!report.result.error.empty()) row("WRONG", report.result.error);
  return text;
}

namespace {

nlohmann::ordered_json object_of(const report& report) {
  const nacre::emulated_machine& m = report.asked->machine;
  const nacre::emulation& run = report.result.run;
  nlohmann::ordered_json json{{"program", report.asked->runs->name},
                              {"grid", {m.grid.x, m.grid.y, m.grid.z}},
                              {"threads", m.threads},
                              {"missing", m.nodes() - m.nodes_present()},
                              {"predicted_us", report.predicted_us()},
                              {"messages", run.messages()},
                              {"seconds", run.seconds()},
                              {"messages_per_s", report.messages_per_second()},
                              {"bytes_per_thread", report.bytes_per_thread()},
                              {"slowdown", report.slowdown()},
                              {"efficiency", report.efficiency()},
                              {"busy_share", report.busy_share()},
                              {"handlers", run.counts().events},
                              {"hops", run.counts().hops},
                              {"hops_histogram", histogram_of(run.counts().by_hops)},
                              {"delayed", run.counts().delayed},
                              {"stalled", run.counts().stalled},
                              {"held_back", run.counts().held_back},
                              {"late", run.counts().late},
                              {"link_waits", run.counts().link_waits},
                              {"link_wait_ns", run.counts().link_wait.count()},
                              {"windows", run.windows()},
                              {"host_workers", report.host_workers},
                              {"error", report.result.error.empty() ? nlohmann::ordered_json(nullptr)
                                                                    : nlohmann::ordered_json(report.result.error)}};
  if (report.asked->critical_path) json["critical_path"] = json_of(run.path());
  for (const auto& [name, value] : report.result.figures) json[name] = value;
  if (report.result.digest != 0) json["digest"] = fmt::format("{:016x}", report.result.digest);
  return json;
}

std::string dumped(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

double predicted_ratio(const report& first, const report& variant) {
  return first.predicted_us() > 0 ? variant.predicted_us() / first.predicted_us() : 0;
}

}  // namespace

std::string json_of(const report& report) { return dumped(object_of(report)); }

std::string json_of(const report& first, const report& variant) {
  return dumped(
      {{"machines", {object_of(first), object_of(variant)}}, {"predicted_ratio", predicted_ratio(first, variant)}});
}

std::string comparison_of(const report& first, const report& variant) {
  std::string text = fmt::format("\n{:<22}{:>16}{:>16}{:>12}\n", "", "first", "variant", "ratio");
  const auto row = [&](const char* name, double a, double b) {
    text += fmt::format("{:<22}{:>16.6g}{:>16.6g}{:>12.4g}\n", name, a, b, a != 0 ? b / a : 0);
  };
  const nacre::emulation_counts& a = first.result.run.counts();
  const nacre::emulation_counts& b = variant.result.run.counts();
  row("predicted time, us", first.predicted_us(), variant.predicted_us());
  row("threads busy, %", 100 * first.busy_share(), 100 * variant.busy_share());
  row("messages", static_cast<double>(a.messages), static_cast<double>(b.messages));
  row("hops", static_cast<double>(a.hops), static_cast<double>(b.hops));
  row("waits for links", static_cast<double>(a.link_waits), static_cast<double>(b.link_waits));
  return text;
}

}  // namespace emulate
