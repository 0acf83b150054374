// SPDX-License-Identifier: Apache-2.0
// Ordinary classes and forms that the interface promises and that no other test uses.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nacre/containers/disjoint_set.hpp>
#include <nacre/containers/map.hpp>
#include <nacre/containers/multimap.hpp>
#include <nacre/nacre.hpp>

namespace {

int run_on(const std::string& transport, std::uint32_t ranks, const std::function<void(nacre::runtime&)>& main) {
  nacre::config configuration;
  configuration.set("transport", transport);
  configuration.set("ranks", ranks);
  configuration.set("workers", "2");
  return nacre::run(configuration, main);
}
int run_on_ranks(std::uint32_t ranks, const std::function<void(nacre::runtime&)>& main) {
  return run_on("inproc", ranks, main);
}

/// Cannot be moved in memory.
class counter {
 public:
  counter() = default;
  explicit counter(long begin) : count_(begin) {}
  void add(long amount) { count_ += amount; }
  [[nodiscard]] long value() const { return count_; }
  template <class Archive>
  void save(Archive& ar) const {
    ar(count_.load());
  }
  template <class Archive>
  void load(Archive& ar) {
    long count = 0;
    ar(count);
    count_ = count;
  }

 private:
  std::atomic<long> count_{0};
};

class named {
 public:
  named() = default;
  explicit named(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] std::string name() const { return name_; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(name_);
  }

 private:
  std::string name_;
};

TEST(api_edges, objects_that_cannot_be_moved_in_memory_are_made_from_arguments) {
  EXPECT_EQ(run_on_ranks(2,
                         [](nacre::runtime& rt) {
                           const auto grid = rt.create_array<counter>(nacre::extents{4}, nacre::sparse);
                           const auto keyed = rt.create_array<counter>(nacre::keyed_by<std::string>{});
                           if (rt.rank().value() == 0) {
                             const auto here = rt.create<counter>(5L);
                             const auto there = rt.create_on<counter>(nacre::rank_id{1}, 7L).get();
                             rt.send<&counter::add>(here, 1L);
                             rt.send<&counter::add>(there, 1L);
                             EXPECT_EQ(rt.call<&counter::value>(here).get(), 6);
                             EXPECT_EQ(rt.call<&counter::value>(there).get(), 8);
                             rt.migrate(here, nacre::rank_id{1}).get();
                             EXPECT_EQ(rt.call<&counter::value>(here).get(), 6);
                             rt.insert(grid, 3, 9L).get();
                             EXPECT_EQ(rt.call<&counter::value>(grid[3]).get(), 9);
                             rt.insert(keyed, "a", 11L).get();
                             rt.send<&counter::add>(keyed["b"], 2L);
                             EXPECT_EQ(rt.call<&counter::value>(keyed["a"]).get(), 11);
                             EXPECT_EQ(rt.call<&counter::value>(keyed["b"]).get(), 2);
                           }
                           rt.barrier();
                         }),
            0);
}

TEST(api_edges, objects_on_other_ranks_are_made_from_literals) {
  EXPECT_EQ(run_on_ranks(2,
                         [](nacre::runtime& rt) {
                           if (rt.rank().value() != 0) return;
                           const auto object = rt.create_on<named>(nacre::rank_id{1}, "bob").get();
                           EXPECT_EQ(rt.call<&named::name>(object).get(), "bob");
                         }),
            0);
}

/// The first call writes to memory of the caller, and must not do so once its future has got another.
TEST(api_edges, a_future_that_gets_another_drops_its_call_at_once) {
  EXPECT_EQ(run_on("sim", 1,
                   [](nacre::runtime& rt) {
                     const double begin = rt.now();
                     {
                       auto one = rt.sleep(3.0), other = rt.sleep(0.5);
                       one = std::move(other);
                       EXPECT_FALSE(other.valid());  // NOLINT(bugprone-use-after-move)
                       one.get();
                       rt.wait_quiescence();
                     }
                     EXPECT_LT(rt.now() - begin, 1);
                   }),
            0);
}

class mover {
 public:
  mover() = default;
  mover(mover&&) = default;
  mover& operator=(mover&&) = default;
  mover& chain(int) { return *this; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(value_);
  }

