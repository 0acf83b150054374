// SPDX-License-Identifier: Apache-2.0
// The sets of places of an array that contribute together.
#include "mobile/array/contributing_sets.hpp"

#include <algorithm>

namespace nacre {

std::bitset<contributing_sets::places_a_chunk>& contributing_sets::chunk_of(std::uint64_t place) {
  const std::uint64_t chunk = place / places_a_chunk;
  if (chunk != recent_chunk_) {
    recent_ = &occupied_[chunk];
    recent_chunk_ = chunk;
  }
  return *recent_;
}

bool contributing_sets::has(const contributing_set& set, std::uint64_t place) const {
  if (set.section == 0) return true;
  const auto section = sections_.find(set.section);
  if (section == sections_.end() || section->second.set.get() != &set) return false;
  const std::vector<std::uint64_t>& places = section->second.places;
  return std::binary_search(places.begin(), places.end(), place);
}

namespace {

/// Where a section is, or would be, among the sections of a place.
std::vector<contributing_set*>::iterator position_of(std::vector<contributing_set*>& sets, std::uint64_t section) {
  return std::lower_bound(sets.begin(), sets.end(), section,
                          [](const contributing_set* each, std::uint64_t number) { return each->section < number; });
}

}  // namespace

contribution_steps::contributor contributing_sets::contributor_of(std::uint64_t place) const {
  const auto match = occupied_.find(place / places_a_chunk);
  return {place, match != occupied_.end() && match->second.test(place % places_a_chunk)};
}

steps_image::runs contributing_sets::places_of(const contributing_set& set) const {
  number_runs number_runs(number_runs::no_bound);
  if (const auto section = sections_.find(set.section); section != sections_.end()) {
    for (const std::uint64_t place : section->second.places) {
      if (contributor_of(place).has_element) number_runs.insert(place);
    }
    return number_runs.list();
  }
  for (const auto& [chunk, bits] : occupied_) {
    for (std::size_t bit = 0; bit < places_a_chunk; ++bit) {
      if (bits.test(bit)) number_runs.insert(chunk * places_a_chunk + bit);
    }
  }
  return number_runs.list();
}

bool contributing_sets::add(const set_ptr& set, std::vector<std::uint64_t> places) {
  const auto [entry, is_new] = sections_.try_emplace(set->section, section_entry{set, {}});
  if (!is_new) return false;
  std::sort(places.begin(), places.end());
  for (const std::uint64_t place : places) {
    std::vector<contributing_set*>& sets = by_place_[place];
    sets.insert(position_of(sets, set->section), set.get());
    if (chunk_of(place).test(place % places_a_chunk)) set->steps.element_came(place);
    set->steps.add_unsettled(messages_.unsettled(place));
  }
  entry->second.places = std::move(places);
  return true;
}

contributing_sets::set_ptr contributing_sets::remove(std::uint64_t section) {
  const auto match = sections_.find(section);
  if (match == sections_.end()) return nullptr;
  const section_entry gone = std::move(match->second);
  sections_.erase(match);
  for (const std::uint64_t place : gone.places) {
    const auto position = by_place_.find(place);
    position->second.erase(position_of(position->second, section));
    if (position->second.empty()) by_place_.erase(position);
  }
  return gone.set;
}

void contributing_sets::element_came(std::uint64_t place) {
  chunk_of(place).set(place % places_a_chunk);
  for_each_of(place, [&](const set_ptr& each) { each->steps.element_came(place); });
}

std::vector<contributing_sets::consequence> contributing_sets::element_ended(std::uint64_t place, std::uint32_t sent,
                                                                             std::uint32_t epoch) {
  if (chunk_of(place).reset(place % places_a_chunk).none()) {
    occupied_.erase(recent_chunk_);
    recent_chunk_ = no_chunk;
  }
  const bool unsettled = messages_.ended(place, sent, epoch);
  std::vector<consequence> all;
  for_each_of(place, [&](const set_ptr& each) {
    if (unsettled) each->steps.add_unsettled(1);
    each->steps.element_ended(place, all.emplace_back(consequence{each, {}}).then);
  });
  return all;
}

std::vector<contributing_sets::consequence> contributing_sets::message_came(std::uint64_t place, std::uint32_t epoch) {
  std::vector<consequence> all;
  if (!messages_.came(place, epoch)) return all;
  for_each_of(place, [&](const set_ptr& each) { each->steps.settled(all.emplace_back(consequence{each, {}}).then); });
  return all;
}

}  // namespace nacre
