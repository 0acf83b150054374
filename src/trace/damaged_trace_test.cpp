// SPDX-License-Identifier: Apache-2.0
// Reports on trace files that are cut, damaged or no trace files.
#include <nacre/rng.hpp>

#include "trace/trace_log_test_kit.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/sanitized.hpp"

namespace nacre::trace {
namespace {

using tests::sanitized;

TEST_F(files, that_are_cut_anywhere_are_never_taken_for_whole_ones) {
  write_two_ranks(50);
  const std::string whole = read();
  EXPECT_TRUE(trace_log(path_).notes().empty());
  std::size_t border = sizeof(file_head), borders = 0;
  const auto next = [&] {
    block_head head;
    std::memcpy(&head, whole.data() + border, sizeof head);
    return border + sizeof head + head.stored_bytes;
  };
  for (border = next(); border < whole.size(); border = next(), ++borders) {
    write(whole.substr(0, border));
    EXPECT_FALSE(trace_log(path_).notes().empty()) << border;
    write(whole.substr(0, border + 1));
    EXPECT_EQ(trace_log(path_).notes().front(), path_ + " breaks off; what comes later is missing.");
  }
  EXPECT_GT(borders, 10U);
}

TEST_F(files, of_different_jobs_are_no_trace) {
  write_file_for_each_rank(8);
  EXPECT_NE(refusal().find("are of different jobs"), std::string::npos);
}

TEST_F(files, that_are_none_or_of_another_version_are_refused) {
  EXPECT_NE(refusal().find("there is no trace '" + path_ + "'"), std::string::npos);
  write("NACRETRD is no trace either, or is it?");
  EXPECT_NE(refusal().find("is no trace of Nacre"), std::string::npos);
  file_head head;
  head.version = 9;
  write(std::string(reinterpret_cast<const char*>(&head), sizeof head));
  const std::string own_name = std::to_string(file_version);
  EXPECT_NE(refusal().find("has format 9 (this program reads format " + own_name + ")"), std::string::npos);
}

TEST_F(files, that_break_off_are_read_up_to_there) {
  {
    file_writer file(path_);
    tell_job(file, two_ranks());
    fill(file, 0, 5000, 0, 7, 5000, 400);
  }
  const std::string whole = read();
  write(whole.substr(0, whole.size() / 2));
  const trace_log log(path_);
  EXPECT_EQ(log.notes(), (std::vector<std::string>{path_ + " breaks off; what comes later is missing.",
                                                   "There is nothing of rank 1 in it."}));
  std::size_t events = 0;
  log.visit(0, [&](std::span<const event> some) { events += some.size(); });
  EXPECT_GT(events, 3000U);
  EXPECT_LT(events, 12000U);
  write(whole.substr(0, sizeof(file_head)));
  EXPECT_NE(refusal().find("it ends before it says of what job it is"), std::string::npos);
}

TEST_F(files, that_are_damaged_anywhere_are_refused) {
  write_two_ranks(400);
  const std::string whole = read();
  EXPECT_EQ(refusal(), "");
  const auto wanted = seen_;
  ASSERT_EQ(wanted.size(), 2400U);
  rng random(1);
  int unnoticed = 0;
  const int rounds = sanitized ? 100 : 1000;
  for (int round = 0; round < rounds; ++round) {
    std::string bytes = whole;
    const auto place = 12 + random.below(bytes.size() - 12);  // not the flags, which mean nothing yet
    if (place < sizeof(file_head)) continue;
    bytes[place] = static_cast<char>(static_cast<unsigned>(bytes[place]) ^ (1u << random.below(8)));
    write(bytes);
    const std::string said = refusal();
    if (said.empty()) {  // a bit without a meaning: zstd leaves one in each frame
      ++unnoticed;
      ASSERT_EQ(seen_, wanted) << "byte " << place;
    } else {
      ASSERT_NE(said.find("is damaged at byte"), std::string::npos) << "byte " << place << ": " << said;
    }
  }
  EXPECT_LE(unnoticed, rounds / 50);
}

TEST_F(files, whose_blocks_are_shorter_than_they_say_are_refused) {
  {
    file_writer file(path_);
    tell_job(file, two_ranks());
  }
  std::string bytes = read();
  block_head head;
  std::memcpy(&head, bytes.data() + sizeof(file_head), sizeof head);
  ++head.raw_bytes;
  head.check = check_of(head);
  std::memcpy(bytes.data() + sizeof(file_head), &head, sizeof head);
  write(bytes);
  EXPECT_NE(refusal().find("a block is too short"), std::string::npos);
}

TEST_F(files, that_hold_any_events_at_all_end_the_reader_with_a_line_or_not_at_all) {
  rng random(2);
  const int rounds = sanitized ? 50 : 200;
  int refused = 0;
  for (int round = 0; round < rounds; ++round) {
    {
      file_writer file(path_);
      tell_job(file, two_ranks());
      fill(file, 0, 5000, 0, 7, 1);
      std::vector<std::byte> noise(random.below(200));
      for (std::byte& each : noise) each = static_cast<std::byte>(random.below(256) & random.below(256));
      file.append({.kind = block_kind::events, .rank = 0, .thread = 1, .first_tick = random.next()}, noise);
    }
    refused += refusal().empty() ? 0 : 1;
  }
  EXPECT_GT(refused, rounds / 2);
}

TEST_F(files, whose_texts_are_not_those_of_a_job_are_refused) {
  const auto refusal_of = [&](block_kind kind, const std::string& text) {
    {
      file_writer file(path_);
      if (kind != block_kind::job) tell_job(file, two_ranks());
      file.append({.kind = kind, .rank = 1}, text);
    }
    return refusal();
  };
  for (const char* text : {"", "{", "[]", "7", R"({"ranks":0})", R"({"ranks":"two"})", "\xff\xff"}) {
    for (const block_kind kind : {block_kind::job, block_kind::rank, block_kind::clock, block_kind{77}}) {
      EXPECT_NE(refusal_of(kind, text).find("is damaged at byte"), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace nacre::trace
