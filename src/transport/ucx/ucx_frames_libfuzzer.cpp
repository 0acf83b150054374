// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: frames that a peer sends by UCX, compact, whole and announced ones. Each record of the input is one
// frame: a byte for its kind and channel, a byte for its length, then the form and the sequence of its stamp, and its
// bytes.
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "transport/frame.hpp"
#include "transport/fuzz_input.hpp"
#include "transport/ucx/endpoint.hpp"

namespace {

using namespace nacre;
using namespace nacre::transport;
using namespace nacre::transport::ucx;

constexpr std::uint32_t ranks = 3;
constexpr std::uint64_t key = 7;

/// Delivers one record of the input at each progress, and completes each fetch.
class fuzzed_port final : public port {
 public:
  explicit fuzzed_port(fuzz_input said) : said_(said) {}
  ~fuzzed_port() override {
    if (kept_ != 0) std::abort();  // each request is fetched or refused
  }
  void set_callbacks(port_callbacks& callbacks) noexcept override { callbacks_ = &callbacks; }
  std::span<const std::byte> address(std::uint32_t) const noexcept override { return {}; }
  bool connect(std::uint32_t, std::uint32_t, std::span<const std::byte>, reach) noexcept override { return true; }
  outcome send(std::uint32_t, std::uint32_t, frame_kind, const stamp&, fuzz_input, std::uint64_t) noexcept override {
    return outcome::done;
  }
  bool send_at_once(std::uint32_t, std::uint32_t, fuzz_input) noexcept override { return true; }
  outcome flush(std::uint32_t, std::uint32_t, std::uint64_t) noexcept override { return outcome::done; }
  outcome fetch(std::uint32_t, rendezvous_request request, std::span<std::byte> destination,
                std::uint64_t request_id) noexcept override {
    --kept_;
    std::memcpy(destination.data(), request.handle, destination.size());
    brought_.push_back(request_id);
    return outcome::pending;
  }
  void refuse(std::uint32_t, rendezvous_request) noexcept override { --kept_; }
  bool progress(std::uint32_t) noexcept override {
    if (!brought_.empty()) {
      const std::uint64_t request_id = brought_.front();
      brought_.pop_front();
      callbacks_->ended(request_id, true);
      return true;
    }
    if (said_.empty()) return false;
    const auto kind = cut_value<std::uint8_t>(said_);
    const auto bytes = cut_value<std::uint8_t>(said_);
    stamp frame_stamp{.key = key, .source = 1};
    frame_stamp.form = cut_value<std::uint8_t>(said_);
    frame_stamp.sequence = cut_value<std::uint32_t>(said_);
    const fuzz_input frame = cut(said_, bytes);
    const std::uint32_t channel_index = kind % channels_per_peer;
    if (kind < 128) {
      callbacks_->arrived(channel_index, frame_kind::message, frame_stamp, frame);
    } else if (!frame.empty()) {
      const auto place = callbacks_->place_for(channel_index, frame_kind::message, frame_stamp, frame.size(),
                                               {const_cast<std::byte*>(frame.data())});
      kept_ += place.later ? 1 : 0;
    }
    return true;
  }
  bool arm(std::uint32_t) noexcept override { return false; }
  int descriptor(std::uint32_t channel_index) const noexcept override { return doorbells_[channel_index].get(); }
  void disconnect() noexcept override {}
  const char* error() const noexcept override { return ""; }

 private:
  fuzz_input said_;
  std::array<net::unique_fd, channels_per_peer> doorbells_{net::unique_fd(::eventfd(0, EFD_CLOEXEC)),
                                                           net::unique_fd(::eventfd(0, EFD_CLOEXEC)),
                                                           net::unique_fd(::eventfd(0, EFD_CLOEXEC))};
  std::deque<std::uint64_t> brought_;
  int kept_ = 0;
  port_callbacks* callbacks_ = nullptr;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::array<int, 2> line{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, line.data()) != 0) return 0;
  const net::unique_fd far(line[1]);
  const fuzz_input said(reinterpret_cast<const std::byte*>(data), size);
  endpoint_parts parts{.rank = rank_id(0),
                       .end = std::make_unique<fuzzed_port>(said),
                       .peers = std::vector<std::optional<peer_parts>>(ranks),
                       .launcher = nullptr,
                       .output_bytes_max = 10'000};
  parts.peers[1] = peer_parts{.liveness_socket = net::unique_fd(line[0]), .key_here = key, .key_there = 1};
  ucx_endpoint end(std::move(parts));
  std::size_t bytes = 0;
  const frame_limits limits{.ranks = ranks, .payload_bytes_max = end.declared().payload_bytes_max, .peer = rank_id(1)};
  for (int quiet = 0; quiet < 4;) {
    message_list arrived;
    quiet = end.poll(arrived, 100) ? 0 : quiet + 1;
    while (const message_ptr m = arrived.pop_front()) {
      if (m->header.kind > message_kind::reply || check_header(m->header, limits)) std::abort();
      bytes += m->header.payload_bytes;
    }
  }
  if (bytes > size) std::abort();  // nothing comes out that did not go in
  return 0;
}
