// SPDX-License-Identifier: Apache-2.0
// Files of traces: what comes back, and what is said of damaged ones.
#include "trace/trace_log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <nacre/error.hpp>

#include "base/rng.hpp"
#include "base/sanitized.hpp"

namespace nacre::trace {
namespace {

using tests::sanitized;

class files : public testing::Test {
 protected:
  files() : path_(testing::TempDir() + "nacre_" + testing::UnitTest::GetInstance()->current_test_info()->name()) {}
  ~files() override {
    for (const char* end : {"", ".0", ".1", ".2"}) std::filesystem::remove(path_ + end);
  }
  [[nodiscard]] std::string read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  /// What a reader says of the file; empty: it has read all of it.
  [[nodiscard]] std::string refusal() {
    try {
      const trace_log log(path_);
      seen_.clear();
      for (std::size_t index = 0; index < log.tracks().size(); ++index) {
        log.visit(index, [this](std::span<const event> events) {
          for (const event& each : events) seen_.push_back({each.ns, each.a, each.b, static_cast<int>(each.kind)});
        });
      }
    } catch (const setup_error& error) {
      return error.what();
    }
    return {};
  }
  std::string path_;
  std::vector<std::tuple<std::int64_t, std::uint64_t, std::uint64_t, int>> seen_;  // by the last reader
};

std::uint64_t virtual_now = 0;  // for the recorders below

job_description two_ranks() {
  job_description job;
  job.ranks = 2;
  job.program = "test";
  job.transport = "sim";
  job.handlers = {"", "first", "second"};
  return job;
}

/// One worker, that of `rank`, runs a handler of 10 ns every 30 ns.
void fill(file_writer& file, std::uint32_t rank, std::uint64_t host_ns, std::int64_t offset, std::uint64_t job,
          int handlers, std::size_t lane_bytes = 1 << 16) {
  virtual_now = 1000;
  rank_trace trace(
      file, {.rank = rank, .workers = 1, .lanes = 3, .seconds_a_tick = 2e-9, .host = "here", .lane_bytes = lane_bytes},
      [](const void*) { return virtual_now; }, nullptr);
  trace.tell_clock({virtual_now, static_cast<std::int64_t>(host_ns), offset}, job);
  recorder& lane = trace.of_lane(0);
  for (int each = 0; each < handlers; ++each) {
    virtual_now += 10;
    lane.add(event_kind::handler_begin, 2);
    lane.add(event_kind::send, 1 - rank, 300);
    virtual_now += 5;
    lane.add(event_kind::end);
    lane.rest();
  }
  const std::uint64_t passed = virtual_now - 1000;
  trace.tell_clock({virtual_now, static_cast<std::int64_t>(host_ns + 2 * passed), offset}, job);
  trace.finish();
}

TEST_F(files, give_back_what_was_recorded_in_the_order_of_time) {
  {
    file_writer file(path_);
    tell_job(file, two_ranks());
    fill(file, 0, 5000, 0, 7, 1000, 400);
    fill(file, 1, 105000, -99900, 7, 1000, 400);
  }
  const trace_log log(path_);
  ASSERT_EQ(log.tracks().size(), 2U) << "the other lanes have nothing to tell";
  EXPECT_EQ(log.job().handlers[2], "second");
  EXPECT_EQ(log.end_ns(), 1000 * 30 + 100);
  for (std::size_t index = 0; index < 2; ++index) {
    const std::int64_t late = index == 0 ? 0 : 100;  // by the clock of rank 0
    std::vector<event> all;
    log.visit(index, [&](std::span<const event> events) { all.insert(all.end(), events.begin(), events.end()); });
    ASSERT_EQ(all.size(), 3000U);
    for (std::int64_t each = 0; each < 1000; ++each) {
      const event* const three = &all[static_cast<std::size_t>(3 * each)];
      EXPECT_EQ(three[0].kind, event_kind::handler_begin);
      EXPECT_EQ(three[0].a, 2U);
      EXPECT_EQ(three[0].ns, late + 20 + 30 * each);
      EXPECT_EQ(three[1].kind, event_kind::send);
      EXPECT_EQ(three[1].a, 1U - index);
      EXPECT_EQ(three[1].b, 300U);
      EXPECT_EQ(three[2].ns, late + 30 + 30 * each);
    }
  }
}

TEST_F(files, have_times_by_both_instants_of_a_clock_that_drifts_and_tell_how_wrong_it_may_be) {
  {
    file_writer file(path_);
    tell_job(file, two_ranks());
    rank_trace::description of;
    of.lane_bytes = 1 << 16;
    rank_trace trace(
        file, of, [](const void*) { return virtual_now; }, nullptr);
    trace.tell_clock({.tick = 1000, .host_ns = 0, .offset_ns = 5000, .error_ns = 10}, 7);
    virtual_now = 2000;
    trace.of_lane(0).add(event_kind::quiet);
    trace.tell_clock({.tick = 3000, .host_ns = 2000, .offset_ns = 5500, .error_ns = 1400}, 7);
    trace.finish();
  }
  EXPECT_EQ(refusal(), "");
  ASSERT_EQ(seen_.size(), 1U);
  EXPECT_EQ(std::get<0>(seen_.front()), 1250);
  const trace_log log(path_);
  EXPECT_EQ(log.end_ns(), 2500);
  EXPECT_EQ(log.clock_error_ns(), 1400);
  EXPECT_EQ(log.notes(),
            (std::vector<std::string>{"There is nothing of rank 1 in it.",
                                      "Times of hosts may differ from those of rank 0's by up to 1.4 us."}));
}

TEST_F(files, of_several_processes_are_one_trace_and_those_that_are_missing_are_named) {
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    file_writer file(path_ + "." + std::to_string(rank));
    tell_job(file, two_ranks());
    fill(file, rank, 5000, 0, 7, 10);
  }
  EXPECT_EQ(trace_log(path_).tracks().size(), 2U);
  EXPECT_TRUE(trace_log(path_).notes().empty());
  std::filesystem::remove(path_ + ".1");
  const trace_log half(path_);
  ASSERT_EQ(half.notes().size(), 1U);
  EXPECT_EQ(half.notes().front(), "There is no file " + path_ + ".1: rank 1 is missing.");
}

TEST_F(files, of_one_rank_alone_are_a_trace_that_says_who_is_missing) {
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    file_writer file(path_ + "." + std::to_string(rank));
    tell_job(file, two_ranks());
    fill(file, rank, 5000, 0, 7, 10);
  }
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const trace_log one(path_ + "." + std::to_string(rank));
    ASSERT_EQ(one.tracks().size(), 1U);
    EXPECT_EQ(one.tracks().front().rank, rank);
    EXPECT_EQ(one.notes(),
              std::vector<std::string>{"There is nothing of rank " + std::to_string(1 - rank) + " in it."});
  }
  std::filesystem::remove(path_ + ".0");
  EXPECT_NE(refusal().find("the file of rank 0 is missing beside '" + path_ + ".1'"), std::string::npos) << refusal();
}

