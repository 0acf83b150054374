// SPDX-License-Identifier: Apache-2.0
// The trace of a rank while it runs, and its summary at the end.
#include "runtime/rank_output.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/output_file.hpp"
#include "runtime/engine.hpp"
#include "trace/clock_offset.hpp"

namespace nacre {
namespace {

constexpr int clock_questions = 16;
constexpr int clock_readings = 8;

std::int64_t host_ns() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

/// A handler that other ranks call on rank 0 to read its clock.
std::int64_t monotonic_ns_here() { return host_ns(); }

/// Two processes with equal, non-empty results read the same monotonic clock: the boot of one kernel, and one time
/// namespace. Containers with different host names may share a clock, and processes of one host may not.
std::string clock_name() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::error_code none;
  const auto times = std::filesystem::read_symlink("/proc/self/ns/time", none);  // none before Linux 5.6
  return file >> boot ? boot + ' ' + times.string() : "";
}

std::string host_name() {
  utsname system{};
  return ::uname(&system) == 0 ? system.nodename : "";
}

}  // namespace

void rank_output::record_trace(trace::file_writer& file, std::size_t thread_bytes) {
  worker_pool& pool = rank_.pool();
  const auto thread_contexts = static_cast<std::uint32_t>(pool.thread_contexts().size());
  const auto virtual_time = [](const void* bytes) { return static_cast<const worker_pool*>(bytes)->instant(); };
  const auto system_time = [](const void*) { return static_cast<std::uint64_t>(host_ns()); };
  const bool counter = ticks_are_steady();
  const double shared = std::chrono::duration<double>(configuration_.get_duration("trace_shared")).count();
  const trace::rank_trace::description description{
      .rank = rank_.rank().value(),
      .workers = pool.workers(),
      .thread_contexts = thread_contexts,
      .seconds_a_tick = simulated_ || !counter ? 1e-9 : pool.seconds_a_tick(),
      .host = simulated_ ? "" : host_name(),
      .thread_bytes = thread_bytes,
      .short_seconds = simulated_ ? 0 : shared};  // reading virtual time costs nothing
  trace::instant_source source = counter ? nullptr : +system_time;
  if (simulated_) source = virtual_time;
  trace_ = std::make_unique<trace::rank_trace>(file, description, source, &pool);
  for (const auto& each : pool.thread_contexts()) each->record_to(trace_->of_thread(each->id().value()));
}

bool rank_output::wants_summary() const {
  return configuration_.get_bool("summary") || configuration_.was_set("summary_json");
}

void rank_output::count_phases(trace::file_writer* file) {
  if (file == nullptr && !wants_summary()) return;
  worker_pool& pool = rank_.pool();
  const auto instant = [](const void* bytes) { return static_cast<const worker_pool*>(bytes)->instant(); };
  phases_ = std::make_unique<trace::rank_phases>(file, rank_.rank().value(), instant, &pool);
  for (const auto& each : pool.thread_contexts()) {
    each->phases = &phases_->add_thread(trace_ == nullptr ? nullptr : &trace_->of_thread(each->id().value()));
  }
}

void rank_output::tell_clock(thread_context& thread) {
  trace::clock_offset offset;
  runtime rt(rank_, thread);
  for (int question = 0; question < clock_questions && !shares_clock_; ++question) {
    const std::int64_t asked = host_ns();
    const std::int64_t present_count =
        rt.call<&monotonic_ns_here>({.category = category::communication}, rank_id{0}).get();
    offset.note(asked, present_count, host_ns());
  }
  trace::rank_trace::instant best;
  std::uint64_t narrowest = ~std::uint64_t{0};
  for (int attempt = 0; attempt < clock_readings; ++attempt) {  // something else may run between two readings
    const std::uint64_t previous = trace_->now();
    const std::int64_t host = simulated_ ? static_cast<std::int64_t>(previous) : host_ns();
    const std::uint64_t width = trace_->now() - previous;
    if (width >= narrowest) continue;
    narrowest = width;
    best = {.tick = previous + width / 2, .host_ns = host};
  }
  if (!shares_clock_) {
    best.offset_ns = offset.ahead();
    best.error_ns = offset.error();
  }
  trace_->tell_clock(best, job_number_);
}

void rank_output::begin(thread_context& thread) {
  if (trace_ == nullptr) return;
  thread.record(trace::event_kind::main_begin);
  if (!simulated_) {
    // The job number tells the files of this job from files that an earlier job has left in the same directory.
    const auto [job, clock] =
        runtime(rank_, thread).broadcast(std::pair(static_cast<std::uint64_t>(host_ns()), clock_name()), rank_id{0});
    job_number_ = job;
    shares_clock_ = rank_.rank().value() == 0 || (!clock.empty() && clock == clock_name());
  }
  tell_clock(thread);
}

