// SPDX-License-Identifier: Apache-2.0
// Images of jobs with keyed arrays: on another number of ranks the keys have other homes, and are found all the same.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "image_jobs.hpp"

namespace nacre::tests {
namespace {

struct keys_of_a_town : images_of {};

struct place_names {
  keyed_array_ptr<street, std::string> streets;
  int step = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(streets, step);
  }
};

/// Makes, finds and ends the elements of keys, from 3 ranks to others and on to 2; the homes go on giving places.
TEST_F(keys_of_a_town, are_kept_on_any_number_of_ranks) {
  const auto key_of = [](int number) { return "street " + std::to_string(number); };
  const auto go_on = [&](const config& configuration, int until) {
    return run(configuration, [&](runtime& rt) {
      auto names = rt.restored<place_names>().value_or(place_names{});
      if (!names.streets) names.streets = rt.create_array<street>(keyed_by<std::string>{}, sparse);
      rt.steps(names, until, [&](place_names& now) {
        std::vector<future<void>> done;
        for (int number = static_cast<int>(rt.rank().value()); number < 600; number += static_cast<int>(rt.size())) {
          const std::string key = key_of(number + 300 * now.step);  // half of them are there
          if (now.step == 0 || number >= 300) done.push_back(rt.insert(now.streets, key));
          rt.send<&street::drive>(now.streets[key], 1U);
          if (now.step > 0 && number < 300)
            done.push_back(rt.erase(now.streets, key_of(number + 300 * (now.step - 1))));
        }
        for (auto& each : done) EXPECT_NO_THROW(each.get());
      });
      std::uint64_t present_count = 0;
      for (int number = 0; number < 600; ++number)
        present_count += rt.call<&street::count>(names.streets[key_of(number + 300 * (until - 1))]).get() > 0 ? 1U : 0U;
      EXPECT_EQ(present_count, 600U);
      rt.wait_quiescence();
      std::uint64_t known = 0;  // of the keys whose elements have ended
      for (int number = 0; number < 300 * (until - 1); ++number)
        known += rt.element_of(names.streets, key_of(number)).get() ? 1U : 0U;
      EXPECT_LT(known, 1300U) << "some at a time are forgotten";
    });
  };
  for (const char* const transport : {"inproc", "sim"}) {
    for (const std::uint32_t ranks : {1U, 2U, 3U, 4U, 7U}) {
      std::filesystem::remove_all(folder);
      ASSERT_EQ(go_on(writing(options(transport, 3)), 3), 0);
      ASSERT_EQ(go_on(restoring(writing(options(transport, ranks))), 6), 0);
      ASSERT_EQ(go_on(restoring(options(transport, 2)), 9), 0);
    }
  }
}

}  // namespace
}  // namespace nacre::tests
