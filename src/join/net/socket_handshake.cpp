// SPDX-License-Identifier: Apache-2.0
// The handshake over one socket, from the first byte to the proof that the other end belongs to the job.
#include "join/net/socket_handshake.hpp"

#include <array>
#include <span>
#include <utility>

namespace nacre::net {

socket_handshake::socket_handshake(unique_fd accepted, const net::address& other_end, handshake handshake,
                                   time_point deadline)
    : socket_(std::move(accepted)), handshake_(std::move(handshake)), deadline_(deadline), address_(other_end.text()) {}

socket_handshake socket_handshake::of_caller(unique_fd connecting, const net::address& other_end, handshake handshake,
                                             time_point deadline) {
  socket_handshake result(std::move(connecting), other_end, std::move(handshake), deadline);
  result.connecting_ = true;
  return result;
}

socket_handshake::outcome socket_handshake::advance(time_point now) {
  if (connecting_ && net::address::of_other_end(socket_.get()).family() == AF_UNSPEC) {
    if (const int error = connect_result(socket_.get()); error != 0) {
      handshake_.on_unreachable(error_text(error));
      return outcome::refused;
    }
    if (now >= deadline_) handshake_.on_timeout();
    return verdict();
  }
  connecting_ = false;
  if (!send() || !receive() || !send()) handshake_.on_closed();
  if (now >= deadline_) handshake_.on_timeout();
  return verdict();
}

socket_handshake::outcome socket_handshake::verdict() const {
  if (handshake_.status() == handshake_status::refused) return outcome::refused;
  return handshake_.status() == handshake_status::accepted && handshake_.to_send().empty() ? outcome::accepted
                                                                                           : outcome::pending;
}

bool socket_handshake::send() {
  while (!handshake_.to_send().empty()) {
    const auto bytes = handshake_.to_send();
    const std::ptrdiff_t sent = send_some(socket_.get(), bytes.data(), bytes.size());
    if (sent < 0) return false;
    if (sent == 0) break;
    handshake_.sent(static_cast<std::size_t>(sent));
  }
  return true;
}

bool socket_handshake::receive() {
  std::array<std::byte, handshake_message_bytes_max> buffer;
  while (handshake_.status() == handshake_status::need_more) {
    const std::ptrdiff_t received = receive_some(socket_.get(), buffer.data(), buffer.size());
    if (received < 0) return false;
    if (received == 0) break;
    std::span<const std::byte> bytes(buffer.data(), static_cast<std::size_t>(received));
    const handshake_status status = handshake_.on_bytes(bytes);
    if (status == handshake_status::accepted) leftover_.assign(bytes.begin(), bytes.end());
    if (!send()) return false;
  }
  return true;
}

peer_candidate socket_handshake::take() {
  return {.socket = std::move(socket_),
          .identity = handshake_.peer(),
          .address = address_,
          .leftover = std::move(leftover_)};
}

}  // namespace nacre::net
