// SPDX-License-Identifier: Apache-2.0
// Opening windows.
#include "mobile/entry/source_windows.hpp"

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
  auto sources = find(rank);
  if (sources == sources_.end() || sources->rank != rank) {
    sources = sources_.insert(sources, {rank, next, next, end});
  } else {
    count_out(*sources);
    if (is_before(sources->end, end)) sources->end = end;
  }
  sources->next = next;
  // The source may have forgotten earlier clearances. If an earlier clearance has brought all messages that it asks
  // for, it still asks: until it hears of that, it keeps its later messages.
  sources->limit = is_before(next, sources->end) ? next : sources->end - 1;
  count_in(*sources);
}

void source_windows::on_next(std::uint32_t rank, std::uint32_t next) {
  const auto sources = find(rank);
  if (sources == sources_.end() || sources->rank != rank) return;
  count_out(*sources);
  // The source may have forgotten its clearance: then it keeps the messages that come back; otherwise it sends them at
  // once. A limit never rises here: a source that asks has to hear of the end.
  if (is_before(next, sources->next) && is_before(next, sources->limit)) sources->limit = next;
  sources->next = next;
  if (!sources->asks() && sources->in_flight() == 0) {
    sources_.erase(sources);
  } else {
    count_in(*sources);
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
  bool is_over = false;
  for (std::size_t looked = sources_.size(); looked > 0 && room > 0 && asking_ > 0; --looked) {
    if (next_source_ >= sources_.size()) next_source_ = 0;
    source& one = sources_[next_source_++];
    if (!one.asks() || is_blocked(one.rank)) continue;
    count_out(one);
    const std::uint32_t first = is_before(one.limit, one.next) ? one.next : one.limit;
    const std::uint32_t left = is_before(first, one.end) ? one.end - first : 0;
    const std::uint32_t count = std::min({share, room, left});
    one.limit = left == 0 ? one.end : first + count;  // a source with no messages left hears of that
    room -= count;
    is_over = is_over || left == 0;
    cleared.push_back({rank_id(one.rank), one.limit});
    count_in(one);
  }
  if (is_over) std::erase_if(sources_, [](const source& each) { return !each.asks() && each.in_flight() == 0; });
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
