// SPDX-License-Identifier: Apache-2.0
// What is done with arrays at random, and what must come of it.
#include "campaign/arrays.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "campaign/actions.hpp"

namespace campaign {
namespace {

nacre::extents shape_of(const array_plan& plan) { return nacre::extents{plan.rows, plan.columns}; }

cell new_element(world& in, std::uint32_t life) { return new_cell(in, life, life % 7); }

/// Whoever comes first draws it; all ranks get the same.
used_array& drawn(world& in, std::uint32_t number) {
  while (in.arrays.size() <= number) {
    const auto plan = static_cast<std::uint32_t>(in.arrays.size());
    used_array& made = in.arrays.emplace_back();
    made.sparse = in.array_plans[plan].sparse;
    const std::uint64_t count = shape_of(in.array_plans[plan]).count();
    made.sure.resize(count);
    for (std::uint64_t place = 0; place < count; ++place) {
      made.places.push_back(in.truth.new_place(made.sparse && place != 0));
      in.places[made.places.back()] = {plan, place};
      made.first_lives.push_back(in.truth.new_life(made.places.back()));
      if (place != 0 && (made.sparse || used_array::is_wild(place))) continue;
      made.sure[place] = made.first_lives[place];
      made.living.insert(made.first_lives[place]);
    }
    made.lasting = made.first_lives[0];
  }
  return in.arrays[number];
}

void make(world& in, nacre::runtime& rt, std::uint32_t number) {
  used_array& own = drawn(in, number);
  const nacre::extents shape = shape_of(in.array_plans[number]);
  const auto element = [&](const nacre::index& at) { return new_element(in, own.first_lives[shape.number_of(at)]); };
  const nacre::array_options how{.location = in.array_plans[number].location};
  const auto grid = own.sparse ? rt.create_array<cell, by_parity>(how, shape, nacre::sparse)
                               : rt.create_array<cell>(how, shape, element, by_parity{});
  if (own.sparse) {
    if (rt.rank().value() == 0) rt.insert(grid, nacre::index{0, 0}, new_element(in, own.lasting)).get();
    rt.barrier();
  }
  if (std::exchange(own.known, true)) return;
  own.grid = grid;
  for (std::uint64_t place = 0; place < own.places.size(); ++place) {
    in.truth.created(own.places[place], grid[shape.place_of(place)].id());
  }
}

void end(world& in, nacre::runtime& rt, std::uint32_t number) {
  used_array& own = in.arrays[number];
  if (!std::exchange(own.ending, true)) {
    for (const std::uint32_t each : own.places) in.truth.may_empty(each);
  }
  rt.destroy(own.grid);
}

/// An array that has been made; how many there are when there is none.
std::uint32_t any_array(world& in) {
  const auto count = static_cast<std::uint32_t>(in.arrays.size());
  if (count == 0) return count;
  const auto number = static_cast<std::uint32_t>(in.truth.random.below(count));
  return in.arrays[number].known ? number : count;
}

std::uint64_t tell_all(world& in, used_array& own, stream_id stream) {
  const std::uint64_t what = ++in.array_messages;
  own.record.told(stream, what);
  for (const std::uint32_t life : own.ended) own.record.must_not_hear(life, what);
  return what;
}

nacre::index place(const used_array& own, std::uint64_t number) { return own.grid.shape().place_of(number); }

void use_wild_place(world& in, nacre::operations& op, used_array& own) {
  const std::uint64_t number = in.truth.random.below(own.places.size());
  if (!used_array::is_wild(number)) return;
  in.truth.may_empty(own.places[number]);
  if (in.truth.random.below(2) == 0) {
    op.erase(own.grid, place(own, number));
  } else {
    op.insert(own.grid, place(own, number), new_element(in, in.truth.new_life(own.places[number])));
  }
}

void asked_all(world& in, const pending_for_all& of, const std::uint64_t* sum) {
  used_array& own = in.arrays[of.array];
  in.truth.closed();
  if (sum != nullptr) own.record.counted(of.what, *sum);
  for (const std::uint32_t life : of.living) {
    if (own.living.contains(life) && !own.ending) own.record.must_hear(life, of.what);
  }
}

void failed_for_all(world& in, const pending_for_all& of) {
  in.truth.closed();
  if (!in.arrays[of.array].ending) in.truth.violate("what was asked of all elements failed");
}

}  // namespace

void begin_arrays(world& in, nacre::runtime& rt, std::uint32_t phase) {
  for (std::uint32_t number = 0; number < in.array_plans.size(); ++number) {
    if (in.array_plans[number].end == phase) end(in, rt, number);
    if (in.array_plans[number].begin == phase) make(in, rt, number);
  }
}

void end_arrays(world& in, nacre::runtime& rt) {
  for (std::uint32_t number = 0; number < in.array_plans.size(); ++number) {
    if (in.array_plans[number].end >= in.phases) end(in, rt, number);
  }
}

void use_array(world& in, nacre::operations& op, stream_id stream) {
  const std::uint32_t number = any_array(in);
  if (number == in.arrays.size()) return;
  used_array& own = in.arrays[number];
  if (in.truth.random.below(3) == 0) return use_wild_place(in, op, own);
  const std::uint64_t what = tell_all(in, own, stream);
  switch (in.truth.random.below(4)) {
    case 0:
      return op.send<&cell::heed>(own.grid, what, number);
    case 1:
      return op.send<&cell::ponder>(own.grid, what, number);
    default:
      return op.send<&cell::hear>(own.grid, what, number);
  }
}

bool may_destroy(world& in, std::uint32_t object) {
  const auto found = in.places.find(object);
  return found == in.places.end() || used_array::is_wild(found->second.second);
}

std::optional<pending_for_all> ask_all(world& in, nacre::operations& op, stream_id stream) {
  const std::uint32_t number = any_array(in);
  if (number == in.arrays.size()) return std::nullopt;
  used_array& own = in.arrays[number];
  pending_for_all asked{number, tell_all(in, own, stream), {own.living.begin(), own.living.end()}};
  in.truth.opened();
  switch (in.truth.random.below(3)) {
    case 0:
      asked.called = op.call<&cell::hear>(own.grid, asked.what, number);
      break;
    case 1:
      asked.sum = op.reduce<&cell::heed>(own.grid, std::plus<>{}, asked.what, number);
      break;
    default:
      asked.sum = op.reduce<&cell::ponder>(own.grid, std::plus<>{}, asked.what, number);
  }
  return asked;
}

nacre::task<void> finish(world& in, pending_for_all asked) {
  try {
    std::uint64_t sum = 0;
    if (asked.sum) {
      sum = co_await std::move(*asked.sum);
    } else {
      co_await std::move(*asked.called);
    }
    asked_all(in, asked, asked.sum ? &sum : nullptr);
  } catch (const nacre::call_error&) {
    failed_for_all(in, asked);
  }
}

void finish_in_main(world& in, pending_for_all asked) {
  try {
    std::uint64_t sum = 0;
    if (asked.sum) {
      sum = asked.sum->get();
    } else {
      asked.called->get();
    }
    asked_all(in, asked, asked.sum ? &sum : nullptr);
  } catch (const nacre::call_error&) {
    failed_for_all(in, asked);
  }
}

void come_and_go_in_main(world& in, nacre::runtime& rt) {
  const std::uint32_t array = any_array(in);
  if (array == in.arrays.size()) return;
  used_array& own = in.arrays[array];
  const std::uint64_t number =
      in.truth.random.below(own.places.size() + in.ranks) / in.ranks * in.ranks + rt.rank().value();
  if (number == 0 || number >= own.places.size() || used_array::is_wild(number)) return;
  const std::optional<std::uint32_t> before = own.sure[number];
  const bool fills = in.truth.random.below(2) == 0;
  std::uint32_t life = 0;
  nacre::future<void> done;
  in.truth.opened();
  if (fills) {
    life = in.truth.new_life(own.places[number]);
    done = rt.insert(own.grid, place(own, number), new_element(in, life));
  } else {
    if (before) own.living.erase(*before);
    own.sure[number].reset();
    in.truth.may_empty(own.places[number]);
    done = rt.erase(own.grid, place(own, number));
  }
  bool well = true;
  try {
    done.get();
  } catch (const nacre::call_error&) {
    well = false;
  }
  in.truth.closed();
  if (own.ending) return;
  if (well != (fills == !before)) {
    in.truth.violate(std::string("an element was ") + (fills ? "inserted" : "erased") + (well ? "" : " not") +
                     (before ? ", where there is one" : ", where there is none"));
  } else if (well && fills) {
    own.sure[number] = life;
    own.living.insert(life);
    in.truth.filled(own.places[number]);
  } else if (well) {
    own.ended.push_back(*before);
  }
}

bool lost_to_all(world& in, const nacre::delivery_error& what) {
  using nacre::detail::name_of;
  const std::string_view names[] = {name_of<&cell::hear>(), name_of<&cell::heed>(), name_of<&cell::ponder>()};
  if (std::find(std::begin(names), std::end(names), what.handler) == std::end(names)) return false;
  const bool any = std::any_of(in.arrays.begin(), in.arrays.end(), [](const used_array& each) { return each.ending; });
  if (!any) in.truth.violate("a message to all elements was reported, and no array has been destroyed");
  return true;
}

void arrays_must_be_quiet(world& in, const std::string& when) {
  for (std::uint32_t number = 0; number < in.arrays.size(); ++number) {
    const used_array& own = in.arrays[number];
    if (!own.ending && !own.record.complete(own.lasting)) {
      in.truth.violate("quiescence: " + when + ", something for all elements was pending");
    }
    for (const std::string& each : own.record.faults(own.lasting, !own.ending)) {
      in.truth.violate("array " + std::to_string(number) + ": " + each);
    }
  }
}

}  // namespace campaign
