// SPDX-License-Identifier: Apache-2.0
// The share of one file in a job. Its handlers and classes are the file's own; those of two files have the same names.
#pragma once

#include <stdexcept>

#include "shared_libraries/cell.hpp"

namespace {

int tripled(int n) { return 3 * n; }

struct own {
  int value = 0;
  int grow(int n) { return value += n; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(value);
  }
};

void merge(nacre::context&, cell& common, cell& other) { common.sum += other.sum; }

int refuses(int) { throw std::range_error("refused"); }

void expect(bool holds) {
  if (!holds) throw std::logic_error("a part of a job went wrong");
}

/// `key` differs between files.
void take_part(nacre::runtime& rt, const things& all, int key) {
  const nacre::rank_id last{rt.size() - 1};
  const auto mine = rt.create_on<own>(last).get();
  expect(rt.call<&own::grow>(mine, 2).get() == 2);
  expect(rt.call<tripled>(last, 5).get() == 15);
  rt.call<&cell::add>(all.common, 1).get();
  rt.call(all.common, [](cell& c) { c.sum += 10; }).get();
  const auto other = rt.create<cell>();
  rt.call<&cell::add>(other, 100).get();
  rt.migrate(other, last).get();
  rt.colocate<merge>(all.common, other);
  rt.with_exclusive(all.common, [](cell& c) { c.sum += 1000; });
  all.table->insert(key * 1000 + static_cast<int>(rt.rank().value()), key);
  try {
    rt.call<refuses>(last, 1).get();
    expect(false);
  } catch (const nacre::call_error&) {
  }
}

}  // namespace
