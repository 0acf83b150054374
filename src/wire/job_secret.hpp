// SPDX-License-Identifier: Apache-2.0
// The secret that the processes of one job share, and the keyed proofs that are made with it.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nacre {

/// 32 random bytes that the launcher gives to every process of a job, and that never travel between the processes. The
/// destructor overwrites them with zeros. Copies are independent. Several threads may read a secret at a time.
class job_secret {
 public:
  static constexpr std::size_t size_bytes = 32;
  using proof = std::array<std::byte, 32>;

  /// A new secret from the system's random numbers. Throws setup_error when there are none.
  [[nodiscard]] static job_secret generate();

  /// Reads to_hex() back: exactly 64 hexadecimal digits of either case. Returns nothing for any other text.
  [[nodiscard]] static std::optional<job_secret> from_hex(std::string_view digits);

  job_secret(const job_secret&) = default;
  job_secret& operator=(const job_secret&) = default;
  ~job_secret();

  /// 64 lower-case digits. They are as secret as the bytes: for the environment of a child process, never for a log.
  [[nodiscard]] std::string to_hex() const;

  /// A proof of knowing the secret together with `statement` (HMAC-SHA-512-256, libsodium's crypto_auth).
  [[nodiscard]] proof prove(std::span<const std::byte> statement) const;

  /// Whether `claim` is prove(statement). Compares in constant time.
  [[nodiscard]] bool verify(std::span<const std::byte> statement, const proof& claim) const;

  /// Compares in constant time.
  friend bool operator==(const job_secret& a, const job_secret& b);

 private:
  job_secret() = default;

  std::array<unsigned char, size_bytes> key_{};
};

/// Fills `bytes` with unpredictable bytes, for a nonce. Throws setup_error when the system has no random numbers.
void fill_random(std::span<std::byte> bytes);

}  // namespace nacre