void rank_output::end(thread_context& thread) {
  if (trace_ != nullptr) {
    tell_clock(thread);
    if (!simulated_) runtime(rank_, thread).barrier();  // rank 0 answers until all have asked
  }
  const bool wanted = wants_summary();
  const trace::summary summary = wanted ? own_summary() : trace::summary{};
  if (trace_ != nullptr) trace_->stop();
  if (wanted) print_summary(thread, summary);
  if (recorder_ != nullptr) write_load_trace(thread);
}

void rank_output::finish() {
  if (trace_ != nullptr) trace_->finish();
}

trace::summary rank_output::own_summary() const {
  trace::summary summary;
  summary.seconds = rank_.job_time().own_seconds();
  summary.transport = configuration_.get_string("transport");
  summary.balancer = configuration_.get_string("balancer");
  const double tick = rank_.pool().seconds_a_tick();
  const balancing::costs balanced = rank_.balance().so_far();
  const trace::rank_row total{.rank = rank_.rank().value(),
                              .did = rank_.counters(),
                              .objects = rank_.objects().known(),
                              .looks = balanced.looks,
                              .look_seconds = balanced.look_seconds,
                              .resting_look_seconds = balanced.resting_look_seconds,
                              .migration_seconds = balanced.migration_seconds,
                              .balancer_messages = balanced.messages,
                              .quiescence_messages = rank_.quiet().messages_sent(),
                              .processors = processors_};
  for (const auto& each : rank_.pool().thread_contexts()) {
    const thread_counters& t = each->counters();
    if (each->role() != thread_role::worker) continue;
    const double handlers = static_cast<double>(t.handler_ticks.read()) * tick;
    const double busy = static_cast<double>(t.busy_ticks.read()) * tick;
    const double idle = static_cast<double>(t.idle_ticks.read()) * tick;
    summary.workers.push_back({total.rank, each->id().value(), handlers, std::max(0.0, busy - handlers), idle,
                               t.handlers.read(), order_.steals(each->id())});
  }
  summary.ranks.push_back(total);
  summary.phases = phases_->rows(tick);
  const checkpoints::totals& images = rank_.images().taken();
  summary.images = {images.images, images.bytes, images.seconds, images.restored, images.restored_seconds};
  return summary;
}

void rank_output::print_summary(thread_context& thread, const trace::summary& summary) {
  const auto combine = [](std::vector<std::byte>& accumulated, std::span<const std::byte> contribution) {
    auto all = detail::unpack_own<trace::summary>(accumulated);
    const auto more = detail::unpack_own<trace::summary>(contribution);
    all.seconds = std::max(all.seconds, more.seconds);
    all.workers.insert(all.workers.end(), more.workers.begin(), more.workers.end());
    all.ranks.insert(all.ranks.end(), more.ranks.begin(), more.ranks.end());
    trace::merge(all.phases, more.phases);
    all.images.bytes += more.images.bytes;  // the other members are those of any rank
    accumulated = pack(all);
  };
  // A reduce, whose other ranks get nothing: the table has a row for each rank.
  const auto bytes = detail::run_collective(rank_, thread, {collective_kind::reduce, {}, pack(summary), combine});
  if (rank_.rank().value() != 0) return;
  auto all = detail::unpack_own<trace::summary>(bytes);
  std::sort(all.workers.begin(), all.workers.end(),
            [](const auto& a, const auto& b) { return std::pair(a.rank, a.worker) < std::pair(b.rank, b.worker); });
  std::sort(all.ranks.begin(), all.ranks.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
  if (configuration_.get_bool("summary")) std::fputs(trace::as_text(all).c_str(), stderr);
  if (configuration_.was_set("summary_json")) {
    leave("the summary", configuration_.get_string("summary_json"), trace::as_json(all) + '\n');
  }
}

/// Writes a file at the end of the job. The work is done by now, so an error does not end the job; it is printed, and
/// shows in the exit code.
void rank_output::leave(const std::string& name, const std::string& path, const std::string& text) {
  tell_lost(name, path, write_output(path, text));
}

/// `fault`: empty if nothing is lost.
void rank_output::tell_lost(const std::string& name, const std::string& path, const std::string& fault) {
  if (fault.empty()) return;
  const std::string line =
      "nacre: rank " + std::to_string(rank_.rank().value()) + ": " + name + " '" + path + "' is lost: " + fault + '\n';
  std::fputs(line.c_str(), stderr);
  left_all_ = false;
}

}  // namespace nacre
