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
    used_array& result = in.arrays.emplace_back();
    result.sparse = in.array_plans[plan].sparse;
    const std::uint64_t count = shape_of(in.array_plans[plan]).count();
    result.sure.resize(count);
    for (std::uint64_t place = 0; place < count; ++place) {
      result.places.push_back(in.truth.new_place(result.sparse && place != 0));
      in.places[result.places.back()] = {plan, place};
      result.first_lives.push_back(in.truth.new_life(result.places.back()));
      if (place != 0 && (result.sparse || used_array::is_wild(place))) continue;
      result.sure[place] = result.first_lives[place];
      result.living.insert(result.first_lives[place]);
    }
    result.lasting = result.first_lives[0];
  }
  return in.arrays[number];
}

void make(world& in, nacre::runtime& rt, std::uint32_t number) {
  used_array& used_array = drawn(in, number);
  const nacre::extents shape = shape_of(in.array_plans[number]);
  const auto element = [&](const nacre::index& index) {
    return new_element(in, used_array.first_lives[shape.number_of(index)]);
  };
  const nacre::array_options options{.location = in.array_plans[number].location};
  const auto grid = used_array.sparse ? rt.create_array<cell, by_parity>(options, shape, nacre::sparse)
                                      : rt.create_array<cell>(options, shape, element, by_parity{});
  if (used_array.sparse) {
    if (rt.rank().value() == 0) rt.insert(grid, nacre::index{0, 0}, new_element(in, used_array.lasting)).get();
    rt.barrier();
  }
  if (std::exchange(used_array.known, true)) return;
  used_array.grid = grid;
  for (std::uint64_t place = 0; place < used_array.places.size(); ++place) {
    in.truth.created(used_array.places[place], grid[shape.place_of(place)].id());
  }
}

void end(world& in, nacre::runtime& rt, std::uint32_t number) {
  used_array& used_array = in.arrays[number];
  if (!std::exchange(used_array.ending, true)) {
    for (const std::uint32_t each : used_array.places) in.truth.may_empty(each);
  }
  rt.destroy(used_array.grid);
}

/// An array that has been made; how many there are when there is none.
std::uint32_t any_array(world& in) {
  const auto count = static_cast<std::uint32_t>(in.arrays.size());
  if (count == 0) return count;
  const auto number = static_cast<std::uint32_t>(in.truth.random.below(count));
  return in.arrays[number].known ? number : count;
}

std::uint64_t tell_all(world& in, used_array& used_array, stream_id stream) {
  const std::uint64_t number = ++in.array_messages;
  used_array.record.told(stream, number);
  for (const std::uint32_t life : used_array.ended) used_array.record.must_not_hear(life, number);
  return number;
}

nacre::index place(const used_array& used_array, std::uint64_t number) {
  return used_array.grid.shape().place_of(number);
}

void use_wild_place(world& in, nacre::operations& op, used_array& used_array) {
  const std::uint64_t number = in.truth.random.below(used_array.places.size());
  if (!used_array::is_wild(number)) return;
  in.truth.may_empty(used_array.places[number]);
  if (in.truth.random.below(2) == 0) {
    op.erase(used_array.grid, place(used_array, number));
  } else {
    op.insert(used_array.grid, place(used_array, number),
              new_element(in, in.truth.new_life(used_array.places[number])));
  }
}

void asked_all(world& in, const pending_for_all& pending_for_all, const std::uint64_t* sum) {
  used_array& used_array = in.arrays[pending_for_all.array];
  in.truth.closed();
  if (sum != nullptr) used_array.record.counted(pending_for_all.value, *sum);
  for (const std::uint32_t life : pending_for_all.living) {
    if (used_array.living.contains(life) && !used_array.ending)
      used_array.record.must_hear(life, pending_for_all.value);
  }
}

