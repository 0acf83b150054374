// SPDX-License-Identifier: Apache-2.0
// Unreliable datagrams: taken once, as they were sealed, or not at all.
#include <nacre/rng.hpp>

#include "transport/udp/unreliable_link.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "transport/udp/lossy_path_test_kit.hpp"

namespace nacre::transport::udp {
namespace {

constexpr std::uint32_t longest_sealed = 1400;

std::vector<tag_method> methods() {
  if (has_aes()) return {tag_method::siphash, tag_method::aes};
  return {tag_method::siphash};
}

struct two_links {
  explicit two_links(tag_method method)
      : near_link(longest_sealed, key_of(1, method), key_of(2, method)),
        far_link(longest_sealed, key_of(2, method), key_of(1, method)) {}

  datagram_bytes sealed(std::uint32_t label, const datagram_bytes& bytes) {
    const std::span<const std::byte> whole(bytes);
    const unreliable_link::head head = near_link.seal(label, byte_pieces(&whole, 1));
    datagram_bytes result(head.begin(), head.end());
    result.insert(result.end(), bytes.begin(), bytes.end());
    return result;
  }
  unreliable_link near_link, far_link;
};

datagram_bytes some_bytes(std::size_t count) {
  datagram_bytes result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = static_cast<std::byte>(i * 7 + 3);
  return result;
}

TEST(unreliable_link, datagrams_of_every_length_come_as_they_were_sealed) {
  for (const tag_method method : methods()) {
    two_links links(method);
    EXPECT_EQ(links.near_link.bytes_max(), longest_sealed - 48);
    for (std::size_t bytes = 0; bytes <= links.near_link.bytes_max(); bytes += bytes < 70 ? 1 : 61) {
      const auto label = static_cast<std::uint32_t>(0xffffffffU - bytes);
      const datagram_bytes sent = some_bytes(bytes), sealed = links.sealed(label, sent);
      const auto opened = links.far_link.open(sealed);
      ASSERT_TRUE(opened) << bytes;
      EXPECT_EQ(opened->label, label);
      EXPECT_TRUE(std::equal(opened->bytes.begin(), opened->bytes.end(), sent.begin(), sent.end()));
      EXPECT_EQ(opened->bytes.data(), sealed.data() + unreliable_head_bytes) << "they are not copied";
    }
  }
}

TEST(unreliable_link, pieces_that_lie_apart_are_sealed_as_if_they_lay_together) {
  for (const tag_method method : methods()) {
    for (const std::size_t bytes : {std::size_t{3}, std::size_t{100}, std::size_t{1352}}) {
      two_links links(method);
      const datagram_bytes whole = some_bytes(bytes);
      const std::span<const std::byte> all(whole);
      const std::array<std::span<const std::byte>, 4> parts{all.first(1), all.subspan(1, 0), all.subspan(1, bytes / 2),
                                                            all.subspan(1 + bytes / 2)};
      const unreliable_link::head head = links.near_link.seal(7, parts);
      datagram_bytes sealed(head.begin(), head.end());
      sealed.insert(sealed.end(), whole.begin(), whole.end());
      const auto opened = links.far_link.open(sealed);
      ASSERT_TRUE(opened) << bytes;
      EXPECT_TRUE(std::equal(opened->bytes.begin(), opened->bytes.end(), whole.begin(), whole.end()));
    }
  }
}

TEST(unreliable_link, a_datagram_of_which_any_bit_was_changed_is_dropped_and_the_true_one_taken) {
  for (const tag_method method : methods()) {
    two_links links(method);
    const datagram_bytes sealed = links.sealed(77, some_bytes(40));
    for (std::size_t bit = 0; bit < 8 * sealed.size(); ++bit) {
      datagram_bytes harmed = sealed;
      harmed[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
      ASSERT_FALSE(links.far_link.open(harmed)) << bit;
    }
    EXPECT_TRUE(links.far_link.open(sealed));
  }
}

TEST(unreliable_link, a_datagram_that_was_cut_off_or_made_longer_is_dropped) {
  for (const tag_method method : methods()) {
    two_links links(method);
    datagram_bytes sealed = links.sealed(77, some_bytes(40));
    for (std::size_t bytes = 0; bytes < sealed.size(); ++bytes) {
      ASSERT_FALSE(links.far_link.open(std::span(sealed).first(bytes))) << bytes;
    }
    sealed.push_back(std::byte{0});
    EXPECT_FALSE(links.far_link.open(sealed));
  }
}

TEST(unreliable_link, a_datagram_that_comes_again_or_comes_back_to_its_sender_is_dropped) {
  for (const tag_method method : methods()) {
    two_links links(method);
    std::vector<datagram_bytes> all;
    for (std::uint32_t i = 0; i < 3000; ++i) all.push_back(links.sealed(i, {}));
    for (const datagram_bytes& each : all) EXPECT_TRUE(links.far_link.open(each));
    for (const datagram_bytes& each : all) {
      EXPECT_FALSE(links.far_link.open(each));
      EXPECT_FALSE(links.near_link.open(each)) << "each direction has a key of its own";
    }
  }
}

TEST(unreliable_link, a_datagram_of_the_reliable_protocol_is_none_of_these_and_the_other_way_round) {
  two_ends reliable(1, {}, small_datagrams);
  reliable.send(0, channel::application, 10);
  EXPECT_FALSE(is_unreliable(reliable.leaving(0).at(0)));
  two_links links(tag_method::siphash);
  const datagram_bytes sealed = links.sealed(0, some_bytes(40));
  EXPECT_TRUE(is_unreliable(sealed));
  EXPECT_EQ(reliable.arrive(1, sealed), arrival::no_datagram);
}

TEST(replay_window, takes_each_number_once_in_any_order_within_the_window) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    rng random(seed);
    replay_window window;
    std::set<std::uint64_t> taken;
    std::uint64_t newest = 0;
    for (int i = 0; i < 4000; ++i) {
      const std::uint64_t jump = random.below(200) == 0 ? random.below(5000) : random.below(4);
      const std::uint64_t back = random.below(3) == 0 ? random.below(2 * replay_window::kept) : 0;
      const std::uint64_t number = newest + jump - std::min(newest + jump, back);
      const bool too_old = taken.size() > 0 && number + replay_window::kept <= newest;
      ASSERT_EQ(window.accept(number), !too_old && !taken.contains(number)) << "seed " << seed << ", number " << number;
      if (!too_old) taken.insert(number);
      newest = std::max(newest, number);
    }
  }
}

TEST(replay_window, a_jump_over_all_that_is_kept_forgets_nothing_that_it_still_answers_for) {
  replay_window window;
  EXPECT_TRUE(window.accept(5));
  const std::uint64_t far = std::uint64_t{1} << 40;
  EXPECT_TRUE(window.accept(far));
  EXPECT_FALSE(window.accept(far));
  EXPECT_FALSE(window.accept(5));
  EXPECT_TRUE(window.accept(far - replay_window::kept + 1));
  EXPECT_FALSE(window.accept(far - replay_window::kept));
}

}  // namespace
}  // namespace nacre::transport::udp
