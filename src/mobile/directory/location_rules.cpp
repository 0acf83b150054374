// SPDX-License-Identifier: Apache-2.0
// The six location policies, side by side.
#include "mobile/directory/location_rules.hpp"

#include <nacre/assert.hpp>

namespace nacre {
namespace {

/// No rank but the home is told: messages follow the object along the ranks that it has visited, every time (Clam
/// section 4.2, figure 5).
class lazy_forwarding final : public location_rule {};

/// The sender of a forwarded message is told where it ended. One update for each sender and epoch, so a burst that is
/// under way causes one update, not one a message. PREMA (section 4.1.2) keeps its directory in this way, lazily.
class jump_update final : public location_rule {
 public:
  [[nodiscard]] std::vector<rank_id> on_late_delivery(const late_delivery& late) const override {
    return {late.source};
  }
};

/// The sender of a forwarded message is told, and all ranks on its path. This is path compression (Fowler's forwarding
/// chains): once a message has followed a chain, the chain is short from every rank on it.
class path_update final : public location_rule {
 public:
  [[nodiscard]] needs keeps() const noexcept override { return {.path = true}; }
  [[nodiscard]] std::vector<rank_id> on_late_delivery(const late_delivery& late) const override {
    std::vector<rank_id> told(late.path.begin(), late.path.end());
    told.push_back(late.source);
    return told;
  }
};

/// The home of an object knows where it is, as under every rule; other ranks send through it. Old places send messages
/// to the home, which forwards them. So a message takes at most three steps, and two if its sender sends straight to
/// the home. The sender is told.
class home final : public location_rule {
 public:
  [[nodiscard]] needs keeps() const noexcept override { return {.by_home = true}; }
  [[nodiscard]] std::vector<rank_id> on_late_delivery(const late_delivery& late) const override {
    return {late.source};
  }
};

/// Every rank is told of every migration: for few objects that move seldom and that every rank sends to.
class broadcast_update final : public location_rule {
 public:
  [[nodiscard]] needs keeps() const noexcept override { return {.everywhere = true}; }
  [[nodiscard]] std::vector<rank_id> on_arrival(const location_change& change) const override {
    std::vector<rank_id> all;
    all.reserve(change.ranks);
    for (std::uint32_t rank = 0; rank < change.ranks; ++rank) all.emplace_back(rank);
    return all;
  }
};

/// Ranks that have sent to an old place are told of the migrations that follow. Their list is bounded and travels with
/// the object (subscribers.hpp).
class subscriber_update final : public location_rule {
 public:
  [[nodiscard]] needs keeps() const noexcept override { return {.subscribers = true}; }
  [[nodiscard]] std::vector<rank_id> on_arrival(const location_change& change) const override {
    return {change.subscribers.begin(), change.subscribers.end()};
  }
};

}  // namespace

location_rules::location_rules(location_policy of_program)
    : of_program_(of_program), rules_{std::make_unique<lazy_forwarding>(),  std::make_unique<jump_update>(),
                                      std::make_unique<path_update>(),      std::make_unique<home>(),
                                      std::make_unique<broadcast_update>(), std::make_unique<subscriber_update>()} {
  NACRE_EXPECT(known(static_cast<std::uint8_t>(of_program)), "a program chooses a policy by its name");
}

}  // namespace nacre
