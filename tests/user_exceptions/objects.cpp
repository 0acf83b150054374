// SPDX-License-Identifier: Apache-2.0
// Code of the user that is called for mobile objects: their own functions, arrays, colocations, access by main.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>

#include "user_exceptions/cell.hpp"
#include "user_exceptions/places.hpp"

namespace nacre::tests {
namespace {

constexpr rank_id other{1};

/// What was caught has left nothing behind.
void go_on(runtime& rt) {
  rt.barrier();
  arm(fuse::none);
  rt.wait_quiescence();
  rt.barrier();
  if (rt.rank().value() == 0) std::printf("goes on\n");
}

/// Rank 0 makes an object; then `Which` is armed everywhere.
template <fuse Which>
mobile_ptr<cell> made_and_armed(runtime& rt) {
  const auto p = rt.broadcast(rt.create<cell>(), rank_id{0});
  rt.barrier();
  arm(Which);
  rt.barrier();
  return p;
}

template <fuse Which>
void in_activation(runtime& rt) {
  const auto p = made_and_armed<Which>(rt);
  if (rt.rank().value() == 0) rt.send<&cell::add>(p, std::string("a"), 1);
}
/// A coroutine has waited, so that its end is no longer within the call of the handler.
template <fuse Which>
void at_end_of_coroutine(runtime& rt) {
  const auto p = rt.broadcast(rt.create<cell>(), rank_id{0});
  if (rt.rank().value() == 0) rt.send<&cell::waits>(p, Which);
}
template <fuse Which>
void in_create(runtime& rt) {
  arm(Which);
  if (rt.rank().value() == 0) expect_throw([&] { static_cast<void>(rt.create<cell>()); });
  go_on(rt);
}
template <fuse Which>
void in_create_on(runtime& rt) {
  arm(Which);
  rt.barrier();
  if (rt.rank().value() == 0) expect_throw([&] { static_cast<void>(rt.create_on<cell>(other).get()); });
  go_on(rt);
}
template <fuse Which>
void in_migration(runtime& rt) {
  const auto p = made_and_armed<Which>(rt);
  if (rt.rank().value() != 0) return;
  try {
    rt.migrate(p, other).get();
  } catch (const std::exception&) {
  }
}
template <fuse Which>
void in_lock(runtime& rt) {
  const auto p = rt.broadcast(rt.create<cell>(), rank_id{0});
  rt.barrier();
  if (rt.rank().value() != 0) return;
  try {
    rt.with_exclusive(p, [](cell& c) {
      ++c.sum;
      arm(Which);
    });
  } catch (const std::exception&) {
  }
}
void inside_lock(runtime& rt) {
  const auto p = rt.broadcast(rt.create<cell>(), rank_id{0});
  if (rt.rank().value() == 0) {
    expect_throw([&] { rt.with_exclusive(p, [](cell&) { boom(); }); });
    rt.call<&cell::add>(p, std::string("a"), 1).get();  // the object is free again
  }
  go_on(rt);
}

void merge(cell&, cell&, int) { boom(); }
void colocated(runtime& rt) {
  const auto p = rt.create<cell>(), q = rt.create<cell>();
  if (rt.rank().value() == 0) rt.colocate<merge>(p, q, 1);
}
void colocate_called(runtime& rt) {
  const auto p = rt.create<cell>(), q = rt.create<cell>();
  if (rt.rank().value() == 0) expect_throw([&] { rt.colocate_call<merge>(p, q, 1).get(); });
  go_on(rt);
}
/// One object twice is the caller's error, and leaves no call behind that waits.
void colocate_twice(runtime& rt) {
  const auto p = rt.create<cell>();
  if (rt.rank().value() == 0) {
    expect_throw([&] { rt.colocate_call<merge>(p, p, 1).get(); });
    say("boom");
  }
  go_on(rt);
}

template <std::uint32_t Rank>
void array_maker(runtime& rt) {
  static_cast<void>(rt.create_array<cell>(extents{2, 2}, [&](const nacre::index& index) {
    if (rt.rank().value() == Rank && index[1] == 1) boom();
    return cell();
  }));
}
/// Every rank gets the error, and then makes an array in its place.
void makes_another(runtime& rt, const std::function<void()>& make) {
  if (rt.rank().value() == 0) {
    expect_throw(make);
  } else {
    try {
      make();
    } catch (const std::runtime_error&) {
      const auto all = rt.create_array<cell>(extents{4});
      if (rt.call<&cell::total>(all[3]).get() == 0) return go_on(rt);
    }
    std::abort();
  }
  const auto all = rt.create_array<cell>(extents{4});
  if (rt.reduce<&cell::total>(all, std::plus<>{}).get() == 0) go_on(rt);
}
template <std::uint32_t Rank>
void array_maker_caught(runtime& rt) {
  makes_another(rt, [&] { array_maker<Rank>(rt); });
}
/// Throws for the last place only, which rank 1 asks for.
struct throwing_placement {
  rank_id operator()(const nacre::index& index, const extents&, std::uint32_t) const {
    if (index[0] == 3) boom();
    return rank_id(0);
  }
};
void array_placement_caught(runtime& rt) {
  makes_another(rt, [&] {
    static_cast<void>(rt.create_array<cell>(
        extents{4}, [](const nacre::index&) { return cell(); }, throwing_placement{}));
  });
}
template <fuse Which>
void array_element_adopted(runtime& rt) {
  rt.barrier();
  if (rt.rank().value() == 0) arm(Which);
  rt.barrier();
  static_cast<void>(rt.create_array<cell>(extents{4}));
}
auto cells_of(runtime& rt) { return rt.create_array<cell>(extents{4}); }
auto one_cell(runtime& rt) { return rt.create_array<cell>(extents{1}); }
void array_broadcast_throws(runtime& rt) {
  const auto all = one_cell(rt);
  if (rt.rank().value() == 0) rt.send<&cell::throws>(all, 0);
}
void array_call_throws(runtime& rt) {
  const auto all = cells_of(rt);
  if (rt.rank().value() == 0) expect_throw([&] { rt.call<&cell::throws>(all, 0).get(); });
  go_on(rt);
}
struct sum_that_throws {
  int operator()(int, int) const { boom(); }
};
void array_reduction(runtime& rt) {
  const auto all = cells_of(rt);
  if (rt.rank().value() == 0) {
    expect_throw([&] { static_cast<void>(rt.reduce<&cell::total>(all, sum_that_throws{}).get()); });
  }
  go_on(rt);
}
template <fuse Which>
void array_insert(runtime& rt) {
  const auto all = rt.create_array<cell>(extents{4}, sparse);
  rt.barrier();
  arm(Which);
  rt.barrier();
  if (rt.rank().value() == 0) expect_throw([&] { rt.insert(all, 3).get(); });
  go_on(rt);
}

constexpr place rows[] = {
    {"load(), after a handler", &in_activation<fuse::load>, ends_as::job, "load() of the class nacre::tests::cell"},
    {"priority(), after a handler", &in_activation<fuse::priority>, ends_as::job, "priority() of the class"},
    {"may_migrate(), after a handler", &in_activation<fuse::may_migrate>, ends_as::job, "may_migrate() of the class"},
    {"create: the constructor", &in_create<fuse::construct>, ends_as::caught, ""},
    {"create: load()", &in_create<fuse::load>, ends_as::caught, ""},
    {"create: priority()", &in_create<fuse::priority>, ends_as::caught, ""},
    {"create: may_migrate()", &in_create<fuse::may_migrate>, ends_as::caught, ""},
    {"create: serialize, checked", &in_create<fuse::write>, ends_as::caught, "", "check_serialization"},
    {"create_on: the constructor", &in_create_on<fuse::construct>, ends_as::caught, "create_remotely"},
    {"create_on: load()", &in_create_on<fuse::load>, ends_as::caught, "create_remotely"},
    {"migrate: may_migrate()", &in_migration<fuse::may_migrate>, ends_as::job, "(object 0:1)"},
    {"migrate: the object is measured", &in_migration<fuse::count>, ends_as::job, "(object 0:1)", {}, true},
    {"migrate: the object is packed", &in_migration<fuse::write>, ends_as::job, "(object 0:1)", {}, true},
    {"migrate: the object is made on arrival", &in_migration<fuse::construct>, ends_as::job, "(object 0:1)", {}, true},
    {"migrate: the object is unpacked", &in_migration<fuse::read>, ends_as::job, "(object 0:1)", {}, true},
    {"migrate: load() on arrival", &in_migration<fuse::load>, ends_as::job, "(object 0:1)"},
    {"check_serialization: measured", &in_activation<fuse::count>, ends_as::job, "(object 0:1)", "check_serialization"},
    {"check_serialization: packed", &in_activation<fuse::write>, ends_as::job, "(object 0:1)", "check_serialization"},
    {"check_serialization: made", &in_activation<fuse::construct>, ends_as::job, "(object 0:1)", "check_serialization"},
    {"check_serialization: unpacked", &in_activation<fuse::read>, ends_as::job, "(object 0:1)", "check_serialization"},
    {"check_serialization: compared", &in_activation<fuse::compare>, ends_as::job, "(object 0:1)",
     "check_serialization"},
    {"check_serialization: packed when a coroutine ends", &at_end_of_coroutine<fuse::write>, ends_as::job,
     "(object 0:1)", "check_serialization"},
    {"check_serialization: made when a coroutine ends", &at_end_of_coroutine<fuse::construct>, ends_as::job,
     "(object 0:1)", "check_serialization"},
    {"check_serialization: may_migrate() when a coroutine ends", &at_end_of_coroutine<fuse::may_migrate>, ends_as::job,
     "(object 0:1)", "check_serialization"},
    {"with_exclusive: the function", &inside_lock, ends_as::caught, ""},
    {"with_exclusive: serialize, checked at its end", &in_lock<fuse::write>, ends_as::job, "(object 0:1)",
     "check_serialization"},
    {"colocate: the function", &colocated, ends_as::job, "merge"},
    {"colocate_call: the function", &colocate_called, ends_as::caught, "merge"},
    {"colocate_call: one object twice", &colocate_twice, ends_as::caught, "twice"},
    {"create_array: the maker", &array_maker<0>, ends_as::job, "main threw: create_array: element [0, 1] of array 1 ("},
    {"create_array: the maker, and mains go on", &array_maker_caught<0>, ends_as::caught,
     "create_array: element [0, 1] of array 1 (nacre::tests::cell) on rank 0: boom"},
    {"create_array: the maker on another rank", &array_maker_caught<1>, ends_as::caught,
     "create_array: element [1, 1] of array 1 (nacre::tests::cell) on rank 1: boom"},
    {"create_array: the placement", &array_placement_caught, ends_as::caught, "element [3] of array 1"},
    {"create_array: load() of an element", &array_element_adopted<fuse::load>, ends_as::job,
     "main threw: create_array: element [0] of array 1 (nacre::tests::cell) on rank 0: load() of the class"},
    {"send to an array: an element throws", &array_broadcast_throws, ends_as::job, "throws"},
    {"call of an array: an element throws", &array_call_throws, ends_as::caught, "throws"},
    {"reduce over an array: the operation", &array_reduction, ends_as::caught, ""},
    {"insert: the constructor", &array_insert<fuse::construct>, ends_as::caught, ""},
    {"insert: the element is packed", &array_insert<fuse::write>, ends_as::caught, "", {}, true},
    {"insert: the element is unpacked", &array_insert<fuse::read>, ends_as::job, "(element [3] of array 1)", {}, true},
};

}  // namespace

std::span<const place> places_of_objects() noexcept { return rows; }

}  // namespace nacre::tests
