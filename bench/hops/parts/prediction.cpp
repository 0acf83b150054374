// SPDX-License-Identifier: Apache-2.0
// What a journey costs under each policy, from what the policies are: who is told, and by way of whom messages go.
#include "journey.hpp"

#include <cstdint>
#include <vector>

namespace hops {
namespace {

using nacre::location_policy;

/// The one who sends: it knows the place where the object was after so many moves, and follows it from there.
struct sender {
  std::uint32_t knows = 1;  // it has seen the object off
  bool was_told = false;
  bool subscribes = false;

  [[nodiscard]] cost message(location_policy policy, std::uint32_t moves) {
    const std::uint32_t followed = moves - knows + 1;
    const bool late = followed > 1;
    switch (policy) {
      case location_policy::lazy_forwarding:
        return {followed, 0};
      case location_policy::subscriber_update:
        subscribes = subscribes || late;
        return {followed, 0};
      case location_policy::home: {
        // Who has had the object asks its home; another one asks an old place, which asks the home.
        const std::uint32_t by_home = was_told ? 3 : 2;
        if (was_told && !late) return {1, 0};
        know(moves);
        return {by_home, 1};
      }
      case location_policy::jump_update:
        know(moves);
        return {followed, late ? 1u : 0u};
      case location_policy::path_update:
        know(moves);
        return {followed, late ? followed : 0u};  // the sender, and all who forwarded
      default:                                    // every rank is told of every move
        return {1, 0};
    }
  }

 private:
  void know(std::uint32_t moves) {
    knows = moves;
    was_told = true;
  }
};

}  // namespace

std::vector<stop> predicted(location_policy policy, const plan& plan, std::uint32_t ranks) {
  std::vector<stop> all;
  sender own_sender;
  for (std::uint32_t moves = plan.every; moves <= plan.visits; moves += plan.every) {
    const std::uint64_t told_of_a_move = policy == location_policy::broadcast_update ? ranks - 1 : 1;  // or the home
    stop next{.moves = moves, .moving = {0, plan.every * (told_of_a_move + (own_sender.subscribes ? 1 : 0))}};
    if (own_sender.subscribes) own_sender.knows = moves;
    for (cost& each : next.messages) each = own_sender.message(policy, moves);
    all.push_back(next);
  }
  return all;
}

}  // namespace hops
