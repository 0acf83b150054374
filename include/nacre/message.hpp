// SPDX-License-Identifier: Apache-2.0
// The message: the header that travels, and the pooled block that holds it in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include <nacre/ids.hpp>
#include <nacre/work.hpp>

namespace nacre {

class writer;

/// Where a handler runs (PREMA section 3.2): `worker` handlers run on a worker; `communication` handlers run inside the
/// poll loop and must be short.
enum class category : std::uint8_t { worker, communication };

/// Traffic classes. Messages from one rank to another on one channel stay in order; channels do not wait for each
/// other.
enum class channel : std::uint8_t { system, application, bulk };
inline constexpr std::size_t channel_count = 3;

/// The target or the purpose of a message.
enum class message_kind : std::uint8_t {
  rank,             ///< calls a free function on a rank
  module,           ///< calls a member of one of the runtime's own modules on a rank
  object,           ///< calls a member of a mobile object, on whichever rank it is
  migrate,          ///< asks an object to move to the rank that the payload names
  destroy,          ///< ends an object
  lock,             ///< asks an object to move to a main that requests access, and to stay until main is done
  join,             ///< holds a colocation's place among the messages of an object, so that it runs in its turn
  claim,            ///< a colocation acquires or releases an object, on whichever rank it is
  request_to_send,  ///< a rank keeps messages for an object, and asks how many it may send
  arrival,          ///< an object that migrates, with all messages that wait for it
  bundle,           ///< messages to one rank that travel as one; see am/bundle.hpp
  insert,           ///< makes the element of a place of an array; the payload holds the element
  everyone,         ///< `object` for all elements of an array: an empty place ignores it; handler 0 ends the element
  credit,           ///< a message of the backplane itself: see backplane/credit_window.hpp
  reply             ///< the result of a call, for the caller's future. Stays last: peers may send no kind above it
};

/// Whether messages of this kind follow an object from rank to rank, with the source unchanged, and wait for it.
[[nodiscard]] constexpr bool follows_object(message_kind kind) noexcept {
  return kind == message_kind::object || kind == message_kind::migrate || kind == message_kind::destroy ||
         kind == message_kind::lock || kind == message_kind::join || kind == message_kind::claim ||
         kind == message_kind::insert || kind == message_kind::everyone || kind == message_kind::request_to_send;
}
/// Whether messages of this kind follow an object and are numbered in the stream of their source, so they run in order.
[[nodiscard]] constexpr bool in_stream(message_kind kind) noexcept {
  return follows_object(kind) && kind != message_kind::claim && kind != message_kind::request_to_send;
}
/// The longest payload that transports accept, in bytes.
inline constexpr std::size_t payload_bytes_max = std::size_t{1} << 30;
/// The longest payload, in bytes, that the runtime can enclose in a message of its own together with the data that it
/// adds: a contribution to a collective, the arguments of a colocation or of a broadcast to an array, or an object that
/// moves.
inline constexpr std::size_t enclosed_bytes_max = payload_bytes_max - (std::size_t{1} << 20);
/// Throws usage_error when `bytes` exceeds `bytes_max`. Every function that makes a message calls it before the message
/// is counted or numbered, and before the length is converted to fewer bits.
void check_payload(std::size_t bytes, std::size_t bytes_max = payload_bytes_max);

/// The part of a message that is sent in front of its payload: 40 bytes, little-endian, no padding.
struct message_header {
  std::uint64_t object = 0;         ///< object_id of the target, or of the object that a reply concerns
  std::uint64_t reply = 0;          ///< the caller's pending call; 0 for a one-way message
  std::uint32_t payload_bytes = 0;  ///< bytes behind the header
  std::uint32_t handler = 0;        ///< handler_id
  std::uint32_t source = 0;         ///< rank that first sent it; forwarding does not change it
  std::uint32_t sequence = 0;       ///< position in the stream from `source` to `object`
  std::uint32_t epoch = 0;          ///< newest location epoch that a rank on its way knew
  message_kind kind = message_kind::rank;
  std::uint8_t flags = 0;  ///< see message_flag
  nacre::channel channel = nacre::channel::application;
  std::uint8_t hops = 0;  ///< number of ranks that have forwarded it, or sent it along with its object
};
static_assert(sizeof(message_header) == 40);

/// Bits of message_header::flags.
enum message_flag : std::uint8_t {
  flag_communication = 1,  ///< category::communication
  flag_uncounted = 2,      ///< invisible to quiescence: starts no user code (waves, load reports, location updates)
  flag_failed = 4,         ///< a reply that carries an error instead of a value
  flag_path = 8,           ///< the ranks that have forwarded it follow the payload (mobile/entry/path.hpp)
  flag_returned = 16,      ///< on its way back to its source, or waiting there until its object clears it
  flag_granted = 32        ///< its object has cleared it: it follows the object over any number of ranks
};
/// All flags; a message of a peer with any other flag is malformed.
inline constexpr std::uint8_t message_flags_known =
    flag_communication | flag_uncounted | flag_failed | flag_path | flag_returned | flag_granted;

struct message;

/// Destroys a message's live values, if it holds any, and gives its block back to its pool. Any thread.
void release_message(message* m) noexcept;

/// Releases the message of a message_ptr.
struct message_deleter {
  void operator()(message* m) const noexcept { release_message(m); }
};
using message_ptr = std::unique_ptr<message, message_deleter>;

/// The operations on a body that holds live C++ values instead of bytes: one constant table for each handler.
struct body_ops {
  std::size_t (*packed_size)(const message&);
  void (*pack)(message&, writer&);     ///< writes the values; they stay alive
  void (*destroy)(message&) noexcept;  ///< destroys the values
  bool of_packed = false;              ///< there are no values: the body is bytes, and `destroy` a callback
  /// Null, or a function that turns one of the values, which owns a block, into the packed form. Afterwards the values
  /// may only be destroyed. Of the result's header only payload_bytes is set. Returns null, without any change, when no
  /// value can be used in this way.
  message_ptr (*adopt)(message&) = nullptr;
  /// True when measuring and packing the values run no user code and cannot throw, and measuring takes constant time.
  /// Other values are packed where their sender can still catch an exception.
  bool simple = false;
};

/// A message in memory: one pooled block with this head of 64 bytes and then the body. The body is packed bytes (`ops`
/// is null) or, while the message stays in one address space, the argument values themselves. The holder of the
/// message_ptr owns the block.
struct message : work {
  message* next = nullptr;        ///< link of the one queue that it is in
  const body_ops* ops = nullptr;  ///< null, or of_packed: the body is header.payload_bytes packed bytes
  message_header header;

