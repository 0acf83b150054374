// SPDX-License-Identifier: Apache-2.0
// Reads the blocks of a trace: the job, its ranks and their clocks, and the events of each track.
#include "trace/trace_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "trace/decoding.hpp"
#include "trace/phases.hpp"
#include "trace/trace_parts.hpp"

namespace nacre::trace {
namespace {

/// "rank 3", "ranks 0, 1 and 7", or the first few and the number of the others.
std::string ranks_text(const std::vector<std::uint32_t>& ranks) {
  constexpr std::size_t named_max = 8;
  const std::size_t named = ranks.size() > named_max + 1 ? named_max : ranks.size() - 1;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t index = 0; index < named; ++index) text += fmt::format("{}{}", index == 0 ? "" : ", ", ranks[index]);
  if (named != 0) text += " and ";
  return text + (named == named_max ? fmt::format("{} more", ranks.size() - named) : std::to_string(ranks.back()));
}

}  // namespace

trace_log::~trace_log() = default;

trace_log::trace_log(const std::string& path) {
  open_parts(path);
  note_what_is_missing();
  set_clocks();
  list_tracks();
}

void trace_log::read_job(part& part, const std::string& text, std::size_t place) {
  part.job_text = text;
  if (&part != parts_.front().get()) {
    if (text == parts_.front()->job_text) return;
    refuse(fmt::format("the traces '{}' and '{}' are of different jobs", parts_.front()->path, part.path),
           "a report shows one job", "remove what an earlier job has left, and run the program again");
  }
  const auto told = nlohmann::json::parse(text);
  job_.ranks = told.at("ranks").get<std::uint32_t>();
  job_.program = told.at("program").get<std::string>();
  job_.transport = told.at("transport").get<std::string>();
  job_.balancer = told.at("balancer").get<std::string>();
  job_.simulated = told.at("simulated").get<bool>();
  job_.handlers = told.at("handlers").get<std::vector<std::string>>();
  if (job_.ranks == 0 || job_.ranks > ranks_max) refuse_damaged(part.path, place, "no job has so many ranks");
  ranks_.resize(job_.ranks);
  workers_.resize(job_.ranks);
  hosts_.resize(job_.ranks);
}

void trace_log::read_phase(const block& block, std::size_t number, const std::string& name) {
  if (number == 0 || number > phases_max) refuse_damaged(block.source->path, block.place, "no phase has such a number");
  std::vector<std::uint32_t>& values = ranks_[block.head.rank].phases;
  values.resize(std::max(values.size(), number + 1));
  const auto known = std::find(phases_.begin() + 1, phases_.end(), name);
  values[number] = static_cast<std::uint32_t>(known - phases_.begin());
  if (known == phases_.end()) phases_.push_back(name);
}

/// Reads a block of JSON.
void trace_log::take_text(part& part, const block& block) {
  const std::vector<std::byte> raw = unpack(block);
  const std::string text(reinterpret_cast<const char*>(raw.data()), raw.size());
  try {
    if (block.head.kind == block_kind::job) return read_job(part, text, block.place);
    if (block.head.rank >= ranks_.size()) refuse_damaged(part.path, block.place, "a rank that the job has not");
    const auto told = nlohmann::json::parse(text);
    rank_of& rank = ranks_[block.head.rank];
    if (block.head.kind == block_kind::rank) {
      rank.told = true;
      rank.source = &part;
      rank.thread_contexts = told.at("thread_contexts").get<std::uint32_t>();
      rank.time.ns_a_tick = told.at("seconds_a_tick").get<double>() * 1e9;
      workers_[block.head.rank] = told.at("workers").get<std::uint32_t>();
      hosts_[block.head.rank] = told.at("host").get<std::string>();
      const bool fits = rank.thread_contexts <= threads_max && workers_[block.head.rank] <= rank.thread_contexts &&
                        rank.time.ns_a_tick > 0;
      if (!fits) refuse_damaged(part.path, block.place, "no rank is like this");
    } else if (block.head.kind == block_kind::clock) {
      rank.job = told.at("job").get<std::uint64_t>();
      rank.instants.push_back({told.at("tick").get<std::uint64_t>(),
                               told.at("host_ns").get<double>() + told.at("offset_ns").get<double>(),
                               told.at("error_ns").get<std::int64_t>()});
    } else if (block.head.kind == block_kind::phase) {
      read_phase(block, told.at("number").get<std::size_t>(), told.at("name").get<std::string>());
    } else {
      refuse_damaged(part.path, block.place, "no block is of this kind");
    }
  } catch (const nlohmann::json::exception& error) {
    refuse_damaged(part.path, block.place, error.what());
  }
}

