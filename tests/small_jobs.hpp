// SPDX-License-Identifier: Apache-2.0
// Jobs and objects that several tests use.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

namespace nacre::tests {

using settings = std::map<std::string, std::string>;

/// Runs `main` on simulated ranks with these options; the job must succeed.
inline void run_simulated(const settings& options, const std::function<void(runtime&)>& main) {
  config configuration;
  configuration.set("transport", "sim");
  for (const auto& [name, value] : options) configuration.set(name, value);
  EXPECT_EQ(run(configuration, main), 0);
}

/// Runs `main` on two ranks of one worker each; the job must succeed.
inline void run_on_two_ranks(const char* transport, const std::function<void(runtime&)>& main) {
  config configuration;
  configuration.set("transport", transport);
  configuration.set("ranks", "2");
  configuration.set("workers", "1");
  EXPECT_EQ(run(configuration, main), 0);
}

/// Every message costs so many seconds; the load is what is declared.
struct piece {
  double seconds = 0;
  double declared = 0;
  std::vector<std::uint32_t> ran_on{};

  void run(context& ctx) {
    ctx.charge(seconds);
    ran_on.push_back(ctx.rank().value());
  }
  std::vector<std::uint32_t> been() const { return ran_on; }
  double load() const { return declared; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(seconds, declared, ran_on);
  }
};

/// Every message costs so many seconds; declares neither load nor priority.
struct plain {
  double seconds = 0;
  void run(context& ctx) { ctx.charge(seconds); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(seconds);
  }
};

/// Waits for itself: an exclusive handler has the object until it has returned.
struct hermit {
  void sign() {}
  task<int> wait(context& ctx) {
    co_await ctx.call<&hermit::sign>(ctx.self<hermit>());
    co_return 1;
  }
  template <class Archive>
  void serialize(Archive&) {}
};

}  // namespace nacre::tests
