// SPDX-License-Identifier: Apache-2.0
// Whom an object talks to most, in bounded memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include <nacre/ids.hpp>

namespace nacre {

/// What an object has sent another one.
struct traffic_partner {
  object_id object;
  double messages = 0;
  double bytes = 0;
};

/// The frequent partners of one object: the sketch of Misra and Gries (Finding repeated elements, 1982) with weights,
/// all of which are halved at each epoch, so that it follows the object.
///
/// Invariants. What it says of a partner is never more than what was noted, likewise halved. It is less by at most a
/// ninth of all that was noted of anybody, and 1/32 of a message. There are at most `partners_max` partners.
class traffic_sketch {
 public:
  static constexpr std::size_t partners_max = 8;

  /// One message of so many bytes. Epochs are numbers that rise and wrap around; an older one counts as the present.
  void note(object_id to, double bytes, std::uint32_t epoch) noexcept;
  /// Takes note that the time has gone on.
  void advance(std::uint32_t epoch) noexcept;
  /// As of the latest epoch, in the order of ids.
  [[nodiscard]] std::span<const traffic_partner> partners() const noexcept { return {partners_.data(), count_}; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(epoch_, count_);
    for (std::size_t index = 0; index < count_ && index < partners_max; ++index) {
      traffic_partner& each = partners_[index];
      ar(each.object, each.messages, each.bytes);
    }
  }
  /// Whether the bytes that it was read from can be such a sketch in a job of so many ranks.
  [[nodiscard]] bool sound(std::uint32_t ranks) const noexcept;

 private:
  void make_room(double weight) noexcept;
  void forget_small() noexcept;

  std::uint32_t epoch_ = 0;
  std::uint32_t count_ = 0;
  std::array<traffic_partner, partners_max> partners_{};
};

/// A sketch that handlers which run on the object at a time write, and the poll loop reads. Held for moments; nothing
/// else is taken meanwhile.
struct shared_traffic {
  std::mutex guard;
  traffic_sketch sketch;  ///< under `guard`
};

}  // namespace nacre
