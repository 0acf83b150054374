// SPDX-License-Identifier: Apache-2.0
// Random strangers and members talk to the handshake: it ends, stays small, and accepts only the right members.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <nacre/rng.hpp>

#include "wire/allocation_meter.hpp"
#include "wire/auth.hpp"
#include "wire/handshake_test_kit.hpp"

namespace nacre {
namespace {

using namespace test;
using bytes = std::vector<std::byte>;

handshake_role role_of(rng& numbers) {
  return numbers.below(2) == 0 ? handshake_role::initiator : handshake_role::acceptor;
}

/// Bytes that often look like the beginning of a message.
bytes noise(rng& numbers) {
  bytes data;
  for (std::uint64_t pieces = numbers.below(4); pieces > 0; --pieces) {
    const handshake_head head{.protocol = static_cast<std::uint16_t>(numbers.below(3)),
                              .step = static_cast<handshake_step>(numbers.below(7)),
                              .body_bytes = static_cast<std::uint32_t>(numbers.next() >> (32 + numbers.below(30)))};
    const bytes packed = pack(head);
    data.insert(data.end(), packed.begin(), packed.end());
    for (std::uint64_t rest = numbers.below(100); rest > 0; --rest) {
      data.push_back(static_cast<std::byte>(numbers.below(256)));
    }
  }
  return data;
}

TEST(handshake_fuzz, strangers_are_never_accepted_and_make_an_acceptor_keep_nothing) {
  rng numbers(41);
  for (int round = 0; round < 5000; ++round) {
    handshake side(handshake_role::acceptor, secret_one(), identity_of(0));
    const std::size_t unsent = side.to_send().size();
    const bytes sent = noise(numbers);
    std::span<const std::byte> rest(sent);
    const allocation_meter allocations;
    while (!rest.empty() && side.status() == handshake_status::need_more) {
      std::span<const std::byte> piece = rest.first(1 + numbers.below(rest.size()));
      const std::size_t offered = piece.size();
      side.on_bytes(piece);
      rest = rest.subspan(offered);
    }
    ASSERT_NE(side.status(), handshake_status::accepted);
    ASSERT_EQ(side.to_send().size(), unsent);
    ASSERT_LE(allocations.peak_bytes(), 256u);  // the text of a refusal
  }
}

TEST(handshake_fuzz, initiators_never_accept_strangers) {
  rng numbers(42);
  for (int round = 0; round < 5000; ++round) {
    handshake side(handshake_role::initiator, secret_one(), identity_of(0));
    if (round % 2 == 0) feed(side, message_of(handshake_step::challenge, bytes(32)));
    feed(side, noise(numbers));
    ASSERT_NE(side.status(), handshake_status::accepted);
  }
}

TEST(handshake_fuzz, a_proven_member_is_accepted_exactly_when_its_identity_is_whole_and_fits) {
  rng numbers(43);
  int accepted = 0;
  for (int round = 0; round < 5000; ++round) {
    peer_identity peer = identity_of(static_cast<std::uint32_t>(numbers.below(5)));
    if (numbers.below(4) == 0) peer.size = static_cast<std::uint32_t>(numbers.below(6));
    bytes identity = pack(peer);
    for (std::uint64_t times = numbers.below(3); times > 0; --times) {
      identity[numbers.below(identity.size())] ^= static_cast<std::byte>(1 + numbers.below(255));
    }
    if (numbers.below(4) == 0) identity.resize(1 + numbers.below(340));
    const handshake_role role = role_of(numbers);
    handshake victim(role, secret_one(), identity_of(0));
    forger(victim, role).prove_identity(identity);

    const auto read = unpack<peer_identity>(identity);
    const bool fits = read && !judge(identity_of(0), *read, std::nullopt);
    if (role == handshake_role::acceptor) {
      ASSERT_EQ(victim.status() == handshake_status::accepted, fits);
    } else {
      ASSERT_EQ(victim.status() == handshake_status::need_more, fits);  // it waits for the verdict
    }
    accepted += fits ? 1 : 0;
  }
  EXPECT_GT(accepted, 500);
  EXPECT_LT(accepted, 4500);
}

TEST(handshake_fuzz, honest_members_agree_however_their_bytes_are_cut) {
  rng numbers(44);
  for (int round = 0; round < 300; ++round) {
    handshake acceptor(handshake_role::acceptor, secret_one(), identity_of(0));
    handshake initiator(handshake_role::initiator, secret_one(), identity_of(1));
    converse(acceptor, initiator, 1 + numbers.below(150));
    ASSERT_EQ(acceptor.status(), handshake_status::accepted);
    ASSERT_EQ(initiator.status(), handshake_status::accepted);
  }
}

}  // namespace
}  // namespace nacre
