// SPDX-License-Identifier: Apache-2.0
// What a program, a plugin and a Python module have in common: each compiles it by itself.
#pragma once

#include <nacre/containers/map.hpp>
#include <nacre/nacre.hpp>

struct cell {
  int sum = 0;
  void add(int n) { sum += n; }
  [[nodiscard]] int get() const { return sum; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(sum);
  }
};

using counts = nacre::map<int, int>;

/// The things of a job that were made by another file than the one that uses them.
struct things {
  nacre::mobile_ptr<cell> common;
  counts* table = nullptr;
};

/// A file's share of a job, called by main on every rank: adds 1111 to `common` and an entry to `table` for each rank.
using part_of_job = void (*)(nacre::runtime&, const things&);
