// SPDX-License-Identifier: Apache-2.0
// Objects whose numbers come to their ends: the epoch of those that have moved 2^32 times, the numbers of messages.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "mobile/directory/epoch_guard.hpp"
#include "mobile/object_space.hpp"
#include "runtime/engine.hpp"
#include "small_jobs.hpp"

namespace nacre::tests {
namespace {

struct cell {
  std::vector<std::uint32_t> next{};  // by rank: the number of its next message

  /// Counts a message of a rank; false when it comes out of order.
  bool take(std::uint32_t rank, std::uint32_t number) {
    if (next.size() <= rank) next.resize(rank + 1);
    return next[rank]++ == number;
  }
  std::uint32_t taken() const {
    std::uint32_t all = 0;
    for (const std::uint32_t each : next) all += each;
    return all;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(next);
  }
};
bool never_used(cell&, cell&) { return true; }

object_entry& entry_of(context& ctx, std::uint64_t id) {
  const epoch_guard guard(ctx.current_thread());
  const object_id named = object_id::from_value(id);
  object_space& objects = ctx.core().objects();
  object_entry* const known = objects.entries().find(named);
  return known != nullptr ? *known : objects.numbers().entry_elsewhere(named);
}

/// On the rank that the object is on: lets it have so many moves behind it.
void set_epoch(context& ctx, std::uint64_t id, std::uint32_t epoch) {
  shared_location& location = entry_of(ctx, id).location;
  known_location known = location.read();
  known.epoch = epoch;
  EXPECT_TRUE(location.learn(known));
}
/// On every rank, before any message: the number of its first message to the object, which is on rank 0.
void set_number(context& ctx, std::uint64_t id, std::uint32_t number, std::uint32_t ranks) {
  object_entry& entry = entry_of(ctx, id);
  entry.next_sequence.store(number);
  if (ctx.rank().value() != 0) return;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) entry.need_extra().order.roll_back(rank, number);
}

class worn_objects : public testing::TestWithParam<const char*> {
 protected:
  void run_job(const std::function<void(runtime&)>& main) { run_on_two_ranks(GetParam(), main); }
};

bool names_the_cause(const std::string& name) { return name.find("2^32") != std::string::npos; }

TEST_P(worn_objects, move_until_their_moves_cannot_be_counted_and_then_stay) {
  run_job([](runtime& rt) {
    const auto p = rt.broadcast(rt.create<cell>(), rank_id{0});
    const auto q = rt.create<cell>();
    std::uint32_t sent = 0;
    if (rt.rank().value() == 0) {
      ASSERT_TRUE(rt.call<&cell::take>(p, 0U, sent++).get());
      rt.call<set_epoch>(rank_id{0}, p.id().value(), last_epoch_of_moves - 4).get();
      for (std::uint32_t move = 1; move <= 4; ++move) {
        rt.migrate(p, rank_id{move % 2}).get();
        ASSERT_TRUE(rt.call<&cell::take>(p, 0U, sent++).get());
      }
      try {
        rt.migrate(p, rank_id{1}).get();
        ADD_FAILURE() << "it moves further than its epoch can tell";
      } catch (const call_error& error) {
        EXPECT_TRUE(names_the_cause(error.what())) << error.what();
      }
      for (int i = 0; i < 10; ++i) ASSERT_TRUE(rt.call<&cell::take>(p, 0U, sent++).get());
    }
    rt.barrier();
    if (rt.rank().value() == 1) {
      EXPECT_TRUE(rt.colocate_call<never_used>(p, q).get()) << "the other object comes to it";
      EXPECT_TRUE(rt.call<&cell::take>(p, 1U, 0U).get());
      try {
        rt.with_exclusive(p, [](cell&) {});
        ADD_FAILURE() << "it has come";
      } catch (const call_error& error) {
        EXPECT_TRUE(names_the_cause(error.what())) << error.what();
      }
      EXPECT_EQ(rt.call<&cell::taken>(p).get(), 16U);
      rt.destroy(p);
    }
    rt.wait_quiescence();
  });
}

TEST_P(worn_objects, end_as_elements_and_their_places_take_no_further_one) {
  run_job([](runtime& rt) {
    const auto all = rt.create_array<cell>(extents{2});
    if (rt.rank().value() == 0) {
      rt.call<set_epoch>(rank_id{0}, all[0].id().value(), last_epoch_of_moves - 3).get();
      rt.migrate(all[0], rank_id{1}).get();
      rt.erase(all, {0}).get();  // away from home: the place comes back
      rt.insert(all, {0}).get();
      EXPECT_TRUE(rt.call<&cell::take>(all[0], 0U, 0U).get());
      EXPECT_THROW(rt.migrate(all[0], rank_id{1}).get(), call_error);
      rt.erase(all, {0}).get();
      try {
        rt.insert(all, {0}).get();
        ADD_FAILURE() << "its epoch can be told no more";
      } catch (const call_error& error) {
        EXPECT_TRUE(names_the_cause(error.what())) << error.what();
      }
      EXPECT_TRUE(rt.call<&cell::take>(all[1], 0U, 0U).get());
    }
    rt.barrier();
    rt.destroy(all);
    rt.wait_quiescence();
  });
}

TEST_P(worn_objects, keep_the_order_of_messages_when_their_numbers_wrap) {
  run_job([](runtime& rt) {
    const auto p = rt.broadcast(rt.create<cell>(), rank_id{0});
    rt.call<set_number>(rt.rank(), p.id().value(), ~std::uint32_t{0} - 20, rt.size()).get();
    rt.barrier();
    std::vector<future<bool>> in_order;
    for (std::uint32_t number = 0; number < 60; ++number) {
      in_order.push_back(rt.call<&cell::take>(p, rt.rank().value(), number));
      if (rt.rank().value() == 0 && number % 7 == 3) static_cast<void>(rt.migrate(p, rank_id{number % 2}));
    }
    for (auto& each : in_order) EXPECT_TRUE(each.get());
    rt.wait_quiescence();
    if (rt.rank().value() == 0) {
      EXPECT_EQ(rt.call<&cell::taken>(p).get(), 120U);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(over, worn_objects, testing::Values("inproc", "sim", "shm", "tcp"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace nacre::tests
