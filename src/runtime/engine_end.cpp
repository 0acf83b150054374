// SPDX-License-Identifier: Apache-2.0
// What a rank tells of itself: its trace while it runs, its summary at the end.
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <utility>

#include "runtime/engine.hpp"

namespace nacre {
namespace {

constexpr int clock_questions = 16;

std::int64_t host_ns() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

/// Asked of rank 0 for its clock.
std::int64_t monotonic_ns_here() { return host_ns(); }

std::string host_name() {
  utsname about{};
  return ::uname(&about) == 0 ? about.nodename : "";
}

}  // namespace

void engine::record(const engine_surroundings& around) {
  if (around.trace == nullptr) return;
  const auto lanes = static_cast<std::uint32_t>(team_->lanes().size());
  const bool simulated = sim_team_ != nullptr;
  const auto source = [](const void* team) { return static_cast<const crew*>(team)->instant(); };
  trace_ = std::make_unique<trace::rank_trace>(*around.trace,
                                               trace::rank_trace::description{.rank = rank().value(),
                                                                              .workers = team_->workers(),
                                                                              .lanes = lanes,
                                                                              .seconds_a_tick = team_->seconds_a_tick(),
                                                                              .host = simulated ? "" : host_name(),
                                                                              .lane_bytes = around.trace_lane_bytes},
                                               simulated ? +source : nullptr, team_.get());
  for (const auto& each : team_->lanes()) each->record_to(trace_->of_lane(each->id().value()));
}

/// Ranks on one host read the same clock. Of others' questions to rank 0 the quickest tells best: the answer is as old
/// as half of its way at most.
std::int64_t engine::clock_offset_ns(lane& on) {
  if (sim_team_ != nullptr || rank().value() == 0 || link_ranks_on_host_ == size()) return 0;
  runtime rt(*this, on);
  std::int64_t offset = 0, quickest = std::chrono::nanoseconds::max().count();
  for (int question = 0; question < clock_questions; ++question) {
    const std::int64_t asked = host_ns();
    const std::int64_t there = rt.call<&monotonic_ns_here>({.category = category::communication}, rank_id{0}).get();
    const std::int64_t took = host_ns() - asked;
    if (took >= quickest) continue;
    quickest = took;
    offset = there - (asked + took / 2);
  }
  return offset;
}

void engine::tell_clock(lane& on, std::uint64_t job) {
  const std::int64_t offset = clock_offset_ns(on);
  const std::uint64_t before = team_->instant();
  const std::int64_t here = sim_team_ != nullptr ? static_cast<std::int64_t>(before) : host_ns();
  trace_->tell_clock(before + (team_->instant() - before) / 2, here, offset, job);
}

void engine::begin_trace(lane& on) {
  if (trace_ == nullptr) return;
  on.record(trace::event_kind::main_begin);
  // Files that an earlier job has left beside those of this one bear another number.
  std::uint64_t job = 0;
  if (sim_team_ == nullptr) job = runtime(*this, on).broadcast(static_cast<std::uint64_t>(host_ns()), rank_id{0});
  job_number_ = job;
  tell_clock(on, job);
}

/// The trace ends where the counters of the summary are read, so that both tell the same.
void engine::tell_of_end(lane& on) {
  progress_.end();
  if (trace_ != nullptr) tell_clock(on, job_number_);
  const bool wanted = configuration_.get_bool("summary") || configuration_.was_set("summary_json");
  const trace::summary own = wanted ? own_summary() : trace::summary{};
  if (trace_ != nullptr) trace_->stop();
  if (wanted) print_summary(on, own);
}

rank_progress engine::so_far() const {
  rank_progress all{.workers = team_->workers(), .idle_workers = team_->idle_workers()};
  std::uint64_t busy = 0;
  for (const auto& each : team_->lanes()) {
    all.handlers += each->tallies().handlers.read();
    busy += each->tallies().busy_ticks.read();
  }
  all.busy_seconds = static_cast<double>(busy) * team_->seconds_a_tick();
  return all;
}

trace::summary engine::own_summary() const {
  trace::summary own;
  own.seconds = seconds();
  own.transport = configuration_.get_string("transport");
  own.balancer = configuration_.get_string("balancer");
  const double tick = team_->seconds_a_tick();
  const trace::rank_row total{link_.rank().value(), counters(), objects_.known()};
  for (const auto& each : team_->lanes()) {
    const lane_tallies& t = each->tallies();
    if (each->role() != lane_role::worker) continue;
    const double handlers = static_cast<double>(t.handler_ticks.read()) * tick;
    const double busy = static_cast<double>(t.busy_ticks.read()) * tick;
    const double idle = static_cast<double>(t.idle_ticks.read()) * tick;
    own.workers.push_back({total.rank, each->id().value(), handlers, std::max(0.0, busy - handlers), idle,
                           t.handlers.read(), order_->steals(each->id())});
  }
  own.ranks.push_back(total);
  return own;
}

void engine::print_summary(lane& on, const trace::summary& own) {
  const auto combine = [](std::vector<std::byte>& accumulated, std::span<const std::byte> contribution) {
    auto all = detail::unpack_own<trace::summary>(accumulated);
    const auto more = detail::unpack_own<trace::summary>(contribution);
    all.seconds = std::max(all.seconds, more.seconds);
    all.workers.insert(all.workers.end(), more.workers.begin(), more.workers.end());
    all.ranks.insert(all.ranks.end(), more.ranks.begin(), more.ranks.end());
    accumulated = pack(all);
  };
  const auto bytes = detail::run_collective(*this, on, {collective_kind::all_reduce, {}, pack(own), combine});
  if (rank().value() != 0) return;
  auto all = detail::unpack_own<trace::summary>(bytes);
  std::sort(all.workers.begin(), all.workers.end(),
            [](const auto& a, const auto& b) { return std::pair(a.rank, a.worker) < std::pair(b.rank, b.worker); });
  std::sort(all.ranks.begin(), all.ranks.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
  if (configuration_.get_bool("summary")) std::fputs(trace::as_text(all).c_str(), stderr);
  if (configuration_.was_set("summary_json")) {
    const std::string& path = configuration_.get_string("summary_json");
    std::ofstream file(path);
    file << trace::as_json(all) << '\n';
    file.close();
    if (!file) fail_(rank(), "the summary could not be written to " + path + ": is there room, and may it be written?");
  }
}

}  // namespace nacre
