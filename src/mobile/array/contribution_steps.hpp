// SPDX-License-Identifier: Apache-2.0
// The steps to which the elements of an array contribute, as one rank sees them: a state machine without I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mobile/array/number_runs.hpp"

namespace nacre {

/// The step of an array, and the use of its result. A step is known by its number and the handler of its result; all
/// contributions to a step have an equal head.
struct contribution_head {
  std::uint64_t first = 0;    ///< the array
  std::uint64_t section = 0;  ///< 0: all its elements contribute; else the number of one of its sections
  std::uint64_t step = 0;
  std::uint32_t handler = 0;  ///< handler_id of the function that gets the result; each counts steps of its own
  std::uint32_t row = 0;      ///< handler_id of the row that combines values and makes the message with the result
  std::uint8_t kind = 0;      ///< of the target, see detail::contribution_target
  std::uint64_t target = 0;   ///< name of the target

  friend bool operator==(const contribution_head&, const contribution_head&) = default;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(first, section, step, handler, row, kind, target);
  }
};

using packed_value = std::vector<std::byte>;

/// A set of steps as an image has it: the part of one rank. Its heads name handlers and rows by image_names.
struct steps_image {
  using runs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  struct value {
    std::uint64_t place = 0;
    packed_value bytes;
    template <class Archive>
    void serialize(Archive& ar) {
      ar(place, bytes);
    }
  };
  /// A step that is open here. Each value is that of a single place, or a sum, whose `place` is then the first place in
  /// it. Once the own part is complete, the values of the own places are in one sum.
  struct step {
    contribution_head head;
    bool own_complete = false;
    std::vector<value> values;
    std::vector<std::uint64_t> in_sum;  ///< other places that have contributed; their values are in the sums
    template <class Archive>
    void serialize(Archive& ar) {
      ar(head, own_complete, values, in_sum);
    }
  };
  struct ended {
    std::uint32_t handler = 0;
    runs steps;
    template <class Archive>
    void serialize(Archive& ar) {
      ar(handler, steps);
    }
  };
  std::uint64_t first = 0, section = 0;
  std::vector<step> open;
  std::vector<ended> ended_steps;  ///< the steps that have ended on this rank
  runs places;                     ///< that have their home on this rank, and an element
  template <class Archive>
  void serialize(Archive& ar) {
    ar(first, section, open, ended_steps, places);
  }
};

/// On each rank a step has an own part (the values of the places that have their home here) and one part for each child
/// in the tree of ranks (rank_tree.hpp).
///
/// | state of the own part | value of a place | a place is filled | an element ends | parent asks |
/// |---|---|---|---|---|
/// | step not known | open, or complete | - | - | open, or complete |
/// | open | open, or complete | open | open, or complete | - |
/// | complete | refused: the step has ended | - | - | - |
///
/// The own part is complete when each place with an element has given its value and each value that an ended element
/// has sent is here. When the parts of all children have come, too, this rank sends all parts to its parent, and the
/// step is over here.
///
/// Invariant: a rank that has only empty places has told its parent that it wants to be asked, because no value would
/// tell it that a step has begun. So the parent asks every such rank for each step to which some element contributes.
/// Not thread-safe.
class contribution_steps {
 public:
  /// Why a value is not taken.
  enum class refusal : std::uint8_t { none, twice, other_head, ended };

  static constexpr std::uint64_t no_place = ~std::uint64_t{0};

  struct place_value {
    std::size_t begin, bytes;
    bool in_sum = false;  ///< there is no value of its own; see restore
  };
  /// The values of the own part of a step, packed.
  struct own_values {
    contribution_head head;
    std::vector<std::byte> memory;
    std::unordered_map<std::uint64_t, place_value> given;  ///< in `memory`, by place
    /// All of them in the order of the places. Takes time for sorting, so it is for a caller that holds no lock.
    [[nodiscard]] std::vector<std::span<const std::byte>> in_order() const;
  };
  /// A step that is over here: its values, own part first, then those of the children; empty when there is none.
  struct finished_step {
    contribution_head head;
    std::vector<packed_value> values;
    std::uint64_t first_place = no_place;  ///< the least of all those that have given the values
  };
  /// A step that ends without a result; `first_place` as in finished_step, among the values that have come here.
  struct dropped_step {
    contribution_head head;
    std::uint64_t first_place = no_place;
  };
  /// The actions that follow from an input; the caller does them once it has released its lock.
  struct effects {
    std::size_t opened = 0;                                         ///< steps that have begun here
    std::vector<own_values> to_combine;                             ///< for each, `combined` comes next
    std::vector<finished_step> finished;                            ///< to send to the parent
    std::vector<std::pair<std::size_t, contribution_head>> to_ask;  ///< children, by number
    bool wants = false;                                             ///< tell the parent that it has to ask
  };

