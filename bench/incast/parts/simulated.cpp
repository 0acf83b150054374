// SPDX-License-Identifier: Apache-2.0
// Senders on a simulated ATM switch: adapters prepare messages and send their cells, one lost cell loses its message.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backplane/flow/flow_control.hpp"
#include "machine/cell_adapter.hpp"
#include "machine/cell_port.hpp"
#include "machine/simulation.hpp"
#include "plan.hpp"

namespace incast {
namespace {

using nacre::flow_policy;
using nacre::rank_id;
using std::chrono::nanoseconds;
namespace flow = nacre::flow;
namespace machine = nacre::machine;

constexpr double cost_variation = 0.5;  // a message's cost is up to half more or less than the mean

[[nodiscard]] nanoseconds of_seconds(double seconds) { return nanoseconds(static_cast<std::int64_t>(seconds * 1e9)); }

/// Rank 0 receives. Cells of an adapter reach the switch one behind another; the switch passes those of messages on to
/// the receiver. Control messages take cells of their sender's line, too, but nothing of the receiver's port: most go
/// to other senders, and the others are short. They do not wait for each other.
class star {
 public:
  explicit star(const plan& plan)
      : plan_(plan),
        cell_time_(static_cast<double>(machine::atm_cell_bytes) * 8 / plan.bits_per_second),
        message_time_(of_seconds(cell_time_ * static_cast<double>(machine::aal5_cells(plan.bytes)))),
        clock_({.seed = plan.seed}),
        random_(nacre::rng(plan.seed).fork(7)),
        port_({.bytes_per_second = plan.bits_per_second / 8,
               .buffer_cells = plan.buffer_cells,
               .circuits = plan.senders + 1,
               .discard = plan.discard,
               .threshold_cells = plan.threshold_cells}),
        end_(of_seconds(std::max(
            plan.seconds, 24e-9 * static_cast<double>(plan.senders) * static_cast<double>(message_time_.count())))) {
    const flow::link_settings settings{
        .bytes_per_second = static_cast<double>(plan.bytes) * 1e9 / static_cast<double>(message_time_.count()),
        .buffer_bytes = plan.flow_buffer_bytes,
        .early = of_seconds(plan.early_us * 1e-6),
        .patience = of_seconds(plan.patience_us * 1e-6),
        .small_bytes = small_bytes_of(plan)};
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
    done.drops = port_.dropped();
    done.fairness = jain(shares);
    if (!latencies.empty()) {
      std::nth_element(latencies.begin(), latencies.begin() + static_cast<std::ptrdiff_t>(latencies.size() / 2),
                       latencies.end());
      done.token_us = latencies[latencies.size() / 2];
    }
    return done;
  }

 private:
  struct data_message {
    flow_policy policy;
    flow::token_stamp stamp;
  };
  struct simulated_rank final : flow::flow_host {
    simulated_rank(star& star, rank_id own_rank)
        : whole(star), self(own_rank), adapter(star.plan_.bits_per_second / 8) {}
    void send(rank_id target, const flow::message& message) override { whole.send_control(*this, target, message); }
    void transmit(rank_id, flow_policy policy, const flow::token_stamp& stamp) override {
      whole.transmit(*this, policy, stamp);
    }
    star& whole;
    rank_id self;
    std::unique_ptr<flow::flow_control> flow;
    machine::cell_adapter adapter;
    bool is_sending = false;                    // an event waits for the cell on the line
    nanoseconds prepared = nanoseconds::max();  // an event waits for the preparation
    std::size_t offered = 0;                    // and not transmitted
    std::uint64_t packets = 0;                  // that have been transmitted
    std::deque<data_message> messages;          // transmitted, and not all of their cells are at the switch
    std::deque<machine::atm_cell> to_switch;    // cells between adapter and switch
    machine::packet_assembly assembly;          // at the receiver
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

