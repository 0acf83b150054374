// SPDX-License-Identifier: Apache-2.0
// Senders on a simulated ATM switch: messages travel as cells, one lost cell loses its message.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backplane/flow/flow_control.hpp"
#include "machine/drop_tail_switch.hpp"
#include "machine/simulation.hpp"
#include "plan.hpp"

namespace incast {
namespace {

using nacre::flow_policy;
using nacre::rank_id;
using std::chrono::nanoseconds;
namespace flow = nacre::flow;
namespace machine = nacre::machine;

constexpr std::uint64_t cell_bytes = 53, cell_payload = 48, trailer_bytes = 8;  // AAL5

[[nodiscard]] std::uint64_t cells_of(std::uint64_t bytes) {
  return (bytes + trailer_bytes + cell_payload - 1) / cell_payload;
}
[[nodiscard]] nanoseconds of_seconds(double seconds) { return nanoseconds(static_cast<std::int64_t>(seconds * 1e9)); }

/// Rank 0 receives. Cells of a sender reach the switch one by one at the rate of its own link; the switch passes them
/// on to the receiver. Control messages take another network, as the paper's could.
class star {
 public:
  explicit star(const plan& plan)
      : plan_(plan),
        cell_time_(static_cast<double>(cell_bytes) * 8 / plan.bits_per_second),
        message_time_(of_seconds(cell_time_ * static_cast<double>(cells_of(plan.bytes)))),
        clock_({.seed = plan.seed}),
        random_(nacre::rng(plan.seed).fork(7)),
        port_({.ports = 1,
               .bytes_per_second = plan.bits_per_second / 8,
               .buffer = plan.buffer_cells,
               .unit = machine::buffer_unit::cells,
               .cell_bytes = cell_bytes}),
        end_(of_seconds(std::max(
            plan.seconds, 24e-9 * static_cast<double>(plan.senders) * static_cast<double>(message_time_.count())))) {
    const flow::link_settings settings{
        .bytes_per_second = static_cast<double>(plan.bytes) * 1e9 / static_cast<double>(message_time_.count()),
        .buffer_bytes = plan.buffer_cells * cell_payload,
        .early = of_seconds(plan.early_us * 1e-6),
        .patience = of_seconds(plan.patience_us * 1e-6),
        .small_bytes = 0};
    for (std::uint32_t rank = 0; rank <= plan.senders; ++rank) {
      ranks_.push_back(std::make_unique<simulated_rank>(*this, rank_id(rank)));
      ranks_.back()->flow =
          std::make_unique<flow::flow_control>(rank_id(rank), plan.senders + 1, settings, *ranks_.back());
    }
  }

  outcome run() {
    for (std::uint32_t sender = 1; sender <= plan_.senders; ++sender) {
      const nanoseconds begin = of_seconds(random_.uniform() * 1e-9 * static_cast<double>(message_time_.count()));
      after(begin, [this, sender] { fill(*ranks_[sender]); });
    }
    while (clock_.event_time() < end_ && clock_.step()) continue;
    outcome done;
    std::vector<double> shares;
    std::vector<double> latencies;
    for (std::uint32_t sender = 1; sender <= plan_.senders; ++sender) {
      const simulated_rank& rank = *ranks_[sender];
      shares.push_back(static_cast<double>(rank.complete));
      done.messages += rank.complete;
      done.retries += rank.flow->retries();
      const flow::token_link* const token = rank.flow->token_of(rank_id(0));
      if (token != nullptr && token->latency().count() != 0) {
        latencies.push_back(static_cast<double>(token->latency().count()) / 1e3);
      }
    }
    const double seconds = std::chrono::duration<double>(end_).count();
    done.goodput_fraction =
        static_cast<double>(done.messages) * static_cast<double>(message_time_.count()) * 1e-9 / seconds;
    done.bits_per_second = static_cast<double>(done.messages * plan_.bytes * 8) / seconds;
    done.drops = port_.dropped(0);
    done.fairness = jain(shares);
    if (!latencies.empty()) {
      std::nth_element(latencies.begin(), latencies.begin() + static_cast<std::ptrdiff_t>(latencies.size() / 2),
                       latencies.end());
      done.token_us = latencies[latencies.size() / 2];
    }
    return done;
  }

