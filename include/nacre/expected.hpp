// SPDX-License-Identifier: Apache-2.0
// A value or the reason for its absence, for failures that are expected on the data path.
#pragma once

#include <type_traits>

#include <tl/expected.hpp>

namespace nacre {

/// Holds a T, or an E when there is no T. Replaces std::expected, which gcc 12 lacks.
template <class T, class E>
using expected = tl::expected<T, E>;

/// The failing side of an expected: `return unexpected(reason);` converts to any expected<T, E>.
template <class E>
[[nodiscard]] constexpr tl::unexpected<std::decay_t<E>> unexpected(E&& reason) {
  return tl::unexpected<std::decay_t<E>>(static_cast<E&&>(reason));
}

}  // namespace nacre
