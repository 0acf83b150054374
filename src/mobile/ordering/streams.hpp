// SPDX-License-Identifier: Apache-2.0
// Order of messages to one object: a stream from each rank, put back into sequence whatever way its messages took.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <nacre/archive.hpp>
#include <nacre/message.hpp>

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
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};
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
/// | < n | refused: its number has run already, so some peer lies |
///
/// Numbers wrap; a message may be early by less than 2^31. Not thread-safe: it belongs to the object's activation.
class streams {
 public:
  enum class verdict : std::uint8_t { admitted, early, repeated };

  /// Appends what may run now to `ready`. A repeated message is left in `m`.
  verdict admit(message_ptr& m, message_list& ready);

  /// The newest epoch that `source` has been told of from the object's places; 0 when never.
  [[nodiscard]] std::uint32_t told_epoch(rank_id source) const noexcept;
  void note_told(rank_id source, std::uint32_t epoch);

  /// All ranks that have sent to the object or been told where it is.
  [[nodiscard]] std::vector<rank_id> sources() const;

  [[nodiscard]] std::size_t early_count() const noexcept { return early_.size(); }
  /// Whether what a peer has sent can be the streams of a job with so many ranks.
  [[nodiscard]] bool sound(std::uint32_t ranks) const noexcept;
  /// Gives all messages that were set aside to `taken`, in no order.
  void take_early(message_list& taken);

  [[nodiscard]] bool empty() const noexcept { return first_.source == lone_stream::nobody; }
  /// Takes over what was a lone stream, of which there is nothing here yet; that one is empty afterwards.
  void absorb(lone_stream& from);
  /// Becomes a lone stream, if that can say all that is here; then it is empty.
  [[nodiscard]] bool reduce_to(lone_stream& to) noexcept;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(first_, more_);
  }

 private:
  struct stream {
    std::uint32_t source = lone_stream::nobody;
    std::uint32_t next = 0;
    std::uint32_t told_epoch = 0;
  };
  stream& of(std::uint32_t source);
  void release_early(stream& of, message_list& ready);

  stream first_;              // of the first rank that has sent, so that one needs no memory of its own
  std::uint32_t recent_ = 0;  // index in more_ of the stream that was used last
  std::vector<stream> more_;  // by source
  std::vector<message_ptr> early_;
};

}  // namespace nacre
