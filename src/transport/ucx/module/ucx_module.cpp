// SPDX-License-Identifier: Apache-2.0
// Inside the module: one rank's workers and endpoints at UCX.
#include <ucp/api/ucp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "transport/ucx/module.hpp"

namespace nacre::transport::ucx {
namespace {

constexpr std::chrono::seconds disconnect_time_max{1};

void* as_pointer(std::uint64_t ticket) noexcept { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(ticket)); }
std::uint64_t as_ticket(void* user_data) noexcept { return reinterpret_cast<std::uintptr_t>(user_data); }

/// Without MM_ERROR_HANDLING UCX does not use shared memory where the end of a peer is to be noticed; where UCX_TLS
/// leaves shared memory out, UCX would warn of a setting that nobody reads. What the user has set holds.
bool may_share_memory() {
  if (std::getenv("UCX_MM_ERROR_HANDLING") != nullptr) return false;
  const char* const chosen = std::getenv("UCX_TLS");
  if (chosen == nullptr) return true;
  constexpr std::array names{"all", "^", "sm", "shm", "mm", "posix", "sysv", "xpmem"};
  return std::any_of(names.begin(), names.end(),
                     [&](const char* name) { return std::strstr(chosen, name) != nullptr; });
}

class ucx_port;

struct lane;

/// What the callback of one kind of frame is given; the kind is the id of its active messages.
struct ear {
  lane* at = nullptr;
  frame_kind what = frame_kind::message;
};

/// What is known of one lane.
struct lane {
  ucx_port* of = nullptr;
  std::uint32_t number = 0;
  ucp_worker_h worker = nullptr;
  ucp_address_t* address = nullptr;
  std::size_t address_bytes = 0;
  int descriptor = -1;
  std::array<ear, frame_kinds> ears{};
};

/// What the error handler of one connection is given.
struct connection {
  ucx_port* of = nullptr;
  std::uint32_t peer = 0;
  std::uint32_t lane = 0;
  bool near = false;  // UCX does not watch it
  ucp_ep_h end = nullptr;
};

class ucx_port final : public port {
 public:
  explicit ucx_port(std::uint32_t ranks) : connections_(std::size_t{ranks} * lane_count) {}
  ~ucx_port() override;

  /// False: see error().
  [[nodiscard]] bool start();

  void tell(listener& whom) noexcept override { to_ = &whom; }
  std::span<const std::byte> address(std::uint32_t which) const noexcept override {
    return {reinterpret_cast<const std::byte*>(lanes_[which].address), lanes_[which].address_bytes};
  }
  bool connect(std::uint32_t peer, std::uint32_t which, std::span<const std::byte> address,
               reach where) noexcept override;
  outcome send(std::uint32_t peer, std::uint32_t which, frame_kind what, const stamp& with,
               std::span<const std::byte> frame, std::uint64_t ticket) noexcept override;
  bool send_at_once(std::uint32_t peer, std::uint32_t which, std::span<const std::byte> stamped) noexcept override;
  outcome flush(std::uint32_t peer, std::uint32_t which, std::uint64_t ticket) noexcept override;
  outcome fetch(std::uint32_t which, announcement what, std::span<std::byte> to,
                std::uint64_t ticket) noexcept override;
  void refuse(std::uint32_t which, announcement what) noexcept override;
  bool progress(std::uint32_t which) noexcept override { return ucp_worker_progress(lanes_[which].worker) != 0; }
  bool arm(std::uint32_t which) noexcept override;
  int descriptor(std::uint32_t which) const noexcept override { return lanes_[which].descriptor; }
  void disconnect() noexcept override;
  const char* error() const noexcept override { return error_.c_str(); }

 private:
  bool fail(const char* call, ucs_status_t status) noexcept;
  bool open_lane(lane& which, std::uint32_t number);
  outcome settle(const char* call, ucs_status_ptr_t request) noexcept;
  [[nodiscard]] connection& at(std::uint32_t peer, std::uint32_t which) noexcept {
    return connections_[std::size_t{peer} * lane_count + which];
  }

