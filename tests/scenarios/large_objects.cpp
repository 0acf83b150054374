// SPDX-License-Identifier: Apache-2.0
// Large objects that move while messages for them arrive and others run.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/sanitized.hpp"
#include "scenarios.hpp"

namespace nacre::tests {
namespace {

constexpr std::uint64_t messages = 30, hops = 6;

std::uint64_t word_at(std::size_t index, std::uint64_t number) { return index * 2654435761U + number; }

std::span<std::uint64_t> words_of(std::vector<std::uint64_t>& values) { return values; }
std::span<std::uint64_t> words_of(buffer& buffer) { return buffer.as<std::uint64_t>(); }
void resize(std::vector<std::uint64_t>& values, std::uint64_t words) { values.resize(words); }
void resize(buffer& subject, std::uint64_t words) { subject = buffer(words * sizeof(std::uint64_t)); }

/// Has much that it carries along, in order messages from each rank, and moves on now and then by itself.
template <class Load>
struct freight {
  std::vector<std::uint64_t> heard;  // by rank: the next number
  std::uint64_t moves = 0;
  Load load;

  void fill(std::uint64_t words, std::uint64_t ranks) {
    heard.assign(ranks, 0);
    resize(load, words);
    const std::span<std::uint64_t> all = words_of(load);
    for (std::size_t index = 0; index < all.size(); ++index) all[index] = word_at(index, words);
  }
  void hear(context& ctx, std::uint32_t source, std::uint64_t number) {
    if (number != heard[source]++) ++board_of(ctx.rank()).failed;
    ++board_of(ctx.rank()).seen;
    if (number % (messages / hops) != 0 || source != moves % ctx.size()) return;
    ++moves;
    ctx.migrate(ctx.self<freight>(), next_of(ctx));
  }
  bool whole(std::uint64_t words) {
    const std::span<std::uint64_t> all = words_of(load);
    bool right = all.size() == words && moves != 0;
    for (std::size_t index = 0; index < all.size(); ++index) right = right && all[index] == word_at(index, words);
    return right;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(heard, moves, load);
  }
};

/// A rank's own work meanwhile.
struct clockwork {
  std::uint64_t ticks = 0;
  void tick(context& ctx, std::uint64_t left) {
    ++ticks;
    if (left != 0) ctx.send<&clockwork::tick>(ctx.self<clockwork>(), left - 1);
  }
  std::uint64_t count() const { return ticks; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(ticks);
  }
};

template <class Load>
std::vector<mobile_ptr<freight<Load>>> one_of_each_rank(runtime& rt, std::uint64_t words) {
  const auto self = rt.create<freight<Load>>();
  rt.call<&freight<Load>::fill>(self, words, std::uint64_t{rt.size()}).get();
  return rt.all_gather(self);
}

/// Says that it packs to more than a message may be.
struct boundless {
  std::uint64_t calls = 0;
  std::uint32_t where(context& ctx) {
    ++calls;
    return ctx.rank().value();
  }
  template <class Archive>
  void save(Archive& ar) const {
    ar(calls);
    if constexpr (std::is_same_v<Archive, sizer>) ar.write_bytes(nullptr, payload_bytes_max);
  }
  template <class Archive>
  void load(Archive& ar) {
    ar(calls);
  }
};
std::uint32_t meet(context& ctx, boundless&, clockwork&, clockwork&) { return ctx.rank().value(); }

template <class F>
bool fails(const F& call) {
  try {
    call();
  } catch (const call_error& error) {
    return std::string(error.what()).find("longer than 1 GiB") != std::string::npos;
  }
  return false;
}

/// Between ranks of one process it may move: nothing is packed.
void stay(runtime& rt, std::uint64_t) {
  const auto object = rt.create<boundless>();
  const std::vector<mobile_ptr<boundless>> all = rt.all_gather(object);
  const std::vector<int> processes = rt.all_gather(static_cast<int>(::getpid()));
  const rank_id next = next_of(rt);
  const bool apart = processes[next.value()] != processes[rt.rank().value()];
  if (apart) {
    EXPECT_TRUE(fails([&] { rt.migrate(object, next).get(); }));
    EXPECT_TRUE(fails([&] { rt.with_exclusive(all[next.value()], [](boundless& one) { ++one.calls; }); }));
    const auto one = rt.create<clockwork>(), other = rt.create<clockwork>();
    EXPECT_EQ(rt.colocate_call<meet>(all[next.value()], one, other).get(), next.value());
    EXPECT_EQ(rt.call<&boundless::where>(object).get(), rt.rank().value()) << "it can still be used where it is";
  } else {
    EXPECT_FALSE(fails([&] { rt.with_exclusive(object, [](boundless& one) { ++one.calls; }); })) << "it does not move";
  }
  rt.wait_quiescence();
  rt.destroy(object);
}

void move_all(runtime& rt, std::uint64_t) { move_large_objects(rt, sanitized ? 100'000 : 1'000'000); }

constexpr std::array large_objects_table{
    scenario{"large_objects_move_whole_while_messages_for_them_arrive_and_others_run", move_all},
    scenario{"an_object_that_is_longer_than_a_message_stays_and_says_so", stay},
};

}  // namespace

void move_large_objects(runtime& rt, std::uint64_t bytes) {
  constexpr std::uint64_t ticks = 5000;
  const std::uint64_t words = bytes / sizeof(std::uint64_t);
  fresh_board(rt);
  const auto vectors = one_of_each_rank<std::vector<std::uint64_t>>(rt, words);
  const auto buffers = one_of_each_rank<buffer>(rt, words);
  const auto meanwhile = rt.create<clockwork>();
  rt.barrier();
  rt.send<&clockwork::tick>(meanwhile, ticks - 1);
  for (std::uint64_t number = 0; number < messages; ++number) {
    for (const auto& each : vectors)
      rt.send<&freight<std::vector<std::uint64_t>>::hear>(each, rt.rank().value(), number);
    for (const auto& each : buffers) rt.send<&freight<buffer>::hear>(each, rt.rank().value(), number);
  }
  rt.wait_quiescence();
  EXPECT_EQ(total(rt, &board::seen), 2 * messages * rt.size() * rt.size());
  EXPECT_EQ(total(rt, &board::failed), 0U) << "messages from one main to one object have overtaken each other";
  EXPECT_EQ(rt.call<&clockwork::count>(meanwhile).get(), ticks);
  const std::size_t own_rank = rt.rank().value();
  EXPECT_TRUE(rt.call<&freight<std::vector<std::uint64_t>>::whole>(vectors[own_rank], words).get());
  EXPECT_TRUE(rt.call<&freight<buffer>::whole>(buffers[own_rank], words).get());
  rt.destroy(vectors[own_rank]);
  rt.destroy(buffers[own_rank]);
}

std::span<const scenario> large_object_scenarios() { return large_objects_table; }

}  // namespace nacre::tests
