// SPDX-License-Identifier: Apache-2.0
// Jobs that go on from an image on another number of ranks, and again on that: sections, and much data.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nacre/containers/bag.hpp>
#include <nacre/containers/map.hpp>
#include <nacre/nacre.hpp>

#include "alike/cells.hpp"
#include "image_jobs.hpp"

namespace nacre::tests {
namespace {

struct sum {
  std::uint64_t value = 0;
  void take(std::uint64_t, std::uint64_t all) { value += all; }
  std::uint64_t result() const { return value; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(value);
  }
};
struct house {
  void give(context& ctx, section_ptr some, std::uint64_t step, mobile_ptr<sum> target) const {
    ctx.contribute<&sum::take>(some, step, std::uint64_t{1}, std::plus<>{}, target);
  }
  template <class Archive>
  void serialize(Archive&) {}
};
struct suburb {
  array_ptr<house> houses;
  section_ptr some;  // every third house
  mobile_ptr<sum> bank;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(houses, some, bank);
  }
};

constexpr std::int64_t places = 48;

struct a_resized_job : images_of {};

/// Homes of the array are reckoned, as the job was resized before it was made.
TEST_F(a_resized_job, finds_the_sections_of_arrays_that_it_has_made_since) {
  ASSERT_EQ(run(writing(options("inproc", 4)), [](runtime& rt) { EXPECT_TRUE(rt.checkpoint(suburb())); }), 0);
  ASSERT_EQ(
      run(restoring(writing(options("inproc", 3))),
          [](runtime& rt) {
            suburb all = *rt.restored<suburb>();
            all.houses = rt.create_array<house>(extents{places}, [](index) { return house(); });
            if (rt.rank().value() == 0) {
              all.bank = rt.create<sum>();
              all.some =
                  rt.create_section(section(all.houses, [](const index& place) { return place[0] % 3 == 0; })).get();
            }
            all = rt.broadcast(all, rank_id(0));
            EXPECT_TRUE(rt.checkpoint(all));
          }),
      0);
  for (const std::uint32_t ranks : {3U, 2U, 5U}) {
    EXPECT_EQ(run(restoring(options("inproc", ranks)),
                  [](runtime& rt) {
                    const suburb all = *rt.restored<suburb>();
                    if (rt.rank().value() == 0) {
                      for (std::int64_t place = 0; place < places; place += 3) {
                        rt.send<&house::give>(all.houses[place], all.some, std::uint64_t{0}, all.bank);
                      }
                    }
                    rt.wait_quiescence();
                    EXPECT_EQ(rt.call<&sum::result>(all.bank).get(), places / 3);
                    rt.barrier();
                  }),
              0)
        << ranks;
  }
}

struct stored {
  bag_handle<std::string> texts;
  map_handle<int, std::string> named;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(texts, named);
  }
};

constexpr std::size_t length = 1 << 20;
constexpr int count = 60;

/// More for one rank than goes into a message with the elements of containers.
TEST_F(a_resized_job, has_all_elements_of_large_containers) {
  ASSERT_EQ(run(writing(options("inproc", 2)),
                [](runtime& rt) {
                  bag<std::string> texts(rt);
                  map<int, std::string> named(rt);
                  for (int number = 0; rt.rank().value() == 0 && number < count; ++number) {
                    texts.insert(std::string(length, static_cast<char>(number)));
                    named.insert(number, std::string(length, static_cast<char>(number)));
                  }
                  rt.wait_quiescence();
                  EXPECT_TRUE(rt.checkpoint(stored{texts.handle(), named.handle()}));
                }),
            0);
  EXPECT_EQ(run(restoring(options("inproc", 1)),
                [](runtime& rt) {
                  const stored state = *rt.restored<stored>();
                  bag<std::string> texts(rt, state.texts);
                  map<int, std::string> named(rt, state.named);
                  EXPECT_EQ(texts.size(), count);
                  EXPECT_EQ(named.size(), count);
                  int right = 0;
                  named.for_all([&](int key, const std::string& text) {
                    right += text == std::string(length, static_cast<char>(key)) ? 1 : 0;
                  });
                  EXPECT_EQ(right, count);
                }),
            0);
}

struct alike {
  object_id first, second;
  std::vector<std::byte> first_collections, second_collections;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(first, second, first_collections, second_collections);
  }
};

/// The handlers and classes of both files have equal names, readable and mangled.
TEST_F(a_resized_job, tells_classes_of_one_name_apart) {
  ASSERT_EQ(run(writing(options("inproc", 2)),
                [](runtime& rt) {
                  alike made;
                  if (rt.rank().value() == 0) made = {make_first(rt), make_second(rt), {}, {}};
                  made = rt.broadcast(made, rank_id(0));
                  made.first_collections = make_first_collections(rt);
                  made.second_collections = make_second_collections(rt);
                  rt.wait_quiescence();
                  EXPECT_TRUE(rt.checkpoint(made));
                }),
            0);
  for (const std::uint32_t ranks : {1U, 2U}) {
    EXPECT_EQ(run(restoring(options("inproc", ranks)),
                  [](runtime& rt) {
                    const alike made = *rt.restored<alike>();
                    EXPECT_EQ(first_value(rt, made.first), 1);
                    EXPECT_EQ(second_value(rt, made.second), 2);
                    EXPECT_EQ(first_sum(rt, made.first_collections), 14);
                    EXPECT_EQ(second_sum(rt, made.second_collections), 28);
                    rt.barrier();
                  }),
              0);
  }
}

}  // namespace
}  // namespace nacre::tests
