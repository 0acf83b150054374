// SPDX-License-Identifier: Apache-2.0
// For tests: an emulator that keeps all events of all nodes in one sorted set.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include <nacre/emulator.hpp>
#include "emulator/brute_force_links.hpp"
#include "emulator/brute_force_switches.hpp"
#include "emulator/random_programs.hpp"
#include "machine/travel_times.hpp"

namespace nacre::emulator {

/// The rules of docs/emulator.md in the plainest form. An event of source 0 says that a thread of its node is free.
class brute_force {
 public:
  std::vector<std::uint64_t> histories;
  std::int64_t end = 0;
  std::uint64_t events = 0, messages = 0, link_waits = 0;
  std::int64_t link_wait = 0;

  /// The critical path, back from the handler that ends last: of those of one time that of the lowest node.
  struct path {
    std::uint64_t handlers = 0, waits = 0;
    std::int64_t running = 0, under_way = 0;
  };
  [[nodiscard]] path critical_path() const {
    path sum;
    std::size_t index = nothing;
    for (std::size_t one = 0; one < ran_.size(); ++one) {
      const auto later = [&](const handler_run& a, const handler_run& b) {
        return a.end != b.end ? a.end > b.end : a.node <= b.node;
      };
      if (index == nothing || later(ran_[one], ran_[index])) index = one;
    }
    for (; index != nothing; index = ran_[index].cause) {
      const handler_run& one = ran_[index];
      ++sum.handlers;
      sum.waits += one.waited ? 1 : 0;
      sum.running += one.end - one.start;
      if (one.cause != nothing) sum.under_way += one.start - ran_[one.cause].end;
    }
    return sum;
  }

  brute_force(const emulated_machine& machine, std::uint64_t seed)
      : histories(machine.nodes(), 1),
        machine_(machine),
        links_(machine),
        switches_(machine),
        seed_(seed),
        nodes_(machine.nodes()) {
    for (node_state& node : nodes_) {
      node.clocks.resize(machine.threads);
      node.last_run.resize(machine.threads, nothing);
    }
  }
  void run() {
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
      const std::uint32_t key = first_key(machine_, seed_, at(node));
      if (key != 0) run_handler(node, 0, 0, key, 0, nothing, false);
    }
    while (!pending_.empty()) {
      const item one = *pending_.begin();
      pending_.erase(pending_.begin());
      node_state& node = nodes_[one.node];
      if (one.source == departure) {
        depart(one);
      } else if (one.asks_for_link) {
        pass_link(one);
      } else if (one.source == thread_is_free) {
        for (auto& [thread, queue] : node.waiting) {
          if (serve(one.node, thread, one.time)) break;
        }
      } else if (is_packet(one) && machine_.input_packets != 0 &&
                 (node.packets >= machine_.input_packets || !node.held_back.empty())) {
        node.held_back.push_back(one);
      } else {
        arrive(one, one.time);
      }
    }
  }

 private:
  static constexpr std::size_t nothing = ~std::size_t{0};
  struct handler_run {
    std::uint32_t node;
    std::int64_t start, end;
    std::size_t cause;  // the sender of its message, or the handler that kept its thread busy
    bool waited;
  };
  struct item {
    std::int64_t time;
    std::uint32_t node;
    std::uint64_t source, number;
    std::uint16_t thread;
    std::uint32_t key;
    std::size_t cause = nothing;
    coordinates target{};  // of a departure
    std::uint16_t sender = 0;
    bool waits_for_it = false;
    bool asks_for_link = false;
    brute_force_links::packet_place place{};  // of one that asks for a link
    std::vector<std::size_t> links{};         // that it still has to pass, between switches
    bool operator<(const item& o) const {
      return std::tie(time, node, source, number) < std::tie(o.time, o.node, o.source, o.number);
    }
  };
  struct node_state {
    std::vector<std::int64_t> clocks;
    std::vector<std::size_t> last_run;  // of each thread
    std::map<std::uint16_t, std::deque<item>> waiting;
    std::uint64_t sent = 0;
    std::deque<item> held_back;
    std::uint32_t packets = 0;
    std::int64_t port_free = 0;
  };
  static constexpr std::uint64_t departure = 0, thread_is_free = 1, first_source = 2;

