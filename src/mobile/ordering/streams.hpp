// SPDX-License-Identifier: Apache-2.0
// Order of messages to one object: a stream from each rank, put back into sequence whatever way its messages took.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <nacre/archive.hpp>
#include <nacre/message.hpp>

#include "mobile/ordering/early_messages.hpp"
#include "mobile/ordering/stream_table.hpp"

namespace nacre {

/// What an object expects from the only rank that has sent to it so far, as long as its messages come in sequence and
/// nobody has been told where the object is: all that most objects need of `streams`. As that, it belongs to the
/// object's activation.
class lone_stream {
 public:
  /// Whether the message was next; then it is counted. Else `streams` must decide.
  [[nodiscard]] bool admit(const message_header& header) noexcept {
    if (source_ == nobody) source_ = header.source;
    if (source_ != header.source || header.sequence != next_) return false;
    ++next_;
    return true;
  }
  [[nodiscard]] bool empty() const noexcept { return source_ == nobody; }
  /// Whether `count` messages of that rank have been admitted.
  [[nodiscard]] bool has_admitted(std::uint32_t source, std::uint32_t count) const noexcept {
    return count == (source_ == source ? next_ : 0);
  }

 private:
  friend class streams;
  static constexpr std::uint32_t nobody = stream::nobody;
  std::uint32_t source_ = nobody;
  std::uint32_t next_ = 0;
};

/// What an object expects from each rank that has sent to it. Travels with the object.
///
/// Every rank numbers its messages to an object 0, 1, 2, ... (PREMA section 4.1.2). For a stream whose next number is
/// n:
///
/// | message | action |
/// |---|---|
/// | n | admitted; n+1; then early messages that have become next |
/// | > n | set aside; earlier ones are certain to come, because none is ever dropped |
/// | < n, or set aside before | refused: its number has been used already, so some peer lies |
///
/// Numbers wrap; a message may be early by less than 2^31. Not thread-safe: it belongs to the object's activation.
///
/// Each call takes constant time for each message that it takes in or gives out, however many wait, from however many
/// ranks, and in whatever order they come.
class streams {
 public:
  enum class verdict : std::uint8_t { admitted, early, repeated };

  /// Appends what may run now to `ready`. A repeated message is left in `m`.
  verdict admit(message_ptr& m, message_list& ready);

  /// The newest epoch that `source` has been told of from the object's places; 0 when never.
  [[nodiscard]] std::uint32_t told_epoch(rank_id source);
  void note_told(rank_id source, std::uint32_t epoch);

  /// The number that comes next from `source`, of which there is a stream from now on.
  [[nodiscard]] std::uint32_t next_of(std::uint32_t source) { return of(source).next; }
  /// What was admitted from `source` from that number on has gone back, and will come again.
  void roll_back(std::uint32_t source, std::uint32_t next) { of(source).next = next; }

  /// All ranks that have sent to the object or been told where it is, by number.
  [[nodiscard]] std::vector<rank_id> sources() const;

  [[nodiscard]] std::size_t early_count() const noexcept { return early_.size(); }
  /// Whether what a peer has sent can be the streams of a job with so many ranks.
  [[nodiscard]] bool sound(std::uint32_t ranks);
  /// Gives all messages that were set aside to `taken`, in no order.
  void take_early(message_list& taken);

  [[nodiscard]] bool empty() const noexcept { return first_.source == lone_stream::nobody; }
  /// Takes over what was a lone stream, of which there is nothing here yet; that one is empty afterwards.
  void absorb(lone_stream& from);
  /// Becomes a lone stream, if that can say all that is here; then it is empty.
  [[nodiscard]] bool reduce_to(lone_stream& to) noexcept;

  /// Steps through tables since the beginning, which tests count instead of time.
  [[nodiscard]] std::uint64_t steps() const noexcept { return more_.steps() + early_.steps(); }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(first_, more_);
  }

 private:
  stream& of(std::uint32_t source);

  stream first_;  // of the first rank that has sent, so that one needs no memory of its own
  stream_table more_;
  early_messages early_;
};

}  // namespace nacre