  static ucs_status_t on_frame(void* of, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                               const ucp_am_recv_param_t* how);
  static ucs_status_t on_announcement(const ear& by, const stamp& with, void* data, std::size_t bytes);
  static void on_sent(void* request, ucs_status_t status, void* port_and_ticket);
  static void on_received(void* request, ucs_status_t status, std::size_t bytes, void* user_data);
  static void on_broken(void* of, ucp_ep_h end, ucs_status_t status);

  listener* to_ = nullptr;
  ucp_context_h context_ = nullptr;
  bool shares_memory_ = false;
  std::array<lane, lane_count> lanes_{};
  std::vector<connection> connections_;  // by peer and lane
  int fetches_ = 0;                      // under way
  std::string error_;
};

/// Callbacks of requests get one pointer, which is the ticket; the port is a neighbour of the request.
struct request_space {
  ucx_port* of;
};

/// The port that fetches, while it calls: what fails ends within the call, when its request does not know its port.
thread_local ucx_port* fetching = nullptr;

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
  wanted.request_init = [](void* request) { static_cast<request_space*>(request)->of = nullptr; };
  wanted.estimated_num_eps = connections_.size();
  status = ucp_init(&wanted, configuration, &context_);
  ucp_config_release(configuration);
  if (status != UCS_OK) return fail("ucp_init", status);
  for (std::uint32_t number = 0; number < lane_count; ++number) {
    if (!open_lane(lanes_[number], number)) return false;
  }
  return true;
}

bool ucx_port::open_lane(lane& which, std::uint32_t number) {
  which.of = this;
  which.number = number;
  ucp_worker_params_t wanted{};
  wanted.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  wanted.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  ucs_status_t status = ucp_worker_create(context_, &wanted, &which.worker);
  if (status != UCS_OK) return fail("ucp_worker_create", status);
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.cb = &on_frame;
  for (std::uint32_t kind = 0; kind < frame_kinds; ++kind) {
    which.ears[kind] = {&which, static_cast<frame_kind>(kind + 1)};
    handler.id = kind + 1;
    handler.arg = &which.ears[kind];
    status = ucp_worker_set_am_recv_handler(which.worker, &handler);
    if (status != UCS_OK) return fail("ucp_worker_set_am_recv_handler", status);
  }
  status = ucp_worker_get_efd(which.worker, &which.descriptor);
  if (status != UCS_OK) return fail("ucp_worker_get_efd", status);
  status = ucp_worker_get_address(which.worker, &which.address, &which.address_bytes);
  return status == UCS_OK || fail("ucp_worker_get_address", status);
}

ucx_port::~ucx_port() {
  for (lane& each : lanes_) {
    if (each.address != nullptr) ucp_worker_release_address(each.worker, each.address);
    if (each.worker != nullptr) ucp_worker_destroy(each.worker);
  }
  if (context_ != nullptr) ucp_cleanup(context_);
}

bool ucx_port::connect(std::uint32_t peer, std::uint32_t which, std::span<const std::byte> address,
                       reach where) noexcept {
  connection& made = at(peer, which);
  made.of = this;
  made.peer = peer;
  made.lane = which;
  ucp_ep_params_t wanted{};
  wanted.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  wanted.address = reinterpret_cast<const ucp_address_t*>(address.data());
  made.near = where == reach::this_host && shares_memory_;
  wanted.err_mode = made.near ? UCP_ERR_HANDLING_MODE_NONE : UCP_ERR_HANDLING_MODE_PEER;
  wanted.err_handler.cb = &on_broken;
  wanted.err_handler.arg = &made;
  const ucs_status_t status = ucp_ep_create(lanes_[which].worker, &wanted, &made.end);
  if (status == UCS_OK) return true;
  made.end = nullptr;
  return fail("ucp_ep_create", status);
}

