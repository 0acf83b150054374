// SPDX-License-Identifier: Apache-2.0
// Goes from place to place until the target is reached, then back over all shortest ways.
#include "machine/way_search.hpp"

#include <array>
#include <string>

#include <nacre/error.hpp>
#include "machine/travel_times.hpp"

namespace nacre::machine {
namespace {

[[nodiscard]] bool turns(std::size_t arrived, std::size_t axis) noexcept {
  return arrived != packet_way::no_axis && arrived != axis;
}

}  // namespace

std::uint64_t way_search::key_of(const coordinates& position, std::size_t arrived) const noexcept {
  return std::uint64_t{times_.number_of(position)} << 2 | arrived;
}

/// Hops and turns that a packet still needs at least.
way_search::length way_search::least_rest(const coordinates& place, std::size_t arrived) const noexcept {
  std::uint32_t count = 0;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (axis != arrived && place.*axes[axis] != target_.*axes[axis]) ++count;
  }
  if (arrived == packet_way::no_axis && count != 0) --count;
  return {times_.straight_route(place, target_).hops, count};
}

void way_search::reach(const coordinates& position, std::size_t arrived, const length& so_far) {
  const std::uint64_t place = key_of(position, arrived);
  const auto [known, added] = best_.try_emplace(place, reached_place{so_far, position});
  if (!added && known->second.so_far <= so_far) return;
  known->second.so_far = so_far;
  const length rest = least_rest(position, arrived);
  open_.emplace(length(so_far.first + rest.first, so_far.second + rest.second), rest.first, place);
}

/// Until the target is reached by one shortest way, or by all.
void way_search::run(until end) {
  for (reach(source_, axis_, {0, 0}); !open_.empty();) {
    const auto [whole, rest, place] = open_.top();
    if (found_ && whole > *found_) return;
    open_.pop();
    const auto [so_far, position, leads] = best_.at(place);
    const std::size_t arrived = place & 3U;
    if (position == target_) {
      found_ = so_far;
      if (end == until::one_way) return;
      continue;
    }
    const length promised = least_rest(position, arrived);
    if (length(so_far.first + promised.first, so_far.second + promised.second) != whole) continue;  // a better way
    times_.for_each_neighbour(
        position, [&, length_here = so_far](const coordinates& next, std::size_t axis, std::int32_t) {
          reach(next, axis, {length_here.first + 1, length_here.second + (turns(arrived, axis) ? 1 : 0)});
        });
  }
  if (found_) return;
  const auto text = [](const coordinates& position) {
    return "(" + std::to_string(position.x) + ", " + std::to_string(position.y) + ", " + std::to_string(position.z) +
           ")";
  };
  throw usage_error("missing nodes leave no way from " + text(source_) + " to " + text(target_));
}

route way_search::shortest() {
  run(until::one_way);
  return {found_->first, found_->second};
}

/// Marks the places from which a shortest way has come along `arrived` to this one.
void way_search::mark_before(const reached_place& place, std::size_t arrived, std::vector<std::uint64_t>& marked) {
  for (const std::int32_t step : {-1, 1}) {
    const coordinates previous = times_.neighbour(place.position, arrived, step);
    for (std::size_t axis = 0; axis <= packet_way::no_axis; ++axis) {
      const auto match = best_.find(key_of(previous, axis));
      if (match == best_.end() || match->second.position != previous || match->second.leads) continue;
      const length& so_far = match->second.so_far;
      if (length(so_far.first + 1, so_far.second + (turns(axis, arrived) ? 1 : 0)) != place.so_far) continue;
      match->second.leads = true;
      marked.push_back(match->first);
    }
  }
}

void way_search::mark_shortest() {
  std::vector<std::uint64_t> marked;
  for (std::size_t axis = 0; axis <= packet_way::no_axis; ++axis) {
    const auto match = best_.find(key_of(target_, axis));
    if (match == best_.end() || match->second.so_far != *found_) continue;
    match->second.leads = true;
    marked.push_back(match->first);
  }
  while (!marked.empty()) {
    const std::uint64_t key = marked.back();
    marked.pop_back();
    const std::size_t arrived = key & 3U;
    if (arrived != packet_way::no_axis) mark_before(best_.at(key), arrived, marked);
  }
}

/// From a place on a shortest way.
way_search::hop way_search::next_hop(const coordinates& place, std::uint8_t arrived) const {
  const length so_far = best_.at(key_of(place, arrived)).so_far;
  hop result{place, arrived, {found_->first - so_far.first, found_->second - so_far.second}, {}};
  bool is_found = false;
  times_.for_each_neighbour(place, [&](const coordinates& next, std::size_t axis, std::int32_t step) {
    if (is_found) return;
    const auto match = best_.find(key_of(next, axis));
    if (match == best_.end() || !match->second.leads) return;
    is_found = match->second.so_far == length(so_far.first + 1, so_far.second + (turns(arrived, axis) ? 1 : 0));
    if (is_found) result.link = {static_cast<std::uint8_t>(axis), step > 0, next};
  });
  return result;
}

std::vector<way_search::hop> way_search::hops() {
  run(until::all_ways);
  mark_shortest();
  std::vector<hop> result;
  result.reserve(found_->first);
  coordinates place = source_;
  for (std::uint8_t arrived = axis_; place != target_;) {
    result.push_back(next_hop(place, arrived));
    place = result.back().link.target;
    arrived = result.back().link.axis;
  }
  return result;
}

}  // namespace nacre::machine
