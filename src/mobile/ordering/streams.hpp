// SPDX-License-Identifier: Apache-2.0
// The streams of messages to one object, one from each rank: restores their order, whatever routes they took.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <nacre/archive.hpp>
#include <nacre/message.hpp>

#include "mobile/ordering/early_table.hpp"
#include "mobile/ordering/stream_table.hpp"

namespace nacre {

/// A short form of `streams`, which is enough while one rank sends, its messages come in sequence, and no rank has been
/// told where the object is. Most objects need no more of `streams`. It belongs to the object's activation.
class lone_stream {
 public:
  /// Counts the message if it is next. False: `streams` must decide.
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

/// The streams of an object, one from each rank that has sent to it. Travels with the object.
///
/// Every rank numbers its messages to an object 0, 1, 2, ... (PREMA section 4.1.2). In a stream with next number n:
///
/// | message | action |
/// |---|---|
/// | n | admitted; n+1; then early messages that have become next |
/// | > n | set aside; earlier ones are certain to come, because none is ever dropped |
/// | < n, or set aside before | refused: its number has been used already, so some peer lies |
///
/// Numbers wrap; a message may be early by less than 2^31. Not thread-safe: it belongs to the object's activation.
///
/// Each call takes constant time for each message that it takes in or gives out, for any number of waiting messages and
/// ranks, in any order.
class streams {
 public:
  enum class verdict : std::uint8_t { admitted, early, repeated };

  /// Appends the messages that may run now to `ready`. A repeated message is left in `m`.
  verdict admit(message_ptr& m, message_list& ready);
  /// Counts the message if it is next and none was set aside, so that it may run. False: `admit` must decide.
  [[nodiscard]] bool admit_next(const message_header& header);

  /// The newest epoch that `source` has been told of, by any rank that had the object; 0 when none.
  [[nodiscard]] std::uint32_t told_epoch(rank_id source);
  void note_told(rank_id source, std::uint32_t epoch);

  /// The next number of the stream from `source`, which exists from now on.
  [[nodiscard]] std::uint32_t next_of(std::uint32_t source) { return of(source).next; }
  /// Undoes the admission of messages of `source` from that number on: they have gone back, and will come again.
  void roll_back(std::uint32_t source, std::uint32_t next) { of(source).next = next; }

  /// All ranks that have sent to the object or been told where it is, by number.
  [[nodiscard]] std::vector<rank_id> sources() const;

  [[nodiscard]] std::size_t early_count() const noexcept { return early_.size(); }
  /// Whether the streams, read from a peer, are valid in a job of that many ranks.
  [[nodiscard]] bool sound(std::uint32_t ranks);
  /// Moves all messages that were set aside to `taken`, in no order.
  void take_early(message_list& taken);
  /// Calls visit(const message&) for each message that was set aside, in no order.
  template <class Visit>
  void for_each_early(const Visit& visit) const {
    early_.for_each(visit);
  }
  /// Replaces each message that was set aside by replace(message_ptr), which has its source and number.
  template <class Replace>
  void replace_early(const Replace& replace) {
    early_.replace_each(replace);
  }

  [[nodiscard]] bool empty() const noexcept { return first_.source == lone_stream::nobody; }
  /// Takes over a lone stream, of a source that has no stream here yet; the lone stream is empty afterwards.
  void absorb(lone_stream& stream);
  /// Moves into a lone stream, if that can hold all that is here; then this is empty.
  [[nodiscard]] bool reduce_to(lone_stream& stream) noexcept;

  /// Steps through tables since the beginning, which tests count instead of time.
  [[nodiscard]] std::uint64_t steps() const noexcept { return more_.steps() + early_.steps(); }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(first_, more_);
  }

 private:
  stream& of(std::uint32_t source);

  stream first_;  // of the first rank, so that one stream needs no memory of its own
  stream_table more_;
  early_table early_;
};

}  // namespace nacre
