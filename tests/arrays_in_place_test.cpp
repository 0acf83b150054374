// SPDX-License-Identifier: Apache-2.0
// A message to all elements runs at once on a place where nothing is in its way, and waits where something is.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <nacre/nacre.hpp>

namespace nacre::tests {
namespace {

config of(const char* transport, const char* ranks, const char* workers) {
  config configuration;
  configuration.set("transport", transport);
  configuration.set("ranks", ranks);
  configuration.set("workers", workers);
  return configuration;
}

int ran = 0;

struct listener {
  int heard = 0;
  void hear() { ++heard, ++ran; }
  int count() const { return heard; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(heard);
  }
};

TEST(arrays_in_place, a_place_whose_element_has_ended_or_never_was_misses_it) {
  int heard = 0;
  EXPECT_EQ(0, run(of("inproc", "1", "1"), [&](runtime& rt) {
              const auto all = rt.create_array<listener>(extents{8}, sparse);
              for (const std::int64_t index : {1, 2, 3}) rt.insert(all, {index}).get();
              EXPECT_THROW(rt.call<&listener::count>(all[{5}]).get(), call_error);
              rt.erase(all, {2}).get();
              for (int round = 0; round < 3; ++round) rt.send<&listener::hear>(all);
              rt.wait_quiescence();
              rt.insert(all, {5}).get();
              rt.call<&listener::hear>(all).get();
              heard = rt.reduce<&listener::count>(all, std::plus<>{}).get();
            }));
  EXPECT_EQ(heard, 4 + 4 + 1);
  EXPECT_EQ(ran, heard);
}

std::atomic<int> reading{0};
std::atomic<bool> disturbed{false}, enough{false};

/// The reader of the first takes its time, and nobody may write there meanwhile.
struct book {
  void write(context& ctx) { disturbed = disturbed || (reading != 0 && ctx.index() == index{0}); }
  void read() const {
    ++reading;
    while (!enough) std::this_thread::yield();
    --reading;
  }
  template <class Archive>
  void serialize(Archive&) {}
};

TEST(arrays_in_place, an_element_that_a_shared_handler_has_is_not_written) {
  enough = false;
  EXPECT_EQ(0, run(of("inproc", "1", "2"), [](runtime& rt) {
              const auto all = rt.create_array<book>(extents{4}, [](index) { return book{}; });
              rt.call<&book::write>(all).get();
              rt.send<&book::read>(all[{0}]);
              while (reading == 0) std::this_thread::yield();
              rt.send<&book::write>(all);
              for (int round = 0; round < 100; ++round) rt.call<&book::write>(all[{3}]).get();
              enough = true;
              rt.wait_quiescence();
            }));
  EXPECT_FALSE(disturbed);
}

struct laborer {
  std::vector<double> begins;
  void labor(context& ctx) {
    begins.push_back(ctx.now());
    ctx.charge(1);
  }
  bool one_after_the_other() const { return begins.size() == 2 && begins[1] - begins[0] >= 1; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(begins);
  }
};
struct latecomer {
  void come(context& ctx, mobile_ptr<laborer> object) {
    ctx.charge(0.5);
    ctx.send<&laborer::labor>(object);
  }
  template <class Archive>
  void serialize(Archive&) {}
};

TEST(arrays_in_place, the_simulated_time_of_an_element_is_its_own) {
  bool held = false;
  EXPECT_EQ(0, run(of("sim", "2", "2"), [&](runtime& rt) {
              const auto all = rt.create_array<laborer>(extents{1}, [](index) { return laborer{}; });
              const bool home = rt.rank() == all.home_of({0});
              rt.barrier();
              if (home) rt.send<&laborer::labor>(all);
              if (!home) rt.send<&latecomer::come>(rt.create<latecomer>(), all[{0}]);
              rt.wait_quiescence();
              if (home) held = rt.call<&laborer::one_after_the_other>(all[{0}]).get();
            }));
  EXPECT_TRUE(held);
}

enum class step : std::uint8_t { none, unpacks, sent, waited_in_vain };
std::atomic<step> reached{step::none};

bool wait_for(step step) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (reached != step && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return reached == step;
}

/// Unpacks only when another thread has sent to a place of the array that nothing had come for before.
struct patient {
  int value = 0;
  void hear() {}
  int get() const { return value; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(value);
    if (!std::is_same_v<Archive, reader> || reached != step::none) return;
    reached = step::unpacks;
    if (!wait_for(step::sent)) reached = step::waited_in_vain;
  }
};

TEST(arrays, an_element_that_is_unpacked_keeps_nobody_from_sending_to_other_places) {
  config configuration = of("inproc", "1", "2");
  configuration.set("check_serialization", "true");  // packs what stays in the process, too
  int got = 0, lost = 0;
  EXPECT_EQ(0, run(configuration, [&](runtime& rt) {
              rt.on_delivery_error([&](const delivery_error&) { ++lost; });
              const auto all = rt.create_array<patient>(extents{8}, sparse);
              auto inserted = rt.insert(all, {1}, 5);
              EXPECT_TRUE(wait_for(step::unpacks));
              rt.send<&patient::hear>(all[{6}]);
              auto expected = step::unpacks;
              EXPECT_TRUE(reached.compare_exchange_strong(expected, step::sent));
              inserted.get();
              got = rt.call<&patient::get>(all[{1}]).get();
              rt.wait_quiescence();
            }));
  EXPECT_EQ(got, 5);
  EXPECT_EQ(lost, 1);
}

}  // namespace
}  // namespace nacre::tests
