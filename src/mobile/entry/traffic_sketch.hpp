// SPDX-License-Identifier: Apache-2.0
// The objects that an object sends to most, in bounded memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include <nacre/ids.hpp>

namespace nacre {

/// The messages that an object has sent to another one.
struct traffic_partner {
  object_id object;
  double messages = 0;
  double bytes = 0;
};

/// The frequent partners of one object: a weighted sketch of Misra and Gries (Finding repeated elements, 1982). All
/// weights are halved at each epoch, so that the sketch follows the object.
///
/// Invariants. The count of a partner is never more than its messages noted (with the same halvings). It is less by at
/// most a ninth of all messages noted, and 1/32 of a message. There are at most `partners_max` partners.
class traffic_sketch {
 public:
  static constexpr std::size_t partners_max = 8;

  /// Notes one message of that many bytes. Numbers of epochs rise and wrap around; the sketch takes an older epoch for
  /// the present one.
  void note(object_id object, double bytes, std::uint32_t epoch) noexcept;
  /// Moves on to that epoch.
  void advance(std::uint32_t epoch) noexcept;
  /// The partners as of the latest epoch, in the order of ids.
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
  /// Whether a sketch read from a peer's bytes is valid. Whether its partners exist is not asked.
  [[nodiscard]] bool sound() const noexcept;

 private:
  void make_room(double weight) noexcept;
  void forget_small() noexcept;

  std::uint32_t epoch_ = 0;
  std::uint32_t count_ = 0;
  std::array<traffic_partner, partners_max> partners_{};
};

/// A sketch that the object's concurrent handlers write and the poll loop reads. The mutex is held for moments; no
/// other lock is taken meanwhile.
struct shared_traffic {
  std::mutex guard;
  traffic_sketch sketch;  ///< under `guard`
};

}  // namespace nacre
