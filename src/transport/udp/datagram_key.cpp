// SPDX-License-Identifier: Apache-2.0
// The key that authenticates the datagrams from one rank to another.
#include "transport/udp/datagram_key.hpp"

#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include <nacre/assert.hpp>

#include "transport/udp/datagram.hpp"

namespace nacre::transport::udp {

namespace {

using gcm_nonce = gmac::nonce;
static_assert(sizeof(gcm_nonce) == crypto_aead_aes256gcm_NPUBBYTES);
static_assert(sizeof(gcm_nonce) == sizeof(unreliable_head::number) + sizeof(unreliable_head::label));

gcm_nonce nonce_of(std::span<const std::byte> datagram) noexcept {
  gcm_nonce nonce{};
  const std::uint64_t number = number_of(datagram);
  std::memcpy(nonce.data(), &number, sizeof number);
  return nonce;
}

gcm_nonce nonce_of(const unreliable_head& head) noexcept {
  gcm_nonce nonce{};
  std::memcpy(nonce.data(), &head.number, sizeof head.number);
  std::memcpy(nonce.data() + sizeof head.number, &head.label, sizeof head.label);
  return nonce;
}

}  // namespace

/// The round keys of AES, computed once.
struct datagram_key::schedule {
  crypto_aead_aes256gcm_state state;
  ~schedule() { sodium_memzero(&state, sizeof state); }

  [[nodiscard]] datagram_tag tag_of(std::span<const unsigned char> covered, const gcm_nonce& nonce) const noexcept {
    datagram_tag result{};
    unsigned char none = 0;
    crypto_aead_aes256gcm_encrypt_detached_afternm(&none, result.data(), nullptr, nullptr, 0, covered.data(),
                                                   covered.size(), nullptr, nonce.data(), &state);
    return result;
  }
};

static_assert(tag_bytes == crypto_verify_16_BYTES);
static_assert(tag_bytes == crypto_shorthash_siphashx24_BYTES && tag_bytes == crypto_aead_aes256gcm_ABYTES);
static_assert(sizeof(job_secret::proof) == crypto_aead_aes256gcm_KEYBYTES);

bool has_aes() noexcept { return sodium_init() >= 0 && crypto_aead_aes256gcm_is_available() == 1; }

datagram_key::datagram_key(tag_method method, const job_secret::proof& key) {
  static_assert(sizeof short_key_ == crypto_shorthash_siphashx24_KEYBYTES);
  if (method == tag_method::siphash) {
    std::memcpy(short_key_.data(), key.data(), short_key_.size());
    return;
  }
  schedule_ = std::make_unique<schedule>();
  crypto_aead_aes256gcm_beforenm(&schedule_->state, reinterpret_cast<const unsigned char*>(key.data()));
  fast_ = gmac::make(key);
}

datagram_key::datagram_key(datagram_key&&) noexcept = default;

datagram_key::~datagram_key() { sodium_memzero(short_key_.data(), short_key_.size()); }

datagram_tag datagram_key::tag_of(std::span<const std::byte> head, byte_pieces rest) const noexcept {
  NACRE_EXPECT(fast_ != nullptr && rest.size() <= datagram_pieces_max, "takes_pieces, and not more than that");
  std::array<std::span<const std::byte>, datagram_pieces_max + 1> covered;
  covered[0] = head.subspan(tag_bytes);
  std::copy(rest.begin(), rest.end(), covered.begin() + 1);
  return fast_->tag_of(std::span(covered).first(rest.size() + 1), nonce_of(head));
}

datagram_tag datagram_key::tag_of(std::span<const std::byte> datagram) const noexcept {
  datagram_tag result{};
  const auto* const covered = reinterpret_cast<const unsigned char*>(datagram.data()) + tag_bytes;
  const std::size_t bytes = datagram.size() - tag_bytes;
  if (schedule_ == nullptr) {
    crypto_shorthash_siphashx24(result.data(), covered, bytes, short_key_.data());
    return result;
  }
  if (fast_ != nullptr && bytes >= fast_->bytes_min()) return tag_of(datagram, {});
  const gcm_nonce nonce = nonce_of(datagram);
  return schedule_->tag_of({covered, bytes}, nonce);
}

datagram_tag datagram_key::tag_apart(const unreliable_head& head, byte_pieces bytes) const {
  if (bytes.size() == 1) return tag_apart(head, bytes[0]);
  if (fast_ != nullptr) return fast_->tag_of(bytes, nonce_of(head));
  std::vector<std::byte> whole;
  whole.reserve(bytes_in(bytes));
  for (const std::span<const std::byte> piece : bytes) whole.insert(whole.end(), piece.begin(), piece.end());
  return tag_apart(head, whole);
}

/// With GMAC, number and label are the nonce, all of which a tag depends on. SipHash makes a key of them, for one
/// datagram.
datagram_tag datagram_key::tag_apart(const unreliable_head& head, std::span<const std::byte> bytes) const noexcept {
  const gcm_nonce nonce = nonce_of(head);
  const std::span covered(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  if (fast_ != nullptr && bytes.size() >= fast_->bytes_min()) return fast_->tag_of({&bytes, 1}, nonce);
  if (schedule_ != nullptr) return schedule_->tag_of(covered, nonce);
  datagram_tag key_of_one{}, result{};
  crypto_shorthash_siphashx24(key_of_one.data(), nonce.data(), nonce.size(), short_key_.data());
  crypto_shorthash_siphashx24(result.data(), covered.data(), covered.size(), key_of_one.data());
  return result;
}

bool datagram_key::verify_apart(const unreliable_head& head, std::span<const std::byte> bytes,
                                const datagram_tag& claimed) const noexcept {
  return crypto_verify_16(tag_apart(head, bytes).data(), claimed.data()) == 0;
}

void datagram_key::sign(std::span<std::byte> datagram) const noexcept {
  const datagram_tag datagram_tag = tag_of(datagram);
  std::memcpy(datagram.data(), datagram_tag.data(), datagram_tag.size());
}

void datagram_key::sign(std::span<std::byte> head, byte_pieces rest) const noexcept {
  const datagram_tag datagram_tag = tag_of(head, rest);
  std::memcpy(head.data(), datagram_tag.data(), datagram_tag.size());
}

bool datagram_key::verify(std::span<const std::byte> head, byte_pieces rest) const noexcept {
  return crypto_verify_16(tag_of(head, rest).data(), reinterpret_cast<const unsigned char*>(head.data())) == 0;
}

bool datagram_key::verify(std::span<const std::byte> datagram) const noexcept {
  if (datagram.size() < overhead_of(0)) return false;
  return crypto_verify_16(tag_of(datagram).data(), reinterpret_cast<const unsigned char*>(datagram.data())) == 0;
}

}  // namespace nacre::transport::udp