  /// Keeps some messages waiting at a sender: its adapter prepares one after the other.
  void fill(simulated_rank& sender) {
    if (sender.adapter.is_preparing() || sender.offered >= offered_ahead) return;
    const double part = 1 + cost_variation * (2 * random_.uniform() - 1);  // a host is never quite on time
    sender.adapter.prepare(of_seconds(plan_.message_cost_us * 1e-6 * part), clock_.event_time());
    await_preparation(sender);
  }
  void await_preparation(simulated_rank& sender) {
    const nanoseconds due = sender.adapter.prepared_at();
    if (due == nanoseconds::max() || due >= sender.prepared) return;
    sender.prepared = due;
    at(std::max(due, clock_.event_time()), [this, &sender] {
      sender.prepared = nanoseconds::max();
      if (sender.adapter.prepared_at() > clock_.event_time()) return await_preparation(sender);  // cells came first
      sender.adapter.finish_preparation();
      sender.offered += 1;
      sender.flow->offer(rank_id(0), policy_of(plan_.scheme), plan_.bytes, clock_.event_time());
      set_timer(sender);
      fill(sender);
    });
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

  /// The latency is that of the paper, from adapter to adapter. The cells of the message hold up those of data.
  void send_control(simulated_rank& source, rank_id target, const flow::message& message) {
    source.adapter.send(
        {.cells = machine::aal5_cells(flow::encode(message).size()), .urgency = machine::cell_urgency::control},
        clock_.event_time());
    await_cell(source);
    const double latency = plan_.latency_us * 1e-6 * (1 + plan_.jitter * random_.uniform());
    after(of_seconds(latency), [this, self = source.self, target, message] {
      simulated_rank& receiver = *ranks_[target.value()];
      receiver.flow->receive(self, message, clock_.event_time());
      set_timer(receiver);
    });
  }
  void transmit(simulated_rank& sender, flow_policy policy, const flow::token_stamp& stamp) {
    sender.offered -= 1;
    sender.messages.push_back({policy, stamp});
    sender.adapter.send({.circuit = sender.self.value(),
                         .number = sender.packets++,
                         .cells = machine::aal5_cells(plan_.bytes),
                         .urgency = machine::cell_urgency::message},
                        clock_.event_time());
    await_cell(sender);
    fill(sender);
  }
  void await_cell(simulated_rank& sender) {
    const nanoseconds due = sender.adapter.due();
    if (sender.is_sending || due == nanoseconds::max()) return;
    sender.is_sending = true;
    clock_.at(std::max(due, clock_.event_time()), &cell_has_left, &sender, 0);
  }
  static void cell_has_left(void* self, std::uint64_t) {
    auto& sender = *static_cast<simulated_rank*>(self);
    sender.is_sending = false;
    sender.whole.forward(sender, sender.adapter.take());
    sender.whole.await_cell(sender);
    sender.whole.await_preparation(sender);
  }
  /// The rows of a SONET frame and the switch's bus, which its inputs share, hold a cell of a message up for a part of
  /// a cell's time. If they did not, equal senders would stay in step, and the same one lose all cells.
  void forward(simulated_rank& sender, const machine::cell_adapter::sent_cell& sent) {
    if (sent.urgency == machine::cell_urgency::control) return;  // it has its own way
    sender.to_switch.push_back(sent.cell);
    const nanoseconds held_up = of_seconds(random_.uniform() * cell_time_);
    clock_.at(clock_.event_time() + held_up, &cell_has_come, &sender, 0);
  }
  static void cell_has_come(void* self, std::uint64_t) {
    auto& sender = *static_cast<simulated_rank*>(self);
    sender.whole.reach_switch(sender);
  }
  void reach_switch(simulated_rank& sender) {
    const machine::atm_cell cell = sender.to_switch.front();
    sender.to_switch.pop_front();
    const auto leaves = port_.arrive(cell, clock_.event_time());
    const data_message message = sender.messages.front();
    if (cell.is_last()) sender.messages.pop_front();
    if (!leaves || !sender.assembly.arrive(cell)) return;
    at(*leaves, [this, &sender, message] {
      sender.complete += 1;
      simulated_rank& receiver = *ranks_[0];
      receiver.flow->arrived(sender.self, message.policy, message.stamp, clock_.event_time());
      set_timer(receiver);
    });
  }

  plan plan_;
  double cell_time_;
  nanoseconds message_time_;
  machine::simulation clock_;
  nacre::rng random_;
  machine::cell_port port_;
  nanoseconds end_;
  std::vector<std::unique_ptr<simulated_rank>> ranks_;
  std::unordered_map<std::uint64_t, action> actions_;  // of the events that wait
  std::uint64_t actions_made_ = 0;
};

}  // namespace

outcome simulate(const plan& plan) { return star(plan).run(); }

}  // namespace incast
