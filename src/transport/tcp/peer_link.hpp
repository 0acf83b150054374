// SPDX-License-Identifier: Apache-2.0
// One authenticated connection with one peer: messages in, messages out, and how it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <nacre/ids.hpp>
#include <nacre/message.hpp>

#include "transport/net/socket.hpp"
#include "transport/tcp/frame.hpp"
#include "transport/tcp/outbox.hpp"

namespace nacre::transport::tcp {

/// One of the streams between this rank and one peer. One thread.
///
/// | state | goodbye arrives | the stream ends | bad bytes or an error |
/// |---|---|---|---|
/// | open | departed | failed, "closed its connection" | failed, with the reason |
/// | departed | failed | over | over |
/// | failed, over | | | |
///
/// What is pushed in any state but `open` is released. A write error alone decides nothing: what the peer has said
/// before, perhaps its goodbye, is still there to be read, and the end of the stream behind it.
class peer_link {
 public:
  enum class state : std::uint8_t { open, departed, failed, over };

  /// `number`: which of the connections with the peer it is.
  peer_link(rank_id peer, std::uint32_t number, net::unique_fd socket, const frame_limits& limits);
  /// Takes bytes of the peer that somebody else has read already. Once, before the first receive.
  void begin_with(std::span<const std::byte> bytes, message_list& arrived);

  [[nodiscard]] rank_id peer() const noexcept { return peer_; }
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }
  [[nodiscard]] state now() const noexcept { return state_; }
  /// What it did when it failed: "closed its connection without a goodbye".
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

  /// Takes messages off the front of `batch` until `bytes_max` wait to be written, and writes what the socket takes.
  void submit(message_list& batch, std::size_t bytes_max);
  void push_goodbye();
  /// Writes what the socket takes now, a bounded amount. True when bytes moved.
  bool flush();
  [[nodiscard]] std::size_t unsent_bytes() const noexcept { return outbox_.bytes(); }
  /// The socket took less than it was offered: it has to become writable first.
  [[nodiscard]] bool blocked() const noexcept { return blocked_; }
  /// Says that nothing more will come.
  void shut_down_sending() noexcept;
  /// Bytes that the peer's host has not acknowledged yet.
  [[nodiscard]] std::size_t unacknowledged_bytes() const noexcept;
  /// Bytes that the socket had taken by the last question have not been acknowledged since.
  [[nodiscard]] bool under_way() noexcept;

  /// Reads what there is, a bounded amount, and appends the messages that are complete, until `arrived` has about
  /// `enough`. True when bytes moved or the state changed.
  bool receive(message_list& arrived, std::size_t enough);
  /// The last `receive` did not come to the end of what there was.
  [[nodiscard]] bool has_more() const noexcept { return has_more_; }

 private:
  void send_directly(message_ptr m);
  [[nodiscard]] std::ptrdiff_t read_once(std::size_t& asked);
  [[nodiscard]] bool take_in(std::size_t bytes, message_list& arrived);
  void end_of_stream(int error);
  void fail(std::string reason);

  rank_id peer_;
  std::uint32_t number_;
  net::unique_fd socket_;
  frame_reader reader_;
  outbox outbox_;
  std::string reason_;
  state state_ = state::open;
  bool blocked_ = false;
  bool write_broken_ = false;
  bool has_more_ = false;
  std::uint64_t taken_ = 0;  // bytes that the socket had taken at the last question of under_way
};

}  // namespace nacre::transport::tcp
