// SPDX-License-Identifier: Apache-2.0
// One authenticated connection with one peer: sends and receives messages, and decides how the connection ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <nacre/ids.hpp>
#include <nacre/message.hpp>

#include "join/net/socket.hpp"
#include "transport/tcp/frame_reader.hpp"
#include "transport/tcp/send_queue.hpp"

namespace nacre::transport::tcp {

/// One of the streams between this rank and one peer. One thread. Its states:
///
/// | state | shutdown arrives | the stream ends | bad bytes or an error |
/// |---|---|---|---|
/// | open | departed | failed, "closed its connection" | failed, with the reason |
/// | departed | failed | over | bytes: failed; an error: over |
/// | failed, over | | | |
///
/// Messages pushed in any other state than `open` are released. A write error does not change the state: bytes that the
/// peer has sent before, perhaps its shutdown, can still be read, and the end of the stream follows them.
class peer_link {
 public:
  enum class state : std::uint8_t { open, departed, failed, over };

  /// `number`: the index of this connection among those with the peer. `chunks` outlives the link.
  peer_link(rank_id peer, std::uint32_t number, net::unique_fd socket, const frame_limits& limits, chunk_pool& chunks);
  /// Parses bytes of the peer that the handshake has read already. Call it once, before the first `receive`.
  void begin_with(std::span<const std::byte> bytes, message_list& arrived);

  [[nodiscard]] rank_id peer() const noexcept { return peer_; }
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }
  [[nodiscard]] state now() const noexcept { return state_; }
  /// The fault of the peer once the link has failed, such as "closed its connection without a shutdown".
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

  /// Takes messages off the front of `batch` until `bytes_max` wait to be written; writes as much as the socket takes.
  void submit(message_list& batch, std::size_t bytes_max);
  void push_shutdown();
  /// Writes as much as the socket takes now, a bounded amount. True when bytes moved.
  bool flush();
  [[nodiscard]] std::size_t unsent_bytes() const noexcept { return send_queue_.bytes(); }
  /// Whether the last write was partial: the socket must become writable first.
  [[nodiscard]] bool blocked() const noexcept { return blocked_; }
  void note_writable() noexcept { blocked_ = false; }
  /// Ends the outgoing stream.
  void shut_down_sending() noexcept;
  /// The bytes that the peer's host has not acknowledged yet.
  [[nodiscard]] std::size_t unacknowledged_bytes() const noexcept;
  /// Whether the peer has still to acknowledge bytes that the socket took before the last call.
  [[nodiscard]] bool under_way() noexcept;

  /// Reads from the socket, a bounded amount, and appends the complete messages, until `arrived` has about `enough`.
  /// True when bytes moved or the state changed.
  bool receive(message_list& arrived, std::size_t enough);
  /// Whether the last `receive` has left bytes in the socket.
  [[nodiscard]] bool has_more() const noexcept { return has_more_; }

 private:
  void send_directly(message_ptr m);
  [[nodiscard]] std::ptrdiff_t read_once(std::size_t& asked);
  [[nodiscard]] bool take_in(std::size_t bytes, message_list& arrived);
  void note_broken_write(int error) noexcept;
  void end_of_stream(int error);
  void fail(std::string reason);

  rank_id peer_;
  std::uint32_t number_;
  net::unique_fd socket_;
  frame_reader reader_;
  send_queue send_queue_;
  std::string reason_;
  state state_ = state::open;
  bool blocked_ = false;
  bool write_broken_ = false;
  int write_error_ = 0;  // of the write that broke
  bool has_more_ = false;
  std::uint64_t taken_ = 0;  // bytes that the socket had taken at the last call of under_way
};

}  // namespace nacre::transport::tcp
