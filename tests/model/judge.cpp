// SPDX-License-Identifier: Apache-2.0
// What must hold in the end.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/job.hpp"

namespace model {
namespace {

/// The most ways from rank to rank that a message to an object takes once all is quiet, under that policy. Wherever it
/// has been, a rank that is not its home may know a place that is as many moves old as there were moves.
std::uint64_t hops_max_of(const std::string& location, std::uint64_t moves) {
  if (location == "broadcast_update") return 1;
  if (location == "home") return 2;
  return 1 + moves;
}

}  // namespace

/// Lets everything that is left happen, in some order.
void job::finish() {
  for (std::vector<choice> left = choices(); !left.empty(); left = choices()) take(left.front());
}

bool program::destroys(std::uint32_t object) const {
  return std::any_of(actions.begin(), actions.end(), [&](const action& each) {
    return each.operation == action::kind::destroy && each.object == object;
  });
}

std::string job::judge() {
  std::string wrong = failure_ + judge_messages();
  if (wrong.empty()) wrong = judge_places();
  return wrong + (wrong.empty() ? failure_ : "");
}

std::string job::judge_messages() const {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> next;  // by stream
  for (const std::uint64_t number : order_) {
    const sent_message& m = sent_[number];
    std::uint32_t& expected = next[{m.rank, m.object}];
    if (m.stream_position != expected++) return "message " + std::to_string(number) + " has run out of turn";
  }
  for (std::size_t number = 0; number < sent_.size(); ++number) {
    const sent_message& m = sent_[number];
    if (m.ran + m.reported != 1 || (m.reported != 0 && !program_.destroys(m.object))) {
      return "message " + std::to_string(number) + " has run " + std::to_string(m.ran) + " times and was reported " +
             std::to_string(m.reported) + " times";
    }
  }
  std::uint64_t created = 0, done = 0;
  for (const auto& each : engines_) {
    for (const auto& one : each->pool().thread_contexts()) {
      created += one->counters().created.read();
      done += one->counters().done.read();
    }
  }
  if (created != done + ranks)
    return std::to_string(created - ranks - done) + " messages more begun than ended";  // a main is one
  return {};
}

std::string job::judge_places() {
  for (std::uint32_t object = 0; object < objects_.size(); ++object) {
    std::uint32_t places = 0;
    for (const auto& each : engines_) places += each->objects().is_local(each->pool().application(), objects_[object]);
    const std::uint32_t expected = program_.destroys(object) ? 0 : 1;
    if (places != expected) return "object " + std::to_string(object) + " is at " + std::to_string(places) + " places";
    if (expected == 0) continue;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      // The home first, as all others may learn from what is sent.
      const std::string wrong = probe((program_.homes[object] + rank) % ranks, object);
      if (!wrong.empty()) return wrong;
    }
  }
  return {};
}

/// One more message, which shows what a rank knows.
std::string job::probe(std::uint32_t rank, std::uint32_t object) {
  const auto count = [this](std::uint64_t nacre::rank_counters::*item) {
    std::uint64_t sum = 0;
    for (const auto& each : engines_) sum += each->counters().*item;
    return sum;
  };
  const std::uint64_t moves = count(&nacre::rank_counters::migrations_out);
  const std::uint64_t previous = count(&nacre::rank_counters::hops);
  {
    const nacre::own_thread mark = thread_of(rank);
    nacre::runtime rt(*engines_[rank], engines_[rank]->pool().application());
    send(rt, object, false);
    engines_[rank]->on_arrival();
    run(rank);
  }
  finish();
  const std::uint64_t took = count(&nacre::rank_counters::hops) - previous;
  const std::uint64_t most = rank == program_.homes[object] ? 1 : hops_max_of(conditions_.location, moves);
  if (took > most) {
    return "a message from rank " + std::to_string(rank) + " to object " + std::to_string(object) + " takes " +
           std::to_string(took) + " hops, not " + std::to_string(most);
  }
  return sent_.back().ran == 1 ? "" : "a last message has not run";
}

}  // namespace model
