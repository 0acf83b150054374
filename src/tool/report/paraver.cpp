// SPDX-License-Identifier: Apache-2.0
// A trace for Paraver: states of tracks, handlers as events, migrations and traced messages as communications. A rank
// is a task. A track is one of its threads, on a processor of its own.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tool/report/buffered_file.hpp"
#include "tool/report/phase_spans.hpp"
#include "tool/report/report.hpp"
#include "tool/report/segments.hpp"
#include "tool/report/sorted_records.hpp"

namespace nacre::tool {
namespace {

// Paraver defines 0 (idle) and 1 (running). The .pcf file names our other states.
constexpr int state_of(doing doing) {
  switch (doing) {
    case doing::work:
      return 1;
    case doing::main:
      return 2;
    case doing::runtime:
      return 3;
    default:
      return 0;
  }
}

constexpr std::uint64_t handler_type = 90000001, steal_type = 90000002, create_type = 90000003, phase_type = 90000004;

class paraver_writer {
 public:
  paraver_writer(const trace::trace_log& log, const std::string& path)
      : log_(log), sums_(take_survey(log)), path_(path), records_(path + ".prv") {
    threads_.resize(log.job().ranks);
    for (const trace::track& each : log.tracks()) places_.push_back(++threads_[each.rank]);
  }

  void write() {
    collect();
    write_records(path_ + ".prv");
    write_names(path_ + ".pcf");
    write_rows(path_ + ".row");
  }

 private:
  void collect() {
    for (std::size_t index = 0; index < log_.tracks().size(); ++index) {
      const auto track = static_cast<std::uint32_t>(index);
      std::uint64_t handler = 0;
      const auto change = [&](std::int64_t ns, std::uint64_t target) {
        if (target != handler) records_.add({std::max<std::int64_t>(ns, 0), track, 2, handler_type, target});
        handler = target;
      };
      const auto on_segment = [&](const segment& one) {
        change(one.begin_ns, one.kind == doing::work ? one.handler : 0);
        if (one.kind == doing::nothing || one.end_ns <= 0) return;
        records_.add({std::max<std::int64_t>(one.begin_ns, 0), track, 1, static_cast<std::uint64_t>(state_of(one.kind)),
                      static_cast<std::uint64_t>(one.end_ns)});
      };
      phase_finder phases;
      walk(log_, index, on_segment, [&](const trace::event& one) {
        const std::int64_t ns = std::max<std::int64_t>(one.ns, 0);
        const std::uint32_t previous = phases.innermost();
        phases.take(one, [](const phase_span&) {});
        if (phases.innermost() != previous) records_.add({ns, track, 2, phase_type, phases.innermost()});
        if (one.kind == trace::event_kind::steal) records_.add({ns, track, 2, steal_type, one.a});
        if (one.kind == trace::event_kind::create) records_.add({ns, track, 2, create_type, 1});
      });
      change(log_.end_ns(), 0);
    }
    for (const passage& one : sums_.migrations.kept) communicate(one, 1, one.object);
    for (const passage& one : sums_.traced.kept) communicate(one, one.bytes, one.handler);
  }

  /// A message has been sent when it departs, and nobody waits for it before it arrives, so logical and physical times
  /// are equal. It arrives no earlier than it departs, although times of hosts may differ a little.
  void communicate(const passage& one, std::uint64_t bytes, std::uint64_t tag) {
    const std::int64_t begin = std::max<std::int64_t>(one.begin_ns, 0);
    records_.add({begin, static_cast<std::uint32_t>(one.source), 3, communications_.size(), 0});
    communications_.push_back({one.source, one.target, begin, std::max(one.end_ns, begin), bytes, tag});
  }

  /// The form is processor:application:task:thread.
  [[nodiscard]] std::string place(std::size_t track) const {
    return fmt::format("{}:1:{}:{}", track + 1, log_.tracks()[track].rank + 1, places_[track]);
  }

