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

/// Where a handler runs (PREMA section 3.2): `worker` handlers on a worker, `communication` handlers inside the poll
/// loop, so those must be short.
enum class category : std::uint8_t { worker, communication };

/// Traffic classes. Messages of one rank to one rank on one channel stay in order; channels do not wait for each other.
enum class channel : std::uint8_t { system, application, bulk };
inline constexpr std::size_t channel_count = 3;

/// What a message addresses.
enum class message_kind : std::uint8_t {
  rank,             ///< a free function on a rank
  module,           ///< a member of one of the runtime's own parts on a rank
  object,           ///< a member of a mobile object, wherever it is
  migrate,          ///< asks an object to move to the rank that the payload names
  destroy,          ///< ends an object
  lock,             ///< asks an object to come to the rank of a main that wants access to it, and to stay for that long
  join,             ///< a colocation has its turn in the stream of one of its objects
  claim,            ///< a colocation wants an object, wherever that is, or lets it go
  request_to_send,  ///< a rank keeps messages for an object, and asks how many it may send
  arrival,          ///< an object on its way, with all that waits for it
  bundle,           ///< messages to one rank that travel as one; see am/bundle.hpp
  insert,           ///< makes the element of a place of an array, which the payload holds
  everyone,  ///< as object, to whatever element there is; one that is not there misses nothing. Handler 0 ends it
  credit,    ///< the backplane's own: see backplane/credits.hpp
  reply  ///< the result of a call, for the future that waits at the caller; stays last, as the end of what peers may
         ///< send
};

/// Whether messages of that kind follow an object from rank to rank, in the name of the rank that sent them first, and
/// wait for it.
[[nodiscard]] constexpr bool follows_object(message_kind kind) noexcept {
  return kind == message_kind::object || kind == message_kind::migrate || kind == message_kind::destroy ||
         kind == message_kind::lock || kind == message_kind::join || kind == message_kind::claim ||
         kind == message_kind::insert || kind == message_kind::everyone || kind == message_kind::request_to_send;
}
/// Those of them that stand in the stream of their rank, and run in order.
[[nodiscard]] constexpr bool in_stream(message_kind kind) noexcept {
  return follows_object(kind) && kind != message_kind::claim && kind != message_kind::request_to_send;
}
/// The longest payload that transports accept.
inline constexpr std::size_t payload_bytes_max = std::size_t{1} << 30;
/// The longest one that the runtime can put into a message of its own, with what it adds: a contribution to a
/// collective, the arguments of a colocation or of a broadcast to an array, an object that moves.
inline constexpr std::size_t enclosed_bytes_max = payload_bytes_max - (std::size_t{1} << 20);
/// Throws usage_error when a message would have a longer payload. Every way into a message looks here, before anything
/// is counted, numbered or shortened to fewer bits.
void check_payload(std::size_t bytes, std::size_t bytes_max = payload_bytes_max);

/// The part of a message that travels in front of its payload: 40 bytes, little-endian, no padding.
struct message_header {
  std::uint64_t object = 0;         ///< object_id of the target, or of the object that a reply concerns
  std::uint64_t reply = 0;          ///< the caller's pending call, 0 for a one-way message
  std::uint32_t payload_bytes = 0;  ///< bytes behind the header
  std::uint32_t handler = 0;        ///< handler_id
  std::uint32_t source = 0;         ///< rank that sent it first; forwarding does not change it
  std::uint32_t sequence = 0;       ///< position in the stream from `source` to `object`
  std::uint32_t epoch = 0;          ///< newest location epoch that a rank on its way has known of
  message_kind kind = message_kind::rank;
  std::uint8_t flags = 0;  ///< see message_flag
  nacre::channel channel = nacre::channel::application;
  std::uint8_t hops = 0;  ///< ranks that have forwarded it, or taken it along with its object
};
static_assert(sizeof(message_header) == 40);

/// Bits of message_header::flags.
enum message_flag : std::uint8_t {
  flag_communication = 1,  ///< category::communication
  flag_uncounted = 2,      ///< invisible to quiescence: starts no user code (waves, load reports, location updates)
  flag_failed = 4,         ///< a reply that carries an error instead of a value
  flag_path = 8,       ///< behind the payload are the ranks that have forwarded the message (mobile/location/path.hpp)
  flag_returned = 16,  ///< on its way back to its source, or waiting there until its object clears it
  flag_granted = 32    ///< its object has cleared it: it follows the object however far that is
};
/// Every flag there is; another one from a peer is an error of its bytes.
inline constexpr std::uint8_t message_flags_known =
    flag_communication | flag_uncounted | flag_failed | flag_path | flag_returned | flag_granted;

struct message;

/// Ends the life of a message's values, if it holds any, and gives its block back to its pool. Any thread.
void release_message(message* m) noexcept;

struct message_deleter {
  void operator()(message* m) const noexcept { release_message(m); }
};
using message_ptr = std::unique_ptr<message, message_deleter>;

/// How to treat a body that holds live C++ values instead of bytes: one constant table for each handler. Or, where
/// `of_packed`, who is to hear of the end of a packed message.
struct body_ops {
  std::size_t (*packed_size)(const message&);
  void (*pack)(message&, writer&);     ///< writes the values; they stay alive
  void (*destroy)(message&) noexcept;  ///< ends their life
  bool of_packed = false;              ///< there are none: the body is bytes, and `destroy` only takes note
  /// Null, or makes one of the values, which owns a block, the packed form: the values must then only be destroyed. The
  /// header of the result is not set but for payload_bytes. Returns null when that cannot be; then nothing has changed.
  message_ptr (*adopt)(message&) = nullptr;
  /// To measure and to pack the values runs no code of the user, cannot throw, and measuring takes no time. Others are
  /// packed where their sender can still catch what they throw.
  bool simple = false;
};

/// A message in memory: one pooled block, this head of 64 bytes, then the body: either packed bytes (`ops` is null) or,
/// while it stays in one address space, the argument values themselves. Whoever holds the pointer owns the block.
struct message : work {
  message* next = nullptr;        ///< link of the one queue that it is in
  const body_ops* ops = nullptr;  ///< null, or of_packed: the body is header.payload_bytes packed bytes
  message_header header;

  message() noexcept : work(nullptr) {}
  void run_by(runner how) noexcept { run_ = how; }

  [[nodiscard]] std::byte* body() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  [[nodiscard]] const std::byte* body() const noexcept { return reinterpret_cast<const std::byte*>(this + 1); }
  [[nodiscard]] std::span<const std::byte> payload() const noexcept { return {body(), header.payload_bytes}; }
  [[nodiscard]] bool packed() const noexcept { return ops == nullptr || ops->of_packed; }
  [[nodiscard]] bool counted() const noexcept { return (header.flags & flag_uncounted) == 0; }
};
static_assert(sizeof(message) == 64, "the body starts on the second cache line");

/// A message whose body has room for `body_bytes`; header.payload_bytes is set to it. Any thread; the caller owns it.
/// Throws usage_error beyond payload_bytes_max.
[[nodiscard]] message_ptr make_message(std::size_t body_bytes);

namespace detail {
/// As make_message, for memory that becomes a message only if it is short enough then.
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

  void push_back(message_ptr m) noexcept {
    message* raw = m.release();
    raw->next = nullptr;
    (head_ == nullptr ? head_ : tail_->next) = raw;
    tail_ = raw;
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
  /// Moves all of `other` behind what is here; `other` is empty afterwards.
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
  /// Gives up everything, still linked in order, to the caller; the list is empty afterwards.
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
