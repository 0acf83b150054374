// SPDX-License-Identifier: Apache-2.0
// Images of jobs: a job that goes on from one ends as the job that was never interrupted, and what cannot be saved, or
// does not fit, is refused with a line.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <nacre/containers/bag.hpp>
#include <nacre/containers/counting_set.hpp>
#include <nacre/containers/disjoint_set.hpp>
#include <nacre/containers/map.hpp>
#include <nacre/containers/multimap.hpp>
#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"
#include "image_jobs.hpp"

namespace nacre::tests {
namespace {

/// A part of a town: moves now and then, keeps messages for later steps, and adds up in a section.
struct house {
  std::vector<double> rooms = std::vector<double>(50, 1.0);
  std::int64_t place = 0;
  int steps = 0;
  std::uint64_t heard = 0;
  mobile_ptr<house> neighbour;

  void live(context& ctx, int step) {
    for (double& each : rooms) each = each * 1.01 + step * 1e-3;
    ++steps;
    ctx.send<&house::letter>(neighbour, static_cast<std::uint64_t>(step) + 2, static_cast<std::uint64_t>(steps));
    if ((steps + static_cast<int>(ctx.self<house>().id().index())) % 3 == 0) {
      static_cast<void>(ctx.migrate(ctx.self<house>(), rank_id((ctx.rank().value() + 1) % ctx.size())));
    }
  }
  awaited<std::uint64_t> letter(std::uint64_t, std::uint64_t value) {
    heard = heard * 3 + value;
    return value;
  }
  /// Reads the letter of two steps ago, which has been kept meanwhile.
  task<void> read(context& ctx, std::uint64_t step) { co_await ctx.next<&house::letter>(step); }
  double sum() const { return std::accumulate(rooms.begin(), rooms.end(), 0.0) + steps + static_cast<double>(heard); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(rooms, place, steps, heard, neighbour);
  }
};

/// The sums that houses of a section give, each when all have given theirs.
struct bank {
  std::vector<double> sums;
  void receive(context&, std::uint64_t, double sum) { sums.push_back(sum); }
  double all() const { return std::accumulate(sums.begin(), sums.end(), 0.0); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(sums);
  }
};

struct town {
  array_ptr<house> houses;
  std::vector<mobile_ptr<house>> lone;  // one made on each rank
  group_ptr<mayor> mayors;
  keyed_array_ptr<street, std::string> streets;
  map_handle<int, double> map;
  counting_set_handle<std::string> words;
  multimap_handle<int, std::string> lists;
  bag_handle<std::uint64_t> bag;
  disjoint_set_handle<int> quarters;
  mobile_ptr<bank> own_bank;
  section_ptr even;  // every other house
  mobile_ptr<bank> even_bank;
  bool resizes = false;  // only rank 0 acts
  int step = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(houses, lone, mayors, streets, map, words, lists, bag, quarters, own_bank, even, even_bank, resizes, step);
  }
};

void build(runtime& rt, town& town) {
  town.houses = rt.create_array<house>(extents{24}, [&](index place) {
    house one;
    one.rooms[0] = static_cast<double>(place[0]);
    one.place = place[0];
    return one;
  });
  town.mayors = rt.create_group<mayor>();
  town.streets = rt.create_array<street>(keyed_by<std::string>{.home = [](const std::string& key, std::uint32_t ranks) {
    return static_cast<std::uint32_t>(key.back()) % ranks;
  }});
  town.lone = rt.all_gather(rt.create<house>());
  town.own_bank = rt.broadcast(rt.rank().value() == 0 ? rt.create<bank>() : mobile_ptr<bank>(), rank_id(0));
  town.even_bank = rt.broadcast(rt.rank().value() == 0 ? rt.create<bank>() : mobile_ptr<bank>(), rank_id(0));
  if (rt.rank().value() == 0)
    town.even =
        rt.create_section(section(town.houses, [](const index& position) { return position[0] % 2 == 0; })).get();
  town.even = rt.broadcast(town.even, rank_id(0));
  if (rt.rank().value() != 0) return;
  for (std::int64_t number = 0; number < 24; ++number) {
    rt.send(
        town.houses[{number}], [](house& one, mobile_ptr<house> next) { one.neighbour = next; },
        town.houses[{(number + 1) % 24}]);
  }
  for (const mobile_ptr<house>& each : town.lone) {
    rt.send(
        each, [](house& one, mobile_ptr<house> next) { one.neighbour = next; }, town.lone.front());
  }
}

/// A step in the life of the town, from all mains.
void live(runtime& rt, town& town, map<int, double>& values, counting_set<std::string>& words,
          multimap<int, std::string>& lists, bag<std::uint64_t>& numbers, disjoint_set<int>& quarters) {
  const auto rank = static_cast<int>(rt.rank().value());
  const auto step = static_cast<std::uint64_t>(town.step);
  if (town.resizes && rank != 0) return;
  rt.send<&mayor::vote>(town.mayors[rank_id((rt.rank().value() + 1) % rt.size())], step);
  rt.send<&street::drive>(town.streets["street " + std::to_string(town.step % 7)], step + 1);
  values.insert_or_assign(town.step % 5 + 10 * rank, town.step);
  words.insert("word " + std::to_string(town.step % 4));
  lists.insert(town.step % 3, "x");
  numbers.insert(step);
  quarters.union_(town.step, town.step / 2);
  if (rank != 0) return;
  rt.send<&house::live>(town.houses, town.step);
  for (const mobile_ptr<house>& each : town.lone) rt.send<&house::live>(each, town.step);
  if (town.step >= 2) rt.send<&house::read>(town.houses, step);
  rt.send(
      town.houses,
      [](house& one, context& ctx, std::uint64_t number, mobile_ptr<bank> object) {
        ctx.contribute<&bank::receive>(number, one.sum(), std::plus<>{}, object);
      },
      step, town.own_bank);
  rt.send(
      town.houses,
      [](house& one, context& ctx, std::uint64_t number, section_ptr even, mobile_ptr<bank> object) {
        if (one.place % 2 == 0) ctx.contribute<&bank::receive>(even, number, one.sum(), std::plus<>{}, object);
      },
      step, town.even, town.even_bank);
}

/// The state of a town as text.
std::string text_of(runtime& rt, town& town, map<int, double>& values, counting_set<std::string>& words,
                    multimap<int, std::string>& lists, bag<std::uint64_t>& numbers, disjoint_set<int>& quarters) {
  double lone = 0;
  for (const mobile_ptr<house>& each : town.lone) lone += rt.call<&house::sum>(each).get();
  std::uint64_t cars = 0;
  for (int street_number = 0; street_number < 7; ++street_number) {
    cars = cars * 31 + rt.call<&street::count>(town.streets["street " + std::to_string(street_number)]).get();
  }
  std::vector<std::uint64_t> votes{rt.reduce<&mayor::result>(town.mayors, std::plus<>{}).get()};
  for (std::uint32_t rank = 0; rank < rt.size() && !town.resizes; ++rank)
    votes.push_back(rt.call<&mayor::result>(town.mayors[rank_id(rank)]).get());
  std::string text = std::to_string(rt.reduce<&house::sum>(town.houses, std::plus<>{}).get());
  text += " " + std::to_string(lone) + " " + std::to_string(rt.call<&bank::all>(town.own_bank).get());
  text += " even " + std::to_string(rt.call<&bank::all>(town.even_bank).get());
  text += " cars " + std::to_string(cars) + " votes";
  for (const std::uint64_t each : votes) text += " " + std::to_string(each);
  text += " map " + std::to_string(values.size()) + " " + std::to_string(values.reduce(std::plus<>{}));
  text += " words " + std::to_string(words.count("word 1")) + " lists " + std::to_string(lists.size());
  text += " bag " + std::to_string(numbers.reduce(std::plus<>{})) + " of " + std::to_string(numbers.size());
  text += " quarters " + std::to_string(quarters.num_sets()) + " of " + std::to_string(quarters.size());
  return text;
}

struct result {
  int code = 0;
  std::string text;   ///< of rank 0
  int begun_at = -1;  ///< step
  std::uint64_t images = 0;
};

constexpr int end_of_town = 12;  // steps

result run_town(config configuration, int steps, bool resizes = false) {
  result all;
  all.code = run(std::move(configuration), [&](runtime& rt) {
    town state = rt.restored<town>().value_or(town{});
    if (rt.rank().value() == 0) all.begun_at = state.step;
    if (!state.houses) {
      state.resizes = resizes;
      build(rt, state);
    }
    map<int, double> values(rt, state.map);
    state.map = values.handle();
    counting_set<std::string> words(rt, state.words);
    state.words = words.handle();
    multimap<int, std::string> lists(rt, state.lists);
    state.lists = lists.handle();
    bag<std::uint64_t> numbers(rt, state.bag);
    state.bag = numbers.handle();
    disjoint_set<int> quarters(rt, state.quarters);
    state.quarters = quarters.handle();
    rt.steps(state, steps, [&](town& now) { live(rt, now, values, words, lists, numbers, quarters); });
    const std::string text = text_of(rt, state, values, words, lists, numbers, quarters);
    if (rt.rank().value() == 0 && steps == end_of_town) rt.destroy_section(state.even).get();
    if (rt.rank().value() == 0) all.text = text;
  });
  return all;
}

struct a_town : images_of {};

TEST_F(a_town, goes_on_as_if_it_had_never_been_interrupted) {
  for (const char* const transport : {"inproc", "sim"}) {
    for (const std::uint32_t ranks : {1U, 3U}) {
      const result whole = run_town(options(transport, ranks), 12);
      ASSERT_EQ(whole.code, 0);
      for (const int stop : {1, 5, 9}) {
        std::filesystem::remove_all(folder);
        ASSERT_EQ(run_town(writing(options(transport, ranks)), stop).code, 0);
        const result rest = run_town(restoring(options(transport, ranks)), 12);
        EXPECT_EQ(rest.code, 0);
        EXPECT_EQ(rest.begun_at, stop) << "the last image is of the end";
        EXPECT_EQ(rest.text, whole.text) << transport << ", " << ranks << " ranks, interrupted after " << stop;
      }
    }
  }
}

TEST_F(a_town, may_be_interrupted_again_and_again_under_any_seed) {
  for (int seed = 1; seed <= static_cast<int>(rounds_in_one_thread(20)); ++seed) {
    const std::uint32_t ranks = 1 + static_cast<std::uint32_t>(seed) % 5;
    config configuration = options("sim", ranks);
    configuration.set("seed", seed);
    const result whole = run_town(configuration, 8);
    std::filesystem::remove_all(folder);
    for (const int stop : {3, 4, 7}) ASSERT_EQ(run_town(restoring(writing(configuration)), stop).code, 0);
    const result rest = run_town(restoring(configuration), 8);
    EXPECT_EQ(rest.begun_at, 7);
    EXPECT_EQ(rest.text, whole.text) << seed;
  }
}

/// From 4 ranks to another number, and on to 3.
TEST_F(a_town, goes_on_on_any_number_of_ranks) {
  for (const char* const transport : {"inproc", "sim"}) {
    const result whole = run_town(options(transport, 4), 12, true);
    for (const std::uint32_t ranks : {1U, 2U, 3U, 4U, 5U, 7U}) {
      std::filesystem::remove_all(folder);
      ASSERT_EQ(run_town(writing(options(transport, 4)), 5, true).code, 0);
      const result middle = run_town(restoring(writing(options(transport, ranks))), 8);
      ASSERT_EQ(middle.code, 0);
      EXPECT_EQ(middle.begun_at, 5);
      const result rest = run_town(restoring(options(transport, 3)), 12);
      EXPECT_EQ(rest.begun_at, 8);
      EXPECT_EQ(rest.text, whole.text) << transport << ", by way of " << ranks << " ranks";
    }
  }
}

TEST_F(a_town, goes_on_from_the_image_before_when_the_newest_is_damaged) {
  const config configuration = options("inproc", 2);
  const result whole = run_town(configuration, 8);
  config packed = writing(configuration);
  packed.set("checkpoint.compression", "zstd");
  ASSERT_EQ(run_town(packed, 6).code, 0);
  const std::string newest = folder + "/life-000001/image-000006/rank-00001";
  std::fstream file(newest, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(100);
  file.put('\x5a');
  file.close();
  testing::internal::CaptureStderr();
  const result rest = run_town(restoring(configuration), 8);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(rest.begun_at, 5);
  EXPECT_EQ(rest.text, whole.text);
  EXPECT_NE(said.find(newest + " is damaged"), std::string::npos) << said;
}

TEST_F(a_town, begins_anew_in_a_folder_without_an_image) {
  testing::internal::CaptureStderr();
  const result all = run_town(restoring(options("inproc", 2)), 2);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(all.begun_at, 0);
  EXPECT_NE(said.find("begins anew"), std::string::npos) << said;
}

TEST_F(a_town, keeps_the_containers_that_nobody_has_taken_over_yet) {
  const config configuration = options("inproc", 2);
  const result whole = run_town(configuration, 4);
  ASSERT_EQ(run_town(writing(configuration), 3).code, 0);
  // Takes nothing over, and takes an image.
  ASSERT_EQ(
      run(restoring(writing(configuration)), [](runtime& rt) { EXPECT_TRUE(rt.checkpoint(*rt.restored<town>())); }), 0);
  EXPECT_EQ(run_town(restoring(configuration), 4).text, whole.text);
}

}  // namespace
}  // namespace nacre::tests
