// SPDX-License-Identifier: Apache-2.0
// How authenticated ranks exchange their UCX addresses.
#include "transport/ucx/address_exchange.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <nacre/error.hpp>

#include "join/net/wait.hpp"
#include "transport/transport.hpp"

namespace nacre::transport::ucx {
namespace {

/// In front of the addresses. Both sides run one executable, so it travels as it lies in memory.
struct head {
  std::uint64_t key = 0;
  std::array<std::uint32_t, channels_per_peer> bytes{};  // of each address
  std::uint32_t unused = 0;
};
static_assert(std::has_unique_object_representations_v<head>);

/// A host with many devices needs some hundred bytes. An address must fit into the buffer of a new socket.
constexpr std::uint32_t address_bytes_max = 16384;

[[noreturn]] void refuse(const address_exchange& parts, std::size_t peer, const std::string& name,
                         const std::string& remedy) {
  const std::string trouble =
      fmt::format("and rank {} cannot tell each other where UCX reaches them: {}", parts.rank.value(), name);
  launch::give_up_start(parts.launcher, {.peer = rank_id(static_cast<std::uint32_t>(peer)),
                                         .reason = trouble + ": " + remedy,
                                         .message = setup_error({.problem = fmt::format("rank {} {}", peer, trouble),
                                                                 .why = "a job begins when all ranks are connected",
                                                                 .remedy = remedy})});
}

/// Reads the addresses of one peer, and polls the launcher connection meanwhile.
class address_reader {
 public:
  address_reader(const address_exchange& parts, std::size_t peer, const net::peer_candidate& peer_candidate)
      : parts_(parts), peer_(peer), candidate_(peer_candidate) {}

  void read(std::span<std::byte> target) {
    const std::size_t early = std::min(candidate_.leftover.size() - taken_, target.size());
    std::copy_n(candidate_.leftover.begin() + static_cast<std::ptrdiff_t>(taken_), early, target.begin());
    taken_ += early;
    for (std::size_t got = early; got < target.size();) {
      const std::ptrdiff_t more = net::receive_some(candidate_.socket.get(), target.data() + got, target.size() - got);
      if (more < 0) refuse(parts_, peer_, "it has closed its connection", "look for what it has printed");
      got += static_cast<std::size_t>(more);
      if (more == 0) wait();
    }
  }

 private:
  void wait() const {
    if (parts_.launcher != nullptr) {
      if (const auto aborted = parts_.launcher->poll()) throw job_aborted(launch::aborted_text(*aborted));
    }
    if (std::chrono::steady_clock::now() >= parts_.deadline) {
      refuse(parts_, peer_, "it does not answer", "raise ucx.connect_timeout if the machine is busy");
    }
    std::array<pollfd, 2> watched{
        {{.fd = candidate_.socket.get(), .events = POLLIN, .revents = 0},
         {.fd = parts_.launcher == nullptr ? -1 : parts_.launcher->descriptor(), .events = POLLIN, .revents = 0}}};
    net::wait_until(watched, parts_.deadline);
  }

  const address_exchange& parts_;
  std::size_t peer_;
  const net::peer_candidate& candidate_;
  std::size_t taken_ = 0;
};

std::vector<std::byte> own_addresses(const port& port) {
  head front;
  std::vector<std::byte> result(sizeof front);
  for (std::uint32_t channel_index = 0; channel_index < channels_per_peer; ++channel_index) {
    const auto address = port.address(channel_index);
    if (address.size() > address_bytes_max) {
      throw setup_error({.problem = fmt::format("the address of a UCX worker has {} bytes", address.size()),
                         .why = fmt::format("Nacre exchanges at most {}", address_bytes_max),
                         .remedy = "name the devices to use by UCX_NET_DEVICES"});
    }
    front.bytes[channel_index] = static_cast<std::uint32_t>(address.size());
    result.insert(result.end(), address.begin(), address.end());
  }
  std::memcpy(result.data(), &front, sizeof front);
  return result;
}

peer_addresses receive_addresses(const address_exchange& parts, std::size_t peer,
                                 const net::peer_candidate& peer_candidate) {
  address_reader reader(parts, peer, peer_candidate);
  head front;
  reader.read(std::as_writable_bytes(std::span(&front, 1)));
  peer_addresses result{.key = front.key};
  for (std::uint32_t channel_index = 0; channel_index < channels_per_peer; ++channel_index) {
    if (front.bytes[channel_index] == 0 || front.bytes[channel_index] > address_bytes_max) {
      refuse(parts, peer, "its words make no sense", "start all ranks from the same executable");
    }
    result.addresses[channel_index].resize(front.bytes[channel_index]);
    reader.read(result.addresses[channel_index]);
  }
  return result;
}

}  // namespace

std::vector<peer_addresses> exchange_addresses(const address_exchange& parts, const port& port,
                                               const std::vector<std::uint64_t>& keys,
                                               const std::vector<std::optional<net::peer_candidate>>& candidates) {
  std::vector<std::byte> words = own_addresses(port);
  for (std::size_t peer = 0; peer < candidates.size(); ++peer) {
    if (!candidates[peer]) continue;
    std::memcpy(words.data(), &keys[peer], sizeof keys[peer]);
    // The buffer of a new connection takes these few bytes at once.
    if (net::send_some(candidates[peer]->socket.get(), words.data(), words.size()) !=
        static_cast<std::ptrdiff_t>(words.size())) {
      refuse(parts, peer, "it has closed its connection", "look for what it has printed");
    }
  }
  std::vector<peer_addresses> result(candidates.size());
  for (std::size_t peer = 0; peer < candidates.size(); ++peer) {
    if (candidates[peer]) result[peer] = receive_addresses(parts, peer, *candidates[peer]);
  }
  return result;
}

}  // namespace nacre::transport::ucx
