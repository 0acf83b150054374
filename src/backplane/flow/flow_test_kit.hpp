// SPDX-License-Identifier: Apache-2.0
// Ranks under flow control over paths that lose, double and delay, in a time of their own; for tests.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nacre/rng.hpp>

#include "backplane/flow/flow_control.hpp"

namespace nacre::flow::tests {

struct path {
  nanoseconds latency{18'000};
  nanoseconds late_by{0};  ///< a late message takes up to so much longer
  double lost = 0, doubled = 0, late = 0;
};

/// All ranks of a job. Data take their time on the link and get lost like control messages.
class simulated_job {
 public:
  simulated_job(std::uint32_t ranks, const link_settings& settings, const path& way, std::uint64_t seed)
      : settings_(settings), way_(way), random_(seed) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      ranks_.push_back(std::make_unique<simulated_rank>(*this, rank_id(rank)));
      ranks_.back()->flow = std::make_unique<flow_control>(rank_id(rank), ranks, settings_, *ranks_.back());
    }
  }

  void offer(std::uint32_t source, std::uint32_t target, flow_policy policy, std::uint64_t bytes) {
    simulated_rank& sender = *ranks_[source];
    if (sender.dead) return;
    const flow_policy actor = sender.flow->choose(policy).policy;
    sender.waiting[{rank_id(target), actor}].push_back(bytes);
    sender.flow->offer(rank_id(target), policy, bytes, now_);
  }
  /// Calls `action` after a time, whatever the ranks do.
  void after(nanoseconds delay, std::function<void()> action) { push(now_ + delay, {}, std::move(action)); }
  void kill(std::uint32_t rank) {
    ranks_[rank]->dead = true;
    ranks_[rank]->waiting.clear();
  }
  /// The rank does nothing for a time; what comes meanwhile is handled afterwards.
  void pause(std::uint32_t rank, nanoseconds length) { ranks_[rank]->paused_until = now_ + length; }

  /// Lets the next thing happen; false when nothing is left.
  bool step() {
    nanoseconds soonest = events_.empty() ? nanoseconds::max() : events_.begin()->first.first;
    simulated_rank* ticks = nullptr;
    for (const auto& each : ranks_) {
      if (each->dead || each->flow->due() == nanoseconds::max()) continue;
      const nanoseconds due = std::max(each->flow->due(), each->paused_until);
      if (due < soonest) {
        soonest = due;
        ticks = each.get();
      }
    }
    if (soonest == nanoseconds::max()) return false;
    now_ = std::max(now_, soonest);
    if (ticks != nullptr) {
      ticks->flow->tick(now_);
    } else {
      run_event();
    }
    return true;
  }
  /// Until no message waits, or the time is over. Returns whether none waits.
  bool run(nanoseconds until) {
    while (waiting() != 0) {
      if (now_ > until || !step()) return false;
      if (problem) return false;
    }
    return true;
  }

  [[nodiscard]] std::size_t waiting() const {
    std::size_t sum = 0;
    for (const auto& each : ranks_) {
      for (const auto& [queue, sizes] : each->waiting) sum += ranks_[queue.first.value()]->dead ? 0 : sizes.size();
    }
    return sum;
  }
  [[nodiscard]] std::uint64_t sent(std::uint32_t rank) const { return ranks_[rank]->sent; }
  [[nodiscard]] const flow_control& flow(std::uint32_t rank) const { return *ranks_[rank]->flow; }
  [[nodiscard]] nanoseconds now() const noexcept { return now_; }
  /// When data have begun to leave for a link, with their sizes.
  struct departure {
    std::uint32_t source, target;
    nanoseconds time;
    std::uint64_t bytes;
  };
  std::vector<departure> departures;
  nanoseconds handler_time{0};  ///< that a message takes at its receiver
  std::uint64_t held_max = 0;   ///< the most bytes that a receiver has held, under the policy token
  std::uint64_t control_messages = 0;
  std::uint32_t epochs = 1;            ///< the highest seen
  std::optional<std::string> problem;  ///< a violated invariant

