// SPDX-License-Identifier: Apache-2.0
// What does UCX cost by itself? Two processes exchange active messages of UCX (ucp_am_send_nbx) and poll.
// Prints one line of JSON for each size: nanoseconds of a round trip, and of a message in a stream one way.
#include <sys/socket.h>
#include <sys/wait.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <program_options.hpp>

#include "calibration/schedule.hpp"
#include "ladder/parts/payloads.hpp"

namespace {

using steady = std::chrono::steady_clock;

void check(ucs_status_t status, const char* call) {
  if (status == UCS_OK) return;
  std::fprintf(stderr, "raw_ucx: %s: %s\n", call, ucs_status_string(status));
  std::exit(1);
}

void transfer(int socket, void* data, std::size_t bytes, bool out) {
  for (auto* position = static_cast<char*>(data); bytes > 0;) {
    const ssize_t moved = out ? write(socket, position, bytes) : read(socket, position, bytes);
    if (moved <= 0) std::exit(1);
    position += moved;
    bytes -= static_cast<std::size_t>(moved);
  }
}

/// One of the two processes, connected to the other one.
class end {
 public:
  explicit end(int socket) {
    ucp_params_t features{};
    features.field_mask = UCP_PARAM_FIELD_FEATURES;
    features.features = UCP_FEATURE_AM;
    ucp_context_h context = nullptr;
    check(ucp_init(&features, nullptr, &context), "ucp_init");
    ucp_worker_params_t alone{};
    check(ucp_worker_create(context, &alone, &worker_), "ucp_worker_create");
    ucp_am_handler_param_t handler{};
    handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    handler.cb = &take;
    handler.arg = this;
    check(ucp_worker_set_am_recv_handler(worker_, &handler), "ucp_worker_set_am_recv_handler");
    ucp_address_t* ucp_address = nullptr;
    std::size_t bytes = 0;
    check(ucp_worker_get_address(worker_, &ucp_address, &bytes), "ucp_worker_get_address");
    transfer(socket, &bytes, sizeof bytes, true);
    transfer(socket, ucp_address, bytes, true);
    transfer(socket, &bytes, sizeof bytes, false);
    std::vector<char> other(bytes);
    transfer(socket, other.data(), bytes, false);
    ucp_ep_params_t ucp_ep_params{};
    ucp_ep_params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    ucp_ep_params.address = reinterpret_cast<const ucp_address_t*>(other.data());
    check(ucp_ep_create(worker_, &ucp_ep_params, &other_), "ucp_ep_create");
  }

  void make_room(std::size_t bytes) {
    out_ = ladder::payloads(bytes);
    in_ = ladder::payloads(bytes);
  }

  /// The messages of a stream leave together; `finish` follows.
  void send(std::size_t bytes, int position) {
    ucp_request_param_t parameters{};
    void* const request = ucp_am_send_nbx(other_, 0, nullptr, 0, out_.at(position), bytes, &parameters);
    if (request == nullptr) return;
    if (UCS_PTR_IS_ERR(request)) check(UCS_PTR_STATUS(request), "ucp_am_send_nbx");
    under_way_.push_back(request);
  }

  void finish() {
    for (void* const request : under_way_) {
      while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(worker_);
      ucp_request_free(request);
    }
    under_way_.clear();
  }

  void receive(int count) {
    while (arrived_ < count) ucp_worker_progress(worker_);
    arrived_ -= count;
  }

 private:
  static ucs_status_t take(void* block, const void*, std::size_t, void* data, std::size_t bytes,
                           const ucp_am_recv_param_t* ucp_am_recv_param) {
    end& site = *static_cast<end*>(block);
    if ((ucp_am_recv_param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0) {
      std::memcpy(site.in_.at(0), data, bytes);
      ++site.arrived_;
      return UCS_OK;
    }
    ucp_request_param_t parameters{};
    parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    parameters.user_data = block;
    parameters.cb.recv_am = [](void* request, ucs_status_t, std::size_t, void* user) {
      ++static_cast<end*>(user)->arrived_;
      ucp_request_free(request);
    };
    if (ucp_am_recv_data_nbx(site.worker_, data, site.in_.at(0), bytes, &parameters) != nullptr) return UCS_INPROGRESS;
    ++site.arrived_;
    return UCS_OK;
  }

  ucp_worker_h worker_ = nullptr;
  ucp_ep_h other_ = nullptr;
  ladder::payloads out_{0}, in_{0};
  std::vector<void*> under_way_;
  int arrived_ = 0;
};

/// `count` messages there and one back, so many times; returns the seconds of one time.
double exchange(end& end, bool first, std::size_t bytes, int count, int times) {
  const auto start = steady::now();
  for (int i = 0; i < times; ++i) {
    if (first) {
      for (int k = 0; k < count; ++k) end.send(bytes, k);
      end.finish();
      end.receive(1);
    } else {
      end.receive(count);
      end.send(count == 1 ? bytes : nacre::calibration::answer_bytes, 0);
      end.finish();
    }
  }
  return std::chrono::duration<double>(steady::now() - start).count() / times;
}

void measure(end& end, bool first, std::size_t bytes) {
  end.make_room(bytes);
  double round_trip = 1e9, stream = 1e9;
  for (int batch = 0; batch < nacre::calibration::batches_of(bytes); ++batch) {
    round_trip = std::min(round_trip, exchange(end, first, bytes, 1, nacre::calibration::trips_of(bytes)));
    stream = std::min(stream, exchange(end, first, bytes, nacre::calibration::stream_of(bytes),
                                       nacre::calibration::streams_of(bytes)));
  }
  if (!first) return;
  std::printf("{\"bytes\":%zu,\"round_trip_ns\":%.1f,\"one_way_ns\":%.1f}\n", bytes, round_trip * 1e9,
              stream / nacre::calibration::stream_of(bytes) * 1e9);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::size_t> sizes{8, 512, 4096, 65536, 1u << 20};
  nacre::program_options options("raw_ucx",
                                 "What UCX costs by itself: two processes exchange its active messages and poll.");
  options.add("--bytes", sizes, "Sizes of a message").of_bytes().between(1, 1e9);
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
  const pid_t child = fork();
  const bool first = child != 0;
  {
    end end(ends[first ? 0 : 1]);
    for (const std::size_t bytes : sizes) measure(end, first, bytes);
  }
  if (first) waitpid(child, nullptr, 0);
  std::fflush(stdout);
  _exit(0);  // the two stop at different times, of which UCX would complain
}
