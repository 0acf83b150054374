// SPDX-License-Identifier: Apache-2.0
// Phases on thread contexts with a clock that the test sets, and their events in a trace.
#include "trace/phases.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <nacre/error.hpp>

#include "trace/trace_log.hpp"

namespace nacre::trace {
namespace {

/// Two threads of a rank, with a trace.
class traced_phases : public testing::Test {
 protected:
  traced_phases()
      : path_(testing::TempDir() + "nacre_phases_" + testing::UnitTest::GetInstance()->current_test_info()->name()) {
    job_description job;
    job.handlers = {""};
    file_ = std::make_unique<file_writer>(path_);
    tell_job(*file_, job);
    rank_trace::description description;
    description.workers = 2;
    description.thread_contexts = 3;
    description.thread_bytes = 1 << 12;
    trace_ = std::make_unique<rank_trace>(*file_, description, &clock, this);
    trace_->tell_clock({0, 0, 0, 0}, 1);
    all_ = std::make_unique<rank_phases>(file_.get(), 0, &clock, this);
    for (std::uint32_t thread = 0; thread < 2; ++thread) {
      threads_.push_back(&all_->add_thread(&trace_->of_thread(thread)));
    }
  }
  ~traced_phases() override { std::filesystem::remove(path_); }

  static std::uint64_t clock(const void* self) { return static_cast<const traced_phases*>(self)->now_; }
  phase_stack& thread(std::size_t index, std::uint64_t instant) {
    now_ = instant;
    return *threads_[index];
  }
  /// Ticks of a phase: its own, with inner ones, with waits; and how often it has begun.
  using times = std::tuple<int, int, int, int>;
  [[nodiscard]] times of(const std::string& name) const {
    for (const phase_row& each : all_->rows(1)) {
      if (each.name == name) {
        return {static_cast<int>(each.seconds), static_cast<int>(each.whole_seconds),
                static_cast<int>(each.elapsed_seconds), static_cast<int>(each.count)};
      }
    }
    return {};
  }
  /// The events of the trace, which ends: "thread instant event".
  [[nodiscard]] std::vector<std::string> events() {
    trace_->tell_clock({now_, static_cast<std::int64_t>(now_), 0, 0}, 1);
    trace_->finish();
    file_.reset();
    const trace_log log(path_);
    std::vector<std::string> all;
    for (std::size_t track = 0; track < log.tracks().size(); ++track) {
      log.visit(track, [&](std::span<const event> some) {
        for (const event& one : some) {
          const std::string name = one.kind == event_kind::phase_begin    ? "begin " + log.phases()[one.a]
                                   : one.kind == event_kind::phase_resume ? "resume " + log.phases()[one.a]
                                                                          : "end";
          all.push_back(std::to_string(track) + ' ' + std::to_string(one.ns) + ' ' + name);
        }
      });
    }
    return all;
  }

  std::string path_;
  std::uint64_t now_ = 0;
  std::unique_ptr<file_writer> file_;
  std::unique_ptr<rank_trace> trace_;
  std::unique_ptr<rank_phases> all_;
  std::vector<phase_stack*> threads_;
};

TEST_F(traced_phases, of_a_coroutine_wait_and_go_on_elsewhere_beside_those_of_others) {
  const int mine = 0, others = 0;
  detail::open_phase outer, inner, foreign;
  thread(0, 10).begin(outer, &mine, "outer");
  thread(0, 30).begin(inner, &mine, "inner");
  detail::open_phase* const waiting = thread(0, 60).suspend(&mine);
  EXPECT_EQ(waiting, &inner);
  EXPECT_EQ(thread(0, 61).suspend(&mine), nullptr);
  thread(1, 100).begin(foreign, &others, "foreign");
  thread(1, 110).resume(waiting);
  thread(1, 115).end(inner);
  EXPECT_EQ(thread(1, 120).suspend(&others), nullptr) << "its phases are not the innermost ones";
  thread(1, 130).end(outer);
  thread(1, 150).end(foreign);
  EXPECT_EQ(of("outer"), times(20 + 15, 50 + 20, 120, 1));
  EXPECT_EQ(of("inner"), times(30 + 5, 30 + 5, 85, 1));
  EXPECT_EQ(of("foreign"), times(10 + 20, 50, 50, 1));
  EXPECT_EQ(events(), (std::vector<std::string>{"0 10 begin outer", "0 30 begin inner", "0 60 end", "0 60 end",
                                                "1 100 begin foreign", "1 110 resume outer", "1 110 resume inner",
                                                "1 115 end", "1 130 end", "1 150 end"}));
}

TEST_F(traced_phases, may_end_in_another_order_than_they_should) {
  const int owner = 0;
  detail::open_phase first, second, third;
  thread(0, 10).begin(first, &owner, "first");
  thread(0, 20).begin(second, &owner, "second");
  thread(0, 30).begin(third, &owner, "third");
  thread(0, 40).end(first);
  thread(0, 50).end(third);
  thread(0, 60).end(second);
  EXPECT_EQ(of("first"), times(10, 30, 30, 1));
  EXPECT_EQ(of("second"), times(10 + 10, 40, 40, 1));
  EXPECT_EQ(of("third"), times(20, 20, 20, 1));
  EXPECT_EQ(events(), (std::vector<std::string>{"0 10 begin first", "0 20 begin second", "0 30 begin third", "0 40 end",
                                                "0 40 end", "0 40 end", "0 40 resume second", "0 40 resume third",
                                                "0 50 end", "0 60 end"}));
}

TEST_F(traced_phases, that_wait_when_they_are_destroyed_are_only_dropped) {
  const int owner = 0;
  detail::open_phase gone, next;
  thread(0, 10).begin(gone, &owner, "gone");
  EXPECT_EQ(thread(0, 20).suspend(nullptr), &gone);
  thread(0, 30).begin(next, &owner, "next");
  thread(0, 40).end(gone);
  thread(0, 50).end(next);
  EXPECT_EQ(of("gone"), times(10, 10, 0, 1));
  EXPECT_EQ(of("next"), times(20, 20, 20, 1));
}

TEST_F(traced_phases, without_a_name_in_the_file_are_refused) {
  trace_->of_thread(0).add(event_kind::phase_begin, 3);
  EXPECT_THROW(static_cast<void>(events()), setup_error);
}

TEST_F(traced_phases, of_which_the_file_says_an_impossible_number_are_refused) {
  for (const char* number : {"0", "257", "4000000000000", "-1", "\"x\""}) {
    {
      file_writer file(path_);
      job_description job;
      tell_job(file, job);
      file.append({.kind = block_kind::phase}, std::string(R"({"name":"x","number":)") + number + "}");
    }
    EXPECT_THROW(trace_log log(path_), setup_error) << number;
  }
}

}  // namespace
}  // namespace nacre::trace
