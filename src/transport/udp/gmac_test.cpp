// SPDX-License-Identifier: Apache-2.0
// Tags of other libraries: those of libsodium, however the bytes are cut.
#include <gtest/gtest.h>

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nacre/rng.hpp>

#include "transport/udp/datagram_key.hpp"
#include "transport/udp/gmac.hpp"

namespace nacre::transport::udp {
namespace {

job_secret::proof key_bytes() {
  job_secret::proof result{};
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<std::byte>(i * 37 + 1);
  return result;
}

datagram_tag tag_by_libsodium(std::span<const std::byte> bytes, const gmac::nonce& number) {
  datagram_tag result{};
  unsigned char none = 0;
  const job_secret::proof key = key_bytes();
  crypto_aead_aes256gcm_encrypt_detached(&none, result.data(), nullptr, nullptr, 0,
                                         reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), nullptr,
                                         number.data(), reinterpret_cast<const unsigned char*>(key.data()));
  return result;
}

std::vector<std::byte> random_bytes(rng& random, std::size_t count) {
  std::vector<std::byte> result(count);
  for (std::byte& each : result) each = static_cast<std::byte>(random.below(256));
  return result;
}

using maker = std::unique_ptr<gmac> (*)(gmac::key);

class libraries : public ::testing::TestWithParam<std::pair<const char*, maker>> {};

TEST_P(libraries, makes_the_tags_of_libsodium_however_the_bytes_are_cut) {
  const auto gmac = GetParam().second(key_bytes());
  if (!has_aes() || gmac == nullptr) GTEST_SKIP() << "this processor has no AES, or there is no " << GetParam().first;
  rng random(1);
  for (const std::size_t bytes :
       {1UL, 15UL, 16UL, 17UL, 48UL, 104UL, 255UL, 256UL, 767UL, 768UL, 769UL, 8972UL, 65'491UL}) {
    const std::vector<std::byte> all = random_bytes(random, bytes);
    for (int cut = 0; cut < 20; ++cut) {
      gmac::nonce number{};
      number[0] = static_cast<unsigned char>(cut);
      std::vector<std::span<const std::byte>> pieces;
      for (std::span<const std::byte> rest(all); !rest.empty(); rest = rest.subspan(pieces.back().size())) {
        pieces.push_back(rest.first(cut == 0 || pieces.size() == 4 ? rest.size() : random.below(rest.size() + 1)));
      }
      ASSERT_EQ(gmac->tag_of(pieces, number), tag_by_libsodium(all, number)) << bytes << " bytes, cut " << cut;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(gmac, libraries,
                         ::testing::Values(std::pair("intel_ipsec_mb", &gmac::by_ipsec_mb),
                                           std::pair("libcrypto", &gmac::by_libcrypto)),
                         [](const auto& subject) { return std::string(subject.param.first); });

TEST(datagram_key, signs_a_datagram_in_pieces_as_if_it_were_one_and_no_bit_of_a_piece_may_change) {
  if (!has_aes()) GTEST_SKIP() << "this processor has no AES";
  const datagram_key key(tag_method::aes, key_bytes());
  if (!key.takes_pieces()) GTEST_SKIP() << "there is neither intel-ipsec-mb nor libcrypto 3";
  rng random(2);
  for (const std::size_t bytes : {49UL, 100UL, 5000UL, 60'000UL}) {
    std::vector<std::byte> whole = random_bytes(random, bytes);
    std::vector<std::byte> head(whole.begin(), whole.begin() + 48);
    std::vector<std::byte> rest(whole.begin() + 48, whole.end());
    const std::size_t half = rest.size() / 2;
    const std::array<std::span<const std::byte>, 2> pieces{std::span(rest).first(half), std::span(rest).subspan(half)};
    key.sign(whole);
    key.sign(head, pieces);
    EXPECT_TRUE(std::equal(head.begin(), head.end(), whole.begin())) << "the tags differ";
    EXPECT_TRUE(key.verify(head, pieces));
    EXPECT_TRUE(key.verify(whole));
    for (int i = 0; i < 50; ++i) {
      const std::size_t bit = random.below(8 * (head.size() + rest.size()));
      std::byte& harmed = bit / 8 < head.size() ? head[bit / 8] : rest[bit / 8 - head.size()];
      harmed ^= static_cast<std::byte>(1u << bit % 8);
      EXPECT_FALSE(key.verify(head, pieces)) << bit;
      harmed ^= static_cast<std::byte>(1u << bit % 8);
    }
  }
}

}  // namespace
}  // namespace nacre::transport::udp
