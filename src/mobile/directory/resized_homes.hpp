// SPDX-License-Identifier: Apache-2.0
// The homes of objects in a job that has been restored on another number of ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "mobile/directory/homes.hpp"

namespace nacre {

/// The names that an earlier life of the job has given: what an image stores of them.
struct earlier_names {
  struct array {
    std::uint64_t first = 0;  ///< number of its first place among the places of all arrays; a multiple of 16
    std::uint64_t places = 0;
    bool keyed = false;
  };
  std::vector<std::uint64_t> last_indices;  ///< by birth: the largest index that it has given to an object; 0: none
  std::vector<array> arrays;                ///< that exist, ascending by `first`
};

/// Reckons the homes of the names of earlier lives, so that each of the present ranks gets a run of neighbours. It
/// needs only the numbers that an image stores anyway, and it does not matter how often the job has been resized.
///
/// | name | home, where the job has M ranks |
/// |---|---|
/// | place p of an array of n places | p M / n |
/// | place of a keyed array, with birth b | b modulo M, as the home of its key |
/// | object i of birth b | (indices of the births before b + i) M / (indices of all births) |
/// | any other: it was given in this life | its birth |
///
/// p, n, i and the indices of a birth are counted in blocks of 16 (names_a_block), so a block of names has one home.
/// Numbers are never given again: a birth b below M goes on behind last_indices[b].
class resized_homes final : public home_table {
 public:
  /// `ranks`: of the present job.
  resized_homes(std::uint32_t ranks, earlier_names given);

  [[nodiscard]] rank_id home_of(object_id id) const noexcept override;
  [[nodiscard]] object_id new_name(rank_id home, std::uint64_t index) const override;
  [[nodiscard]] std::uint32_t births() const noexcept override { return ranks_; }

 private:
  /// Null: the element belongs to no array of an earlier life.
  [[nodiscard]] const earlier_names::array* array_of(std::uint64_t number) const noexcept;

  const std::uint32_t ranks_;
  const earlier_names given_;
  std::vector<std::uint64_t> blocks_before_;  // by birth: of all births before it; then of all
};

}  // namespace nacre
