// SPDX-License-Identifier: Apache-2.0
// The path of a message: the ranks put into it come out, and no other bytes are taken for a path.
#include "mobile/entry/path.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace nacre {
namespace {

constexpr std::uint32_t ranks = 100;
const std::string words = "what the message says";

message_ptr some_message() {
  message_ptr m = make_message(words.size());
  std::memcpy(m->body(), words.data(), words.size());
  return m;
}

std::string text_of(const message& m) { return {reinterpret_cast<const char*>(m.body()), m.header.payload_bytes}; }

std::vector<rank_id> path_of(std::initializer_list<std::uint32_t> numbers) {
  std::vector<rank_id> all;
  for (const std::uint32_t each : numbers) all.emplace_back(each);
  return all;
}

TEST(path, names_who_has_forwarded_the_message_in_order_and_leaves_it_as_it_was) {
  message_ptr m = some_message();
  for (const std::uint32_t each : {7U, 0U, 99U}) m = add_to_path(std::move(m), rank_id(each), 8);
  EXPECT_NE(m->header.flags & flag_path, 0);
  EXPECT_EQ(take_path(*m, ranks), path_of({7, 0, 99}));
  EXPECT_EQ(m->header.flags & flag_path, 0);
  EXPECT_EQ(text_of(*m), words);
}

TEST(path, has_room_for_so_many_and_keeps_the_first) {
  message_ptr m = some_message();
  for (std::uint32_t each = 1; each <= 5; ++each) m = add_to_path(std::move(m), rank_id(each), 3);
  EXPECT_EQ(take_path(*m, ranks), path_of({1, 2, 3}));
  EXPECT_EQ(text_of(*m), words);
}

TEST(path, of_ranks_that_the_job_has_not_is_refused) {
  message_ptr m = add_to_path(some_message(), rank_id(ranks), 2);
  EXPECT_FALSE(take_path(*m, ranks));
}

TEST(path, that_does_not_fit_into_its_message_is_refused) {
  for (std::size_t bytes = 0; bytes < 16; ++bytes) {
    for (const std::uint16_t count : {std::uint16_t{0}, std::uint16_t{1}, std::uint16_t{4}, std::uint16_t{0xffff}}) {
      for (const std::uint16_t room : {std::uint16_t{0}, std::uint16_t{1}, std::uint16_t{4}, std::uint16_t{0xffff}}) {
        message_ptr m = make_message(bytes);
        std::memset(m->body(), 0, bytes);
        m->header.flags |= flag_path;
        if (bytes >= 4) {
          std::memcpy(m->body() + bytes - 4, &count, 2);
          std::memcpy(m->body() + bytes - 2, &room, 2);
        }
        const bool fits = bytes >= 4 && count <= room && room * 4U + 4U <= bytes;
        EXPECT_EQ(take_path(*m, ranks).has_value(), fits) << bytes << " bytes, " << count << " of " << room;
      }
    }
  }
}

}  // namespace
}  // namespace nacre