 private:
  std::unique_ptr<int> value_;
};

struct point {
  int x, y;
  point(int first, int second) : x(first), y(second) {}
  friend bool operator==(const point&, const point&) = default;
};
struct tagged {
  std::string text;
  explicit tagged(std::string words) : text(std::move(words)) {}
  explicit tagged(nacre::deserialize_tag) {}
  template <class Archive>
  void serialize(Archive& ar) {
    ar(text);
  }
};
int sum_of(point at, const tagged& words) { return at.x + at.y + static_cast<int>(words.text.size()); }

}  // namespace

template <>
struct std::hash<point> {
  std::size_t operator()(const point& at) const { return static_cast<std::size_t>(at.x * 31 + at.y); }
};

namespace {

TEST(api_edges, arguments_and_keys_need_no_default_constructor) {
  for (const char* const transport : {"inproc", "sim"}) {
    EXPECT_EQ(run_on(transport, 2,
                     [](nacre::runtime& rt) {
                       const nacre::rank_id other{1 - rt.rank().value()};
                       EXPECT_EQ(rt.call<sum_of>(other, point(1, 2), tagged("abc")).get(), 6);
                       nacre::map<point, int> all(rt);
                       all.insert(point(1, static_cast<int>(rt.rank().value())), 5);
                       rt.wait_quiescence();
                       EXPECT_EQ(all.size(), 2U);
                       EXPECT_EQ(all.reduce(std::plus<>{}), 10);
                     }),
              0);
  }
}

int first_of(nacre::buffer bytes) { return std::to_integer<int>(bytes.data()[0]); }
std::atomic<int> eaten{0};
void eat(std::unique_ptr<int> value) { eaten += *value; }

TEST(api_edges, calls_to_several_ranks_take_what_can_only_be_moved) {
  eaten = 0;
  EXPECT_EQ(run_on_ranks(5,
                         [](nacre::runtime& rt) {
                           if (rt.rank().value() != 0) return;
                           nacre::buffer bytes(10);
                           bytes.data()[0] = std::byte{3};
                           EXPECT_EQ(rt.reduce<first_of>(nacre::to_all, std::plus<>{}, std::move(bytes)).get(), 15);
                           rt.call<eat>(nacre::to_all, std::make_unique<int>(7)).get();
                         }),
            0);
  EXPECT_EQ(eaten, 35);
}

int rank_of(nacre::context& ctx) { return static_cast<int>(ctx.rank().value()); }

TEST(api_edges, a_door_calls_several_targets_and_tells_a_failure_to_then) {
  std::atomic<int> failures{0};
  EXPECT_EQ(run_on_ranks(2,
                         [&](nacre::runtime& rt) {
                           const auto keyed = rt.create_array<named>(nacre::keyed_by<std::string>{});
                           rt.destroy(keyed);
                           rt.wait_quiescence();
                           if (rt.rank().value() == 0) {
                             std::thread outside([door = rt.submitter(), keyed, &failures] {
                               door.call<rank_of>(nacre::to_all).get();
                               auto failed = door.call<&named::name>(keyed["x"]);
                               failed.then([](const std::string&) { ADD_FAILURE() << "the array has been destroyed"; },
                                           [&](const nacre::call_error&) { ++failures; });
                               EXPECT_THROW(static_cast<void>(door.call<&named::name>(keyed["y"]).get()),
                                            nacre::call_error);
                             });
                             rt.wait_quiescence();
                             outside.join();
                           } else {
                             rt.wait_quiescence();
                           }
                         }),
            0);
  EXPECT_EQ(failures, 1);
}

nacre::task<int> one(nacre::context&) { co_return 1; }
nacre::task<std::vector<int>> nothing(nacre::context&) { co_return {}; }
nacre::task<int> all(nacre::context& ctx) {
  auto inner = one(ctx);
  const int first = co_await inner;
  const std::vector<int> none = co_await nothing(ctx);
  co_return first + static_cast<int>(none.size());
}

TEST(api_edges, coroutines_return_braces_and_await_tasks_that_have_a_name) {
  EXPECT_EQ(run_on_ranks(1, [](nacre::runtime& rt) { EXPECT_EQ(rt.call<all>(rt.rank()).get(), 1); }), 0);
}

nacre::task<int> awaits_twice(nacre::context& ctx) {
  auto inner = one(ctx);
  int sum = co_await inner;
  try {
    sum += co_await inner;
  } catch (const nacre::usage_error&) {
    sum += 10;
  }
  auto moved = std::move(inner);
  try {
    sum += co_await inner;  // NOLINT(bugprone-use-after-move)
  } catch (const nacre::usage_error&) {
    sum += 100;
  }
  co_return sum;
}

TEST(api_edges, a_task_is_awaited_once) {
  EXPECT_EQ(run_on_ranks(1, [](nacre::runtime& rt) { EXPECT_EQ(rt.call<awaits_twice>(rt.rank()).get(), 111); }), 0);
}

/// Collectives of a disjoint_set send nothing for items while no sets are joined.
TEST(api_edges, an_unchanged_disjoint_set_asks_for_no_roots) {
  EXPECT_EQ(run_on("sim", 4,
                   [](nacre::runtime& rt) {
                     nacre::disjoint_set<int> sets(rt);
                     for (int item = 0; rt.rank().value() == 0 && item < 20000; ++item) sets.union_(item, item % 7);
                     EXPECT_EQ(sets.num_sets(), 7U);
                     const auto seconds_of_count = [&](std::uint64_t expected) {
                       const double begin = rt.now();
                       EXPECT_EQ(sets.num_sets(), expected);
                       return rt.now() - begin;
                     };
                     const double unchanged = seconds_of_count(7);
                     if (rt.rank().value() == 0) sets.union_(1, 2);
                     EXPECT_LT(1.5 * unchanged, seconds_of_count(6)) << "roots are asked for again";
                     EXPECT_EQ(sets.find(1), sets.find(2));
                   }),
            0);
}

TEST(api_edges, handlers_may_return_what_a_message_does_not_need) {
  EXPECT_EQ(run_on_ranks(1,
                         [](nacre::runtime& rt) {
                           rt.send<&mover::chain>(rt.create<mover>(), 3);
                           rt.wait_quiescence();
                         }),
            0);
}

TEST(api_edges, placements_are_asked_for_places_that_there_are) {
  EXPECT_EQ(run_on_ranks(2,
                         [](nacre::runtime& rt) {
                           const auto grid = rt.create_array<named>(nacre::extents{8, 8}, nacre::by_tile{});
                           EXPECT_NO_THROW(static_cast<void>(grid.home_of({7, 7})));
                           for (const nacre::index& none : {nacre::index{0, 9}, nacre::index{-1, 0}, nacre::index{3}}) {
                             EXPECT_THROW(static_cast<void>(grid.home_of(none)), nacre::usage_error);
                           }
                         }),
            0);
}

TEST(api_edges, maps_take_values_that_can_only_be_moved_and_multimaps_bits) {
  EXPECT_EQ(run_on_ranks(2,
                         [](nacre::runtime& rt) {
                           nacre::map<int, std::unique_ptr<int>> owners(rt);
                           nacre::multimap<int, bool> bits(rt);
                           if (rt.rank().value() == 0) {
                             for (int key = 0; key < 10; ++key) owners.insert(key, std::make_unique<int>(key));
                             bits.insert(1, true);
                             bits.insert(1, false);
                           }
                           rt.wait_quiescence();
                           int sum = 0, set = 0;
                           owners.for_all([&](int, std::unique_ptr<int>& value) { sum += *value; });
                           bits.for_all([&](int, bool bit) { set += bit ? 1 : 0; });
                           EXPECT_EQ(rt.all_reduce(sum, std::plus<>{}), 45);
                           EXPECT_EQ(rt.all_reduce(set, std::plus<>{}), 1);
                         }),
            0);
}

TEST(api_edges, a_ready_future_may_be_waited_for_under_a_lock) {
  EXPECT_EQ(run_on_ranks(1,
                         [](nacre::runtime& rt) {
                           const auto object = rt.create<named>("a");
                           auto ready = rt.call<&named::name>(object);
                           ready.wait();
                           rt.with_exclusive(object, [&](named&) { EXPECT_TRUE(ready.wait_for(1)); });
                         }),
            0);
}

/// As deep as the main of a process may go.
TEST(api_edges, a_simulated_main_has_the_stack_of_a_process) {
  EXPECT_EQ(run_on("sim", 2,
                   [](nacre::runtime& rt) {
                     volatile double table[500000];
                     for (int i = 0; i < 500000; i += 100) table[i] = i;
                     EXPECT_EQ(rt.all_reduce(static_cast<double>(table[499900]), std::plus<>{}), 2 * 499900.0);
                   }),
            0);
}

}  // namespace
