// SPDX-License-Identifier: Apache-2.0
// Finding, adopting and withdrawing the members of groups.
#include "am/group_table.hpp"

#include <bit>
#include <limits>
#include <string>

namespace nacre {

group_table::~group_table() {
  for (std::uint32_t number = groups_; number > 0; --number) {
    const detail::group_type* const type = find(number)->type;
    if (void* const left = withdraw(number)) type->destroy(left);
  }
  for (auto& block : blocks_) delete[] block.load();
}

group_table::row* group_table::find(std::uint32_t number) const noexcept {
  if (number == 0) return nullptr;
  const auto block = static_cast<std::size_t>(std::bit_width(number)) - 1;
  // acquire: pairs with the store of the block in open
  row* const rows = blocks_[block].load(std::memory_order_acquire);
  return rows == nullptr ? nullptr : rows + (number - (std::uint32_t{1} << block));
}

group_table::member_of_rank group_table::look(std::uint32_t number) const noexcept {
  const row* const row = find(number);
  // acquire: pairs with the store in adopt
  return {row->member.load(std::memory_order_acquire), row->type};
}

void group_table::skip_to(std::uint32_t number) {
  while (groups_ < number) static_cast<void>(open());
}

std::uint32_t group_table::open(const detail::group_type& type) {
  row& row = open();
  row.type = &type;
  return groups_;
}

group_table::row& group_table::open() {
  if (groups_ == std::numeric_limits<std::uint32_t>::max()) throw usage_error("a job makes at most 2^32 - 1 groups");
  const std::uint32_t number = groups_ + 1;
  if (std::has_single_bit(number)) {
    const auto block = static_cast<std::size_t>(std::bit_width(number)) - 1;
    blocks_[block].store(new row[number], std::memory_order_release);  // pairs with the load in find
  }
  groups_ = number;
  return *find(number);
}

void group_table::adopt(std::uint32_t number, void* member) noexcept {
  find(number)->member.store(member, std::memory_order_release);  // pairs with the load in member
}

void* group_table::withdraw(std::uint32_t number) noexcept {
  row* const row = find(number);
  // acq_rel: as main's own store in adopt, and before the end of the object
  return row == nullptr ? nullptr : row->member.exchange(nullptr, std::memory_order_acq_rel);
}

void* group_table::member(std::uint32_t number, const detail::group_type& type) const {
  const row* const row = find(number);
  if (row != nullptr) {
    // acquire: pairs with the store in adopt; the type has been written before
    void* const member = row->member.load(std::memory_order_acquire);
    if (member != nullptr && detail::same_class(row->type->key, type.key)) return member;
    if (member != nullptr) {
      throw usage_error("a group_ptr<" + std::string(type.name) + "> to a group of another class, " +
                        std::string(row->type->name) + ": take the one that rt.create_group returned");
    }
  }
  throw usage_error(number == 0 ? "a group_ptr that names no group: take the one that rt.create_group<T>() returns"
                                : "group " + std::to_string(number) + " of " + std::string(type.name) +
                                      " is not, or no longer, there: call rt.create_group before the first use, and "
                                      "rt.destroy after the last one");
}

}  // namespace nacre
