// SPDX-License-Identifier: Apache-2.0
// A trace as JSON of the Trace Event Format, which Perfetto and Chrome read: ranks are processes, tracks their threads.
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tool/report/buffered_file.hpp"
#include "tool/report/phase_spans.hpp"
#include "tool/report/report.hpp"
#include "tool/report/segments.hpp"

namespace nacre::tool {
namespace {

std::string quoted_for_json(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string us(std::int64_t ns) { return fmt::format("{:.3f}", static_cast<double>(ns) * 1e-3); }

class perfetto_writer {
 public:
  perfetto_writer(const trace::trace_log& log, const std::string& path) : log_(log), file_(path) {
    for (const std::string& each : log.job().handlers) names_.push_back(quoted_for_json(each));
    for (const std::string& each : log.phases()) phases_.push_back(quoted_for_json(each));
  }

  void write() {
    file_.put("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    for (std::size_t index = 0; index < log_.tracks().size(); ++index) write_track(index);
    const survey sums = take_survey(log_);
    for (const passage& one : sums.migrations.kept) arrow(one, "migration", "\"migration\"");
    for (const passage& one : sums.steals.kept) arrow(one, "steal", "\"steal\"");
    for (const passage& one : sums.traced.kept)
      arrow(one, "message", one.handler == 0 ? "\"message\"" : names_[one.handler]);
    file_.put("{{\"ph\":\"M\",\"name\":\"trace_end\",\"pid\":0,\"args\":{{\"program\":{}}}}}\n]}}\n",
              quoted_for_json(log_.job().program));
    file_.close();
  }

 private:
  static constexpr std::uint32_t phases_thread = 1'000'000;  // beyond the numbers of threads

  void write_track(std::size_t index) {
    const trace::track& track = log_.tracks()[index];
    const bool worker = track.kind == trace::track::role::worker;
    const std::string name = worker                                   ? fmt::format("worker {}", track.thread)
                             : track.kind == trace::track::role::main ? "main"
                                                                      : "poll loop";
    file_.put("{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"args\":{{\"name\":\"rank {}\"}}}},\n", track.rank,
              track.rank);
    file_.put("{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":\"{}\"}}}},\n",
              track.rank, track.thread, name);
    walk(
        log_, index, [&](const segment& one) { put(track, one); },
        [&](const trace::event& one) {
          if (one.kind != trace::event_kind::create && one.kind != trace::event_kind::quiet) return;
          file_.put("{{\"ph\":\"i\",\"s\":\"t\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{}}},\n",
                    one.kind == trace::event_kind::create ? "create" : "quiet", track.rank, track.thread, us(one.ns));
        });
    write_phases(index, name);
  }

  /// Phases are a thread of their own, as slices of one thread must nest, and a handler may be cut inside a phase.
  void write_phases(std::size_t index, const std::string& thread_name) {
    const trace::track& track = log_.tracks()[index];
    const std::uint32_t thread = phases_thread + track.thread;
    bool any = false;
    walk_phases(log_, index, [&](const phase_span& one) {
      any = true;
      file_.put("{{\"ph\":\"X\",\"name\":{},\"cat\":\"phase\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{}}},\n",
                phases_[one.phase], track.rank, thread, us(one.begin_ns), us(one.length()));
    });
    if (!any) return;
    file_.put(
        "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":\"phases of {}\"}}}},\n",
        track.rank, thread, thread_name);
  }

  void put(const trace::track& track, const segment& one) {
    if (one.kind == doing::nothing) return;
    std::string_view name = one.kind == doing::idle ? "\"idle\"" : one.kind == doing::main ? "\"main\"" : "\"runtime\"";
    if (one.handler != 0 && one.handler < names_.size()) name = names_[one.handler];
    const std::string_view category = one.kind == doing::work      ? "work"
                                      : one.kind == doing::idle    ? "idle"
                                      : one.kind == doing::runtime ? "runtime"
                                                                   : "main";
    file_.put("{{\"ph\":\"X\",\"name\":{},\"cat\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{}}},\n", name,
              category, track.rank, track.thread, us(one.begin_ns), us(one.length()));
  }

  /// An arrow binds to the slices at its ends.
  void arrow(const passage& one, std::string_view category, std::string_view quoted_name) {
    const trace::track& source = log_.tracks()[one.source];
    const trace::track& target = log_.tracks()[one.target];
    ++arrow_;
    file_.put("{{\"ph\":\"s\",\"name\":{},\"cat\":\"{}\",\"id\":{},\"pid\":{},\"tid\":{},\"ts\":{}}},\n", quoted_name,
              category, arrow_, source.rank, source.thread, us(one.begin_ns));
    file_.put("{{\"ph\":\"f\",\"bp\":\"e\",\"name\":{},\"cat\":\"{}\",\"id\":{},\"pid\":{},\"tid\":{},\"ts\":{}}},\n",
              quoted_name, category, arrow_, target.rank, target.thread, us(one.end_ns));
  }

  const trace::trace_log& log_;
  buffered_file file_;
  std::vector<std::string> names_;   // of handlers
  std::vector<std::string> phases_;  // names
  std::uint64_t arrow_ = 0;
};

}  // namespace

void write_perfetto(const trace::trace_log& log, const std::string& path) { perfetto_writer(log, path).write(); }

}  // namespace nacre::tool