outcome ucx_port::settle(const char* call, ucs_status_ptr_t request) noexcept {
  if (request == nullptr) return outcome::done;
  if (UCS_PTR_IS_ERR(request)) {
    fail(call, UCS_PTR_STATUS(request));
    return outcome::failed;
  }
  static_cast<request_space*>(request)->of = this;
  return outcome::pending;
}

outcome ucx_port::send(std::uint32_t peer, std::uint32_t which, frame_kind what, const stamp& with,
                       std::span<const std::byte> frame, std::uint64_t ticket) noexcept {
  ucp_request_param_t how;
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  how.cb.send = &on_sent;
  how.user_data = as_pointer(ticket);
  how.memory_type = UCS_MEMORY_TYPE_HOST;
  if (what == frame_kind::taken || what == frame_kind::given) {
    how.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    how.flags = UCP_AM_SEND_FLAG_RNDV;
  }
  return settle("ucp_am_send_nbx", ucp_am_send_nbx(at(peer, which).end, static_cast<unsigned>(what), &with, sizeof with,
                                                   frame.data(), frame.size(), &how));
}

bool ucx_port::send_at_once(std::uint32_t peer, std::uint32_t which, std::span<const std::byte> stamped) noexcept {
  ucp_request_param_t how;
  how.op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;
  return ucp_am_send_nbx(at(peer, which).end, static_cast<unsigned>(frame_kind::message), nullptr, 0, stamped.data(),
                         stamped.size(), &how) == nullptr;
}

outcome ucx_port::flush(std::uint32_t peer, std::uint32_t which, std::uint64_t ticket) noexcept {
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  how.cb.send = &on_sent;
  how.user_data = as_pointer(ticket);
  return settle("ucp_ep_flush_nbx", ucp_ep_flush_nbx(at(peer, which).end, &how));
}

outcome ucx_port::fetch(std::uint32_t which, announcement what, std::span<std::byte> to,
                        std::uint64_t ticket) noexcept {
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  how.cb.recv_am = &on_received;
  how.user_data = as_pointer(ticket);
  how.memory_type = UCS_MEMORY_TYPE_HOST;
  const int others = fetches_++;
  fetching = this;
  const ucs_status_ptr_t request = ucp_am_recv_data_nbx(lanes_[which].worker, what.which, to.data(), to.size(), &how);
  fetching = nullptr;
  const outcome now = settle("ucp_am_recv_data_nbx", request);
  if (now != outcome::pending) fetches_ = others;
  return now;
}

void ucx_port::refuse(std::uint32_t which, announcement what) noexcept {
  ucp_am_data_release(lanes_[which].worker, what.which);
}

bool ucx_port::arm(std::uint32_t which) noexcept { return ucp_worker_arm(lanes_[which].worker) == UCS_OK; }

void ucx_port::on_sent(void* request, ucs_status_t status, void* ticket) {
  static_cast<request_space*>(request)->of->to_->ended(as_ticket(ticket), status == UCS_OK);
  ucp_request_free(request);
}

void ucx_port::on_received(void* request, ucs_status_t status, std::size_t, void* ticket) {
  ucx_port* const of = fetching != nullptr ? fetching : static_cast<request_space*>(request)->of;
  --of->fetches_;
  of->to_->ended(as_ticket(ticket), status == UCS_OK);
  ucp_request_free(request);
}

