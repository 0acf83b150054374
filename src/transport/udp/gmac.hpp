// SPDX-License-Identifier: Apache-2.0
// GMAC of long datagrams, in one piece or in several, by libcrypto.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "transport/udp/datagram.hpp"

namespace nacre::transport::udp {

/// GMAC (AES-256-GCM without a plaintext) by libcrypto, the library of OpenSSL. Its tags are those of libsodium. A
/// datagram costs more than with libsodium, and a byte half as much or less where the processor has VAES and
/// VPCLMULQDQ. It also reads bytes that lie apart, which libsodium does not. One thread.
class gmac {
 public:
  using nonce = std::array<unsigned char, 12>;

  /// Null: Nacre was built without the headers of libcrypto 3, or this host lacks the library. Loads it for the rest of
  /// the process.
  [[nodiscard]] static std::unique_ptr<gmac> make(std::span<const std::byte, 32> key);
  gmac(const gmac&) = delete;
  gmac& operator=(const gmac&) = delete;
  ~gmac();

  [[nodiscard]] datagram_tag tag_of(byte_pieces covered, const nonce& number) noexcept;

 private:
  explicit gmac(void* context) noexcept : context_(context) {}
  void* context_;  // EVP_CIPHER_CTX
};

}  // namespace nacre::transport::udp
