// SPDX-License-Identifier: Apache-2.0
// Ranks that send to elements of arrays elsewhere: what they learn, and what they may send while an array ends.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

namespace nacre {
namespace {

struct traveller {
  std::uint32_t met = 0;
  void meet() { ++met; }
  void go(context& ctx, std::uint32_t target) { ctx.migrate(ctx.self<traveller>(), rank_id(target)); }
  [[nodiscard]] std::uint64_t times() const { return met; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(met);
  }
};

config with(const char* transport, std::uint32_t ranks) {
  config configuration;
  configuration.set("transport", transport);
  configuration.set("ranks", std::to_string(ranks));
  configuration.set("workers", "1");
  configuration.set("balancer", "none");
  return configuration;
}

/// Sends each element to the rank behind its home.
void move_all(runtime& rt, const array_ptr<traveller>& all) {
  for (std::uint64_t each = 0; rt.rank().value() == 0 && each < all.shape().count(); ++each) {
    rt.send<&traveller::go>(all[{each}], (all.home_of({each}).value() + 1) % rt.size());
  }
  rt.wait_quiescence();
}

/// Hops of a message from each rank to each element that neither lives nor has lived there, after some rounds of them.
double hops_of_late_messages(const config& configuration) {
  double hops = 0;
  const int code = run(configuration, [&](runtime& rt) {
    const auto all = rt.create_array<traveller>(extents{1200});
    std::vector<mobile_ptr<traveller>> strangers;
    for (std::uint64_t each = 0; each < 1200; ++each) {
      const std::uint32_t home = all.home_of({each}).value(), next = (home + 1) % rt.size();
      if (rt.rank().value() != home && rt.rank().value() != next) strangers.push_back(all[{each}]);
    }
    for (const auto& each : strangers) rt.send<&traveller::meet>(each);
    rt.wait_quiescence();
    move_all(rt, all);
    for (int round = 0; round < 4; ++round) {
      const std::uint64_t previous = rt.counters().hops;
      for (const auto& each : strangers) rt.send<&traveller::meet>(each);
      rt.wait_quiescence();
      const auto result = static_cast<double>(rt.all_reduce(rt.counters().hops - previous, std::plus<>{}));
      const auto sent = static_cast<double>(rt.all_reduce(strangers.size(), std::plus<>{}));
      if (rt.rank().value() == 0) hops = result / sent;
    }
  });
  EXPECT_EQ(code, 0);
  return hops;
}

TEST(array_senders, go_on_sending_the_direct_way_to_more_moved_elements_than_a_rank_keeps_only_to_forward) {
  for (const char* policy : {"jump_update", "path_update", "broadcast_update", "home"}) {
    config configuration = with("sim", 4);
    configuration.set("location_cache", "16");
    configuration.set("location", policy);
    EXPECT_LE(hops_of_late_messages(configuration), 1.01) << policy;
  }
}

TEST(array_senders, a_name_with_a_wrong_home_holds_up_no_message_to_the_right_one) {
  std::atomic<int> refused = 0;
  std::uint64_t met = 0;
  const int code = run(with("sim", 3), [&](runtime& rt) {
    rt.on_delivery_error([&](const delivery_error&) { ++refused; });
    const auto all = rt.create_array<traveller>(extents{30});
    rt.barrier();
    if (rt.rank().value() == 2) {
      const object_id right = all[{0}].id();
      rt.send<&traveller::meet>(mobile_ptr<traveller>(object_id(rank_id(1), right.index())));
      rt.send<&traveller::meet>(all[{0}]);
    }
    rt.wait_quiescence();
    if (rt.rank().value() == 0) met = rt.reduce<&traveller::times>(all, std::plus<>{}).get();
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(met, 1U);
  EXPECT_EQ(refused, 1);
}

std::atomic<bool> stopped{false};

void keep_sending(context& ctx, array_ptr<traveller> array, std::uint64_t index) {
  if (stopped.load()) return;
  for (int each = 0; each < 64; ++each, index = (index + 7919) % array.shape().count())
    ctx.send<&traveller::meet>(array[{index}]);
  ctx.send<keep_sending>(ctx.rank(), array, index);
}

/// On real threads. That the entries of an array go before its numbers is held by remote_elements_test.
TEST(array_senders, may_send_to_moved_elements_while_their_array_ends) {
  constexpr std::uint64_t elements = 2000;
  const int code = run(with("inproc", 3), [&](runtime& rt) {
    rt.on_delivery_error([](const delivery_error&) {});
    for (int round = 0; round < 20; ++round) {
      rt.barrier();
      stopped = false;
      rt.barrier();
      const auto all = rt.create_array<traveller>(extents{elements});
      move_all(rt, all);
      for (int times = 0; times < 2; ++times) {
        for (std::uint64_t each = 0; each < elements; ++each) rt.send<&traveller::meet>(all[{each}]);
        rt.wait_quiescence();
      }
      if (rt.rank().value() == rt.size() - 1) rt.send<keep_sending>(rt.rank(), all, std::uint64_t{0});
      rt.barrier();
      rt.destroy(all);
      rt.barrier();
      stopped = true;
      rt.wait_quiescence();
    }
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace nacre