ucs_status_t ucx_port::on_frame(void* of, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                                const ucp_am_recv_param_t* how) {
  const ear& here = *static_cast<const ear*>(of);
  const bool whole = (how->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0;
  std::span<const std::byte> frame{static_cast<const std::byte*>(data), bytes};
  stamp with;
  if (header_bytes == sizeof with) {
    std::memcpy(&with, header, sizeof with);
    if (!whole) return on_announcement(here, with, data, bytes);
  } else if (header_bytes == 0 && whole && bytes >= sizeof with) {  // see send_at_once
    std::memcpy(&with, data, sizeof with);
    frame = frame.subspan(sizeof with);
  } else {
    return UCS_OK;  // of a stranger
  }
  here.at->of->to_->arrived(here.at->number, here.what, with, frame);
  return UCS_OK;
}

ucs_status_t ucx_port::on_announcement(const ear& by, const stamp& with, void* data, std::size_t bytes) {
  const lane& of = *by.at;
  const listener::place into = of.of->to_->place_for(of.number, by.what, with, bytes, {data});
  if (into.later) return UCS_INPROGRESS;
  if (into.at == nullptr) return UCS_OK;
  const outcome now = of.of->fetch(of.number, {data}, {into.at, bytes}, into.ticket);
  if (now == outcome::pending) return UCS_INPROGRESS;
  of.of->to_->ended(into.ticket, now == outcome::done);
  return UCS_OK;
}

void ucx_port::on_broken(void* of, ucp_ep_h, ucs_status_t status) {
  const connection& which = *static_cast<const connection*>(of);
  which.of->to_->broken(which.peer, which.lane, ucs_status_string(status));
}

void ucx_port::disconnect() noexcept {
  // A copy from another process's memory that waits for its turn in a connection must not be there when that goes, of
  // which UCX 1.13 makes sure by an assertion.
  const auto copied = std::chrono::steady_clock::now() + disconnect_time_max;
  while (fetches_ > 0 && std::chrono::steady_clock::now() < copied) {
    for (lane& each : lanes_) progress(each.number);
  }
  std::vector<ucs_status_ptr_t> closing;
  for (connection& each : connections_) {
    if (each.end == nullptr) continue;
    const ucp_ep_h end = std::exchange(each.end, nullptr);
    if (each.near) continue;  // it can only be closed with the help of the peer; it ends with its worker
    ucp_request_param_t how{};
    how.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    how.flags = UCP_EP_CLOSE_FLAG_FORCE;
    const ucs_status_ptr_t request = ucp_ep_close_nbx(end, &how);
    if (UCS_PTR_IS_PTR(request)) closing.push_back(request);
  }
  // No turn more than it takes: over tcp UCX 1.13 uses a connection after its release when a peer hangs up on one that
  // is closed here, and that has room for more to send.
  const auto deadline = std::chrono::steady_clock::now() + disconnect_time_max;
  while (!closing.empty() && std::chrono::steady_clock::now() < deadline) {
    for (lane& each : lanes_) progress(each.number);
    std::erase_if(closing, [](ucs_status_ptr_t request) {
      if (ucp_request_check_status(request) == UCS_INPROGRESS) return false;
      ucp_request_free(request);
      return true;
    });
  }
  for (const ucs_status_ptr_t request : closing) ucp_request_free(request);
}

class ucx_library final : public library {
 public:
  ucx_library() {
    unsigned major = 0, minor = 0, release = 0;
    ucp_get_version(&major, &minor, &release);
    name_ = "UCX " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
  }

  const char* name() const noexcept override { return name_.c_str(); }

  port* open(std::uint32_t ranks, std::span<char> why) noexcept override {
    const std::lock_guard one_at_a_time(opening_);  // ucp_init reads tables that it fills at its first call
    auto made = std::make_unique<ucx_port>(ranks);
    if (made->start()) return made.release();
    const std::string_view words = made->error();
    const std::size_t count = std::min(words.size(), why.size() - 1);
    std::memcpy(why.data(), words.data(), count);
    why[count] = '\0';
    return nullptr;
  }

 private:
  std::mutex opening_;
  std::string name_;
};

}  // namespace
}  // namespace nacre::transport::ucx

extern "C" __attribute__((visibility("default"))) void* nacre_ucx_module(std::uint32_t version) {
  namespace ucx = nacre::transport::ucx;
  static auto* const only = new ucx::ucx_library;  // never destroyed: it ends with the process
  return version == ucx::module_version ? static_cast<ucx::library*>(only) : nullptr;
}
