// SPDX-License-Identifier: Apache-2.0
// A message to all elements runs at once on a place where nothing is in its way, and waits where something is.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <nacre/nacre.hpp>

namespace nacre::tests {
namespace {

config of(const char* transport, const char* ranks, const char* workers) {
  config made;
  made.set("transport", transport);
  made.set("ranks", ranks);
  made.set("workers", workers);
  return made;
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
              for (const std::int64_t at : {1, 2, 3}) rt.insert(all, {at}).get();
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
  void come(context& ctx, mobile_ptr<laborer> to) {
    ctx.charge(0.5);
    ctx.send<&laborer::labor>(to);
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

}  // namespace
}  // namespace nacre::tests
