// SPDX-License-Identifier: Apache-2.0
// Inside the module: how a rank's UCX workers and connections begin and end.
#include "transport/ucx/module/port.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace nacre::transport::ucx {
namespace {

constexpr std::chrono::seconds disconnect_time_max{1};

/// Without MM_ERROR_HANDLING UCX does not use shared memory where it must report the end of a peer. Where UCX_TLS
/// leaves shared memory out, UCX would warn of an unused setting. A value that the user has set holds.
bool may_share_memory() {
  if (std::getenv("UCX_MM_ERROR_HANDLING") != nullptr) return false;
  const char* const chosen = std::getenv("UCX_TLS");
  if (chosen == nullptr) return true;
  constexpr std::array names{"all", "^", "sm", "shm", "mm", "posix", "sysv", "xpmem"};
  return std::any_of(names.begin(), names.end(),
                     [&](const char* name) { return std::strstr(chosen, name) != nullptr; });
}

}  // namespace

bool ucx_port::fail(const char* call, ucs_status_t status) noexcept {
  error_ = std::string(call) + ": " + ucs_status_string(status);
  return false;
}

bool ucx_port::start() {
  ucp_config_t* configuration = nullptr;
  ucs_status_t status = ucp_config_read(nullptr, nullptr, &configuration);
  if (status != UCS_OK) return fail("ucp_config_read", status);
  shares_memory_ = may_share_memory();
  if (shares_memory_) ucp_config_modify(configuration, "MM_ERROR_HANDLING", "y");
  ucp_params_t wanted{};
  wanted.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_REQUEST_SIZE | UCP_PARAM_FIELD_REQUEST_INIT |
                      UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
  wanted.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  wanted.request_size = sizeof(request_space);
  wanted.request_init = [](void* request) { static_cast<request_space*>(request)->port = nullptr; };
  wanted.estimated_num_eps = connections_.size();
  status = ucp_init(&wanted, configuration, &context_);
  ucp_config_release(configuration);
  if (status != UCS_OK) return fail("ucp_init", status);
  for (std::uint32_t number = 0; number < channels_per_peer; ++number) {
    if (!open_worker(workers_[number], number)) return false;
  }
  return true;
}

bool ucx_port::open_worker(channel_worker& worker, std::uint32_t number) {
  worker.port = this;
  worker.number = number;
  ucp_worker_params_t wanted{};
  wanted.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  wanted.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  ucs_status_t status = ucp_worker_create(context_, &wanted, &worker.worker);
  if (status != UCS_OK) return fail("ucp_worker_create", status);
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.cb = &on_frame;
  for (std::uint32_t kind = 0; kind < frame_kinds; ++kind) {
    worker.handler_arguments[kind] = {&worker, static_cast<frame_kind>(kind + 1)};
    handler.id = kind + 1;
    handler.arg = &worker.handler_arguments[kind];
    status = ucp_worker_set_am_recv_handler(worker.worker, &handler);
    if (status != UCS_OK) return fail("ucp_worker_set_am_recv_handler", status);
  }
  status = ucp_worker_get_efd(worker.worker, &worker.descriptor);
  if (status != UCS_OK) return fail("ucp_worker_get_efd", status);
  status = ucp_worker_get_address(worker.worker, &worker.address, &worker.address_bytes);
  return status == UCS_OK || fail("ucp_worker_get_address", status);
}

ucx_port::~ucx_port() {
  for (channel_worker& each : workers_) {
    if (each.address != nullptr) ucp_worker_release_address(each.worker, each.address);
    if (each.worker != nullptr) ucp_worker_destroy(each.worker);
  }
  if (context_ != nullptr) ucp_cleanup(context_);
}

bool ucx_port::connect(std::uint32_t peer, std::uint32_t index, std::span<const std::byte> address,
                       reach reach) noexcept {
  connection& connection = at(peer, index);
  connection.port = this;
  connection.peer = peer;
  connection.channel_index = index;
  ucp_ep_params_t wanted{};
  wanted.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  wanted.address = reinterpret_cast<const ucp_address_t*>(address.data());
  connection.near = reach == reach::this_host && shares_memory_;
  wanted.err_mode = connection.near ? UCP_ERR_HANDLING_MODE_NONE : UCP_ERR_HANDLING_MODE_PEER;
  wanted.err_handler.cb = &on_broken;
  wanted.err_handler.arg = &connection;
  const ucs_status_t status = ucp_ep_create(workers_[index].worker, &wanted, &connection.end);
  if (status == UCS_OK) return true;
  connection.end = nullptr;
  return fail("ucp_ep_create", status);
}

void ucx_port::disconnect() noexcept {
  // UCX 1.13 asserts that no copy from another process's memory waits in the queue of a connection when that connection
  // is destroyed.
  const auto copied = std::chrono::steady_clock::now() + disconnect_time_max;
  while (fetches_ > 0 && std::chrono::steady_clock::now() < copied) {
    for (channel_worker& each : workers_) progress(each.number);
  }
  std::vector<ucs_status_ptr_t> closing;
  for (connection& each : connections_) {
    if (each.end == nullptr) continue;
    const ucp_ep_h end = std::exchange(each.end, nullptr);
    if (each.near) continue;  // closing it needs the peer's help; it ends with its worker
    ucp_request_param_t parameters{};
    parameters.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    parameters.flags = UCP_EP_CLOSE_FLAG_FORCE;
    const ucs_status_ptr_t request = ucp_ep_close_nbx(end, &parameters);
    if (UCS_PTR_IS_PTR(request)) closing.push_back(request);
  }
  // Progress no longer than it takes: over tcp UCX 1.13 uses a connection after its release when a peer hangs up on one
  // that is closed here and has room to send more.
  const auto deadline = std::chrono::steady_clock::now() + disconnect_time_max;
  while (!closing.empty() && std::chrono::steady_clock::now() < deadline) {
    for (channel_worker& each : workers_) progress(each.number);
    std::erase_if(closing, [](ucs_status_ptr_t request) {
      if (ucp_request_check_status(request) == UCS_INPROGRESS) return false;
      ucp_request_free(request);
      return true;
    });
  }
  for (const ucs_status_ptr_t request : closing) ucp_request_free(request);
}

}  // namespace nacre::transport::ucx
