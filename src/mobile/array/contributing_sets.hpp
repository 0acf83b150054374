// SPDX-License-Identifier: Apache-2.0
// The sets of places of an array that contribute together: all of them, and those of its sections.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "am/rank_tree.hpp"
#include "mobile/array/contribution_steps.hpp"
#include "mobile/array/value_messages.hpp"

namespace nacre {

/// A set of places that contribute together, as one rank sees it.
struct contributing_set {
  contributing_set(std::uint64_t section_number, bool is_root, tree_place in_tree, bool asked,
                   std::uint32_t named_root = 0)
      : section(section_number),
        root(is_root),
        root_in_name(named_root),
        tree(std::move(in_tree)),
        steps(tree.children.size(), asked) {}
  const std::uint64_t section;       ///< 0: the whole array
  const bool root;                   ///< of the tree of the ranks that are home of places of the set
  const std::uint32_t root_in_name;  ///< of the section: see section_ptr
  const tree_place tree;
  contribution_steps steps;
};

/// The sets of one array on one rank. A place knows the sections that it belongs to, so what happens to its element
/// costs in proportion to their number. Not thread-safe; a set lives as long as anything refers to it.
class contributing_sets {
 public:
  using set_ptr = std::shared_ptr<contributing_set>;
  /// The consequences for one set.
  struct consequence {
    set_ptr set;
    contribution_steps::effects then;
  };

  /// `whole`: of all places.
  explicit contributing_sets(set_ptr whole) : whole_(std::move(whole)) {}

  [[nodiscard]] const set_ptr& whole() const noexcept { return whole_; }
  /// Null: there is none.
  [[nodiscard]] set_ptr find(std::uint64_t section) const {
    if (section == 0) return whole_;
    const auto match = sections_.find(section);
    return match != sections_.end() ? match->second.set : nullptr;
  }
  [[nodiscard]] bool has(const contributing_set& set, std::uint64_t place) const;
  [[nodiscard]] contribution_steps::contributor contributor_of(std::uint64_t place) const;
  /// Adds a section, with the places that have their home on this rank. False: there is one of this number already.
  [[nodiscard]] bool add(const set_ptr& set, std::vector<std::uint64_t> places);
  /// Takes a section out. Null: there is none.
  set_ptr remove(std::uint64_t section);

  void element_came(std::uint64_t place);
  /// `sent`: the messages with values that the element has sent; `epoch`: of the place afterwards.
  [[nodiscard]] std::vector<consequence> element_ended(std::uint64_t place, std::uint32_t sent, std::uint32_t epoch);
  /// Counts a value that has come in a message; call it when the value has been given. `epoch`: of the element when it
  /// sent.
  [[nodiscard]] std::vector<consequence> message_came(std::uint64_t place, std::uint32_t epoch);

  /// The runs of places of a set that have an element.
  [[nodiscard]] steps_image::runs places_of(const contributing_set& set) const;
  /// Calls visit(set) for the whole array and for each section.
  template <class Visit>
  void for_each(Visit visit) const {
    visit(whole_);
    for (const auto& [number, each] : sections_) visit(each.set);
  }
  /// Calls visit(const contributing_set&, const std::vector<std::uint64_t>& places) for each section.
  template <class Visit>
  void for_each_section(Visit visit) const {
    for (const auto& [number, each] : sections_) visit(*each.set, each.places);
  }

 private:
  static constexpr std::size_t places_a_chunk = 512;
  struct section_entry {
    set_ptr set;
    std::vector<std::uint64_t> places;  // in their order
  };
  template <class Visit>
  void for_each_of(std::uint64_t place, Visit visit) const {
    visit(whole_);
    if (by_place_.empty()) return;
    const auto match = by_place_.find(place);
    if (match == by_place_.end()) return;
    for (contributing_set* const each : match->second) visit(sections_.find(each->section)->second.set);
  }
  std::bitset<places_a_chunk>& chunk_of(std::uint64_t place);

  set_ptr whole_;
  std::map<std::uint64_t, section_entry> sections_;
  std::unordered_map<std::uint64_t, std::vector<contributing_set*>> by_place_;  // in the order of their numbers
  std::unordered_map<std::uint64_t, std::bitset<places_a_chunk>> occupied_;     // by chunk: places with an element
  static constexpr std::uint64_t no_chunk = ~std::uint64_t{0};
  std::uint64_t recent_chunk_ = no_chunk;
  std::bitset<places_a_chunk>* recent_ = nullptr;
  value_messages messages_;
};

}  // namespace nacre
