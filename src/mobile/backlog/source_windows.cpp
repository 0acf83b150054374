// SPDX-License-Identifier: Apache-2.0
// Opening windows.
#include "mobile/backlog/source_windows.hpp"

#include <algorithm>

namespace nacre {

std::vector<source_windows::source>::iterator source_windows::find(std::uint32_t rank) {
  return std::lower_bound(sources_.begin(), sources_.end(), rank,
                          [](const source& each, std::uint32_t wanted) { return each.rank < wanted; });
}

void source_windows::count_in(const source& one) noexcept {
  in_flight_ += one.in_flight();
  if (one.asks()) ++asking_;
}

void source_windows::count_out(const source& one) noexcept {
  in_flight_ -= one.in_flight();
  if (one.asks()) --asking_;
}

void source_windows::on_request(std::uint32_t rank, std::uint32_t end, std::uint32_t next) {
  auto at = find(rank);
  if (at == sources_.end() || at->rank != rank) {
    at = sources_.insert(at, {rank, next, next, end});
  } else {
    count_out(*at);
    if (is_before(at->end, end)) at->end = end;
  }
  at->next = next;
  // The source may have forgotten earlier clearances. If an earlier clearance has brought all messages that it asks
  // for, it still asks: until it hears of that, it keeps its later messages.
  at->limit = is_before(next, at->end) ? next : at->end - 1;
  count_in(*at);
}

void source_windows::on_next(std::uint32_t rank, std::uint32_t next) {
  const auto at = find(rank);
  if (at == sources_.end() || at->rank != rank) return;
  count_out(*at);
  // The source may have forgotten its clearance: then it keeps the messages that come back; otherwise it sends them at
  // once. A limit never rises here: a source that asks has to hear of the end.
  if (is_before(next, at->next) && is_before(next, at->limit)) at->limit = next;
  at->next = next;
  if (!at->asks() && at->in_flight() == 0) {
    sources_.erase(at);
  } else {
    count_in(*at);
  }
}

std::uint32_t source_windows::window(std::uint32_t ran) const noexcept {
  return std::clamp(std::max(ran, ran_before_), window_min, window_max);
}

std::vector<source_windows::grant> source_windows::clear(std::size_t waiting, std::uint32_t ran,
                                                         const std::function<bool(std::uint32_t)>& is_blocked) {
  std::vector<grant> cleared;
  const std::uint32_t most = window(ran);
  if (asking_ == 0 || waiting + in_flight_ > most / 2) return cleared;
  std::uint32_t room = most - static_cast<std::uint32_t>(waiting) - in_flight_;
  const std::uint32_t share = std::max(1U, room / asking_);
  bool over = false;
  for (std::size_t looked = sources_.size(); looked > 0 && room > 0 && asking_ > 0; --looked) {
    if (next_source_ >= sources_.size()) next_source_ = 0;
    source& one = sources_[next_source_++];
    if (!one.asks() || is_blocked(one.rank)) continue;
    count_out(one);
    const std::uint32_t from = is_before(one.limit, one.next) ? one.next : one.limit;
    const std::uint32_t left = is_before(from, one.end) ? one.end - from : 0;
    const std::uint32_t count = std::min({share, room, left});
    one.limit = left == 0 ? one.end : from + count;  // a source with no messages left hears of that
    room -= count;
    over = over || left == 0;
    cleared.push_back({rank_id(one.rank), one.limit});
    count_in(one);
  }
  if (over) std::erase_if(sources_, [](const source& each) { return !each.asks() && each.in_flight() == 0; });
  return cleared;
}

bool source_windows::sound(std::uint32_t ranks) {
  asking_ = in_flight_ = 0;
  std::uint64_t least = 0;
  for (const source& each : sources_) {
    if (each.rank < least || each.rank >= ranks || is_before(each.end, each.limit)) return false;
    least = std::uint64_t{each.rank} + 1;
    count_in(each);
  }
  return true;
}

}  // namespace nacre
