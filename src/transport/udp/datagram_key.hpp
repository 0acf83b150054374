// SPDX-License-Identifier: Apache-2.0
// The key that authenticates the datagrams from one rank to another.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "transport/udp/datagram.hpp"
#include "transport/udp/gmac.hpp"
#include "wire/job_secret.hpp"

namespace nacre::transport::udp {

/// How tags are computed. Two ranks use `aes` if the processors of both have it.
enum class tag_method : std::uint8_t {
  siphash,  ///< SipHash-2-4 with 128 bits, on every processor
  aes       ///< GMAC, that is AES-256-GCM without a plaintext; twice as fast for long datagrams
};

/// Whether this processor has the instructions for tag_method::aes.
[[nodiscard]] bool has_aes() noexcept;

/// A key for one direction of one connection. A sender must sign at most one datagram with each number, because GMAC
/// gives its key away when a number repeats. One thread.
class datagram_key {
 public:
  datagram_key(tag_method method, const job_secret::proof& key);
  datagram_key(datagram_key&&) noexcept;
  datagram_key& operator=(datagram_key&&) = delete;
  ~datagram_key();

  /// Writes the tag of a datagram, whose head is written, into its first bytes.
  void sign(std::span<std::byte> datagram) const noexcept;
  /// Whether the tag is right. False too for fewer bytes than a head. Compares in constant time.
  [[nodiscard]] bool verify(std::span<const std::byte> datagram) const noexcept;

  /// Whether the two functions below may be called: they need tag_method::aes and a library that `gmac` knows.
  [[nodiscard]] bool takes_pieces() const noexcept { return fast_ != nullptr; }
  /// Writes the tag of a datagram, which consists of `head` and of bytes that lie elsewhere, into the front of `head`.
  void sign(std::span<std::byte> head, byte_pieces rest) const noexcept;
  /// Whether the tag of such a datagram is right. `head` holds at least overhead_of(0) bytes.
  [[nodiscard]] bool verify(std::span<const std::byte> head, byte_pieces rest) const noexcept;

  /// The tag of an unreliable datagram. Its bytes lie where their owner has them: they are read once, and not copied,
  /// except several pieces where takes_pieces() is false. One key signs either these or the others, so that each number
  /// is signed once.
  [[nodiscard]] datagram_tag tag_apart(const unreliable_head& head, byte_pieces bytes) const;
  /// Whether `claimed` is the tag of this unreliable datagram. Compares the tags in constant time.
  [[nodiscard]] bool verify_apart(const unreliable_head& head, std::span<const std::byte> bytes,
                                  const datagram_tag& claimed) const noexcept;

 private:
  [[nodiscard]] datagram_tag tag_apart(const unreliable_head& head, std::span<const std::byte> bytes) const noexcept;
  [[nodiscard]] datagram_tag tag_of(std::span<const std::byte> datagram) const noexcept;
  [[nodiscard]] datagram_tag tag_of(std::span<const std::byte> head, byte_pieces rest) const noexcept;

  struct schedule;
  std::array<unsigned char, 16> short_key_{};  // for siphash
  std::unique_ptr<schedule> schedule_;         // null: siphash
  std::unique_ptr<gmac> fast_;                 // for pieces, and for datagrams from its bytes_min on; null: none here
};

}  // namespace nacre::transport::udp
