// SPDX-License-Identifier: Apache-2.0
// One-sided memory while it is given back: futures that are dropped, and all ranks that withdraw at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/sanitized.hpp"
#include "scenarios.hpp"

namespace nacre::tests {
namespace {

using numbers = std::vector<std::uint64_t>;
using memory = remote_memory<std::uint64_t>;

void fill(numbers& all, rng& random) {
  for (std::uint64_t& each : all) each = random.next();
}

/// One transfer that is under way, and what it must have done.
struct action {
  std::uint32_t target = 0;
  std::unique_ptr<numbers> local_memory = std::make_unique<numbers>();
  numbers expected{};
  future<void> done{};
};

/// Transfers of a rank with its own slice of everybody's memory. Of a second slice nothing but fives is ever put, by
/// transfers that are dropped; then their memory is overwritten, so that whatever is still read of it is found in the
/// end, and so is what is still written to it.
class traffic {
 public:
  traffic(runtime& rt, std::uint64_t seed, std::size_t slice)
      : rt_(rt), random_(rng(seed).fork(rt.rank().value())), slice_(slice), memory_(2 * slice * rt.size(), five) {
    exposed_ = rt.expose(std::span(memory_));
    for (std::uint32_t rank = 0; rank < rt.size(); ++rank) all_.push_back(rt.broadcast(exposed_, rank_id(rank)));
    model_.assign(rt.size(), numbers(slice, five));
  }

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      begin();
      if (random_.below(3) == 0) drop();
      if (under_way_.size() > 4) end_one();
    }
    while (!under_way_.empty()) end_one();
    rt_.wait_quiescence();
    for (std::uint32_t target = 0; target < rt_.size(); ++target) {
      numbers whole(2 * slice_);
      rt_.get(all_[target], 2 * rt_.rank().value() * slice_, std::span(whole)).get();
      EXPECT_TRUE(std::equal(model_[target].begin(), model_[target].end(), whole.begin()));
      const auto fives = std::count(whole.begin() + static_cast<std::ptrdiff_t>(slice_), whole.end(), five);
      EXPECT_EQ(fives, static_cast<std::ptrdiff_t>(slice_)) << "a put read after its end";
    }
    for (const numbers& each : taken_back_) EXPECT_TRUE(each == numbers(each.size(), 7)) << "a get wrote after its end";
    rt_.barrier();
    rt_.withdraw(exposed_);
  }

 private:
  static constexpr std::uint64_t five = 5;

  /// A range of the slice at a target that has nothing under way.
  action new_action(std::size_t& begin) {
    action result;
    do result.target = static_cast<std::uint32_t>(random_.below(rt_.size()));
    while (
        std::any_of(under_way_.begin(), under_way_.end(), [&](const action& a) { return a.target == result.target; }));
    const std::size_t length = random_.below(random_.below(3) == 0 ? 100 : slice_) + 1;
    begin = random_.below(slice_ - length + 1);
    result.local_memory->resize(length);
    return result;
  }
  numbers::iterator model_at(const action& action, std::size_t begin) {
    return model_[action.target].begin() + static_cast<std::ptrdiff_t>(begin);
  }

  void begin() {
    while (under_way_.size() == rt_.size()) end_one();
    std::size_t index = 0;
    action action = new_action(index);
    const auto model = model_at(action, index);
    const std::size_t offset = 2 * rt_.rank().value() * slice_ + index;
    if (random_.below(2) == 0) {
      fill(*action.local_memory, random_);
      std::copy(action.local_memory->begin(), action.local_memory->end(), model);
      action.expected = *action.local_memory;
      action.done = rt_.put(all_[action.target], offset, std::span<const std::uint64_t>(*action.local_memory));
    } else {
      action.expected.assign(model, model + static_cast<std::ptrdiff_t>(action.local_memory->size()));
      action.done = rt_.get(all_[action.target], offset, std::span(*action.local_memory));
    }
    under_way_.push_back(std::move(action));
  }

