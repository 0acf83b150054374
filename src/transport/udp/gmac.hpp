// SPDX-License-Identifier: Apache-2.0
// GMAC of datagrams, in one piece or in several, by a library that is faster than libsodium.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "transport/udp/datagram.hpp"

namespace nacre::transport::udp {

/// GMAC (AES-256-GCM without a plaintext). Its tags are those of libsodium, and it also reads bytes that lie apart,
/// which libsodium does not. One thread.
///
/// | library | a datagram of 100 bytes | of 65,507 bytes |
/// |---|---|---|
/// | intel-ipsec-mb | a fifth of the time of libsodium | a third of the time of libcrypto |
/// | libcrypto of OpenSSL 3 | more than libsodium takes | half of the time of libsodium, or less, with VPCLMULQDQ |
class gmac {
 public:
  using nonce = std::array<unsigned char, 12>;
  using key = std::span<const std::byte, 32>;

  /// The first of the two below that this host has; null: neither.
  [[nodiscard]] static std::unique_ptr<gmac> make(key key);
  /// Null: Nacre was built without the headers of that library, or this host lacks it. Loads it for the rest of the
  /// process.
  [[nodiscard]] static std::unique_ptr<gmac> by_ipsec_mb(key key);
  [[nodiscard]] static std::unique_ptr<gmac> by_libcrypto(key key);

  gmac(const gmac&) = delete;
  gmac& operator=(const gmac&) = delete;
  virtual ~gmac() = default;

  [[nodiscard]] virtual datagram_tag tag_of(byte_pieces covered, const nonce& number) noexcept = 0;
  /// From this length on it takes less time than libsodium.
  [[nodiscard]] virtual std::size_t bytes_min() const noexcept = 0;

 protected:
  gmac() = default;
};

}  // namespace nacre::transport::udp
