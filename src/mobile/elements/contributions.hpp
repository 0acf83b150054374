// SPDX-License-Identifier: Apache-2.0
// Reductions that elements start: values on their way to the homes of their places, and up the tree of ranks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nacre/contribute.hpp>

#include "am/am_engine.hpp"
#include "am/held_units.hpp"
#include "base/report_lines.hpp"
#include "mobile/array/array_home.hpp"
#include "mobile/array/array_table.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/directory/homes.hpp"
#include "mobile/elements/broadcasts.hpp"
#include "mobile/entry/object_entry.hpp"
#include "mobile/object/delivery_errors.hpp"
#include "mobile/outgoing/object_sender.hpp"

namespace nacre {

/// The protocol of docs/protocols/array.md, section "Contributions"; contribution_steps decides, this class acts.
///
/// An open step counts as one unit of quiescence on each rank that knows it, because the handler of its result is still
/// to run. Functions of the user's classes and operations run without the lock of the array's steps.
class contributions final : public held_part {
 public:
  contributions(am_engine& messages, const nacre::homes& homes, directory& entries, const array_table& arrays,
                broadcasts& all, object_sender& sender, delivery_errors& errors);

  /// A handler on `element` gives a value. On usage_error nothing has changed. If the home of the place is another
  /// rank, or time is simulated, only the home finds that a value does not fit, which ends the job.
  void contribute(thread_context& thread, object_id element, std::span<const std::byte> value, contribution_head head);

  /// The element of a place has come (made or inserted), at the place's home.
  void element_came(array_home& array, std::uint64_t number);
  /// The element of `place` has ended, and the place is empty at its home, which is here. `sent`: see
  /// object_state::contributed. `epoch`: the present one of the place.
  void element_ended(thread_context& thread, object_id place, std::uint32_t sent, std::uint32_t epoch);
  /// All ranks have made the array.
  void begin(thread_context& thread, std::uint64_t first);
  /// The array ends on this rank: drops open steps and reports them.
  void drop(thread_context& thread, array_home& array);
  /// A number for a section that no other one of the job has.
  [[nodiscard]] std::uint64_t next_section() noexcept {
    const std::uint64_t count = sections_made_.fetch_add(1, std::memory_order_relaxed) + 1;  // only uniqueness matters
    return count * messages_.size() + messages_.rank().value();
  }
  /// The last of the numbers of sections that this rank has given, and the one behind which it goes on.
  [[nodiscard]] std::uint64_t last_section() const noexcept { return sections_made_.load(std::memory_order_relaxed); }
  void go_on_behind(std::uint64_t last) noexcept { sections_made_.store(last, std::memory_order_relaxed); }
  /// Adds a section; its `places` have their home here. Throws usage_error.
  void add_section(const detail::section_on_rank& rank);
  /// Ends a section here: drops open steps and reports them. Returns the ranks below in its tree; null if there is no
  /// such section.
  [[nodiscard]] std::optional<std::vector<rank_id>> remove_section(thread_context& thread, std::uint64_t first,
                                                                   std::uint64_t section);

  // For images.
  /// Returns the number of open steps that wait for a value. They lie during a hold: only a value can make them go on.
  /// Steps whose values are being combined do not lie.
  [[nodiscard]] std::uint64_t lying() override;
  void go_on(thread_context&) override {}
  /// Returns the sets that have or have had steps, for an image. To be called while objects are held and nothing runs.
  /// The heads in the result name handlers by their ids.
  [[nodiscard]] std::vector<steps_image> save() const;
  /// All ranks call begin_restore, then `restore` for each step, then end_restore. No step ends in between.
  void begin_restore();
  void end_restore(thread_context& thread);
  /// Restores one step of a set: the places with their home here that have contributed; see steps_image::step. False:
  /// there is no such set.
  [[nodiscard]] bool restore(thread_context& thread, const steps_image::step& given);

  /// Adds a line for each step that lacks values of places of this rank. While nothing runs.
  void name_incomplete(report_lines& report) const;

  // Handlers that other ranks call.
  void on_value(context& ctx, contribution_head head, std::uint64_t number, std::uint32_t epoch,
                std::span<const std::byte> value);
  /// `first_place`: the least place that has given a value; no_place, and then there is no value.
  void on_part(context& ctx, contribution_head head, std::uint64_t first_place, std::span<const std::byte> value);
  void on_ask(context& ctx, contribution_head head);
  void on_wanting(context& ctx, std::uint64_t first, std::uint64_t section);

 private:
  struct own_part;
  using steps = contribution_steps;
  using array_ptr = std::shared_ptr<array_home>;
  using set_ptr = contributing_sets::set_ptr;
  /// The receiver of a message of a peer; no set: the message has been dealt with.
  struct receiver {
    array_ptr array;
    set_ptr set;
  };
  void apply(thread_context& thread, const array_ptr& array, const set_ptr& set, steps::effects then);
  void apply(thread_context& thread, const array_ptr& array, std::vector<contributing_sets::consequence> all);
  void combine_own(thread_context& thread, const array_ptr& array, const set_ptr& set,
                   const steps::own_values& own_values);
  static void combine_work(work& item, thread_context& thread);
  void finish(thread_context& thread, const contributing_set& set, const steps::finished_step& step);
  void pass_on(thread_context& thread, const contributing_set& set, const steps::finished_step& step);
  void deliver(thread_context& thread, const contribution_head& head, message_ptr m);
  [[nodiscard]] bool combine(thread_context& thread, const contribution_head& head,
                             detail::contribution_values& values);
  [[nodiscard]] std::string step_text(const array_home& array, const contribution_head& head) const;
  /// The fate of a value.
  struct given {
    steps::refusal refusal = steps::refusal::none;
    bool is_outside = false;      ///< of the set
    std::uint32_t first_row = 0;  ///< of the step's head, where there is one and it refuses
  };
  [[nodiscard]] static given give(array_home& array, contributing_set& set, std::uint64_t number,
                                  const contribution_head& head, std::span<const std::byte> value,
                                  steps::effects& then);
  [[nodiscard]] std::string text_of(const given& result, const array_home& array, std::uint64_t place,
                                    const contribution_head& head) const;
  [[nodiscard]] std::string outside_text(const array_home& array, std::uint64_t place) const;
  void report_lost(thread_context& thread, const array_home* array, const contribution_head& head, std::uint64_t place);
  void report_dropped(thread_context& thread, const array_home& array, const std::vector<steps::dropped_step>& dropped);
  void refuse_part(const array_home& array, const contribution_head& head, steps::refusal refusal);
  [[nodiscard]] receiver receiver_of(context& ctx, const contribution_head& head, std::uint64_t place);
  [[nodiscard]] std::size_t child_of(context& ctx, const contributing_set& set);

  am_engine& messages_;
  const nacre::homes& homes_;
  directory& entries_;
  const array_table& arrays_;
  broadcasts& broadcasts_;
  object_sender& sender_;
  delivery_errors& errors_;
  std::atomic<std::uint64_t> sections_made_{0};  // by this rank
};

}  // namespace nacre
