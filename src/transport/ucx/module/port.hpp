// SPDX-License-Identifier: Apache-2.0
// Inside the module: one rank's UCX workers and connections.
#pragma once

#include <ucp/api/ucp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "transport/ucx/module.hpp"

namespace nacre::transport::ucx {

class ucx_port;

struct channel_worker;

/// The argument of the callback for one kind of frame; the kind is the id of its active messages.
struct handler_argument {
  channel_worker* worker = nullptr;
  frame_kind kind = frame_kind::message;
};

/// The UCX worker of one channel.
struct channel_worker {
  ucx_port* port = nullptr;
  std::uint32_t number = 0;
  ucp_worker_h worker = nullptr;
  ucp_address_t* address = nullptr;
  std::size_t address_bytes = 0;
  int descriptor = -1;
  std::array<handler_argument, frame_kinds> handler_arguments{};
};

/// The argument of the error handler of one connection.
struct connection {
  ucx_port* port = nullptr;
  std::uint32_t peer = 0;
  std::uint32_t channel_index = 0;
  bool near = false;  // UCX does not report its end
  ucp_ep_h end = nullptr;
};

/// A UCX worker for each channel, and on each channel a connection to each peer.
class ucx_port final : public port {
 public:
  explicit ucx_port(std::uint32_t ranks) : connections_(std::size_t{ranks} * channels_per_peer) {}
  ~ucx_port() override;

  /// False: see error().
  [[nodiscard]] bool start();

  void set_callbacks(port_callbacks& callbacks) noexcept override { callbacks_ = &callbacks; }
  std::span<const std::byte> address(std::uint32_t index) const noexcept override {
    return {reinterpret_cast<const std::byte*>(workers_[index].address), workers_[index].address_bytes};
  }
  bool connect(std::uint32_t peer, std::uint32_t index, std::span<const std::byte> address,
               reach reach) noexcept override;
  outcome send(std::uint32_t peer, std::uint32_t index, frame_kind kind, const stamp& stamp,
               std::span<const std::byte> frame, std::uint64_t request_id) noexcept override;
  bool send_at_once(std::uint32_t peer, std::uint32_t index, std::span<const std::byte> stamped) noexcept override;
  outcome flush(std::uint32_t peer, std::uint32_t index, std::uint64_t request_id) noexcept override;
  outcome fetch(std::uint32_t index, rendezvous_request request, std::span<std::byte> target,
                std::uint64_t request_id) noexcept override;
  void refuse(std::uint32_t index, rendezvous_request request) noexcept override;
  bool progress(std::uint32_t index) noexcept override { return ucp_worker_progress(workers_[index].worker) != 0; }
  bool arm(std::uint32_t index) noexcept override;
  int descriptor(std::uint32_t index) const noexcept override { return workers_[index].descriptor; }
  void disconnect() noexcept override;
  const char* error() const noexcept override { return error_.c_str(); }

 private:
  bool fail(const char* call, ucs_status_t status) noexcept;
  bool open_worker(channel_worker& worker, std::uint32_t number);
  outcome outcome_of(const char* call, ucs_status_ptr_t request) noexcept;
  [[nodiscard]] connection& at(std::uint32_t peer, std::uint32_t index) noexcept {
    return connections_[std::size_t{peer} * channels_per_peer + index];
  }

  static ucs_status_t on_frame(void* block, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                               const ucp_am_recv_param_t* ucp_am_recv_param);
  static ucs_status_t on_rendezvous(const handler_argument& handler_argument, const stamp& stamp, void* data,
                                    std::size_t bytes);
  static void on_sent(void* request, ucs_status_t status, void* request_id);
  static void on_received(void* request, ucs_status_t status, std::size_t bytes, void* user_data);
  static void on_broken(void* bytes, ucp_ep_h end, ucs_status_t status);

  port_callbacks* callbacks_ = nullptr;
  ucp_context_h context_ = nullptr;
  bool shares_memory_ = false;
  std::array<channel_worker, channels_per_peer> workers_{};
  std::vector<connection> connections_;  // by peer and channel
  int fetches_ = 0;                      // in progress
  std::string error_;
};

/// The callback of a request gets one pointer, which is the request id; UCX keeps the port next to the request.
struct request_space {
  ucx_port* port;
};

}  // namespace nacre::transport::ucx
