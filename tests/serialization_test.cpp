// SPDX-License-Identifier: Apache-2.0
// --nacre.check_serialization finds on one rank what else only a migration would lose.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <vector>

#include <nacre/nacre.hpp>

#include "scenarios/scenarios.hpp"

namespace nacre::tests {
namespace {

config settings(int ranks, const char* transport = "inproc") {
  config configuration;
  configuration.set("transport", transport);
  configuration.set("ranks", std::to_string(ranks));
  configuration.set("workers", "2");
  configuration.set("balancer", "none");  // the scenarios say where objects are
  configuration.set("check_serialization", "true");
  return configuration;
}

/// Each class but the last is wrong in another way, once it is not empty any more.
struct swapped {
  std::uint32_t a = 0, b = 0;
  void fill() { a = 1, b = 2; }
  template <class Archive>
  void save(Archive& ar) const {
    ar(a, b, a);
  }
  template <class Archive>
  void load(Archive& ar) {
    ar(b, a, b);
  }
};
struct forgotten {
  int kept = 0, lost = 0;
  void fill() { kept = lost = 1; }
  friend bool operator==(const forgotten&, const forgotten&) = default;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(kept);
  }
};
struct half_read {
  std::vector<int> all;
  void fill() { all.assign(3, 7); }
  template <class Archive>
  void save(Archive& ar) const {
    ar(all, all);
  }
  template <class Archive>
  void load(Archive& ar) {
    ar(all);
  }
};
struct growing {
  std::string text;
  void fill() { text = "more"; }
  template <class Archive>
  void save(Archive& ar) const {
    ar(text);
  }
  template <class Archive>
  void load(Archive& ar) {
    ar(text);
    if (!text.empty()) text += "and more";
  }
};
struct unreadable {
  std::vector<int> all;
  void fill() { all.assign(3, 7); }
  template <class Archive>
  void save(Archive& ar) const {
    ar(static_cast<std::uint8_t>(all.size()));
  }
  template <class Archive>
  void load(Archive& ar) {
    std::uint8_t size = 0;
    ar(size);
    if (size != 0) ar(all);
  }
};
struct sound {
  std::unordered_map<std::string, int> numbers;
  double none = 0;
  int lost = 0;
  bool rooted = false;
  void fill() {
    for (int index = 0; index < 100; ++index) numbers["number " + std::to_string(index)] = index;
    none = 0.0 / none;
    lost = 1;
  }
  void root() { rooted = true, lost = 2; }
  [[nodiscard]] std::size_t size() const { return numbers.size() + 1000 * static_cast<std::size_t>(lost); }
  [[nodiscard]] bool may_migrate() const { return !rooted; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(numbers, none, rooted);
  }
};

template <class T>
void job() {
  std::exit(run(settings(1), [](runtime& rt) { rt.send<&T::fill>(rt.create<T>()); }));
}

TEST(serialization_death, an_object_that_changes_on_its_way_ends_the_job_and_its_class_is_named) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto ended = testing::ExitedWithCode(1);
  EXPECT_EXIT(job<swapped>(), ended, "class .*swapped is not the same .*byte 0 of its packed form");
  EXPECT_EXIT(job<forgotten>(), ended,
              "class .*forgotten is not the same .*not equal to its copy: is a member left out");
  EXPECT_EXIT(job<half_read>(), ended, "class .*half_read is not the same .*packs more than is read");
  EXPECT_EXIT(job<growing>(), ended, "class .*growing is not the same .*packs to 8 bytes, and its copy to 16");
  EXPECT_EXIT(job<unreadable>(), ended, "class .*unreadable is not the same .*cannot be unpacked");
}

struct parcel {
  int kept = 0, lost = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(kept);
  }
};
int open(const parcel& parcel, const std::string&) { return parcel.kept + 10 * parcel.lost; }

TEST(serialization, what_a_class_forgets_is_lost_on_one_rank_too) {
  EXPECT_EQ(run(settings(1),
                [](runtime& rt) {
                  EXPECT_EQ(rt.call<open>(rt.rank(), parcel{1, 1}, "here").get(), 1) << "an argument";
                  const auto p = rt.create<sound>();
                  rt.send<&sound::fill>(p);
                  EXPECT_EQ(rt.call<&sound::size>(p).get(), 100U) << "an unordered container and a NaN are well";
                  rt.with_exclusive(p, [](sound& mine) { mine.lost = 3; });
                  EXPECT_EQ(rt.call<&sound::size>(p).get(), 100U) << "what main has left";
                  rt.send<&sound::root>(p);
                  EXPECT_EQ(rt.call<&sound::size>(p).get(), 2100U) << "an object that stays is left alone";
                }),
            0);
}

/// A class that is packed as its bytes, with an address among them.
struct pointing {
  int* target = nullptr;
  int number = 0;
  void fill() { number = 1; }
};
struct harmless {
  double numbers[3] = {};
  nacre::mobile_ptr<pointing> other;
  void fill() { numbers[1] = 1; }
};
int number_in(const pointing& pointing, int) { return pointing.number; }
double sum_of(const harmless& item, const std::vector<harmless>&) { return item.numbers[1]; }

std::string warned_of(const config& configuration) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(configuration,
                [](runtime& rt) {
                  const rank_id next{(rt.rank().value() + 1) % rt.size()};
                  for (int i = 0; i < 3; ++i) {
                    EXPECT_EQ(rt.call<number_in>(next, pointing{nullptr, i}, 0).get(), i);
                    EXPECT_EQ(rt.call<sum_of>(next, harmless{}, std::vector<harmless>(2)).get(), 0);
                  }
                  const auto p = rt.create<pointing>();
                  rt.send<&pointing::fill>(p);
                  rt.send<&harmless::fill>(rt.create<harmless>());
                  rt.wait_quiescence();
                  if (rt.size() > 1) rt.migrate(p, next).get();
                  rt.wait_quiescence();
                }),
            0);
  return testing::internal::GetCapturedStderr();
}

TEST(serialization, a_pointer_that_is_copied_as_bytes_is_told_once_where_it_may_point_to_nothing) {
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  const std::string checked = warned_of(settings(1));
  EXPECT_NE(checked.find("number_in has come from rank 0"), std::string::npos) << checked;
  EXPECT_NE(checked.find("an object of the class nacre::tests::"), std::string::npos) << checked;
  EXPECT_EQ(lines(checked), 2) << checked;
  config apart = settings(2, "sim");
  apart.set("check_serialization", "false");
  const std::string told = warned_of(apart);
  EXPECT_NE(told.find("rank 1: an argument of"), std::string::npos) << told;
  EXPECT_NE(told.find("has come from rank 0 with a pointer among its members"), std::string::npos) << told;
  EXPECT_EQ(lines(told), 4) << "two on each rank: " << told;
  config together = settings(2);
  together.set("check_serialization", "false");
  EXPECT_EQ(warned_of(together), "") << "it is handed over, and still points to what it did";
}

TEST(serialization, jobs_of_every_kind_go_on_as_ever_while_it_is_checked) {
  for (const auto subject : {call_scenarios, object_scenarios, lock_scenarios, colocation_scenarios, memory_scenarios,
                             withdrawal_scenarios, buffer_scenarios, array_scenarios, collective_scenarios}) {
    for (const scenario& each : subject()) {
      EXPECT_EQ(run(settings(3), [&](runtime& rt) { each.run(rt, 1); }), 0) << each.title;
      EXPECT_EQ(run(settings(3, "sim"), [&](runtime& rt) { each.run(rt, 1); }), 0) << each.title;
    }
  }
}

}  // namespace
}  // namespace nacre::tests