 private:
  struct simulated_rank final : flow_host {
    simulated_rank(simulated_job& job_of, rank_id own_rank) : job(job_of), self(own_rank) {}
    void send(rank_id target, const message& message) override { job.carry(self, target, message); }
    void transmit(rank_id target, flow_policy policy, const token_stamp& stamp) override {
      job.transmit(*this, target, policy, stamp);
    }
    [[nodiscard]] std::uint64_t held_bytes() const override { return held; }
    simulated_job& job;
    rank_id self;
    std::unique_ptr<flow_control> flow;
    std::map<std::pair<rank_id, flow_policy>, std::deque<std::uint64_t>> waiting;
    std::uint64_t sent = 0;
    std::uint64_t held = 0;  // come and not done
    bool dead = false;
    nanoseconds paused_until{0};
    nanoseconds done_at{0};
  };
  struct event {
    std::optional<rank_id> rank;
    std::function<void()> action;
  };

  void push(nanoseconds time, std::optional<rank_id> rank, std::function<void()> action) {
    events_.emplace(std::pair{time, numbers_++}, event{rank, std::move(action)});
  }
  void run_event() {
    const event next = std::move(events_.begin()->second);
    events_.erase(events_.begin());
    if (next.rank) {
      const simulated_rank& rank = *ranks_[next.rank->value()];
      if (rank.dead) return;
      if (rank.paused_until > now_) return push(rank.paused_until, next.rank, next.action);
    }
    next.action();
    check_holders();
  }
  [[nodiscard]] nanoseconds flight() {
    nanoseconds takes = way_.latency;
    if (random_.uniform() < way_.late) {
      takes += nanoseconds(static_cast<std::int64_t>(random_.uniform() * static_cast<double>(way_.late_by.count())));
    }
    return takes;
  }
  void carry(rank_id source, rank_id target, const message& message) {
    ++control_messages;
    epochs = std::max(epochs, message.stamp.epoch);
    const int copies = random_.uniform() < way_.doubled ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      if (random_.uniform() < way_.lost) continue;
      push(now_ + flight(), target, [this, source, target, bytes = encode(message)] {
        ranks_[target.value()]->flow->receive(source, decode(bytes).value(), now_);
      });
    }
  }
  void transmit(simulated_rank& sender, rank_id target, flow_policy policy, const token_stamp& stamp) {
    auto& queue = sender.waiting[{target, policy}];
    if (queue.empty()) {
      problem = "a message leaves that nobody has offered";
      return;
    }
    const std::uint64_t bytes = queue.front();
    queue.pop_front();
    ++sender.sent;
    departures.push_back({sender.self.value(), target.value(), now_, bytes});
    if (random_.uniform() < way_.lost) return;
    push(now_ + settings_.duration(bytes) + way_.latency, target,
         [this, source = sender.self, target, policy, stamp, bytes] {
           simulated_rank& receiver = *ranks_[target.value()];
           if (policy == flow_policy::token) hold(receiver, bytes);
           receiver.flow->arrived(source, policy, stamp, now_);
         });
  }
  /// A message that has come takes room until its handler has run, later than those before it.
  void hold(simulated_rank& receiver, std::uint64_t bytes) {
    receiver.held += bytes;
    held_max = std::max(held_max, receiver.held);
    if (handler_time.count() == 0) {
      receiver.held -= bytes;
      return;
    }
    receiver.done_at = std::max(receiver.done_at, now_) + handler_time;
    push(receiver.done_at, std::nullopt, [&receiver, bytes] { receiver.held -= bytes; });
  }
  void check_holders() {
    for (std::uint32_t link = 0; link < ranks_.size(); ++link) {
      std::set<std::pair<std::uint32_t, std::uint32_t>> held;  // by permit and epoch
      for (const auto& each : ranks_) {
        for (std::uint32_t permit = 0; permit < settings_.permits; ++permit) {
          const token_link* const token = each->flow->token_of(rank_id(link), permit);
          if (token == nullptr || !token->holds()) continue;
          if (!held.emplace(permit, token->seen().epoch).second) {
            problem =
                "two ranks hold token " + std::to_string(permit) + " of link " + std::to_string(link) + " in one epoch";
          }
        }
      }
    }
  }

  link_settings settings_;
  path way_;
  rng random_;
  nanoseconds now_{0};
  std::uint64_t numbers_ = 0;
  std::map<std::pair<nanoseconds, std::uint64_t>, event> events_;
  std::vector<std::unique_ptr<simulated_rank>> ranks_;
};

}  // namespace nacre::flow::tests
