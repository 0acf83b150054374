// SPDX-License-Identifier: Apache-2.0
// Computes the totals of a trace.
#include "tool/report/survey.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "tool/report/phase_spans.hpp"
#include "tool/report/segments.hpp"

namespace nacre::tool {
namespace {

using trace::event;
using trace::event_kind;

class surveyor {
 public:
  explicit surveyor(const trace::trace_log& log) : log_(log) {
    sums_.tracks.resize(log.tracks().size());
    sums_.handlers.resize(log.job().handlers.size());
    sums_.phases.resize(log.phases().size());
    first_track_.resize(log.job().ranks, log.tracks().size());
    for (std::size_t index = log.tracks().size(); index-- > 0;) first_track_[log.tracks()[index].rank] = index;
  }

  survey run() {
    for (track_ = 0; track_ < log_.tracks().size(); ++track_) {
      phase_finder phases;
      const auto on_phase = [this](const phase_span& one) { add(one); };
      walk(
          log_, track_, [this](const segment& one) { add(one); },
          [&](const event& one) {
            phases.take(one, on_phase);
            add(one);
          });
      phases.finish(log_.end_ns(), on_phase);
    }
    const auto by_time = [](const passage& a, const passage& b) {
      return std::tie(a.begin_ns, a.object, a.target) < std::tie(b.begin_ns, b.object, b.target);
    };
    for (passage_list* const each : {&sums_.migrations, &sums_.steals, &sums_.traced})
      std::sort(each->kept.begin(), each->kept.end(), by_time);
    return std::move(sums_);
  }

 private:
  struct crossing {
    passage way;
    bool departed = false, arrived = false;
  };
  /// A message by its sender's rank, its receiver's rank and its number.
  using message_key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;
  struct hash {
    std::size_t operator()(const std::pair<std::uint64_t, std::uint64_t>& key) const noexcept {
      return static_cast<std::size_t>((key.first * 0x9e3779b97f4a7c15U) ^ (key.second * 0xc2b2ae3d27d4eb4fU));
    }
  };

  void add(const segment& one) {
    track_sums& thread = sums_.tracks[track_];
    switch (one.kind) {
      case doing::work:
        thread.work += one.length();
        break;
      case doing::main:
        thread.main += one.length();
        break;
      case doing::runtime:
        thread.runtime += one.length();
        break;
      case doing::idle:
        thread.idle += one.length();
        break;
      case doing::nothing:
        break;
    }
    if (one.handler == 0 || one.handler >= sums_.handlers.size()) return;
    handler_sums& handler = sums_.handlers[one.handler];
    handler.ns += one.length();
    handler.longest = std::max(handler.longest, one.length());
  }

  void add(const phase_span& one) {
    phase_sums& phase = sums_.phases[one.phase];
    phase.count += one.is_first ? 1 : 0;
    phase.own_time += one.own_ns;
    phase.by_rank[log_.tracks()[track_].rank] += one.own_ns;
    if (one.is_repeated) return;
    phase.whole += one.length();
    phase.longest = std::max(phase.longest, one.length());
  }

  void add(const event& one) {
    const trace::track& track = log_.tracks()[track_];
    track_sums& thread = sums_.tracks[track_];
    switch (one.kind) {
      case event_kind::handler_begin:
      case event_kind::module_begin:
        ++thread.handlers;
        if (one.a < sums_.handlers.size()) {
          ++sums_.handlers[one.a].runs;
          sums_.handlers[one.a].of_runtime = one.kind == event_kind::module_begin;
        }
        break;
      case event_kind::send: {
        message_sums& pair = sums_.messages[{track.rank, static_cast<std::uint32_t>(one.a)}];
        ++pair.count;
        pair.bytes += one.b;
        break;
      }
      case event_kind::steal:
        thread.steals += one.a;
        sums_.steals.add({one.ns, one.ns, victim(track, one.b), track_, 0});
        break;
      case event_kind::depart:
        ++sums_.departures;
        note_move(one, true);
        break;
      case event_kind::arrive:
        note_move(one, false);
        break;
      case event_kind::message_departs:
      case event_kind::message_arrives:
        note_message(one, track.rank);
        break;
      case event_kind::create:
        ++sums_.created;
        break;
      case event_kind::wave:
        ++sums_.waves;
        break;
      default:
        break;
    }
  }

  /// The track of thread `told` - 1 of the thief's rank; the thief's own track if `told` is 0 or has no track.
  [[nodiscard]] std::size_t victim(const trace::track& thief, std::uint64_t told) const {
    for (std::size_t index = first_track_[thief.rank]; told != 0 && index < log_.tracks().size(); ++index) {
      const trace::track& each = log_.tracks()[index];
      if (each.rank != thief.rank) break;
      if (each.thread == told - 1) return index;
    }
    return track_;
  }

  void note_message(const event& one, std::uint32_t rank) {
    const bool leaves = one.kind == event_kind::message_departs;
    const message_key key = leaves ? message_key{rank, one.b, one.a} : message_key{one.b, rank, one.a};
    crossing& message = messages_[key];
    if (leaves) {
      message.way.handler = one.c < sums_.handlers.size() ? static_cast<std::uint32_t>(one.c) : 0;
    } else {
      message.way.bytes = one.c;
    }
    if (!has_both_ends(message, one, leaves)) return;
    sums_.traced.add(message.way);
    message_sums& sum = sums_.traced_sums[message.way.handler];
    ++sum.count;
    sum.bytes += message.way.bytes;
    messages_.erase(key);
  }

  void note_move(const event& one, bool leaves) {
    const auto place = moves_.try_emplace({one.a, one.c}).first;
    if (!has_both_ends(place->second, one, leaves)) return;
    sums_.migrations.add(place->second.way);
    moves_.erase(place);
  }

  /// Notes one end of a passage; returns whether both are known.
  [[nodiscard]] bool has_both_ends(crossing& both, const event& one, bool leaves) {
    both.way.object = one.a;
    (leaves ? both.departed : both.arrived) = true;
    (leaves ? both.way.begin_ns : both.way.end_ns) = one.ns;
    (leaves ? both.way.source : both.way.target) = track_;
    return both.departed && both.arrived;
  }

  const trace::trace_log& log_;
  survey sums_;
  std::size_t track_ = 0;
  std::vector<std::size_t> first_track_;  // by rank
  // Those with one end so far.
  std::unordered_map<std::pair<std::uint64_t, std::uint64_t>, crossing, hash> moves_;  // by object and epoch
  std::map<message_key, crossing> messages_;
};

}  // namespace

void passage_list::add(const passage& passage) {
  if (count++ % step_ != 0) return;
  kept.push_back(passage);
  if (kept.size() <= kept_max_) return;
  for (std::size_t index = 0; 2 * index < kept.size(); ++index) kept[index] = kept[2 * index];
  kept.resize((kept.size() + 1) / 2);
  step_ *= 2;
}

rank_share share_of(const phase_sums& phase, std::uint32_t ranks) {
  rank_share share{.mean_ns = phase.own_time / std::max(ranks, 1u)};
  for (const auto& [rank, ns] : phase.by_rank) {
    if (ns <= share.most_ns) continue;
    share.most_ns = ns;
    share.most_rank = rank;
  }
  return share;
}

std::vector<std::uint32_t> phases_by_time(const survey& sums) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t id = 1; id < sums.phases.size(); ++id) {
    if (sums.phases[id].count != 0) order.push_back(id);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return sums.phases[a].own_time > sums.phases[b].own_time; });
  return order;
}

survey take_survey(const trace::trace_log& log) { return surveyor(log).run(); }

}  // namespace nacre::tool
