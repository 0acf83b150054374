// SPDX-License-Identifier: Apache-2.0
// Results of many patches come in the time of a trip, not of one for each patch.
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include <gtest/gtest.h>
#include <nacre/nacre.hpp>

#include "parallel/gather.hpp"
#include "setup/description.hpp"

namespace waves {
namespace {

/// 32 patches, of which one has the receiver.
description wide_box() {
  description asked;
  asked.h = 1;
  asked.time = 1;
  asked.size = {15, 63, 31};
  asked.layers = 0;
  asked.material.layers = {{0, isotropic::of_speeds(2, 1, 1)}};
  asked.initial.random = true;
  asked.receivers = {{"a", {7, 60, 28}}};
  return asked;
}

/// Virtual seconds of two actions on rank 0.
struct durations {
  double trip = 0, all = 0;
};

/// Those of a call of the last patch, and of an action with a gatherer.
durations measured(const std::function<void(gatherer&)>& act) {
  const auto subject = std::make_shared<const problem>(make_problem(wide_box(), best_kernels()));
  nacre::config configuration;
  for (const auto& [name, value] : {std::pair{"transport", "sim"}, {"ranks", "32"}, {"balancer", "none"}}) {
    configuration.set(name, value);
  }
  durations result;
  EXPECT_EQ(nacre::run(configuration,
                       [&](nacre::runtime& rt) {
                         const auto worlds = rt.create_group<world>();
                         const cut parts = cut_into(subject->grid, 32);
                         rt.local(worlds).set(subject, parts, true);
                         rt.barrier();
                         const auto patches = rt.create_array<patch>(
                             nacre::extents{parts.z(), parts.y()},
                             [&](nacre::index index) {
                               return patch(worlds, static_cast<int>(index[1]), static_cast<int>(index[0]));
                             },
                             nacre::by_tile{});
                         if (rt.rank() != nacre::rank_id{0}) return;
                         EXPECT_EQ(parts.patches(), 32);
                         gatherer results(rt, patches, parts, *subject);
                         EXPECT_GT(results.bytes_per_point(), 0);  // which makes the fields
                         const double first = rt.now();
                         static_cast<void>(rt.call<&patch::bytes>(patches[{parts.z() - 1, parts.y() - 1}]).get());
                         const double second = rt.now();
                         act(results);
                         result = {second - first, rt.now() - second};
                       }),
            0);
  return result;
}

TEST(gatherer, asks_all_patches_at_once) {
  const durations errors = measured([](gatherer& results) { static_cast<void>(results.energy()); });
  EXPECT_GT(errors.trip, 0);
  EXPECT_LT(errors.all, 8 * errors.trip);
  const durations plane = measured([](gatherer& results) { static_cast<void>(results.plane('y', 20)); });
  EXPECT_LT(plane.all, 8 * plane.trip);
  const durations motions = measured([](gatherer& results) {
    const auto all = results.motions();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].components[2].values.size(), 1u);  // that at first
  });
  EXPECT_LT(motions.all, 4 * motions.trip);
}

}  // namespace
}  // namespace waves
