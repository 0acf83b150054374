// SPDX-License-Identifier: Apache-2.0
// Keys by spreading bits; a radix sort of keys.
#include "curve.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace nbody {
namespace {

struct keyed_index {
  curve_key key;
  std::uint32_t index;
};

/// Puts two zeros between the 21 bits of a number.
std::uint64_t spread_bits(std::uint64_t bits) noexcept {
  bits = (bits | bits << 32) & 0x1f00000000ffffu;
  bits = (bits | bits << 16) & 0x1f0000ff0000ffu;
  bits = (bits | bits << 8) & 0x100f00f00f00f00fu;
  bits = (bits | bits << 4) & 0x10c30c30c30c30c3u;
  return (bits | bits << 2) & 0x1249249249249249u;
}

/// Sorts by the bytes of the keys, lowest first; passes over bytes that all keys share.
void radix_sort(std::vector<keyed_index>& items) {
  std::vector<keyed_index> other(items.size());
  std::vector<std::array<std::uint32_t, 256>> counts(8);
  for (const keyed_index& each : items) {
    for (std::size_t byte = 0; byte < 8; ++byte) ++counts[byte][each.key >> 8 * byte & 255];
  }
  for (std::size_t byte = 0; byte < 8; ++byte) {
    std::array<std::uint32_t, 256>& next = counts[byte];
    if (next[items.front().key >> 8 * byte & 255] == items.size()) continue;
    std::uint32_t sum = 0;
    for (std::uint32_t& each : next) sum += std::exchange(each, sum);
    for (const keyed_index& each : items) other[next[each.key >> 8 * byte & 255]++] = each;
    items.swap(other);
  }
}

}  // namespace

curve_key frame::key_of(const vector3& place) const noexcept {
  constexpr double cells = 1 << levels_max;
  curve_key key = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double cell = std::clamp((place[axis] - origin[axis]) / size * cells, 0.0, cells - 1);
    key |= spread_bits(static_cast<std::uint64_t>(cell)) << (2 - axis);
  }
  return key;
}

vector3 frame::place_of(curve_key key) const noexcept {
  vector3 place;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::uint64_t cell = 0;
    for (int bit = 0; bit < levels_max; ++bit) cell |= (key >> (3 * bit + 2 - static_cast<int>(axis)) & 1) << bit;
    place[axis] = origin[axis] + (static_cast<double>(cell) + 0.5) / (1 << levels_max) * size;
  }
  return place;
}

frame frame_around(const vector3& low, const vector3& high) {
  double size = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) size = std::max(size, high[axis] - low[axis]);
  if (size == 0) size = 1;
  size *= 1 + 1e-9;
  const vector3 middle = 0.5 * (low + high);
  return {{middle[0] - size / 2, middle[1] - size / 2, middle[2] - size / 2}, size, size};
}

frame frame_after(const frame& last, const vector3& low, const vector3& high) {
  constexpr double size_max = 64;  // in units of the box: a level more for each factor of 2
  const frame tight = frame_around(low, high);
  frame grown = last;
  for (std::size_t axis = 0; grown.size <= size_max * tight.size; axis = 0) {
    const auto fits = [&](std::size_t k) {
      return low[k] >= grown.origin[k] && high[k] < grown.origin[k] + grown.size;
    };
    while (axis < 3 && fits(axis)) ++axis;
    if (axis == 3) return grown;
    for (std::size_t k = 0; k < 3; ++k) {
      if (low[k] < grown.origin[k]) grown.origin[k] -= grown.size;
    }
    grown.size *= 2;
  }
  return tight;
}

std::vector<curve_key> sort_along_curve(std::vector<body>& bodies, const frame& frame) {
  if (bodies.empty()) return {};
  std::vector<keyed_index> items(bodies.size());
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    items[k] = {frame.key_of(bodies[k].place), static_cast<std::uint32_t>(k)};
  }
  radix_sort(items);
  const auto prologue = [&](const keyed_index& a, const keyed_index& b) {
    return bodies[a.index].number < bodies[b.index].number;
  };
  for (std::size_t first = 0, end = 0; first < items.size(); first = end) {
    while (end < items.size() && items[end].key == items[first].key) ++end;
    if (end - first > 1) {
      std::sort(items.begin() + static_cast<std::ptrdiff_t>(first), items.begin() + static_cast<std::ptrdiff_t>(end),
                prologue);
    }
  }
  std::vector<body> sorted(bodies.size());
  std::vector<curve_key> keys(bodies.size());
  for (std::size_t k = 0; k < items.size(); ++k) sorted[k] = bodies[items[k].index], keys[k] = items[k].key;
  bodies.swap(sorted);
  return keys;
}

}  // namespace nbody
