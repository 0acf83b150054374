// SPDX-License-Identifier: Apache-2.0
// One-sided memory as a part of a running rank: its own segments, and its transfers to others.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include <nacre/runtime.hpp>

#include "am/memory_segments.hpp"
#include "am/memory_transfers.hpp"
#include "am/node.hpp"
#include "base/rng.hpp"

namespace nacre {

/// Bytes of a piece: packed straight from the memory that holds them, read as a view into the message. Where messages
/// are handed over as they are, the transfer goes along instead, so that the target copies from or to the caller's
/// memory.
class memory_bytes {
 public:
  memory_bytes() = default;
  explicit memory_bytes(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  explicit memory_bytes(memory_transfer& of) noexcept : transfer_(&of) { of.acquire(); }
  memory_bytes(memory_bytes&& other) noexcept
      : bytes_(other.bytes_), transfer_(std::exchange(other.transfer_, nullptr)) {}
  memory_bytes& operator=(memory_bytes&& other) noexcept {
    bytes_ = other.bytes_;
    std::swap(transfer_, other.transfer_);
    return *this;
  }
  ~memory_bytes() {
    if (transfer_ != nullptr) transfer_->release();
  }

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  [[nodiscard]] memory_transfer* transfer() const noexcept { return transfer_; }

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
  memory_transfer* transfer_ = nullptr;
};

/// A piece, as the rank that begins asks for it. Everything in it is checked there.
struct memory_request {
  detail::memory_name name;
  std::uint64_t token = 0;
  std::uint64_t offset = 0;  ///< of the whole transfer in the segment
  std::uint64_t length = 0;  ///< of the whole transfer
  std::uint64_t at = 0;      ///< of the piece in the transfer
  std::uint64_t bytes = 0;   ///< of the piece

  template <class Archive>
  void serialize(Archive& ar) {
    ar(name, token, offset, length, at, bytes);
  }
};

/// Puts, gets and what they reach, of one rank. Any lane.
///
/// A put's piece goes to the target, which copies and says done; a get's piece asks, and the reply brings the bytes.
/// Pieces are counted messages and so are replies, each posted while the one before it runs, so that quiescence waits
/// for every transfer. Data goes over channel::bulk, all else over channel::system. Access to the own rank is a copy,
/// except in virtual time, where it must not take effect before the caller's present.
///
/// A transport that reads and writes remote memory by itself plugs in at `send`: each piece passes there with its name,
/// range and caller's memory, and ends in `answer`.
class memory_part {
 public:
  /// `seed`: where keys are drawn from in virtual time; elsewhere they come from the kernel.
  memory_part(node& messages, std::uint64_t seed);

  [[nodiscard]] detail::memory_name expose(std::span<std::byte> bytes, detail::memory_access access);
  void withdraw(const detail::memory_name& name);
  /// Begins a transfer; the caller keeps its own reference.
  void begin(lane& on, memory_transfer& transfer);

  // For the parts of other ranks, inside the poll loop.
  void on_put(context& ctx, memory_request asked, memory_bytes data);
  void on_get(context& ctx, memory_request asked, memory_bytes data);
  void on_done(context& ctx, std::uint64_t token, memory_status status);
  void on_data(context& ctx, std::uint64_t token, memory_bytes data);

 private:
  [[nodiscard]] std::array<std::uint64_t, 2> new_key();
  [[nodiscard]] memory_status copy_here(memory_transfer& transfer);
  [[nodiscard]] bool well_formed(context& ctx, const memory_request& asked);
  void pump(lane& by, rank_id to);
  void send(lane& by, const memory_transfers::piece& leaving);
  void answer(lane& by, const memory_transfers::piece& answered, memory_status status);
  void refuse(context& ctx, const char* what);

  node& messages_;
  memory_segments segments_;
  std::mutex mutex_;
  memory_transfers transfers_;  // under mutex_
  rng key_source_;              // under mutex_; virtual time only
};

}  // namespace nacre
