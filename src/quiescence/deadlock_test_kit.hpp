// SPDX-License-Identifier: Apache-2.0
// A job of ranks that look for a deadlock, on a network and a clock that the test sets.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "quiescence/deadlock_detector.hpp"

namespace nacre::quiescence {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

inline constexpr nanoseconds patience = 10s;

/// Ranks on a network that delivers after `delay`. The test sets the state of each rank.
class job {
 public:
  explicit job(std::uint32_t size, std::uint32_t arity = 2, std::uint32_t previous = 0) {
    for (std::uint32_t r = 0; r < size; ++r) sites_.emplace_back(*this, rank_id{r}, size, arity, previous);
  }
  [[nodiscard]] deadlock_detector::snapshot& at(std::uint32_t rank) { return sites_[rank].state; }
  void hurry() { sites_[0].detector.hurry(now_); }
  void answers(std::uint32_t rank, bool yes) { sites_[rank].polls = yes; }

  /// Lets time pass. Rank 0 looks when it is due, the others when a probe asks them to.
  void pass(nanoseconds time) {
    for (const nanoseconds end = now_ + time; now_ < end; now_ += 10ms) {
      site& root = sites_[0];
      if (root.polls && now_ >= root.detector.due()) root.detector.on_look(root, root.state);
      deliver();
    }
  }
  nanoseconds delay{0};
  std::vector<nanoseconds> told;  ///< for how long the job had been deadlocked, by report
  std::vector<nanoseconds> went_on;
  deadlock_report last;
  std::uint64_t sent = 0;
  int gave_up = 0;

 private:
  struct site final : deadlock_detector::host {
    site(job& owner, rank_id rank, std::uint32_t size, std::uint32_t arity, std::uint32_t previous)
        : all(owner),
          self(rank),
          detector({.self = rank, .size = size, .patience = patience, .arity = arity, .previous_number = previous}) {
      state = {.at_rest = true, .units = {.created = 5, .done = 3}, .waiting = 1, .begun = 4};
    }
    void send_probe(rank_id child, std::uint32_t wave, bool names) override {
      all.send([this, child, wave, names] {
        site& site = all.sites_[child.value()];
        EXPECT_TRUE(site.detector.on_probe(self, wave, names));
      });
    }
    void send_answer(rank_id parent, std::uint32_t wave, deadlock_report sums) override {
      all.send([this, parent, wave, sums] {
        site& site = all.sites_[parent.value()];
        EXPECT_TRUE(site.detector.on_answer(site, self, wave, sums));
      });
    }
    deadlock_report report_of_rank() override {
      deadlock_report report;
      report.calls = 1;
      report.note_main(self, main_wait::result);
      return report;
    }
    nanoseconds now() override { return all.now_; }
    void tell(const deadlock_report& sums, nanoseconds lasted) override {
      all.told.push_back(lasted);
      all.last = sums;
    }
    void give_up_waits() override {
      ++all.gave_up;
      for (site& each : all.sites_) {
        each.state.units.done += std::exchange(each.state.held_up, 0);
        ++each.state.begun;
      }
    }
    void tell_going_on(nanoseconds lasted) override { all.went_on.push_back(lasted); }

    job& all;
    rank_id self;
    bool polls = true;
    deadlock_detector::snapshot state;
    deadlock_detector detector;
  };
  struct flight {
    nanoseconds arrives;
    std::function<void()> action;
  };

  void send(std::function<void()> action) {
    ++sent;
    flying_.push_back({now_ + delay, std::move(action)});
  }
  void deliver() {
    for (bool moved = true; moved;) {
      moved = false;
      while (!flying_.empty() && flying_.front().arrives <= now_) {
        const auto action = std::move(flying_.front().action);
        flying_.pop_front();
        action();
        moved = true;
      }
      for (site& each : sites_) {
        if (!each.polls || !each.detector.wants_look()) continue;
        each.detector.on_look(each, each.state);
        moved = true;
      }
    }
  }

  nanoseconds now_{0};
  std::deque<site> sites_;
  std::deque<flight> flying_;
};

}  // namespace nacre::quiescence