  static bool is_packet(const item& one) { return one.source != one.node + first_source; }
  void arrive(const item& one, std::int64_t now) {
    auto& queue = nodes_[one.node].waiting[one.thread];
    queue.push_back(one);
    nodes_[one.node].packets += is_packet(one) ? 1 : 0;
    if (queue.size() == 1) serve(one.node, one.thread, now);
  }
  void depart(item one) {
    node_state& node = nodes_[one.node];
    std::int64_t enters = one.time;
    const std::int64_t injection = machine_.injection.count();
    if (machine_.output_packets != 0) {
      enters = std::max(enters, node.port_free - (machine_.output_packets - 1) * injection);
    }
    if (one.waits_for_it && enters > one.time) {
      node.clocks[one.sender] = std::max(node.clocks[one.sender], enters);
      end = std::max(end, enters);
      pending_.insert({enters, one.node, thread_is_free, nodes_.size() * 1000 + one.sender, 0, 0});
    }
    node.port_free = std::max(enters, node.port_free) + injection;
    one.source = one.node + first_source;
    travel_to(one, node.port_free);
  }
  /// A packet leaves its node at `time`.
  void travel_to(item one, std::int64_t time) {
    if (machine_.contention && one.target != at(one.node)) {
      one.asks_for_link = true;
      one.time = time + (machine_.turns == turn_rule::once || switches_.any() ? machine_.turn.count() : 0);
      if (switches_.any()) {
        one.links = switches_.way(one.node, number_of(one.target));
        one.node = place_of_link(one.links.front());
      } else {
        one.place = links_.start(at(one.node), one.target);
      }
    } else {
      one.time = time + travel(at(one.node), one.target);
      one.node = number_of(one.target);
    }
    pending_.insert(one);
  }
  void pass_link(item one) {
    if (switches_.any()) return pass_switch(one);
    const std::int64_t start = links_.carry(one.place, one.target, one.time);
    link_waits += start > one.time ? 1 : 0;
    link_wait += start - one.time;
    one.time = start + machine_.hop.count();
    one.node = number_of(one.place.position);
    if (one.place.position == one.target) {
      one.asks_for_link = false;
      one.time += links_.transfer();
    } else if (machine_.turns == turn_rule::counted && links_.turns(one.place, one.target)) {
      one.time += machine_.turn.count();
    }
    pending_.insert(one);
  }
  /// Passes the first of the links that are left, when it is free. Between two links lies a switch, which costs a hop.
  void pass_switch(item one) {
    std::int64_t& free = free_[one.links.front()];
    const std::int64_t start = std::max(one.time, free);
    free = start + links_.transfer();
    link_waits += start > one.time ? 1 : 0;
    link_wait += start - one.time;
    one.links.erase(one.links.begin());
    one.asks_for_link = !one.links.empty();
    one.time = start + (one.asks_for_link ? machine_.hop.count() : links_.transfer());
    one.node = one.asks_for_link ? place_of_link(one.links.front()) : number_of(one.target);
    pending_.insert(one);
  }
  /// Packets that ask for one link are compared at one node, whichever it is.
  std::uint32_t place_of_link(std::size_t link) const { return static_cast<std::uint32_t>(link % nodes_.size()); }
  std::uint32_t number_of(const coordinates& position) const {
    return static_cast<std::uint32_t>(position.x + machine_.grid.x * (position.y + machine_.grid.y * position.z));
  }

