// SPDX-License-Identifier: Apache-2.0
// The promises of arrivals, each as a sentence, and forged ones.
#include "mobile/life/object_codec.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nacre/handler.hpp>
#include <nacre/rng.hpp>

#include "am/handler_table.hpp"

namespace nacre {
namespace {

struct parcel {
  std::string text;
  std::vector<int> numbers;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(text, numbers);
  }
};

const object_id travelling_object(rank_id(2), 9);
constexpr std::uint32_t ranks_of_job = 8;

message_ptr message_for(message_kind kind, std::uint32_t source, std::uint32_t sequence, std::size_t bytes) {
  message_ptr m = make_message(bytes);
  std::memset(m->body(), static_cast<int>(sequence + 1), bytes);
  m->header.kind = kind;
  m->header.object = travelling_object.value();
  m->header.source = source;
  m->header.sequence = sequence;
  return m;
}

/// A parcel with two messages that wait and one that is early.
object_state sample() {
  static_cast<void>(handler_table::get());
  object_state state;
  state.type = &detail::type_of<parcel>();
  state.object = new parcel{"hello", {1, 2, 3}};
  state.epoch = 41;
  state.policy = location_policy::subscriber_update;
  state.listeners = std::make_unique<subscribers>();
  state.listeners->join(rank_id(5));
  state.listeners->join(rank_id(6));
  state.pace = 0.5;
  state.traffic.note(object_id(rank_id(1), 4), 100, 7);
  for (const std::uint32_t sequence : {0U, 1U, 3U}) {
    message_ptr m =
        message_for(sequence == 1 ? message_kind::migrate : message_kind::object, 6, sequence, 4 * sequence);
    EXPECT_NE(state.order.admit(m, state.pending), streams::verdict::repeated);
  }
  return state;
}

void expect_sample(object_state& state) {
  const auto& object = *static_cast<parcel*>(state.object);
  EXPECT_EQ(object.text, "hello");
  EXPECT_EQ(object.numbers, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(state.epoch, 41U);
  EXPECT_EQ(state.policy, location_policy::subscriber_update);
  ASSERT_NE(state.listeners, nullptr);
  const auto listeners = state.listeners->all();
  EXPECT_EQ(std::vector<rank_id>(listeners.begin(), listeners.end()), (std::vector<rank_id>{rank_id(5), rank_id(6)}));
  ASSERT_EQ(state.traffic.partners().size(), 1U);
  EXPECT_EQ(state.traffic.partners()[0].object, object_id(rank_id(1), 4));
  EXPECT_EQ(state.traffic.partners()[0].bytes, 100);
  ASSERT_EQ(state.pending.size(), 2U);
  EXPECT_EQ(state.order.early_count(), 1U);
  message_ptr missing = message_for(message_kind::object, 6, 2, 0);
  EXPECT_EQ(state.order.admit(missing, state.pending), streams::verdict::admitted);
  for (std::uint32_t sequence = 0; sequence < 4; ++sequence) {
    const message_ptr m = state.pending.pop_front();
    ASSERT_NE(m, nullptr);
    EXPECT_EQ(m->header.sequence, sequence);
    for (const std::byte each : m->payload()) EXPECT_EQ(each, static_cast<std::byte>(sequence + 1));
  }
}

TEST(object_codec, an_object_comes_back_with_its_numbers_and_all_that_waits_for_it) {
  for (const bool by_pointer : {true, false}) {
    message_ptr m = make_arrival(travelling_object, sample(), {3, 77}, by_pointer);
    EXPECT_EQ(m->header.object, travelling_object.value());
    EXPECT_EQ(m->header.kind, message_kind::arrival);
    EXPECT_EQ(m->packed(), !by_pointer);
    migration_request asked;
    auto state = take_arrival(m, asked, ranks_of_job);
    ASSERT_TRUE(state);
    EXPECT_EQ(asked.source, 3U);
    EXPECT_EQ(asked.reply, 77U);
    expect_sample(*state);
  }
}

/// A message with an argument that is a live value still.
message_ptr live_message(std::string argument) {
  using values = std::tuple<std::string>;
  message_ptr m = make_message(sizeof(values));
  ::new (static_cast<void*>(m->body())) values(std::move(argument));
  m->ops = &detail::body_of<values>::ops;
  return m;
}

TEST(object_codec, a_copy_is_as_the_object_which_stays_as_it_was) {
  object_state state = sample();
  message_ptr live = live_message("a title of more than sixteen bytes");
  ASSERT_FALSE(live->packed());
  live->header.kind = message_kind::object;
  live->header.object = travelling_object.value();
  live->header.source = 7;
  ASSERT_EQ(state.order.admit(live, state.pending), streams::verdict::admitted);
  state.colocations = std::make_unique<participation>();
  message_ptr join = message_for(message_kind::join, 4, 0, 8);
  join->header.reply = 12;
  state.colocations->hold(std::move(join));

  message_ptr first = copy_object(travelling_object, state);
  const message_ptr second = copy_object(travelling_object, state);
  ASSERT_EQ(first->header.payload_bytes, second->header.payload_bytes);
  EXPECT_EQ(std::memcmp(first->body(), second->body(), first->header.payload_bytes), 0);
  migration_request nobody;
  auto copy = take_arrival(first, nobody, ranks_of_job);
  ASSERT_TRUE(copy);
  EXPECT_NE(copy->object, state.object);
  for (object_state* each : {&state, &*copy}) {
    EXPECT_TRUE(each->colocations != nullptr && each->colocations->holds({4, 12}));
    message_list others;
    while (message_ptr m = each->pending.pop_front()) {
      if (m->header.source == 6) {
        others.push_back(std::move(m));
        continue;
      }
      EXPECT_EQ(unpack<std::string>(m->payload()), "a title of more than sixteen bytes");
    }
    each->pending = std::move(others);
    expect_sample(*each);
  }
}

TEST(object_codec, an_arrival_that_is_dropped_takes_its_object_with_it) {
  const message_ptr live = make_arrival(travelling_object, sample(), {}, true);  // the leak checker finds leaks
  const message_ptr packed = make_arrival(travelling_object, sample(), {}, false);
}

TEST(object_codec, no_part_of_an_arrival_is_an_arrival) {
  const message_ptr whole = make_arrival(travelling_object, sample(), {}, false);
  for (std::uint32_t bytes = 0; bytes < whole->header.payload_bytes; ++bytes) {
    message_ptr part = make_message(bytes);
    std::memcpy(part->body(), whole->body(), bytes);
    part->header.object = travelling_object.value();
    migration_request asked;
    EXPECT_FALSE(take_arrival(part, asked, ranks_of_job)) << bytes;
  }
}

TEST(object_codec, damaged_bytes_give_nothing_or_messages_that_an_object_may_have) {
  const message_ptr whole = make_arrival(travelling_object, sample(), {}, false);
  rng random(5);
  for (int round = 0; round < 30'000; ++round) {
    message_ptr damaged = make_message(whole->header.payload_bytes);
    std::memcpy(damaged->body(), whole->body(), whole->header.payload_bytes);
    damaged->header.object = travelling_object.value();
    for (std::uint64_t hits = 1 + random.below(3); hits != 0; --hits) {
      damaged->body()[random.below(whole->header.payload_bytes)] = static_cast<std::byte>(random.next());
    }
    migration_request asked;
    auto state = take_arrival(damaged, asked, ranks_of_job);
    if (!state) continue;
    ASSERT_NE(state->object, nullptr);
    while (const message_ptr m = state->pending.pop_front()) {
      ASSERT_TRUE(follows_object(m->header.kind)) << static_cast<int>(m->header.kind);
      ASSERT_EQ(m->header.object, travelling_object.value());
      ASSERT_LT(m->header.source, ranks_of_job);
    }
  }
}

TEST(object_codec, an_object_with_a_location_policy_or_subscribers_that_cannot_be_is_none) {
  const auto comes_back = [](location_policy policy, const std::vector<std::uint32_t>& listening) {
    object_state state = sample();
    state.policy = policy;
    state.listeners = std::make_unique<subscribers>(unpack<subscribers>(pack(listening)).value());
    message_ptr m = make_arrival(travelling_object, std::move(state), {}, false);
    migration_request asked;
    return take_arrival(m, asked, ranks_of_job).has_value();
  };
  EXPECT_TRUE(comes_back(location_policy::home, {7, 1}));
  EXPECT_FALSE(comes_back(location_policy::of_program, {}));
  EXPECT_FALSE(comes_back(static_cast<location_policy>(7), {}));
  EXPECT_FALSE(comes_back(location_policy::home, {8})) << "there is no such rank";
  EXPECT_FALSE(comes_back(location_policy::home, {1, 2, 1})) << "it would be told twice";
  EXPECT_FALSE(comes_back(location_policy::home, std::vector<std::uint32_t>(17, 1)));
}

TEST(object_codec, an_object_that_speaks_of_ranks_or_epochs_that_cannot_be_is_none) {
  const auto comes_back = [](std::uint32_t ranks_there, std::uint32_t epoch, const migration_request& asks) {
    object_state state = sample();
    state.epoch = epoch;
    message_ptr m = make_arrival(travelling_object, std::move(state), asks, false);
    migration_request asked;
    return take_arrival(m, asked, ranks_there).has_value();
  };
  EXPECT_TRUE(comes_back(7, 1, {6, 1}));
  EXPECT_FALSE(comes_back(6, 1, {})) << "its messages come from rank 6";
  EXPECT_FALSE(comes_back(7, 1, {7, 1})) << "nobody could be answered";
  EXPECT_FALSE(comes_back(7, 0, {}));
  EXPECT_FALSE(comes_back(7, ~std::uint32_t{0}, {})) << "it could never move again";
}

}  // namespace
}  // namespace nacre
