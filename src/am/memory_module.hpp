// SPDX-License-Identifier: Apache-2.0
// One-sided memory as a module of a running rank: its own segments, and its transfers to others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include <nacre/rng.hpp>
#include <nacre/runtime.hpp>

#include "am/am_engine.hpp"
#include "am/memory_segments.hpp"
#include "am/memory_transfers.hpp"

namespace nacre {

/// The bytes of a piece, as the argument of a message. They are packed straight from the memory that holds them, and
/// read as a view into the message. If messages are handed over unpacked, this holds a reference to the transfer
/// instead, and the target copies from or to the caller's memory.
class memory_bytes {
 public:
  memory_bytes() = default;
  explicit memory_bytes(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  explicit memory_bytes(memory_transfer& transfer) noexcept : transfer_(&transfer) {}

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  [[nodiscard]] memory_transfer* transfer() const noexcept { return transfer_.get(); }

  template <class Archive>
  void save(Archive& ar) const {
    ar(bytes_);
  }
  template <class Archive>
  void load(Archive& ar) {
    ar(bytes_);
  }

 private:
  std::span<const std::byte> bytes_;
  transfer_ref transfer_;
};

/// Source and target may be the same memory.
inline void copy_bytes(std::byte* target, const std::byte* source, std::uint64_t bytes) noexcept {
  if (bytes != 0) std::memmove(target, source, bytes);
}

/// A piece, as the initiating rank asks for it. The target checks everything in it.
struct memory_request {
  detail::memory_name name;
  std::uint64_t token = 0;
  std::uint64_t offset = 0;        ///< of the whole transfer in the segment
  std::uint64_t length = 0;        ///< of the whole transfer
  std::uint64_t piece_offset = 0;  ///< of the piece in the transfer
  std::uint64_t bytes = 0;         ///< of the piece

  template <class Archive>
  void serialize(Archive& ar) {
    ar(name, token, offset, length, piece_offset, bytes);
  }
};

/// Puts and gets of one rank, and the segments that others access. Any thread.
///
/// A put's piece goes to the target, which copies and replies "done"; a get's piece asks, and the reply brings the
/// bytes. Pieces and replies are counted messages, each posted while the one before it runs, so that quiescence waits
/// for every transfer. Data goes over channel::bulk, all else over channel::system. Access to the own rank is a copy,
/// except in virtual time, where it must not take effect before the caller's present.
///
/// Where the transport copies from memory to memory, a long piece is registered for the target instead, which copies it
/// under a lease of the segment, of a put and of a get alike, and replies "done". While that copy is pending it is
/// counted like a message.
class memory_module {
 public:
  struct settings {
    std::uint64_t seed = 0;              ///< of the keys in virtual time; elsewhere they come from the kernel
    std::uint64_t direct_bytes_min = 0;  ///< pieces of so much are registered
  };
  memory_module(am_engine& messages, const settings& settings);
  memory_module(const memory_module&) = delete;
  memory_module& operator=(const memory_module&) = delete;
  ~memory_module();

  [[nodiscard]] detail::memory_name expose(std::span<std::byte> bytes, detail::memory_access access);
  void withdraw(const detail::memory_name& name);
  /// A range of memory that this rank exposes, for a copy by the rank itself. Any thread.
  [[nodiscard]] expected<memory_segments::lease, memory_status> access_own(const detail::memory_name& name,
                                                                           std::uint64_t offset, std::uint64_t length,
                                                                           memory_segments::intent purpose) {
    return segments_.access(name, offset, length, purpose);
  }
  /// Begins a transfer; the caller keeps its own reference.
  void begin(thread_context& thread, memory_transfer& transfer);

  /// Inside the poll loop, at every poll: completes copies that the transport has ended.
  void poll(thread_context& thread) {
    if (!copies_.empty()) end_copies(thread);  // changed inside the poll loop only
  }

  /// Whether the transport copies something for this rank. Inside the poll loop.
  [[nodiscard]] bool copies() const noexcept { return !copies_.empty(); }

  // For the modules of other ranks, inside the poll loop.
  void on_put(context& ctx, memory_request asked, memory_bytes data);
  void on_get(context& ctx, memory_request asked, memory_bytes data);
  void on_direct(context& ctx, memory_request asked, transport::registered_region region,
                 memory_segments::intent purpose);
  void on_done(context& ctx, std::uint64_t token, memory_status status);
  void on_data(context& ctx, std::uint64_t token, memory_bytes data);

 private:
  using intent = memory_transfer::intent;
  /// A piece of a peer that the transport copies.
  struct copy_under_way {
    rank_id caller;
    std::uint64_t token = 0;
    std::optional<memory_segments::lease> held;  // under copies_mutex_; withdraw takes it
  };
  [[nodiscard]] std::array<std::uint64_t, 2> new_key();
  [[nodiscard]] memory_status copy_here(memory_transfer& transfer);
  [[nodiscard]] bool well_formed(context& ctx, const memory_request& asked);
  [[nodiscard]] bool register_region(thread_context& thread, const memory_transfers::piece& leaving,
                                     const memory_request& asked);
  void end_copies(thread_context& thread);
  void stop_copies(std::optional<std::uint32_t> segment);
  void pump(thread_context& thread, rank_id target);
  enum class send_mode : std::uint8_t { any, message };
  void send(thread_context& thread, const memory_transfers::piece& leaving, send_mode mode);
  void answer(thread_context& thread, const memory_transfers::piece& answered, memory_status status);
  void refuse(context& ctx, const char* name);

  am_engine& messages_;
  transport::direct_memory* const direct_;  // null: the transport has none
  const std::uint64_t direct_bytes_min_;
  memory_segments segments_;
  std::mutex copies_mutex_;
  std::unordered_map<std::uint64_t, copy_under_way> copies_;  // by tag; changed under copies_mutex_ in the poll loop
  std::uint64_t last_tag_ = 0;                                // of the poll loop
  std::mutex mutex_;
  memory_transfers transfers_;  // under mutex_
  rng key_source_;              // under mutex_; virtual time only
};

}  // namespace nacre