/// Each rank writes its clock when it begins, and again as its last block. A rank without a second instant has no end.
void trace_log::note_what_is_missing() {
  std::vector<std::uint32_t> silent, unended;
  for (std::uint32_t rank = 0; rank < job_.ranks; ++rank) {
    const rank_of& one = ranks_[rank];
    if (!one.told) {
      if (!one.has_no_file) silent.push_back(rank);
    } else if (one.instants.size() < 2 && !one.source->breaks_off) {
      unended.push_back(rank);
    }
  }
  if (!silent.empty()) notes_.push_back(fmt::format("There is nothing of {} in it.", ranks_text(silent)));
  if (!unended.empty()) {
    notes_.push_back(
        fmt::format("There is no end of what {} wrote: the job was killed, the file could not grow, or the job still "
                    "runs. What was in memory then is missing.",
                    ranks_text(unended)));
  }
}

/// The clock of a rank is taken to run evenly between its two instants. With one instant, it runs at the rank's stated
/// rate.
void trace_log::set_clocks() {
  double start = std::numeric_limits<double>::max();
  const rank_of* first_of_job = nullptr;
  for (const rank_of& each : ranks_) {
    if (each.instants.empty()) continue;
    start = std::min(start, each.instants.front().ns);
    if (first_of_job == nullptr) first_of_job = &each;
    if (each.job != first_of_job->job) {
      refuse(fmt::format("the files of '{}' are of different jobs", parts_.front()->path), "a report shows one job",
             "remove what an earlier job has left, and run the program again");
    }
  }
  std::vector<std::int64_t> errors;
  for (rank_of& each : ranks_) {
    if (each.instants.empty()) continue;
    const instant& first = each.instants.front();
    const instant& last = each.instants.back();
    each.time.zero_tick = first.tick;
    each.time.zero_ns = first.ns - start;
    if (last.tick > first.tick && last.ns > first.ns) {
      each.time.ns_a_tick = (last.ns - first.ns) / static_cast<double>(last.tick - first.tick);
    }
    end_ns_ = std::max<std::int64_t>(end_ns_, std::llround(last.ns - start));
    errors.push_back(std::max(first.error_ns, last.error_ns));
  }
  // Each clock was compared with the clock of rank 0, so two others may differ by the sum of their errors.
  std::sort(errors.begin(), errors.end(), std::greater<>());
  errors.resize(2);
  clock_error_ns_ = errors[0] + errors[1];
  if (clock_error_ns_ != 0) {
    notes_.push_back(fmt::format("Times of ranks on different clocks may be off against each other by up to {:.1f} us.",
                                 static_cast<double>(clock_error_ns_) * 1e-3));
  }
}

void trace_log::list_tracks() {
  std::vector<block> all;
  if (!blocks_.empty()) all = std::move(blocks_.front());
  blocks_.clear();
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<block>> by_thread;
  for (const block& each : all) by_thread[{each.head.rank, each.head.thread}].push_back(each);
  for (std::uint32_t rank = 0; rank < job_.ranks; ++rank) {
    for (std::uint32_t thread = 0; thread < ranks_[rank].thread_contexts; ++thread) {
      const auto match = by_thread.find({rank, thread});
      const bool worker = thread < workers_[rank];
      if (!worker && match == by_thread.end()) continue;
      const auto role = worker                     ? track::role::worker
                        : thread == workers_[rank] ? track::role::main
                                                   : track::role::poll_loop;
      tracks_.push_back({rank, thread, role});
      blocks_.push_back(match == by_thread.end() ? std::vector<block>{} : std::move(match->second));
    }
  }
  for (std::size_t index = 0; index < tracks_.size(); ++index) {  // only the last event counts: read one block each
    if (blocks_[index].empty()) continue;
    const block& last = blocks_[index].back();
    std::vector<event> events;
    decode(last, unpack(last), events);
    if (!events.empty()) end_ns_ = std::max(end_ns_, events.back().ns);
  }
}

void trace_log::decode(const block& block, std::span<const std::byte> bytes, std::vector<event>& events) const {
  if (!decode_events(bytes, block.head.first_tick, ranks_[block.head.rank].time, job_.ranks, events)) {
    refuse_damaged(block.source->path, block.place, "an event that there is not");
  }
  const std::vector<std::uint32_t>& phases = ranks_[block.head.rank].phases;
  for (event& each : events) {
    if (!is_phase(each.kind)) continue;
    each.a = each.a < phases.size() ? phases[each.a] : 0;
    if (each.a == 0) refuse_damaged(block.source->path, block.place, "a phase without a name");
  }
}

void trace_log::visit(std::size_t track_index, const std::function<void(std::span<const event>)>& function) const {
  std::vector<event> events;
  for (const block& each : blocks_[track_index]) {
    decode(each, unpack(each), events);
    function(events);
  }
}

}  // namespace nacre::trace