 private:
  struct simulated_rank final : flow::flow_host {
    simulated_rank(star& star, rank_id own_rank) : whole(star), self(own_rank) {}
    void send(rank_id target, const flow::message& message) override { whole.carry(self, target, message); }
    void transmit(rank_id, flow_policy policy, const flow::token_stamp& stamp) override {
      whole.transmit(*this, policy, stamp);
    }
    star& whole;
    rank_id self;
    std::unique_ptr<flow::flow_control> flow;
    std::size_t offered = 0;  // and not transmitted
    nanoseconds uplink_free{0};
    std::uint64_t complete = 0;
    nanoseconds timer = nanoseconds::max();
  };
  using action = std::function<void()>;

  void after(nanoseconds delay, action action) { at(clock_.event_time() + delay, std::move(action)); }
  void at(nanoseconds time, action action) {
    const std::uint64_t number = actions_made_++;
    actions_.emplace(number, std::move(action));
    clock_.at(time, &run_action, this, number);
  }
  static void run_action(void* self, std::uint64_t number) {
    auto& whole = *static_cast<star*>(self);
    const auto node_type = whole.actions_.extract(number);
    node_type.mapped()();
  }
  [[nodiscard]] nanoseconds latency() {
    return of_seconds(plan_.latency_us * 1e-6 * (1 + plan_.jitter * random_.uniform()));
  }

  /// Keeps some messages waiting at a sender.
  void fill(simulated_rank& sender) {
    while (sender.offered < offered_ahead) {
      sender.offered += 1;
      sender.flow->offer(rank_id(0), policy_of(plan_.scheme), plan_.bytes, clock_.event_time());
      if (flow_policy::none == sender.flow->choose(policy_of(plan_.scheme)).policy)
        break;  // the next when this has left
    }
    set_timer(sender);
  }
  void set_timer(simulated_rank& rank) {
    const nanoseconds due = rank.flow->due();
    if (due >= rank.timer || due == nanoseconds::max()) return;
    rank.timer = due;
    at(std::max(due, clock_.event_time()), [this, &rank, due] {
      if (rank.timer != due) return;
      rank.timer = nanoseconds::max();
      rank.flow->tick(clock_.event_time());
      set_timer(rank);
    });
  }
  void carry(rank_id source, rank_id target, const flow::message& message) {
    after(latency(), [this, source, target, message] {
      simulated_rank& receiver = *ranks_[target.value()];
      receiver.flow->receive(source, message, clock_.event_time());
      set_timer(receiver);
    });
  }
  /// The cells of a message leave one after the other, and so they reach the switch.
  struct message_on_its_way {
    std::uint32_t source;
    std::uint64_t left, lost = 0;
    flow_policy policy;
    flow::token_stamp stamp;
  };
  void transmit(simulated_rank& sender, flow_policy policy, const flow::token_stamp& stamp) {
    sender.offered -= 1;
    const auto one = std::make_shared<message_on_its_way>(message_on_its_way{
        .source = sender.self.value(), .left = cells_of(plan_.bytes), .policy = policy, .stamp = stamp});
    // A host is never quite on time. If it were, equal senders would stay in step, and the same one lose all cells.
    const nanoseconds begin = std::max(clock_.event_time(), sender.uplink_free);
    for (std::uint64_t cell = 1; cell <= one->left; ++cell) {
      const double instant = (static_cast<double>(cell) + random_.uniform()) * cell_time_;
      at(begin + of_seconds(instant), [this, one] { reach_switch(one); });
    }
    sender.uplink_free = begin + message_time_;
    at(sender.uplink_free, [this, &sender] { fill(sender); });
  }
  void reach_switch(const std::shared_ptr<message_on_its_way>& one) {
    const auto leaves = port_.arrive(0, cell_bytes, clock_.event_time());
    if (!leaves) one->lost += 1;
    if (--one->left != 0 || one->lost != 0) return;
    at(*leaves, [this, one] {
      ranks_[one->source]->complete += 1;
      simulated_rank& receiver = *ranks_[0];
      receiver.flow->arrived(rank_id(one->source), one->policy, one->stamp, clock_.event_time());
      set_timer(receiver);
    });
  }

  plan plan_;
  double cell_time_;
  nanoseconds message_time_;
  machine::simulation clock_;
  nacre::rng random_;
  machine::drop_tail_switch port_;
  nanoseconds end_;
  std::vector<std::unique_ptr<simulated_rank>> ranks_;
  std::unordered_map<std::uint64_t, action> actions_;  // of the events that wait
  std::uint64_t actions_made_ = 0;
};

}  // namespace

outcome simulate(const plan& plan) { return star(plan).run(); }

}  // namespace incast
