// SPDX-License-Identifier: Apache-2.0
// Steps of contributions: which values are missing, and what follows when none is.
#include "mobile/array/contribution_steps.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <nacre/archive.hpp>
#include <nacre/assert.hpp>

#include "base/marks.hpp"

namespace nacre {

std::vector<std::span<const std::byte>> contribution_steps::own_values::in_order() const {
  std::vector<std::pair<std::uint64_t, place_value>> by_place(given.begin(), given.end());
  std::sort(by_place.begin(), by_place.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::span<const std::byte>> values;
  values.reserve(by_place.size());
  for (const auto& [number, value] : by_place) {
    if (!value.in_sum) values.push_back(std::span<const std::byte>(memory).subspan(value.begin, value.bytes));
  }
  return values;
}

void contribution_steps::element_came(std::uint64_t place) {
  ++occupied_;
  for (auto& [number, step] : open_) {
    if (!step.own_complete && step.given.contains(place)) ++step.given_by_present;
  }
}

void contribution_steps::element_ended(std::uint64_t place, effects& then) {
  NACRE_EXPECT(occupied_ > 0, "an element of an array ended that had not come");
  --occupied_;
  for (auto& [number, step] : open_) {
    if (!step.own_complete && step.given.contains(place)) --step.given_by_present;
  }
  want_if_vacant(then);
  look_at_all(then);
}

void contribution_steps::settled(effects& then) {
  NACRE_EXPECT(unsettled_ > 0, "an element's last contribution came twice");
  if (--unsettled_ == 0) look_at_all(then);
}

contribution_steps::refusal contribution_steps::check(const contribution_head& head) const {
  const auto range = ended_steps_.find(head.handler);
  if (range != ended_steps_.end() && range->second.contains(head.step)) return refusal::ended;
  const auto match = open_.find(name_of(head));
  if (match == open_.end()) return refusal::none;
  return match->second.head == head ? refusal::none : refusal::other_head;
}

const contribution_head* contribution_steps::head_of(const contribution_head& like) const {
  const auto match = open_.find(name_of(like));
  return match != open_.end() ? &match->second.head : nullptr;
}

contribution_steps::open_step& contribution_steps::open(const contribution_head& head, effects& then) {
  const auto [entry, is_new] = open_.try_emplace(name_of(head));
  open_step& step = entry->second;
  if (!is_new) return step;
  ++then.opened;
  step.head = head;
  step.parts_left = 1 + asks_.size();
  step.parts.resize(step.parts_left);
  step.part_came.resize(step.parts_left);
  step.part_places.resize(step.parts_left, no_place);
  for (std::size_t child = 0; child < asks_.size(); ++child) {
    if (asks_[child]) then.to_ask.emplace_back(child, head);
  }
  return step;
}

contribution_steps::refusal contribution_steps::give(const contributor& contributor, const contribution_head& head,
                                                     std::span<const std::byte> value, effects& then) {
  if (const refusal refusal = check(head); refusal != refusal::none) return refusal;
  open_step& step = open(head, then);
  if (step.own_complete) return refusal::ended;
  if (!step.given.try_emplace(contributor.number, next_value(step, value)).second) return refusal::twice;
  add_value(step, contributor.number, value);
  if (contributor.has_element) ++step.given_by_present;
  look(step, then);
  return refusal::none;
}

/// Where the next value of the own part lies.
contribution_steps::place_value contribution_steps::next_value(const open_step& step,
                                                               std::span<const std::byte> value) {
  return {(step.memory.size() + archive_alignment - 1) & ~(archive_alignment - 1), value.size()};
}

void contribution_steps::add_value(open_step& step, std::uint64_t place, std::span<const std::byte> value) {
  const std::size_t begin = next_value(step, value).begin;
  step.first_place = std::min(step.first_place, place);
  step.part_places.front() = std::min(step.part_places.front(), place);
  step.memory.resize(begin + value.size());
  if (!value.empty()) std::memcpy(step.memory.data() + begin, value.data(), value.size());
}

void contribution_steps::restore(const contributor& contributor, const contribution_head& head,
                                 const std::optional<std::span<const std::byte>>& value, effects& then) {
  NACRE_EXPECT(unsettled_ != 0, "a step of contributions is restored while it may end");
  open_step& step = open(head, then);
  const auto [entry, is_new] = step.given.try_emplace(contributor.number, place_value{0, 0, true});
  if (is_new && contributor.has_element) ++step.given_by_present;
  if (!value) return;
  entry->second = next_value(step, *value);
  add_value(step, contributor.number, *value);
}

std::size_t contribution_steps::waiting() const {
  return static_cast<std::size_t>(
      std::count_if(open_.begin(), open_.end(), [](const auto& each) { return !is_being_combined(each.second); }));
}

bool contribution_steps::has_forgotten() const {
  return std::ranges::any_of(ended_steps_, [](const auto& each) { return each.second.has_forgotten(); });
}

void contribution_steps::save(steps_image& image) const {
  for (const auto& [name, step] : open_) {
    NACRE_EXPECT(!is_being_combined(step), "an image is taken while values of a step are combined");
    steps_image::step& one = image.open.emplace_back();
    one.head = step.head;
    one.own_complete = step.own_complete;
    for (const auto& [place, value] : step.given) {
      const std::byte* const begin = step.memory.data() + value.begin;
      if (value.in_sum) {
        one.in_sum.push_back(place);
      } else {
        one.values.push_back({place, packed_value(begin, begin + value.bytes)});
      }
    }
    for (std::size_t part = 0; part < step.parts.size(); ++part) {
      if (step.parts[part]) one.values.push_back({step.part_places[part], *step.parts[part]});
    }
  }
  for (const auto& [handler, steps] : ended_steps_) image.ended_steps.push_back({handler, steps.list()});
}

contribution_steps::refusal contribution_steps::ask(const contribution_head& head, effects& then) {
  const refusal refusal = check(head);
  if (refusal == refusal::ended) return refusal::none;  // the answer is on its way
  if (refusal != refusal::none) return refusal;
  look(open(head, then), then);
  return refusal::none;
}

void contribution_steps::combined(const contribution_head& head, packed_value value, effects& then) {
  const auto match = open_.find(name_of(head));
  if (match != open_.end()) part_came(match->second, 0, std::move(value), then);  // else the array has ended meanwhile
}

contribution_steps::refusal contribution_steps::take_part(std::size_t child, const contribution_head& head,
                                                          std::optional<packed_value> value, effects& then,
                                                          std::uint64_t first_place) {
  if (const refusal refusal = check(head); refusal != refusal::none) return refusal;
  open_step& step = open(head, then);
  if (step.part_came[child + 1]) return refusal::twice;
  step.first_place = std::min(step.first_place, first_place);
  step.part_places[child + 1] = first_place;
  look(step, then);
  part_came(step, child + 1, std::move(value), then);
  return refusal::none;
}

void contribution_steps::child_wants(std::size_t child, effects& then) {
  asks_[child] = true;
  for (const auto& [number, step] : open_) then.to_ask.emplace_back(child, step.head);
  if (!std::exchange(asked_, true)) then.wants = true;
}

void contribution_steps::want_if_vacant(effects& then) {
  if (occupied_ == 0 && !std::exchange(asked_, true)) then.wants = true;
}

std::vector<contribution_steps::dropped_step> contribution_steps::drop_all() {
  std::vector<dropped_step> all;
  for (const auto& [number, step] : open_) all.push_back({step.head, step.first_place});
  open_.clear();
  dropped_ = true;
  return all;
}

void contribution_steps::look_at_all(effects& then) {
  for (auto each = open_.begin(); each != open_.end();) {
    open_step& step = (each++)->second;  // `look` may erase it
    look(step, then);
  }
}

/// Completes the own part if nothing is missing. May end the step and erase `step`.
void contribution_steps::look(open_step& step, effects& then) {
  if (step.own_complete || step.given_by_present != occupied_ || unsettled_ != 0) return;
  step.own_complete = true;
  if (step.memory.empty() && std::ranges::all_of(step.given, [](const auto& each) { return each.second.in_sum; })) {
    NACRE_MARK("a rank without elements takes part in a step of contributions");
    return part_came(step, 0, std::nullopt, then);
  }
  own_values& own_values = then.to_combine.emplace_back();
  own_values.head = step.head;
  own_values.memory = std::move(step.memory);
  own_values.given = std::exchange(step.given, {});
}

/// May end the step and erase `step`.
void contribution_steps::part_came(open_step& step, std::size_t part, std::optional<packed_value> value,
                                   effects& then) {
  NACRE_EXPECT(!step.part_came[part], "a part of a step of contributions came twice");
  step.part_came[part] = true;
  step.parts[part] = std::move(value);
  if (--step.parts_left != 0) return;
  constexpr std::size_t runs_max = 1024;
  ended_steps_.try_emplace(step.head.handler, runs_max).first->second.insert(step.head.step);
  finished_step& whole = then.finished.emplace_back();
  whole.head = step.head;
  whole.first_place = step.first_place;
  for (std::optional<packed_value>& each : step.parts) {
    if (each) whole.values.push_back(std::move(*each));
  }
  open_.erase(name_of(step.head));
}

}  // namespace nacre
