// SPDX-License-Identifier: Apache-2.0
// Arrays in the random program: their elements are cells like others, come and go, and hear what is sent to all.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "campaign/array_record.hpp"
#include "campaign/program.hpp"

namespace campaign {

/// By block, or all over the ranks.
struct by_parity {
  nacre::rank_id operator()(const nacre::index& index, const nacre::extents& shape, std::uint32_t ranks) const {
    if (shape.count() % 2 == 0) return nacre::by_block{}(index, shape, ranks);
    return nacre::rank_id(static_cast<std::uint32_t>(shape.number_of(index) * 7 % ranks));
  }
};

/// One array and what the program knows of it for certain.
///
/// The element of place 0 stays. Of the other places a third are *wild*: anybody fills, empties and destroys. Each of
/// the rest is filled and emptied by one main alone, which knows therefore what must come of it.
struct used_array {
  nacre::array_ptr<cell, by_parity> grid;
  std::vector<std::uint32_t> places{};               ///< names in the oracle
  std::vector<std::uint32_t> first_lives{};          ///< of a dense one, by place
  std::vector<std::optional<std::uint32_t>> sure{};  ///< by place: the life that is there for certain
  std::set<std::uint32_t> living{};                  ///< those of `sure`
  std::vector<std::uint32_t> ended{};                ///< lives that have ended for certain
  std::uint32_t lasting = 0;                         ///< the life that stays
  bool sparse = false;
  bool known = false;   ///< the handle is
  bool ending = false;  ///< some main has begun to destroy it
  array_record record{};

  [[nodiscard]] static bool is_wild(std::uint64_t number) noexcept { return number % 3 == 1; }
};

/// Collective: makes and destroys what the plans say, before a phase begins.
void begin_arrays(world& in, nacre::runtime& rt, std::uint32_t phase);
/// Collective: destroys what is left.
void end_arrays(world& in, nacre::runtime& rt);

/// Sends to all elements of some array, or fills or empties a wild place; for any handler or main.
void use_array(world& in, nacre::operations& op, stream_id stream);
/// Ends an element that anybody may end; says whether it was one.
[[nodiscard]] bool may_destroy(world& in, std::uint32_t object);

/// A call or reduction that somebody awaits.
struct pending_for_all {
  std::uint32_t array = 0;
  std::uint64_t value = 0;
  std::vector<std::uint32_t> living{};  ///< lives that must hear it, if they last
  std::optional<nacre::future<void>> called{};
  std::optional<nacre::future<std::uint64_t>> sum{};
};
/// Nothing when there is no array.
[[nodiscard]] std::optional<pending_for_all> ask_all(world& in, nacre::operations& op, stream_id stream);
nacre::task<void> finish(world& in, pending_for_all asked);
void finish_in_main(world& in, pending_for_all asked);

/// Fills or empties a place that only this main does.
void come_and_go_in_main(world& in, nacre::runtime& rt);

/// Whether a delivery error is of a message to all elements; that is so only when the array has been destroyed.
[[nodiscard]] bool lost_to_all(world& in, const nacre::delivery_error& error);
void arrays_must_be_quiet(world& in, const std::string& moment);

}  // namespace campaign
