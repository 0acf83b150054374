// SPDX-License-Identifier: Apache-2.0
// Containers: random operations of all mains and of handlers, compared with those of one process.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nacre/containers/bag.hpp>
#include <nacre/containers/counting_set.hpp>
#include <nacre/containers/disjoint_set.hpp>
#include <nacre/containers/map.hpp>
#include <nacre/containers/multimap.hpp>

#include "scenarios.hpp"

namespace nacre::tests {
namespace {

constexpr int operations_of_each = 600;

rng random_of(std::uint64_t seed, std::uint32_t rank) { return rng(seed * 1000 + rank); }

/// Keys of the ranks do not meet, so that the order of their operations is known.
int key_of_rank(rng& random, std::uint32_t rank) { return static_cast<int>(random.below(40) * 64 + rank); }

void add(const int&, int& value, int n) { value = value * 3 + n; }

void map_as_a_map(runtime& rt, std::uint64_t seed) {
  nacre::map<int, int> under_test(rt);
  std::map<int, int> model;
  for (std::uint32_t rank = 0; rank < rt.size(); ++rank) {
    rng random = random_of(seed, rank);
    const bool is_own = rank == rt.rank().value();
    for (int i = 0; i < operations_of_each; ++i) {
      const int key = key_of_rank(random, rank), n = static_cast<int>(random.below(100));
      switch (random.below(5)) {
        case 0:
          if (is_own) under_test.insert(key, n);
          model.emplace(key, n);
          break;
        case 1:
          if (is_own) under_test.insert_or_assign(key, n);
          model[key] = n;
          break;
        case 2:
          if (is_own) under_test.erase(key);
          model.erase(key);
          break;
        case 3:
          if (is_own) {
            under_test.visit_if_present(
                key, [](const int& k, int& value, int more) { add(k, value, more); }, n);
          }
          if (model.count(key) != 0) add(key, model[key], n);
          break;
        default:
          if (is_own) {
            under_test.visit(
                key, [](context&, const int& k, int& value, int more) { add(k, value, more); }, n);
          }
          add(key, model[key], n);
      }
    }
  }
  rt.wait_quiescence();
  EXPECT_EQ(under_test.size(), model.size());
  const int key = static_cast<int>(seed % 40 * 64);
  EXPECT_EQ(under_test.find(key).value_or(-1), model.count(key) != 0 ? model[key] : -1);
  const auto all = under_test.gather(rank_id(0));
  if (rt.rank().value() == 0) {
    EXPECT_EQ((std::map<int, int>(all.begin(), all.end())), model);
  }
  int sum = 0;
  for (const auto& [k, value] : model) sum ^= value;
  EXPECT_EQ(under_test.reduce(std::bit_xor<>{}), sum);
}

/// Visits make operations on the same container and on another one, and these again.
void visits_that_visit(runtime& rt, std::uint64_t seed) {
  nacre::map<std::string, std::uint64_t> under_test(rt);
  nacre::counting_set<int> levels(rt);
  struct grow {
    static void branch(context& ctx, const map_handle<std::string, std::uint64_t>& tree,
                       const counting_set_handle<int>& seen, const std::string& name, int depth) {
      seen.insert(ctx, depth);
      if (depth == 0) return;
      for (const char side : {'l', 'r'}) {
        tree.visit(
            ctx, name + side,
            [](context& inner, const std::string& key, std::uint64_t& visits,
               map_handle<std::string, std::uint64_t> next, counting_set_handle<int> counts, int left) {
              ++visits;
              branch(inner, next, counts, key, left);
            },
            tree, seen, depth - 1);
      }
    }
  };
  rt.send(
      next_of(rt),
      [](context& ctx, map_handle<std::string, std::uint64_t> tree, counting_set_handle<int> seen, std::string root) {
        grow::branch(ctx, tree, seen, root, 7);
      },
      under_test.handle(), levels.handle(), std::to_string(seed));
  rt.wait_quiescence();
  EXPECT_EQ(under_test.size(), 254U);
  EXPECT_EQ(under_test.reduce(std::plus<>{}), 254U * rt.size());
  for (int depth = 0; depth <= 7; ++depth) EXPECT_EQ(levels.count(depth), rt.size() << (7 - depth));
}

void bags_and_multimaps(runtime& rt, std::uint64_t seed) {
  nacre::bag<std::vector<std::uint64_t>> lists(rt);
  nacre::multimap<std::string, int> many(rt);
  const std::uint32_t own_rank = rt.rank().value();
  for (std::uint64_t i = 0; i < 100; ++i) {
    lists.insert(std::vector<std::uint64_t>(i % 7, seed + i));
    many.insert("key" + std::to_string(i % 10), static_cast<int>(i));
  }
  many.visit("key3", [](const std::string&, int& value) { value = -1; });
  if (own_rank == 0) many.erase("none");
  rt.wait_quiescence();
  EXPECT_EQ(lists.size(), 100U * rt.size());
  EXPECT_EQ(many.size(), 100U * rt.size());
  EXPECT_EQ(many.count("key3"), 10U * rt.size());
  EXPECT_EQ(many.find("key3"), std::vector<int>(10U * rt.size(), -1));
  std::uint64_t seen = 0;
  lists.for_all([&](const std::vector<std::uint64_t>& list) { seen += list.size(); });
  std::uint64_t sent = 0;
  for (std::uint64_t i = 0; i < 100; ++i) sent += i % 7;
  EXPECT_EQ(rt.all_reduce(seen, std::plus<>{}), sent * rt.size());
  nacre::bag<std::vector<std::uint64_t>> empty(rt);
  lists.swap(empty);
  EXPECT_EQ(lists.size(), 0U);
  EXPECT_EQ(empty.size(), 100U * rt.size());
  empty.clear();
  EXPECT_EQ(empty.size(), 0U);
}

void sets_are_united(runtime& rt, std::uint64_t seed) {
  nacre::disjoint_set<int> under_test(rt);
  std::map<int, int> model;
  const std::function<int(int)> root = [&](int index) { return model[index] == index ? index : root(model[index]); };
  for (std::uint32_t rank = 0; rank < rt.size(); ++rank) {
    rng random = random_of(seed, rank);
    for (int i = 0; i < 60; ++i) {
      const int a = static_cast<int>(random.below(150)), b = static_cast<int>(random.below(150));
      if (rank == rt.rank().value()) i % 2 == 0 ? under_test.union_(a, b) : under_test.unite(a, b);
      model.emplace(a, a);
      model.emplace(b, b);
      model[root(a)] = root(b);
    }
  }
  rt.wait_quiescence();
  std::set<int> roots;
  for (const auto& [item, parent] : model) roots.insert(root(item));
  EXPECT_EQ(under_test.num_sets(), roots.size());
  EXPECT_EQ(under_test.size(), model.size());
  EXPECT_EQ(under_test.count(0), model.count(0));
  EXPECT_EQ(under_test.count(150), 0U);
  std::vector<int> items;
  for (const auto& [item, parent] : model) items.push_back(item);
  const auto table = under_test.all_find(items);
  EXPECT_EQ(table.size(), model.size());
  for (const int a : items) {
    for (const int b : items) EXPECT_EQ(table.at(a) == table.at(b), root(a) == root(b)) << a << " " << b;
  }
  EXPECT_EQ(under_test.find(-1), std::nullopt);
}

/// Operations that for_all makes on its own container, and that other ranks make meanwhile, run after it.
void operations_wait_for_the_end_of_for_all(runtime& rt, std::uint64_t seed) {
  nacre::map<std::uint64_t, std::uint64_t> under_test(rt);
  for (std::uint64_t i = 0; i < 50; ++i) under_test.insert(i, seed);
  rt.wait_quiescence();
  std::uint64_t seen = 0;
  under_test.for_all([&](const std::uint64_t& key, std::uint64_t& value) {
    EXPECT_EQ(value, seed);
    under_test.insert(key + 1000, seed);
    under_test.visit(key, [](const std::uint64_t&, std::uint64_t& index) { index += 1; });
    ++seen;
  });
  rt.wait_quiescence();
  EXPECT_EQ(rt.all_reduce(seen, std::plus<>{}), 50U);
  EXPECT_EQ(under_test.size(), 100U);
  EXPECT_EQ(under_test.reduce(std::plus<>{}), 100 * seed + 50);
}

/// A rank that is past its for_all neither overtakes its own operations, which the others set aside until theirs ends,
/// nor sees a value that they have not changed yet.
void for_all_of_a_slow_rank_is_whole(runtime& rt, std::uint64_t) {
  nacre::map<std::uint64_t, std::uint64_t> numbers(rt), in_order(rt);
  constexpr std::uint64_t keys = 32, rounds = 20, visits = 150;
  for (std::uint64_t key = 0; key < keys; ++key) numbers.insert(key, 0);
  rt.wait_quiescence();
  const std::uint64_t first_key = rt.rank().value() * keys;
  std::uint64_t next = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const bool slow = rt.rank().value() == round % rt.size();
    const auto pause = [&] {
      for (int i = 0; i < (slow ? 2000 : 0); ++i) static_cast<void>(rt.now());
    };
    in_order.for_all([&](const std::uint64_t&, std::uint64_t&) { pause(); });
    for (std::uint64_t i = 0; i < visits; ++i, ++next) {
      for (std::uint64_t key = first_key; key < first_key + 4; ++key) {
        in_order.visit(
            key,
            [](const std::uint64_t&, std::uint64_t& value, std::uint64_t number) {
              value = value == number ? number + 1 : ~std::uint64_t{0};
            },
            next);
      }
    }
    numbers.for_all([&](const std::uint64_t&, std::uint64_t& value) {
      pause();
      ++value;
    });
    EXPECT_EQ(numbers.find(round % keys), round + 1);
  }
  rt.wait_quiescence();
  in_order.for_all([&](const std::uint64_t&, std::uint64_t& value) { EXPECT_EQ(value, next); });
}

static_assert(sizeof(map_handle<int, int>) == sizeof(std::uint32_t) && sizeof(bag_handle<int>) == sizeof(std::uint32_t),
              "a handle has no number of ranks: it may change");

/// An error of a collective in a handler reaches the caller; so does a handle whose container has ended.
void misuse_is_told(runtime& rt, std::uint64_t) {
  counting_set_handle<std::string> ended;
  EXPECT_THROW(ended.insert(rt, "x"), usage_error);
  {
    nacre::counting_set<std::string> words(rt);
    ended = words.handle();
    words.insert("x");
    rt.wait_quiescence();
    bool told = false;
    try {
      words.for_all([&](const std::string&, std::uint64_t) { rt.wait_quiescence(); });
    } catch (const usage_error&) {
      told = true;
    }
    EXPECT_TRUE(rt.all_reduce(told, std::logical_or<>{}));
    words.for_all([](const std::string&, std::uint64_t) {});
    nacre::counting_set<std::string> moved(std::move(words));
    EXPECT_THROW(words.insert("y"), usage_error);
    EXPECT_EQ(moved.size(), 1U);
  }
  EXPECT_THROW(ended.insert(rt, "x"), usage_error);
  EXPECT_THROW(ended.visit(rt, "x", [](const std::string&, std::uint64_t&) {}), usage_error);
  map_handle<int, int> none;
  EXPECT_THROW(none.erase(rt, 1), usage_error);
  bag_handle<int> no_bag;
  EXPECT_THROW(no_bag.insert(rt, 1), usage_error);
  rt.barrier();
}

constexpr std::array containers_table{
    scenario{"a_map_is_a_map", map_as_a_map},
    scenario{"visits_make_visits", visits_that_visit},
    scenario{"bags_and_multimaps_keep_all", bags_and_multimaps},
    scenario{"sets_are_united", sets_are_united},
    scenario{"operations_wait_for_the_end_of_for_all", operations_wait_for_the_end_of_for_all},
    scenario{"for_all_of_a_slow_rank_is_whole", for_all_of_a_slow_rank_is_whole},
    scenario{"misuse_of_containers_is_told", misuse_is_told},
};

}  // namespace

std::span<const scenario> container_scenarios() { return containers_table; }

}  // namespace nacre::tests