  void write_records(const std::string& path) {
    buffered_file file(path);
    file.put("#Paraver (01/01/00 at 00:00):{}_ns:1({}):1:{}(", log_.end_ns(), log_.tracks().size(), log_.job().ranks);
    for (std::size_t rank = 0; rank < threads_.size(); ++rank) {
      file.put("{}{}:1", rank == 0 ? "" : ",", std::max(threads_[rank], 1u));
    }
    file.put(")\n");
    records_.visit([&](const paraver_record& one) {
      if (one.kind == 1) {
        file.put("1:{}:{}:{}:{}\n", place(one.track), one.ns, one.b, one.a);
      } else if (one.kind == 2) {
        file.put("2:{}:{}:{}:{}\n", place(one.track), one.ns, one.a, one.b);
      } else {
        const communication& way = communications_[one.a];
        file.put("3:{}:{}:{}:{}:{}:{}:{}:{}\n", place(way.source), way.begin_ns, way.begin_ns, place(way.target),
                 way.end_ns, way.end_ns, way.bytes, way.tag);
      }
    });
    file.close();
  }

  void write_names(const std::string& path) const {
    buffered_file file(path);
    file.put(
        "DEFAULT_OPTIONS\n\nLEVEL\tTHREAD\nUNITS\tNANOSEC\nLOOK_BACK\t100\nSPEED\t1\nFLAG_ICONS\tENABLED\n"
        "NUM_OF_STATE_COLORS\t4\nYMAX_SCALE\t37\n\nDEFAULT_SEMANTIC\n\nTHREAD_FUNC\tState As Is\n\n"
        "STATES\n0\tidle\n1\twork\n2\tmain\n3\truntime\n\n"
        "STATES_COLOR\n0\t{228,232,238}\n1\t{61,125,216}\n2\t{22,128,138}\n3\t{227,154,43}\n\n");
    file.put("EVENT_TYPE\n6\t{}\thandler\nVALUES\n0\tnone\n", handler_type);
    for (std::size_t id = 1; id < log_.job().handlers.size(); ++id) {
      if (id < sums_.handlers.size() && sums_.handlers[id].runs != 0) file.put("{}\t{}\n", id, log_.job().handlers[id]);
    }
    file.put("\nEVENT_TYPE\n6\t{}\titems stolen\n\nEVENT_TYPE\n6\t{}\tobject created\n", steal_type, create_type);
    if (log_.phases().size() > 1) file.put("\nEVENT_TYPE\n6\t{}\tphase\nVALUES\n0\tnone\n", phase_type);
    for (std::size_t id = 1; id < log_.phases().size(); ++id) file.put("{}\t{}\n", id, log_.phases()[id]);
    file.close();
  }

  void write_rows(const std::string& path) const {
    buffered_file file(path);
    file.put("LEVEL CPU SIZE {}\n", log_.tracks().size());
    for (std::size_t index = 0; index < log_.tracks().size(); ++index) file.put("{}\n", row_name(index));
    file.put("\nLEVEL NODE SIZE 1\n{}\n\nLEVEL THREAD SIZE {}\n", log_.job().program, log_.tracks().size());
    for (std::size_t index = 0; index < log_.tracks().size(); ++index) file.put("{}\n", row_name(index));
    file.close();
  }
  [[nodiscard]] std::string row_name(std::size_t track) const {
    const trace::track& own_track = log_.tracks()[track];
    if (own_track.kind == trace::track::role::main) return fmt::format("rank {} main", own_track.rank);
    if (own_track.kind == trace::track::role::poll_loop) return fmt::format("rank {} poll loop", own_track.rank);
    return fmt::format("rank {} worker {}", own_track.rank, own_track.thread);
  }

  struct communication {
    std::size_t source, target;  // tracks
    std::int64_t begin_ns, end_ns;
    std::uint64_t bytes, tag;
  };

  const trace::trace_log& log_;
  survey sums_;
  std::vector<std::uint32_t> threads_;  // by rank: number of tracks
  std::vector<std::uint32_t> places_;   // by track: number within its rank, from 1
  const std::string path_;
  sorted_records records_;
  std::vector<communication> communications_;
};

}  // namespace

void write_paraver(const trace::trace_log& log, const std::string& path) { paraver_writer(log, path).write(); }

}  // namespace nacre::tool