  /// `asked`: the parent asks this rank, and this rank its children, from the beginning.
  contribution_steps(std::size_t children, bool asked) : asks_(children, asked), asked_(asked) {}

  void element_came(std::uint64_t place);
  void element_ended(std::uint64_t place, effects& then);
  /// Elements that ended while values of theirs were still on the way, see value_messages. No step completes until
  /// these values are here.
  void add_unsettled(std::size_t ends) noexcept { unsettled_ += ends; }
  /// The last such value of one element has been given.
  void settled(effects& then);
  /// A place that gives a value.
  struct contributor {
    std::uint64_t number;
    bool has_element;  ///< false: the element that has sent the value has ended, and there is no other one
  };
  [[nodiscard]] refusal give(const contributor& contributor, const contribution_head& head,
                             std::span<const std::byte> value, effects& then);
  [[nodiscard]] refusal ask(const contribution_head& head, effects& then);
  void combined(const contribution_head& head, packed_value value, effects& then);
  /// `value`: null when there is none below the child. `first_place`: the least of those that have given it.
  [[nodiscard]] refusal take_part(std::size_t child, const contribution_head& head, std::optional<packed_value> value,
                                  effects& then, std::uint64_t first_place);
  void child_wants(std::size_t child, effects& then);
  /// The elements of the array have been made; a rank without one must be asked.
  void begin(effects& then) { want_if_vacant(then); }
  /// Forgets all steps, since the array ends. Nothing is given, taken or asked afterwards.
  [[nodiscard]] std::vector<dropped_step> drop_all();
  [[nodiscard]] bool dropped() const noexcept { return dropped_; }

  /// The head of the open step of that number and handler; null: it is not open.
  [[nodiscard]] const contribution_head* head_of(const contribution_head& like) const;
  /// The number of open steps here that go on with a value only: not those whose own values are being combined.
  [[nodiscard]] std::size_t waiting() const;
  /// Whether a step that is over may count as one that never was: its number has been forgotten.
  [[nodiscard]] bool has_forgotten() const;
  /// The open steps and those that have ended, as `open` and `ended_steps` of an image, while none is being combined.
  void save(steps_image& image) const;
  /// In a job that begins from an image: a place has given a value, or is the first one of those of a sum; without
  /// `value` it has given a part of a sum. Between add_unsettled and settled.
  void restore(const contributor& contributor, const contribution_head& head,
               const std::optional<std::span<const std::byte>>& value, effects& then);

  /// Calls visit(head, missing, elements) for each step that lacks values of places of this rank.
  template <class Visit>
  void for_each_incomplete(Visit visit) const {
    for (const auto& [name, each] : open_) {
      if (!each.own_complete) visit(each.head, occupied_ - each.given_by_present, occupied_);
    }
  }

 private:
  struct open_step {
    contribution_head head;
    std::vector<std::byte> memory;
    std::unordered_map<std::uint64_t, place_value> given;  // by place
    std::uint64_t given_by_present = 0;                    // places with an element among them
    std::uint64_t first_place = no_place;                  // the least of those with a value that has come here
    bool own_complete = false;
    std::vector<std::optional<packed_value>> parts;  // own, then children's
    std::vector<std::uint64_t> part_places;          // the first place of each
    std::vector<bool> part_came;
    std::size_t parts_left = 0;
  };

  using step_name = std::pair<std::uint64_t, std::uint32_t>;  // number and handler
  [[nodiscard]] static step_name name_of(const contribution_head& head) noexcept { return {head.step, head.handler}; }
  open_step& open(const contribution_head& head, effects& then);
  [[nodiscard]] static place_value next_value(const open_step& step, std::span<const std::byte> value);
  static void add_value(open_step& step, std::uint64_t place, std::span<const std::byte> value);
  [[nodiscard]] static bool is_being_combined(const open_step& step) {
    return step.own_complete && !step.part_came.front();
  }
  void look(open_step& step, effects& then);
  void part_came(open_step& step, std::size_t part, std::optional<packed_value> value, effects& then);
  void want_if_vacant(effects& then);
  void look_at_all(effects& then);
  [[nodiscard]] refusal check(const contribution_head& head) const;

  std::uint64_t occupied_ = 0;  // places with an element
  std::map<step_name, open_step> open_;
  std::map<std::uint32_t, number_runs> ended_steps_;  // by handler; each the steps that are over
  std::vector<bool> asks_;                            // by child: it wants to be asked
  bool asked_;                                        // the parent knows that this rank wants to be asked
  std::size_t unsettled_ = 0;                         // ends of elements with values under way
  bool dropped_ = false;
};

}  // namespace nacre
