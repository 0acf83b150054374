// SPDX-License-Identifier: Apache-2.0
// A mobile object of which every function that the runtime calls may throw.
#pragma once

#include <string>
#include <type_traits>

#include <nacre/nacre.hpp>

#include "user_exceptions/places.hpp"

namespace nacre::tests {

struct cell {
  int sum = 0;

  cell() { burn(fuse::construct); }

  void add(const std::string&, int n) { sum += n; }
  int total() const { return sum; }
  void arm_here(fuse fuse) { arm(fuse); }
  void throws(int) { boom(); }
  template <class T>
  void take(const T&) {
    ++sum;
  }
  task<int> throws_before(int) { boom(); }
  task<int> reads_before(int) const { boom(); }

  task<void> waits(context& ctx, fuse fuse) {
    co_await ctx.sleep(0.001);
    arm(fuse);
  }

  double load() const {
    burn(fuse::load);
    return 1;
  }
  double priority() const {
    burn(fuse::priority);
    return 1;
  }
  bool may_migrate() const {
    burn(fuse::may_migrate);
    return true;
  }
  bool operator==(const cell& other) const {
    burn(fuse::compare);
    return sum == other.sum;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    if constexpr (std::is_same_v<Archive, sizer>) burn(fuse::count);
    if constexpr (std::is_same_v<Archive, writer>) burn(fuse::write);
    if constexpr (std::is_same_v<Archive, reader>) burn(fuse::read);
    ar(sum);
  }
};

}  // namespace nacre::tests
