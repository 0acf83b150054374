// SPDX-License-Identifier: Apache-2.0
// Inside the module: frames that are sent and received.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "transport/ucx/module/port.hpp"

namespace nacre::transport::ucx {
namespace {

void* as_pointer(std::uint64_t request_id) noexcept {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(request_id));
}
std::uint64_t as_request_id(void* user_data) noexcept { return reinterpret_cast<std::uintptr_t>(user_data); }

/// The port inside `fetch`: a request that fails within the call does not know its port yet.
thread_local ucx_port* fetching = nullptr;

}  // namespace

outcome ucx_port::outcome_of(const char* call, ucs_status_ptr_t request) noexcept {
  if (request == nullptr) return outcome::done;
  if (UCS_PTR_IS_ERR(request)) {
    fail(call, UCS_PTR_STATUS(request));
    return outcome::failed;
  }
  static_cast<request_space*>(request)->port = this;
  return outcome::pending;
}

outcome ucx_port::send(std::uint32_t peer, std::uint32_t index, frame_kind kind, const stamp& stamp,
                       std::span<const std::byte> frame, std::uint64_t request_id) noexcept {
  ucp_request_param_t parameters;
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  parameters.cb.send = &on_sent;
  parameters.user_data = as_pointer(request_id);
  parameters.memory_type = UCS_MEMORY_TYPE_HOST;
  if (kind == frame_kind::taken || kind == frame_kind::given) {
    parameters.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    parameters.flags = UCP_AM_SEND_FLAG_RNDV;
  }
  return outcome_of("ucp_am_send_nbx", ucp_am_send_nbx(at(peer, index).end, static_cast<unsigned>(kind), &stamp,
                                                       sizeof stamp, frame.data(), frame.size(), &parameters));
}

bool ucx_port::send_at_once(std::uint32_t peer, std::uint32_t index, std::span<const std::byte> stamped) noexcept {
  ucp_request_param_t parameters;
  parameters.op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;
  return ucp_am_send_nbx(at(peer, index).end, static_cast<unsigned>(frame_kind::message), nullptr, 0, stamped.data(),
                         stamped.size(), &parameters) == nullptr;
}

outcome ucx_port::flush(std::uint32_t peer, std::uint32_t index, std::uint64_t request_id) noexcept {
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  parameters.cb.send = &on_sent;
  parameters.user_data = as_pointer(request_id);
  return outcome_of("ucp_ep_flush_nbx", ucp_ep_flush_nbx(at(peer, index).end, &parameters));
}

outcome ucx_port::fetch(std::uint32_t index, rendezvous_request rendezvous_request, std::span<std::byte> target,
                        std::uint64_t request_id) noexcept {
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  parameters.cb.recv_am = &on_received;
  parameters.user_data = as_pointer(request_id);
  parameters.memory_type = UCS_MEMORY_TYPE_HOST;
  const int others = fetches_++;
  fetching = this;
  const ucs_status_ptr_t request = ucp_am_recv_data_nbx(workers_[index].worker, rendezvous_request.handle,
                                                        target.data(), target.size(), &parameters);
  fetching = nullptr;
  const outcome now = outcome_of("ucp_am_recv_data_nbx", request);
  if (now != outcome::pending) fetches_ = others;
  return now;
}

void ucx_port::refuse(std::uint32_t index, rendezvous_request request) noexcept {
  ucp_am_data_release(workers_[index].worker, request.handle);
}

bool ucx_port::arm(std::uint32_t index) noexcept { return ucp_worker_arm(workers_[index].worker) == UCS_OK; }

void ucx_port::on_sent(void* request, ucs_status_t status, void* request_id) {
  static_cast<request_space*>(request)->port->callbacks_->ended(as_request_id(request_id), status == UCS_OK);
  ucp_request_free(request);
}

void ucx_port::on_received(void* request, ucs_status_t status, std::size_t, void* request_id) {
  ucx_port* const port = fetching != nullptr ? fetching : static_cast<request_space*>(request)->port;
  --port->fetches_;
  port->callbacks_->ended(as_request_id(request_id), status == UCS_OK);
  ucp_request_free(request);
}

ucs_status_t ucx_port::on_frame(void* block, const void* header, std::size_t header_bytes, void* data,
                                std::size_t bytes, const ucp_am_recv_param_t* ucp_am_recv_param) {
  const handler_argument& site = *static_cast<const handler_argument*>(block);
  const bool whole = (ucp_am_recv_param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0;
  std::span<const std::byte> frame{static_cast<const std::byte*>(data), bytes};
  stamp stamp;
  if (header_bytes == sizeof stamp) {
    std::memcpy(&stamp, header, sizeof stamp);
    if (!whole) return on_rendezvous(site, stamp, data, bytes);
  } else if (header_bytes == 0 && whole && bytes >= sizeof stamp) {  // see send_at_once
    std::memcpy(&stamp, data, sizeof stamp);
    frame = frame.subspan(sizeof stamp);
  } else {
    return UCS_OK;  // of a foreign sender
  }
  site.worker->port->callbacks_->arrived(site.worker->number, site.kind, stamp, frame);
  return UCS_OK;
}

ucs_status_t ucx_port::on_rendezvous(const handler_argument& handler_argument, const stamp& stamp, void* data,
                                     std::size_t bytes) {
  const channel_worker& worker = *handler_argument.worker;
  const port_callbacks::place place =
      worker.port->callbacks_->place_for(worker.number, handler_argument.kind, stamp, bytes, {data});
  if (place.later) return UCS_INPROGRESS;
  if (place.address == nullptr) return UCS_OK;
  const outcome now = worker.port->fetch(worker.number, {data}, {place.address, bytes}, place.request_id);
  if (now == outcome::pending) return UCS_INPROGRESS;
  worker.port->callbacks_->ended(place.request_id, now == outcome::done);
  return UCS_OK;
}

void ucx_port::on_broken(void* bytes, ucp_ep_h, ucs_status_t status) {
  const connection& selection = *static_cast<const connection*>(bytes);
  selection.port->callbacks_->broken(selection.peer, selection.channel_index, ucs_status_string(status));
}

}  // namespace nacre::transport::ucx
