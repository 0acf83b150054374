// SPDX-License-Identifier: Apache-2.0
// The job's secret on libsodium.
#include "wire/job_secret.hpp"

#include <sodium.h>

#include <nacre/error.hpp>

namespace nacre {

static_assert(job_secret::size_bytes == crypto_auth_KEYBYTES);
static_assert(sizeof(job_secret::proof) == crypto_auth_BYTES);

namespace {

/// Must run before random numbers are drawn. libsodium allows the call any number of times and from any thread.
void prepare_sodium() {
  if (sodium_init() < 0) {
    throw setup_error({.problem = "no random numbers for the job's secret",
                       .why = "libsodium could not be initialised",
                       .remedy = "check that /dev/urandom is readable"});
  }
}

const unsigned char* raw(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

job_secret job_secret::generate() {
  prepare_sodium();
  job_secret secret;
  randombytes_buf(secret.key_.data(), secret.key_.size());
  return secret;
}

std::optional<job_secret> job_secret::from_hex(std::string_view digits) {
  if (digits.size() != 2 * size_bytes) return std::nullopt;
  job_secret secret;
  std::size_t bytes = 0;
  const int status =
      sodium_hex2bin(secret.key_.data(), secret.key_.size(), digits.data(), digits.size(), nullptr, &bytes, nullptr);
  if (status != 0 || bytes != size_bytes) return std::nullopt;
  return secret;
}

job_secret::~job_secret() { sodium_memzero(key_.data(), key_.size()); }

std::string job_secret::to_hex() const {
  std::string digits(2 * size_bytes + 1, '\0');
  sodium_bin2hex(digits.data(), digits.size(), key_.data(), key_.size());
  digits.pop_back();
  return digits;
}

job_secret::proof job_secret::prove(std::span<const std::byte> statement) const {
  proof proof{};
  crypto_auth(reinterpret_cast<unsigned char*>(proof.data()), raw(statement), statement.size(), key_.data());
  return proof;
}

bool job_secret::verify(std::span<const std::byte> statement, const proof& claim) const {
  return crypto_auth_verify(raw(claim), raw(statement), statement.size(), key_.data()) == 0;
}

bool operator==(const job_secret& a, const job_secret& b) {
  return sodium_memcmp(a.key_.data(), b.key_.data(), a.key_.size()) == 0;
}

void fill_random(std::span<std::byte> bytes) {
  prepare_sodium();
  randombytes_buf(bytes.data(), bytes.size());
}

}  // namespace nacre
