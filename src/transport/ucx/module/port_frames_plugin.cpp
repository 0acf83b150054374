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
  static_cast<request_space*>(request)->of = this;
  return outcome::pending;
}

outcome ucx_port::send(std::uint32_t peer, std::uint32_t which, frame_kind what, const stamp& with,
                       std::span<const std::byte> frame, std::uint64_t request_id) noexcept {
  ucp_request_param_t how;
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  how.cb.send = &on_sent;
  how.user_data = as_pointer(request_id);
  how.memory_type = UCS_MEMORY_TYPE_HOST;
  if (what == frame_kind::taken || what == frame_kind::given) {
    how.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    how.flags = UCP_AM_SEND_FLAG_RNDV;
  }
  return outcome_of("ucp_am_send_nbx", ucp_am_send_nbx(at(peer, which).end, static_cast<unsigned>(what), &with,
                                                       sizeof with, frame.data(), frame.size(), &how));
}

bool ucx_port::send_at_once(std::uint32_t peer, std::uint32_t which, std::span<const std::byte> stamped) noexcept {
  ucp_request_param_t how;
  how.op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;
  return ucp_am_send_nbx(at(peer, which).end, static_cast<unsigned>(frame_kind::message), nullptr, 0, stamped.data(),
                         stamped.size(), &how) == nullptr;
}

outcome ucx_port::flush(std::uint32_t peer, std::uint32_t which, std::uint64_t request_id) noexcept {
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  how.cb.send = &on_sent;
  how.user_data = as_pointer(request_id);
  return outcome_of("ucp_ep_flush_nbx", ucp_ep_flush_nbx(at(peer, which).end, &how));
}

outcome ucx_port::fetch(std::uint32_t which, rendezvous_request what, std::span<std::byte> to,
                        std::uint64_t request_id) noexcept {
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  how.cb.recv_am = &on_received;
  how.user_data = as_pointer(request_id);
  how.memory_type = UCS_MEMORY_TYPE_HOST;
  const int others = fetches_++;
  fetching = this;
  const ucs_status_ptr_t request = ucp_am_recv_data_nbx(workers_[which].worker, what.which, to.data(), to.size(), &how);
  fetching = nullptr;
  const outcome now = outcome_of("ucp_am_recv_data_nbx", request);
  if (now != outcome::pending) fetches_ = others;
  return now;
}

void ucx_port::refuse(std::uint32_t which, rendezvous_request what) noexcept {
  ucp_am_data_release(workers_[which].worker, what.which);
}

bool ucx_port::arm(std::uint32_t which) noexcept { return ucp_worker_arm(workers_[which].worker) == UCS_OK; }

void ucx_port::on_sent(void* request, ucs_status_t status, void* request_id) {
  static_cast<request_space*>(request)->of->to_->ended(as_request_id(request_id), status == UCS_OK);
  ucp_request_free(request);
}

void ucx_port::on_received(void* request, ucs_status_t status, std::size_t, void* request_id) {
  ucx_port* const of = fetching != nullptr ? fetching : static_cast<request_space*>(request)->of;
  --of->fetches_;
  of->to_->ended(as_request_id(request_id), status == UCS_OK);
  ucp_request_free(request);
}

ucs_status_t ucx_port::on_frame(void* of, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                                const ucp_am_recv_param_t* how) {
  const handler_argument& here = *static_cast<const handler_argument*>(of);
  const bool whole = (how->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0;
  std::span<const std::byte> frame{static_cast<const std::byte*>(data), bytes};
  stamp with;
  if (header_bytes == sizeof with) {
    std::memcpy(&with, header, sizeof with);
    if (!whole) return on_rendezvous(here, with, data, bytes);
  } else if (header_bytes == 0 && whole && bytes >= sizeof with) {  // see send_at_once
    std::memcpy(&with, data, sizeof with);
    frame = frame.subspan(sizeof with);
  } else {
    return UCS_OK;  // of a foreign sender
  }
  here.at->of->to_->arrived(here.at->number, here.what, with, frame);
  return UCS_OK;
}

ucs_status_t ucx_port::on_rendezvous(const handler_argument& by, const stamp& with, void* data, std::size_t bytes) {
  const channel_worker& of = *by.at;
  const port_callbacks::place into = of.of->to_->place_for(of.number, by.what, with, bytes, {data});
  if (into.later) return UCS_INPROGRESS;
  if (into.at == nullptr) return UCS_OK;
  const outcome now = of.of->fetch(of.number, {data}, {into.at, bytes}, into.request_id);
  if (now == outcome::pending) return UCS_INPROGRESS;
  of.of->to_->ended(into.request_id, now == outcome::done);
  return UCS_OK;
}

void ucx_port::on_broken(void* of, ucp_ep_h, ucs_status_t status) {
  const connection& which = *static_cast<const connection*>(of);
  which.of->to_->broken(which.peer, which.channel_index, ucs_status_string(status));
}

}  // namespace nacre::transport::ucx
