// SPDX-License-Identifier: Apache-2.0
// Values that lie at multiples of 64 or 128, as those of vector registers do: arguments, results, members, elements.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nacre/containers/map.hpp>
#include <nacre/nacre.hpp>

#include "small_jobs.hpp"

namespace {

using nacre::rank_id;

struct alignas(64) wide {
  double values[8]{};
};

template <class T>
bool is_aligned(const T& value) {
  return reinterpret_cast<std::uintptr_t>(&value) % alignof(T) == 0;
}

/// An argument that is no plain bytes.
struct alignas(128) named_wide {
  wide value;
  std::string name;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(value, name);
  }
};

double sum_of(wide by_value, const wide& by_reference) {
  return is_aligned(by_value) && is_aligned(by_reference) ? by_value.values[0] + by_reference.values[7] : -1;
}
wide doubled(const wide& value) {
  wide result = value;
  result.values[3] *= 2;
  return result;
}
std::string name_of(int count, named_wide value) {
  return is_aligned(value) && is_aligned(value.value) ? value.name + std::to_string(count) : "misaligned";
}
named_wide renamed(named_wide value, const std::string& name) {
  value.name += name;
  return value;
}

struct alignas(128) holder {
  wide one;
  std::vector<wide> many;
  std::optional<wide> maybe;

  void fill() {
    one.values[3] = 3;
    many.resize(5);
    maybe.emplace();
  }
  bool is_sound() const {
    return is_aligned(*this) && is_aligned(one) && many.size() == 5 && is_aligned(many[4]) && maybe &&
           is_aligned(*maybe) && one.values[3] == 3;
  }
  wide get() const { return one; }
  void set(wide value) { one = value; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(one, many, maybe);
  }
};

class alignment : public testing::TestWithParam<const char*> {};

TEST_P(alignment, of_arguments_and_results_is_kept) {
  nacre::tests::run_on_two_ranks(GetParam(), [](nacre::runtime& rt) {
    if (rt.rank() != rank_id{0}) return;
    wide value;
    value.values[0] = 1;
    value.values[3] = 5;
    value.values[7] = 2;
    for (const rank_id target : {rank_id{0}, rank_id{1}}) {
      EXPECT_EQ(rt.call<sum_of>(target, value, value).get(), 3);
      auto result = rt.call<doubled>(target, value);
      result.wait();
      const wide product = result.get();
      EXPECT_EQ(product.values[3], 10);
      EXPECT_EQ(rt.call<name_of>(target, 7, named_wide{value, "seven"}).get(), "seven7");
      const named_wide again = rt.call<renamed>(target, named_wide{value, "re"}, "named").get();
      EXPECT_EQ(again.name, "renamed");
      EXPECT_EQ(again.value.values[7], 2);
      EXPECT_EQ(rt.call(
                      target, [](wide given) { return is_aligned(given); }, value)
                    .get(),
                true);
    }
  });
}

TEST_P(alignment, of_objects_and_their_members_is_kept_when_they_move) {
  nacre::tests::run_on_two_ranks(GetParam(), [](nacre::runtime& rt) {
    if (rt.rank() != rank_id{0}) return;
    const auto object = rt.create<holder>();
    rt.send<&holder::fill>(object);
    for (std::uint32_t move = 1; move < 6; ++move) {
      rt.migrate(object, rank_id{move % 2}).get();
      EXPECT_TRUE(rt.call<&holder::is_sound>(object).get());
      EXPECT_EQ(rt.call<&holder::get>(object).get().values[3], 3);
    }
    wide other;
    other.values[3] = 4;
    rt.send<&holder::set>(object, other);
    EXPECT_EQ(rt.call<&holder::get>(object).get().values[3], 4);
  });
}

TEST_P(alignment, of_elements_members_of_groups_and_values_of_containers_is_kept) {
  nacre::tests::run_on_two_ranks(GetParam(), [](nacre::runtime& rt) {
    const auto array = rt.create_array<holder>(nacre::extents{6});
    const auto group = rt.create_group<holder>();
    nacre::map<int, wide> map(rt);
    map.insert(static_cast<int>(rt.rank().value()), wide{});
    if (rt.rank() == rank_id{0}) {
      rt.send<&holder::fill>(array);
      rt.send<&holder::fill>(group);
    }
    rt.wait_quiescence();
    map.for_all([](const int&, wide& value) { EXPECT_TRUE(is_aligned(value)); });
    EXPECT_TRUE(is_aligned(rt.local(group)));
    wide mine;
    mine.values[2] = 1;
    const wide sum = rt.all_reduce(mine, [](wide a, const wide& b) {
      a.values[2] += b.values[2];
      return a;
    });
    EXPECT_EQ(sum.values[2], 2);
    if (rt.rank() == rank_id{0}) {
      EXPECT_TRUE(rt.reduce<&holder::is_sound>(array, std::logical_and<>{}).get());
      EXPECT_EQ(rt.call<&holder::get>(array[nacre::index{3}]).get().values[3], 3);
      EXPECT_EQ(rt.call<&holder::get>(group[rank_id{1}]).get().values[3], 3);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(over, alignment, testing::Values("inproc", "sim"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