  void drop() {
    while (under_way_.size() == rt_.size()) end_one();
    std::size_t index = 0;
    action action = new_action(index);
    std::fill(action.local_memory->begin(), action.local_memory->end(), five);
    const std::size_t offset = (2 * rt_.rank().value() + 1) * slice_ + index;
    action.done = random_.below(2) == 0
                      ? rt_.put(all_[action.target], offset, std::span<const std::uint64_t>(*action.local_memory))
                      : rt_.get(all_[action.target], offset, std::span(*action.local_memory));
    if (random_.below(2) == 0 && !under_way_.empty()) end_one();  // meanwhile it gets somewhere
    action.done = {};
    std::fill(action.local_memory->begin(), action.local_memory->end(), 7);
    taken_back_.push_back(std::move(*action.local_memory));
  }

  void end_one() {
    action ended = std::move(under_way_[random_.below(under_way_.size())]);
    std::erase_if(under_way_, [](const action& a) { return a.local_memory == nullptr; });
    ended.done.get();
    EXPECT_TRUE(*ended.local_memory == ended.expected);
  }

  runtime& rt_;
  rng random_;
  std::size_t slice_;
  numbers memory_;
  memory exposed_;
  std::vector<memory> all_;
  std::vector<numbers> model_;  // by target: what the own slice holds
  std::vector<action> under_way_;
  std::vector<numbers> taken_back_;
};

/// Goes on until the memory is gone, and then says so.
task<void> go_on_hammering(context& ctx, memory memory, std::uint32_t salt) {
  numbers numbers(memory.size() / 4, salt);
  for (int count = 0;; ++count) {
    try {
      if (count % 2 == 0) {
        co_await ctx.put(memory, salt % 4 * numbers.size(), std::span<const std::uint64_t>(numbers));
      } else {
        co_await ctx.get(memory, salt % 4 * numbers.size(), std::span(numbers));
      }
    } catch (const call_error& error) {
      EXPECT_NE(std::string(error.what()).find("withdrawn"), std::string::npos) << error.what();
      co_return;
    }
    ctx.charge(1e-6);
  }
}

/// All ranks withdraw at once what all others are writing to and reading from.
void withdraw_at_once(runtime& rt, std::size_t size) {
  auto mine = std::make_unique<numbers>(size + 1, 1);  // the last one is nobody's
  const memory exposed = rt.expose(std::span(*mine));
  std::vector<future<void>> busy;
  for (std::uint32_t part = 0; part < 4; ++part) {
    busy.push_back(rt.call<go_on_hammering>(rank_id((rt.rank().value() + 1 + part % 2) % rt.size()), exposed, part));
  }
  numbers last(1);
  for (int look = 0; look < 5; ++look) rt.get(exposed, size, std::span(last)).get();
  rt.withdraw(exposed);
  std::fill(mine->begin(), mine->end(), 9);  // a race, were anybody still there
  EXPECT_EQ(std::count(mine->begin(), mine->end(), 9U), static_cast<std::ptrdiff_t>(mine->size()));
  mine.reset();
  for (auto& each : busy) each.get();
}

void drop_some(runtime& rt, std::uint64_t seed) {
  traffic(rt, seed, seed % 5 == 0 ? 100'000 : 3000).run(sanitized ? 6 : 20);
  traffic(rt, seed, 40'000).run(sanitized ? 6 : 20);
}

void withdraw_several_times(runtime& rt, std::uint64_t seed) {
  withdraw_at_once(rt, seed % 2 == 0 ? 1000 : 100'000);
  withdraw_at_once(rt, 200'000);
}

constexpr std::array memory_given_back_table{
    scenario{"memory_of_dropped_futures_is_left_alone_and_the_rest_agrees_with_a_model", drop_some},
    scenario{"all_ranks_withdraw_at_once_what_all_others_access", withdraw_several_times},
};

}  // namespace

std::span<const scenario> withdrawal_scenarios() { return memory_given_back_table; }

}  // namespace nacre::tests
