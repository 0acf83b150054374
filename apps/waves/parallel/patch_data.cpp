// SPDX-License-Identifier: Apache-2.0
// Halos of a patch.
#include "parallel/patch_data.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

namespace waves {

patch_data::patch_data(std::shared_ptr<const problem> subject, const cut& cut, int at_y, int at_z)
    : fields_(std::move(subject), cut.box(at_y, at_z)) {
  for (std::size_t number = 0; number < directions.size(); ++number) {
    if (cut.contains(at_y + directions[number].y, at_z + directions[number].z)) {
      neighbours_ = static_cast<std::uint8_t>(neighbours_ | 1u << number);
    }
  }
  arrived_[0] = neighbours_;  // the initial state has its halos
}

rows& patch_data::field_of(std::uint32_t exchange) noexcept {
  return exchange % 2 == 1 ? fields_.acceleration() : fields_.displacement_of(static_cast<int>(exchange / 2));
}

bool patch_data::mark(std::uint32_t exchange, std::size_t source) noexcept {
  std::uint8_t& marks = arrived_[exchange % 2];
  marks = static_cast<std::uint8_t>(marks | 1u << source);
  return marks == neighbours_;
}

bool patch_data::take(std::uint32_t exchange, std::size_t source, std::span<const double> packed) {
  const std::scoped_lock lock(mutex_);
  unpack(packed, field_of(exchange), rows_from(fields_.box(), directions[source]));
  return mark(exchange, source);
}

std::optional<bool> patch_data::take_rows(std::uint32_t exchange, std::size_t source, const rows& field,
                                          const patch_box& neighbour) {
  const std::scoped_lock lock(mutex_);
  if (closed_) return std::nullopt;
  copy_rows(field, rows_to(neighbour, directions[opposite(source)]), field_of(exchange),
            rows_from(fields_.box(), directions[source]));
  return mark(exchange, source);
}

bool patch_data::consume(std::uint32_t exchange) {
  const std::scoped_lock lock(mutex_);
  std::uint8_t& marks = arrived_[exchange % 2];
  if (marks != neighbours_) return false;
  marks = 0;
  return true;
}

patch_data::packed patch_data::pack_up(std::uint32_t exchange) {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  return {fields_.state(exchange % 2 == 1 || arrived_[1] != 0), arrived_};
}

void patch_data::restore(const packed& packed) {
  fields_.restore(packed.state);
  arrived_ = packed.arrived;
}

void patch_data::reopen() {
  const std::scoped_lock lock(mutex_);
  closed_ = false;
}

}  // namespace waves
