// SPDX-License-Identifier: Apache-2.0
// Noting and forgetting.
#include "mobile/entry/traffic_sketch.hpp"

#include <algorithm>
#include <cmath>

namespace nacre {
namespace {

/// A partner with fewer messages is forgotten.
constexpr double least_messages = 1.0 / 64;
/// No real sum is larger, and sums up to it stay finite.
constexpr double most = 1e18;

bool by_id(const traffic_partner& a, object_id b) noexcept { return a.object < b; }

}  // namespace

void traffic_sketch::note(object_id object, double bytes, std::uint32_t epoch) noexcept {
  advance(epoch);
  const auto end = [this] { return partners_.begin() + count_; };
  auto position = std::lower_bound(partners_.begin(), end(), object, by_id);
  if (position != end() && position->object == object) {
    position->messages += 1;
    position->bytes += bytes;
    return;
  }
  double left = 1;
  if (count_ == partners_max) {
    const auto fewer = [](const traffic_partner& a, const traffic_partner& b) { return a.messages < b.messages; };
    const double taken = std::min(left, std::min_element(partners_.begin(), end(), fewer)->messages);
    make_room(taken);
    left -= taken;
    if (left < least_messages) return;
    position = std::lower_bound(partners_.begin(), end(), object, by_id);
  }
  std::move_backward(position, end(), end() + 1);
  *position = {object, left, bytes * left};
  ++count_;
}

/// Subtracts `weight` messages from each partner, so that a partner with just that many drops out.
void traffic_sketch::make_room(double weight) noexcept {
  for (std::size_t index = 0; index < count_; ++index) {
    traffic_partner& each = partners_[index];
    each.bytes *= 1 - weight / each.messages;
    each.messages -= weight;
  }
  forget_small();
}

void traffic_sketch::forget_small() noexcept {
  const auto end = partners_.begin() + count_;
  const auto kept = std::remove_if(partners_.begin(), end,
                                   [](const traffic_partner& each) { return each.messages < least_messages; });
  count_ = static_cast<std::uint32_t>(kept - partners_.begin());
}

void traffic_sketch::advance(std::uint32_t epoch) noexcept {
  const auto epochs = static_cast<std::int32_t>(epoch - epoch_);
  if (count_ == 0) epoch_ = epoch;
  if (epochs <= 0 || count_ == 0) return;
  epoch_ = epoch;
  const double part = std::ldexp(1, -epochs);
  for (std::size_t index = 0; index < count_; ++index) {
    partners_[index].messages *= part;
    partners_[index].bytes *= part;
  }
  forget_small();
}

bool traffic_sketch::sound() const noexcept {
  if (count_ > partners_max) return false;
  const auto in_bounds = [](double value) { return value >= 0 && value <= most; };
  const std::span<const traffic_partner> all = partners();
  for (std::size_t index = 0; index < all.size(); ++index) {
    const traffic_partner& each = all[index];
    if (!each.object.valid()) return false;
    if (index > 0 && !(all[index - 1].object < each.object)) return false;
    if (!in_bounds(each.messages) || !in_bounds(each.bytes) || each.messages < least_messages) return false;
  }
  return true;
}

}  // namespace nacre
