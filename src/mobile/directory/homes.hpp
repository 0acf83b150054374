// SPDX-License-Identifier: Apache-2.0
// The home of each object: the rank that knows where the object is.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <nacre/ids.hpp>

namespace nacre {

/// Names with adjacent indices from a multiple of this on have one home, if they have one birth.
inline constexpr std::uint64_t names_a_block = 16;

/// Homes that are not the births of the objects. All ranks of a job have equal tables, which never change.
class home_table {
 public:
  virtual ~home_table() = default;
  /// The home of a name. For a name that no rank has given it may be a rank that the job does not have.
  [[nodiscard]] virtual rank_id home_of(object_id id) const noexcept = 0;
  /// A name with this index for a new object with the home `home`. No other index or home gives the same name.
  [[nodiscard]] virtual object_id new_name(rank_id home, std::uint64_t index) const = 0;
  /// The number of ranks with which the placements of new arrays are asked. Each rank below it is the birth of names.
  [[nodiscard]] virtual std::uint32_t births() const noexcept = 0;
};

/// Answers for one rank of a job which rank is the home of an object. A name tells the *birth* of its object, a rank of
/// the job that gave the name. Nothing else in this layer reads births: a job that has been restored on another number
/// of ranks has names with births that are no ranks of it.
///
/// | job | home of an object |
/// |---|---|
/// | began anew | its birth |
/// | restored on another number of ranks | resized_homes reckons it |
/// | a test | scrambled_homes draws it |
///
/// Any thread. It changes once at most, before the rank knows any object.
class homes {
 public:
  /// `rank`: this one. `ranks`: how many the job has. `table`: null where all homes are births.
  homes(rank_id rank, std::uint32_t ranks, std::shared_ptr<const home_table> table = nullptr) noexcept
      : table_(std::move(table)), rank_(rank), ranks_(ranks) {}

  /// The job goes on from an image of another number of ranks. Main, before anything has been made or sent.
  void reckon_by(std::shared_ptr<const home_table> table) noexcept { table_ = std::move(table); }
  /// The home of an object. A rank of the job if `knows(id)`.
  [[nodiscard]] rank_id home_of(object_id id) const noexcept {
    return table_ == nullptr ? id.birth() : reckoned_home_of(id);
  }
  /// Whether this rank is the home of the object.
  [[nodiscard]] bool home_is_here(object_id id) const noexcept { return home_of(id) == rank_; }
  /// Whether a rank of the job is the home of the object. False: there is no such object.
  [[nodiscard]] bool knows(object_id id) const noexcept { return id.index() != 0 && home_of(id).value() < ranks_; }

  /// Names a new object. `home`: the rank that makes it. `index`: no other object that the rank makes gets it.
  [[nodiscard]] object_id new_name(rank_id home, std::uint64_t index) const {
    return table_ == nullptr ? object_id(home, index) : table_->new_name(home, index);
  }
  /// The number of ranks with which the placements of new arrays are asked.
  [[nodiscard]] std::uint32_t births() const noexcept { return table_ == nullptr ? ranks_ : table_->births(); }
  /// Whether a home may be another rank than the birth.
  [[nodiscard]] bool reckoned() const noexcept { return table_ != nullptr; }

 private:
  /// Apart, so that its callers need no room for a call where homes are births.
  [[gnu::cold, gnu::noinline]] rank_id reckoned_home_of(object_id id) const noexcept { return table_->home_of(id); }

  std::shared_ptr<const home_table> table_;
  const rank_id rank_;
  const std::uint32_t ranks_;
};

}  // namespace nacre
