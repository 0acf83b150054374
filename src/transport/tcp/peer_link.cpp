// SPDX-License-Identifier: Apache-2.0
// One authenticated connection with one peer: sends and receives messages, and decides how the connection ends.
#include "transport/tcp/peer_link.hpp"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include <nacre/assert.hpp>

#include "transport/transport.hpp"

namespace nacre::transport::tcp {
namespace {

constexpr std::size_t write_at_bytes = 256 * 1024;  // copies are still in the cache when they are written
constexpr std::size_t buffers_max = 64;
constexpr std::size_t bytes_a_call = 256 * 1024;  // then other connections are served

}  // namespace

peer_link::peer_link(rank_id peer, std::uint32_t number, net::unique_fd socket, const frame_limits& limits,
                     chunk_pool& chunks)
    : peer_(peer), number_(number), socket_(std::move(socket)), reader_(limits, chunks), send_queue_(chunks) {}

void peer_link::begin_with(std::span<const std::byte> bytes, message_list& arrived) {
  if (bytes.empty()) return;
  const frame_reader::places places = reader_.space();
  NACRE_EXPECT(bytes.size() <= places.first.size(), "what follows a handshake fits into the buffer");
  std::memcpy(places.first.data(), bytes.data(), bytes.size());
  static_cast<void>(take_in(bytes.size(), arrived));
  reader_.rest();
}

void peer_link::submit(message_list& batch, std::size_t bytes_max) {
  if (state_ != state::open || write_broken_) return batch.clear();
  if (batch.size() == 1 && send_queue_.empty()) return send_directly(batch.pop_front());
  while (!batch.empty() && send_queue_.bytes() < bytes_max) {
    check_outgoing(*batch.front());
    send_queue_.push(batch.pop_front());
    if (!blocked_ && send_queue_.bytes() >= write_at_bytes) flush();
  }
  if (!blocked_) flush();
}

void peer_link::send_directly(message_ptr m) {
  check_outgoing(*m);
  const std::span<const std::byte> frame = frame_of(*m);
  const std::ptrdiff_t sent = net::send_some(socket_.get(), frame.data(), frame.size());
  if (sent == static_cast<std::ptrdiff_t>(frame.size())) return;
  if (sent < 0) return note_broken_write(errno);
  send_queue_.push(std::move(m), static_cast<std::size_t>(sent));
  blocked_ = true;
}

void peer_link::push_shutdown() {
  if (state_ == state::open && !write_broken_) send_queue_.push(shutdown_frame());
}

bool peer_link::flush() {
  std::size_t total = 0;
  while (!send_queue_.empty() && total < bytes_a_call) {
    std::array<iovec, buffers_max> buffers;
    const std::size_t count = send_queue_.front(buffers);
    std::size_t offered = 0;
    for (std::size_t i = 0; i < count; ++i) offered += buffers[i].iov_len;
    const std::ptrdiff_t sent = net::send_some(socket_.get(), std::span(buffers.data(), count));
    if (sent < 0) {
      note_broken_write(errno);
      send_queue_.clear();
      break;
    }
    send_queue_.written(static_cast<std::size_t>(sent));
    total += static_cast<std::size_t>(sent);
    blocked_ = static_cast<std::size_t>(sent) < offered;
    if (blocked_) return total > 0;
  }
  blocked_ = false;
  return total > 0;
}

/// The call has taken the socket's error, so the next one that receives sees a plain end.
void peer_link::note_broken_write(int error) noexcept {
  write_broken_ = true;
  if (error != EPIPE) write_error_ = error;  // which says only that the socket has ended
}

void peer_link::shut_down_sending() noexcept {
  if (socket_) ::shutdown(socket_.get(), SHUT_WR);
}

std::size_t peer_link::unacknowledged_bytes() const noexcept {
  int bytes = 0;
  if (!socket_ || ::ioctl(socket_.get(), SIOCOUTQ, &bytes) != 0) return 0;
  return static_cast<std::size_t>(bytes);
}

bool peer_link::under_way() noexcept {
  if (!socket_) return false;
  tcp_info known{};
  socklen_t bytes = sizeof known;
  const bool tells = ::getsockopt(socket_.get(), IPPROTO_TCP, TCP_INFO, &known, &bytes) == 0 &&
                     bytes >= offsetof(tcp_info, tcpi_bytes_acked) + sizeof known.tcpi_bytes_acked;  // Linux 4.1
  const std::size_t left = unacknowledged_bytes();
  if (!tells) return left != 0;
  const std::uint64_t acknowledged = known.tcpi_bytes_acked;
  return acknowledged < std::exchange(taken_, acknowledged + left);
}

bool peer_link::receive(message_list& arrived, std::size_t enough) {
  if (state_ == state::failed || state_ == state::over) return false;
  std::size_t total = 0;
  has_more_ = false;
  do {
    std::size_t asked = 0;
    const std::ptrdiff_t received = read_once(asked);
    if (received == 0) break;
    if (received < 0) {
      end_of_stream(errno);
      return true;
    }
    total += static_cast<std::size_t>(received);
    if (!take_in(static_cast<std::size_t>(received), arrived)) return true;
    has_more_ = static_cast<std::size_t>(received) == asked;
    if (!has_more_) break;  // the socket is empty: saves the call that would tell
  } while (total < bytes_a_call && arrived.size() < enough);
  if (!has_more_) reader_.rest();
  return total > 0;
}

bool peer_link::take_in(std::size_t bytes, message_list& arrived) {
  if (const auto error = reader_.filled(bytes, arrived)) {
    fail(std::string(describe(*error)));
    return false;
  }
  if (reader_.ended()) state_ = state::departed;
  return true;
}

std::ptrdiff_t peer_link::read_once(std::size_t& asked) {
  const frame_reader::places places = reader_.space();
  asked = places.first.size() + places.second.size();
  if (places.second.empty()) return net::receive_some(socket_.get(), places.first.data(), places.first.size());
  const std::array<iovec, 2> buffers{iovec{places.first.data(), places.first.size()},
                                     iovec{places.second.data(), places.second.size()}};
  return net::receive_some(socket_.get(), buffers);
}

void peer_link::end_of_stream(int error) {
  if (state_ == state::departed) {
    state_ = state::over;
    send_queue_.clear();
    blocked_ = false;
    return;
  }
  if (error == 0) error = write_error_;
  if (error != 0) return fail("cannot be reached any more: " + net::error_text(error));
  fail(reader_.within_frame() ? "closed its connection in the middle of a message"
                              : "closed its connection without a shutdown");
}

void peer_link::fail(std::string reason) {
  state_ = state::failed;
  reason_ = std::move(reason);
  send_queue_.clear();
  blocked_ = false;
}

}  // namespace nacre::transport::tcp
