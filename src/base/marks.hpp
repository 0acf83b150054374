// SPDX-License-Identifier: Apache-2.0
// Marks on rare branches, so that a test campaign can require that it has reached every one.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace nacre {

/// Counts how often one marked branch has been taken in this process, on all ranks. Marks are for tests: no code may
/// decide anything by them. All marks exist from the start of the program, whether or not they are hit. Source:
/// TigerBeetle, marks.zig.
class mark {
 public:
  explicit mark(std::string_view name) noexcept;

  /// Any thread.
  void hit() noexcept { hits_.fetch_add(1, std::memory_order_relaxed); }  // a statistic: orders nothing
  [[nodiscard]] std::uint64_t hits() const noexcept { return hits_.load(std::memory_order_relaxed); }  // a statistic
  [[nodiscard]] std::string_view name() const noexcept { return name_; }

  /// Returns all marks of the program, in no particular order.
  [[nodiscard]] static std::vector<const mark*> all();

 private:
  std::string_view name_;
  std::atomic<std::uint64_t> hits_{0};
  mark* next_;
};

namespace detail {

template <std::size_t Size>
struct mark_name {
  char text[Size];
  // NOLINTNEXTLINE(google-explicit-constructor): a literal becomes a template argument.
  consteval mark_name(const char (&literal)[Size]) { std::copy_n(literal, Size, text); }
};

template <mark_name Name>
inline mark mark_of{std::string_view(Name.text)};

}  // namespace detail
}  // namespace nacre

/// Counts that this branch has been taken. Only for rare branches: it costs an atomic increment.
#define NACRE_MARK(name) ::nacre::detail::mark_of<name>.hit()
