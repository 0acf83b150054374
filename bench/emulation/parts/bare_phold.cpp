// SPDX-License-Identifier: Apache-2.0
// The loop, with either pending set.
#include "emulation/parts/bare_phold.hpp"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace emulation_study {
namespace {

struct event {
  std::int64_t time;
  std::uint32_t node;
  friend bool operator>(const event& a, const event& b) noexcept { return a.time > b.time; }
};

/// splitmix64, as the nodes of `emulate --program phold` have it.
struct random_state {
  std::uint64_t word = 0;
  std::uint64_t next() noexcept {
    std::uint64_t z = word += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  double uniform() noexcept { return (static_cast<double>(next() >> 11) + 1) * 0x1p-53; }
  std::int64_t exponential(std::int64_t mean) noexcept {
    return static_cast<std::int64_t>(-std::log(uniform()) * static_cast<double>(mean));
  }
};

class heap {
 public:
  void push(const event& each) { events_.push(each); }
  [[nodiscard]] bool empty() const { return events_.empty(); }
  event pop() {
    const event first = events_.top();
    events_.pop();
    return first;
  }

 private:
  std::priority_queue<event, std::vector<event>, std::greater<>> events_;
};

/// Buckets of a nanosecond over the next `span`; what is later lies in a heap until its turn comes.
class wheel {
 public:
  void push(const event& each) {
    ++size_;
    if (each.time < now_ + span) {
      buckets_[bucket_of(each.time)].push_back(each.node);
    } else {
      later_.push(each);
    }
  }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  event pop() {
    while (position_ == buckets_[bucket_of(now_)].size()) advance();
    --size_;
    return {now_, buckets_[bucket_of(now_)][position_++]};
  }

 private:
  static constexpr std::int64_t span = 1 << 14;
  static std::size_t bucket_of(std::int64_t time) noexcept { return static_cast<std::size_t>(time & (span - 1)); }
  void advance() {
    buckets_[bucket_of(now_)].clear();
    position_ = 0;
    ++now_;
    while (!later_.empty() && later_.top().time < now_ + span) {
      const event next = later_.top();
      later_.pop();
      buckets_[bucket_of(next.time)].push_back(next.node);
    }
  }

  std::vector<std::vector<std::uint32_t>> buckets_ = std::vector<std::vector<std::uint32_t>>(span);
  std::priority_queue<event, std::vector<event>, std::greater<>> later_;
  std::int64_t now_ = 0;
  std::size_t position_ = 0, size_ = 0;
};

template <class PendingSet>
phold_outcome run_with(const phold_shape& phold_shape) {
  PendingSet pending;
  std::vector<random_state> nodes(phold_shape.nodes);
  for (std::uint32_t node = 0; node < phold_shape.nodes; ++node) {
    nodes[node].word = phold_shape.seed * 0x2545f4914f6cdd1d + node * 1'000'003ULL;
    pending.push({nodes[node].exponential(phold_shape.mean_ns), node});
  }
  phold_outcome result;
  const auto begin = std::chrono::steady_clock::now();
  for (; !pending.empty(); ++result.events) {
    const event event = pending.pop();
    if (event.time >= phold_shape.until_ns) continue;
    random_state& random = nodes[event.node];
    const std::int64_t delay = phold_shape.lookahead_ns + random.exponential(phold_shape.mean_ns);
    const bool away = random.uniform() <= phold_shape.remote;
    pending.push(
        {event.time + delay, away ? static_cast<std::uint32_t>(random.next() % phold_shape.nodes) : event.node});
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace

phold_outcome run_with_heap(const phold_shape& phold_shape) { return run_with<heap>(phold_shape); }
phold_outcome run_with_wheel(const phold_shape& phold_shape) { return run_with<wheel>(phold_shape); }

}  // namespace emulation_study
