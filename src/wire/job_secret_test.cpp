// SPDX-License-Identifier: Apache-2.0
// The promises of the job's secret.
#include "wire/job_secret.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <new>

namespace nacre {
namespace {

TEST(job_secret, survives_the_way_through_the_environment) {
  const job_secret secret = job_secret::generate();
  const auto back = job_secret::from_hex(secret.to_hex());
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, secret);
}

TEST(job_secret, is_new_every_time) {
  EXPECT_FALSE(job_secret::generate() == job_secret::generate());
  EXPECT_NE(job_secret::generate().to_hex(), job_secret::generate().to_hex());
}

TEST(job_secret, is_written_as_64_lower_case_digits_and_read_in_either_case) {
  const std::string digits = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
  std::string upper = digits;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  ASSERT_TRUE(job_secret::from_hex(digits) && job_secret::from_hex(upper));
  EXPECT_EQ(job_secret::from_hex(digits)->to_hex(), digits);
  EXPECT_EQ(*job_secret::from_hex(digits), *job_secret::from_hex(upper));
}

TEST(job_secret, anything_but_64_digits_is_refused) {
  const std::string digits(64, 'a');
  EXPECT_FALSE(job_secret::from_hex(""));
  EXPECT_FALSE(job_secret::from_hex(digits.substr(1)));
  EXPECT_FALSE(job_secret::from_hex(digits + "a"));
  EXPECT_FALSE(job_secret::from_hex(digits + "aa"));
  EXPECT_FALSE(job_secret::from_hex(" " + digits.substr(1)));
  EXPECT_FALSE(job_secret::from_hex("g" + digits.substr(1)));
  EXPECT_FALSE(job_secret::from_hex(std::string(64, '\0')));
}

TEST(job_secret, is_overwritten_when_it_dies) {
  alignas(job_secret) unsigned char memory[sizeof(job_secret)];
  auto* secret = new (memory) job_secret(*job_secret::from_hex(std::string(64, 'a')));
  ASSERT_EQ(std::count(std::begin(memory), std::end(memory), 0xaa), 32);
  secret->~job_secret();
  EXPECT_EQ(std::count(std::begin(memory), std::end(memory), 0xaa), 0);
}

TEST(job_secret, a_proof_holds_for_its_statement_and_its_secret_only) {
  const job_secret secret = job_secret::generate();
  const std::byte statement[] = {std::byte{1}, std::byte{2}};
  const std::byte other[] = {std::byte{1}, std::byte{3}};
  job_secret::proof proof = secret.prove(statement);
  EXPECT_TRUE(secret.verify(statement, proof));
  EXPECT_FALSE(secret.verify(other, proof));
  EXPECT_FALSE(job_secret::generate().verify(statement, proof));
  proof.back() ^= std::byte{1};
  EXPECT_FALSE(secret.verify(statement, proof));
}

}  // namespace
}  // namespace nacre