  coordinates at(std::uint32_t node) const {
    return {node % static_cast<std::uint32_t>(machine_.grid.x),
            node / static_cast<std::uint32_t>(machine_.grid.x) % static_cast<std::uint32_t>(machine_.grid.y),
            node / static_cast<std::uint32_t>(machine_.grid.x * machine_.grid.y)};
  }
  /// Runs the first message that waits for a thread, or for one of a category, if one is idle. Others have to wait for
  /// departures of this instant, which may keep the thread busy.
  bool serve(std::uint32_t number, std::uint16_t thread, std::int64_t now) {
    node_state& node = nodes_[number];
    auto& queue = node.waiting[thread];
    const bool given = thread < emulated::placement::any_communication;
    const bool communication = thread == emulated::placement::any_communication && machine_.communication_threads > 0;
    const std::uint32_t first = given ? thread : communication ? 0 : machine_.communication_threads;
    const std::uint32_t last = given ? thread + 1u : communication ? machine_.communication_threads : machine_.threads;
    std::uint32_t idle = first;
    while (idle < last && node.clocks[idle] > now) ++idle;
    if (queue.empty() || idle == last) return false;
    const item one = queue.front();
    queue.pop_front();
    node.packets -= is_packet(one) ? 1 : 0;
    const bool waited = now > one.time;
    run_handler(number, idle, now, one.key, machine_.handler.count(), waited ? node.last_run[idle] : one.cause, waited);
    ++events;
    pending_.insert({now, number, thread_is_free, nodes_.size() * 2000, 0, 0});
    while (!node.held_back.empty() && node.packets < machine_.input_packets) {
      const item next = node.held_back.front();
      node.held_back.pop_front();
      arrive(next, now);
    }
    return true;
  }
  void run_handler(std::uint32_t number, std::uint32_t thread, std::int64_t now, std::uint32_t key, std::int64_t cost,
                   std::size_t cause, bool waited) {
    std::uint64_t& history = histories[number];
    history = mix(history, static_cast<std::uint64_t>(now), thread, key);
    const auto actions = random_actions(machine_, seed_, history, key);
    for (const random_action& one : actions) cost += one.kind == random_action::charge ? one.delay : 0;
    const std::int64_t done = now + cost;
    end = std::max(end, done);
    if (events_of_start(actions, done) || cause != nothing) {
      nodes_[number].last_run[thread] = ran_.size();
      ran_.push_back({number, now, done, cause, waited});
    }
    nodes_[number].clocks[thread] = std::max(nodes_[number].clocks[thread], done);
    pending_.insert({done, number, thread_is_free, nodes_.size() * 1000 + thread, 0, 0});
    for (const random_action& one : actions) {
      if (one.kind == random_action::charge) continue;
      const bool packet = one.kind != random_action::task;
      const coordinates target = packet ? one.target : at(number);
      messages += packet ? 1 : 0;
      const std::uint64_t sent = nodes_[number].sent++;
      item sends{done + one.delay,
                 number,
                 number + first_source,
                 sent,
                 one.thread,
                 one.key,
                 ran_.size() - 1,
                 target,
                 static_cast<std::uint16_t>(thread),
                 one.delay == 0};
      if (machine_.injection.count() == 0 || target == at(number)) {
        travel_to(sends, sends.time);
        continue;
      }
      sends.source = departure;
      pending_.insert(sends);
    }
  }
  /// A start function that neither sends nor charges anything is not worth a record.
  static bool events_of_start(const std::vector<random_action>& actions, std::int64_t done) {
    return done != 0 || std::any_of(actions.begin(), actions.end(),
                                    [](const random_action& one) { return one.kind != random_action::charge; });
  }
  /// Takes the ways around missing nodes from travel_times, which emulation_test.cpp checks.
  std::int64_t travel(const coordinates& a, const coordinates& b) {
    if (a == b) return 0;
    if (switches_.any()) {
      const auto switches = static_cast<std::int64_t>(switches_.way(number_of(a), number_of(b)).size()) - 1;
      return switches * machine_.hop.count() + machine_.turn.count() + links_.transfer();
    }
    std::int64_t hops = 0, axes = 0;
    const auto count = [&](std::int32_t source, std::int32_t target, std::int32_t extent) {
      std::int64_t way = std::abs(source - target);
      if (machine_.topology == emulated_topology::torus) way = std::min<std::int64_t>(way, extent - way);
      hops += way;
      axes += way != 0 ? 1 : 0;
    };
    count(a.x, b.x, machine_.grid.x);
    count(a.y, b.y, machine_.grid.y);
    count(a.z, b.z, machine_.grid.z);
    const machine::route route =
        machine_.missing.empty() ? machine::route{} : machine::travel_times(machine_).route_of(a, b);
    if (!machine_.missing.empty()) hops = route.hops;
    std::int64_t turns = machine_.turns == turn_rule::once ? 1 : axes - 1;
    if (!machine_.missing.empty()) turns = route.turns;
    return hops * machine_.hop.count() + turns * machine_.turn.count() + links_.transfer();
  }

  emulated_machine machine_;
  brute_force_links links_;
  brute_force_switches switches_;
  std::map<std::size_t, std::int64_t> free_;  // when each link between switches is
  std::uint64_t seed_;
  std::vector<node_state> nodes_;
  std::set<item> pending_;
  std::vector<handler_run> ran_;
};

}  // namespace nacre::emulator