void failed_for_all(world& in, const pending_for_all& pending_for_all) {
  in.truth.closed();
  if (!in.arrays[pending_for_all.array].ending) in.truth.violate("what was asked of all elements failed");
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
  used_array& used_array = in.arrays[number];
  if (in.truth.random.below(3) == 0) return use_wild_place(in, op, used_array);
  const std::uint64_t value = tell_all(in, used_array, stream);
  switch (in.truth.random.below(4)) {
    case 0:
      return op.send<&cell::heed>(used_array.grid, value, number);
    case 1:
      return op.send<&cell::ponder>(used_array.grid, value, number);
    default:
      return op.send<&cell::hear>(used_array.grid, value, number);
  }
}

bool may_destroy(world& in, std::uint32_t object) {
  const auto match = in.places.find(object);
  return match == in.places.end() || used_array::is_wild(match->second.second);
}

std::optional<pending_for_all> ask_all(world& in, nacre::operations& op, stream_id stream) {
  const std::uint32_t number = any_array(in);
  if (number == in.arrays.size()) return std::nullopt;
  used_array& used_array = in.arrays[number];
  pending_for_all asked{number, tell_all(in, used_array, stream), {used_array.living.begin(), used_array.living.end()}};
  in.truth.opened();
  switch (in.truth.random.below(3)) {
    case 0:
      asked.called = op.call<&cell::hear>(used_array.grid, asked.value, number);
      break;
    case 1:
      asked.sum = op.reduce<&cell::heed>(used_array.grid, std::plus<>{}, asked.value, number);
      break;
    default:
      asked.sum = op.reduce<&cell::ponder>(used_array.grid, std::plus<>{}, asked.value, number);
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
  used_array& used_array = in.arrays[array];
  const std::uint64_t number =
      in.truth.random.below(used_array.places.size() + in.ranks) / in.ranks * in.ranks + rt.rank().value();
  if (number == 0 || number >= used_array.places.size() || used_array::is_wild(number)) return;
  const std::optional<std::uint32_t> previous = used_array.sure[number];
  const bool fills = in.truth.random.below(2) == 0;
  std::uint32_t life = 0;
  nacre::future<void> done;
  in.truth.opened();
  if (fills) {
    life = in.truth.new_life(used_array.places[number]);
    done = rt.insert(used_array.grid, place(used_array, number), new_element(in, life));
  } else {
    if (previous) used_array.living.erase(*previous);
    used_array.sure[number].reset();
    in.truth.may_empty(used_array.places[number]);
    done = rt.erase(used_array.grid, place(used_array, number));
  }
  bool well = true;
  try {
    done.get();
  } catch (const nacre::call_error&) {
    well = false;
  }
  in.truth.closed();
  if (used_array.ending) return;
  if (well != (fills == !previous)) {
    in.truth.violate(std::string("an element was ") + (fills ? "inserted" : "erased") + (well ? "" : " not") +
                     (previous ? ", where there is one" : ", where there is none"));
  } else if (well && fills) {
    used_array.sure[number] = life;
    used_array.living.insert(life);
    in.truth.filled(used_array.places[number]);
  } else if (well) {
    used_array.ended.push_back(*previous);
  }
}

bool lost_to_all(world& in, const nacre::delivery_error& error) {
  using nacre::detail::name_of;
  const std::string_view names[] = {name_of<&cell::hear>(), name_of<&cell::heed>(), name_of<&cell::ponder>()};
  if (std::find(std::begin(names), std::end(names), error.handler) == std::end(names)) return false;
  const bool any = std::any_of(in.arrays.begin(), in.arrays.end(), [](const used_array& each) { return each.ending; });
  if (!any) in.truth.violate("a message to all elements was reported, and no array has been destroyed");
  return true;
}

void arrays_must_be_quiet(world& in, const std::string& moment) {
  for (std::uint32_t number = 0; number < in.arrays.size(); ++number) {
    const used_array& used_array = in.arrays[number];
    if (!used_array.ending && !used_array.record.complete(used_array.lasting)) {
      in.truth.violate("quiescence: " + moment + ", something for all elements was pending");
    }
    for (const std::string& each : used_array.record.faults(used_array.lasting, !used_array.ending)) {
      in.truth.violate("array " + std::to_string(number) + ": " + each);
    }
  }
}

}  // namespace campaign
