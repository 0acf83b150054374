// SPDX-License-Identifier: Apache-2.0
// The groups of one rank: the rank's object of each, by the number of the group.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <nacre/group.hpp>

#include "am/group_requests.hpp"

namespace nacre {

/// Main makes and ends groups; any thread finds members meanwhile, without a lock. Every rank numbers its groups alike,
/// because making one is collective. A number is never used again, so a handle to a group that has ended finds none. A
/// row is 16 bytes; rows lie in blocks, each twice as long as the block before, which never move.
class group_table {
 public:
  group_table() = default;
  group_table(const group_table&) = delete;
  group_table& operator=(const group_table&) = delete;
  /// Destroys the members that are left, the newest first.
  ~group_table();

  /// Makes a row for the next group, and returns its number. Main's thread. Throws usage_error when numbers have run
  /// out, and std::bad_alloc; nothing has changed then.
  [[nodiscard]] std::uint32_t open(const detail::group_type& type);
  /// Gives this rank's object to the group. Main's thread.
  void adopt(std::uint32_t number, void* member) noexcept;
  /// Takes the object from the group: later look-ups throw. Null when there is none. Main's thread.
  [[nodiscard]] void* withdraw(std::uint32_t number) noexcept;
  /// Finds the object. Any thread; wait-free. Throws usage_error when there is none of this class.
  [[nodiscard]] void* member(std::uint32_t number, const detail::group_type& type) const;
  /// The object of this rank and its class; null when the group has ended. Main's thread.
  struct member_of_rank {
    void* member;
    const detail::group_type* type;
  };
  [[nodiscard]] member_of_rank look(std::uint32_t number) const noexcept;
  /// The numbers up to `number` are given: they belong to groups that an image does not have. Main's thread.
  void skip_to(std::uint32_t number);
  /// Messages to members that main asks for.
  [[nodiscard]] group_requests& requests() noexcept { return requests_; }
  /// The number of groups that have been made, those that have ended included. Main's thread.
  [[nodiscard]] std::uint32_t made() const noexcept { return groups_; }

 private:
  struct row {
    std::atomic<void*> member{nullptr};
    const detail::group_type* type = nullptr;
  };
  static constexpr std::size_t blocks_max = 32;
  /// The row of a number; null when its block has not been made.
  [[nodiscard]] row* find(std::uint32_t number) const noexcept;
  /// The row of the next group.
  [[nodiscard]] row& open();

  std::array<std::atomic<row*>, blocks_max> blocks_{};  // block k has 2^k rows, of the numbers from 2^k on
  std::uint32_t groups_ = 0;                            // by main's thread
  group_requests requests_;
};

}  // namespace nacre
