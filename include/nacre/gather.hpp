// SPDX-License-Identifier: Apache-2.0
// Elements that lie in several places, as one argument of a message.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <nacre/archive/save.hpp>

namespace nacre {

/// The argument that `gather` makes, for a parameter std::span<const T> or std::vector<T> of a handler, which gets the
/// elements of all parts one behind the other. It looks at memory of the caller, which may change when `send` has
/// returned.
template <class T, std::size_t Parts>
class gathered {
 public:
  using value_type = T;
  explicit gathered(const std::array<std::span<const T>, Parts>& parts) noexcept : parts_(parts) {}

  [[nodiscard]] const std::array<std::span<const T>, Parts>& parts() const noexcept { return parts_; }
  [[nodiscard]] std::size_t size() const noexcept {
    std::size_t sum = 0;
    for (const std::span<const T> part : parts_) sum += part.size();
    return sum;
  }
  operator std::vector<T>() const {
    std::vector<T> all;
    all.reserve(size());
    for (const std::span<const T> part : parts_) all.insert(all.end(), part.begin(), part.end());
    return all;
  }
  /// Written as a span of all elements is.
  template <class Archive>
  void save(Archive& ar) const {
    ar.write_length(size());
    if (size() == 0) return;
    ar.align(detail::alignment_of<T>);
    for (const std::span<const T> part : parts_) ar.write_bytes(part.data(), part.size_bytes());
  }

 private:
  std::array<std::span<const T>, Parts> parts_;
};

/// Gathers the elements of several spans, vectors or arrays of one trivially copyable type into one argument of a
/// message: `rt.send<take>(nacre::rank_id{1}, nacre::gather(head, body, tail))` copies each element once, into the
/// message, and a message with{.reliable = false} over a transport of datagrams copies none.
template <class First, class... Rest>
[[nodiscard]] auto gather(const First& first, const Rest&... rest) {
  using element = std::remove_const_t<typename decltype(std::span(first))::element_type>;
  static_assert(std::is_trivially_copyable_v<element>, "gather is for elements that travel as their bytes");
  return gathered<element, 1 + sizeof...(Rest)>({std::span<const element>(first), std::span<const element>(rest)...});
}

namespace detail {

template <class T>
inline constexpr bool is_gathered = false;
template <class T, std::size_t Parts>
inline constexpr bool is_gathered<gathered<T, Parts>> = true;

}  // namespace detail
}  // namespace nacre