  message() noexcept : work(nullptr) {}
  /// Sets the function that runs the message once a scheduler has it as work.
  void run_by(runner function) noexcept { run_ = function; }

  [[nodiscard]] std::byte* body() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  [[nodiscard]] const std::byte* body() const noexcept { return reinterpret_cast<const std::byte*>(this + 1); }
  [[nodiscard]] std::span<const std::byte> payload() const noexcept { return {body(), header.payload_bytes}; }
  [[nodiscard]] bool packed() const noexcept { return ops == nullptr || ops->of_packed; }
  [[nodiscard]] bool counted() const noexcept { return (header.flags & flag_uncounted) == 0; }
};
static_assert(sizeof(message) == 64, "the body starts on the second cache line");

/// Makes a message with room for `body_bytes` bytes in its body, and sets header.payload_bytes to that number. Any
/// thread; the caller owns the message. Throws usage_error beyond payload_bytes_max, and out_of_blocks.
[[nodiscard]] message_ptr make_message(std::size_t body_bytes);

namespace detail {
/// Makes a message without the length check; its sender checks.
[[nodiscard]] message_ptr make_block(std::size_t body_bytes);
[[nodiscard]] message_ptr pack_values(message_ptr m);
}  // namespace detail

/// Turns live values into bytes in a new block when needed; returns the message itself when it is packed already.
[[nodiscard]] inline message_ptr packed_form(message_ptr m) {
  return m->packed() ? std::move(m) : detail::pack_values(std::move(m));
}

/// An intrusive first-in first-out list of messages, which it owns. One thread at a time.
class message_list {
 public:
  message_list() = default;
  message_list(message_list&& other) noexcept { append(other); }
  message_list& operator=(message_list&& other) noexcept {
    if (this != &other) {
      clear();
      append(other);
    }
    return *this;
  }
  ~message_list() { clear(); }

  [[nodiscard]] bool empty() const noexcept { return head_ == nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] message* front() const noexcept { return head_; }

  /// Takes the message, which becomes the last one.
  void push_back(message_ptr m) noexcept {
    message* raw = m.release();
    raw->next = nullptr;
    (head_ == nullptr ? head_ : tail_->next) = raw;
    tail_ = raw;
    ++count_;
  }
  /// Takes the message, which becomes the first one.
  void push_front(message_ptr m) noexcept {
    message* raw = m.release();
    raw->next = head_;
    if (head_ == nullptr) tail_ = raw;
    head_ = raw;
    ++count_;
  }
  /// Takes the message, which comes behind `packet`, a message of this list.
  void insert_behind(message& packet, message_ptr m) noexcept {
    message* raw = m.release();
    raw->next = packet.next;
    packet.next = raw;
    if (tail_ == &packet) tail_ = raw;
    ++count_;
  }
  [[nodiscard]] message_ptr pop_front() noexcept {
    message* raw = head_;
    if (raw == nullptr) return nullptr;
    head_ = raw->next;
    raw->next = nullptr;
    --count_;
    return message_ptr(raw);
  }
  /// Moves all messages of `other` to the end of this list; `other` is empty afterwards.
  void append(message_list& other) noexcept {
    if (other.empty()) return;
    (head_ == nullptr ? head_ : tail_->next) = other.head_;
    tail_ = other.tail_;
    count_ += other.count_;
    other.head_ = nullptr;
    other.count_ = 0;
  }
  /// The two ends of a linked run of messages; both null for none.
  struct chain {
    message* first = nullptr;
    message* last = nullptr;
  };
  /// Gives all messages, linked in order, to the caller; the list is empty afterwards.
  [[nodiscard]] chain release() noexcept {
    if (empty()) return {};
    const chain all{head_, tail_};
    head_ = nullptr;
    count_ = 0;
    return all;
  }
  void clear() noexcept {
    while (!empty()) static_cast<void>(pop_front());
  }

 private:
  message* head_ = nullptr;
  message* tail_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace nacre