TEST_F(files, that_are_cut_anywhere_are_never_taken_for_whole_ones) {
  {
    file_writer file(path_);
    tell_job(file, two_ranks());
    fill(file, 0, 5000, 0, 7, 50, 400);
    fill(file, 1, 5000, 0, 7, 50, 400);
  }
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

TEST_F(files, without_an_end_name_the_ranks_that_have_none) {
  {
    file_writer file(path_);
    job_description job = two_ranks();
    job.ranks = 13;
    tell_job(file, job);
    for (std::uint32_t rank = 0; rank < 12; ++rank) {
      rank_trace trace(
          file, {.rank = rank, .workers = 1, .lanes = 3, .host = "here", .lane_bytes = 1 << 16},
          [](const void*) { return virtual_now; }, nullptr);
      trace.tell_clock({.tick = 1000, .host_ns = 5000}, 7);
      if (rank == 3) trace.tell_clock({.tick = 2000, .host_ns = 6000}, 7);
      if (rank == 3) trace.finish();
    }
  }
  const trace_log log(path_);
  ASSERT_EQ(log.notes().size(), 2U);
  EXPECT_EQ(log.notes()[0], "There is nothing of rank 12 in it.");
  EXPECT_TRUE(log.notes()[1].starts_with("There is no end of what ranks 0, 1, 2, 4, 5, 6, 7, 8 and 3 more wrote: "))
      << log.notes()[1];
}

TEST_F(files, of_different_jobs_are_no_trace) {
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    file_writer file(path_ + "." + std::to_string(rank));
    tell_job(file, two_ranks());
    fill(file, rank, 5000, 0, 7 + rank, 10);
  }
  EXPECT_NE(refusal().find("are of different jobs"), std::string::npos);
}

TEST_F(files, that_are_none_or_of_another_version_are_refused) {
  EXPECT_NE(refusal().find("there is no trace '" + path_ + "'"), std::string::npos);
  write("NACRETRD is no trace either, or is it?");
  EXPECT_NE(refusal().find("is no trace of Nacre"), std::string::npos);
  file_head head;
  head.version = 9;
  write(std::string(reinterpret_cast<const char*>(&head), sizeof head));
  EXPECT_NE(refusal().find("has format 9 (this program reads format 2)"), std::string::npos);
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
  {
    file_writer file(path_);
    tell_job(file, two_ranks());
    fill(file, 0, 5000, 0, 7, 400, 400);
    fill(file, 1, 5000, 0, 7, 400, 400);
  }
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
      file.append({.kind = block_kind::events, .rank = 0, .lane = 1, .first_tick = random.next()}, noise);
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
