// SPDX-License-Identifier: Apache-2.0
// How authenticated ranks exchange their UCX addresses.
#include "transport/ucx/introduction.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <nacre/error.hpp>

#include "transport/net/wait.hpp"
#include "transport/transport.hpp"

namespace nacre::transport::ucx {
namespace {

/// In front of the addresses. Both sides run one executable, so it travels as it lies in memory.
struct head {
  std::uint64_t key = 0;
  std::array<std::uint32_t, lane_count> bytes{};  // of each address
  std::uint32_t unused = 0;
};
static_assert(std::has_unique_object_representations_v<head>);

/// A host with many devices needs some hundred bytes. An address must fit into the buffer of a new socket.
constexpr std::uint32_t address_bytes_max = 16384;

[[noreturn]] void refuse(const introduction& parts, std::size_t peer, const std::string& what,
                         const std::string& remedy) {
  const std::string trouble =
      fmt::format("and rank {} cannot tell each other where UCX reaches them: {}", parts.rank.value(), what);
  launch::give_up_start(parts.line, {.peer = rank_id(static_cast<std::uint32_t>(peer)),
                                     .reason = trouble + ": " + remedy,
                                     .message = setup_error({.problem = fmt::format("rank {} {}", peer, trouble),
                                                             .why = "a job begins when all ranks are connected",
                                                             .remedy = remedy})});
}

/// Reads the addresses of one peer, and polls the launcher connection meanwhile.
class hearing {
 public:
  hearing(const introduction& parts, std::size_t peer, const net::guest& from)
      : parts_(parts), peer_(peer), from_(from) {}

  void read(std::span<std::byte> into) {
    const std::size_t early = std::min(from_.leftover.size() - taken_, into.size());
    std::copy_n(from_.leftover.begin() + static_cast<std::ptrdiff_t>(taken_), early, into.begin());
    taken_ += early;
    for (std::size_t got = early; got < into.size();) {
      const std::ptrdiff_t more = net::receive_some(from_.socket.get(), into.data() + got, into.size() - got);
      if (more < 0) refuse(parts_, peer_, "it has closed its connection", "look for what it has printed");
      got += static_cast<std::size_t>(more);
      if (more == 0) wait();
    }
  }

 private:
  void wait() const {
    if (parts_.line != nullptr) {
      if (const auto why = parts_.line->poll()) throw job_aborted(launch::aborted_text(*why));
    }
    if (std::chrono::steady_clock::now() >= parts_.deadline) {
      refuse(parts_, peer_, "it does not answer", "raise ucx.connect_timeout if the machine is busy");
    }
    std::array<pollfd, 2> watched{
        {{.fd = from_.socket.get(), .events = POLLIN, .revents = 0},
         {.fd = parts_.line == nullptr ? -1 : parts_.line->descriptor(), .events = POLLIN, .revents = 0}}};
    net::wait_until(watched, parts_.deadline);
  }

  const introduction& parts_;
  std::size_t peer_;
  const net::guest& from_;
  std::size_t taken_ = 0;
};

std::vector<std::byte> own_words(const port& own) {
  head front;
  std::vector<std::byte> result(sizeof front);
  for (std::uint32_t lane = 0; lane < lane_count; ++lane) {
    const auto address = own.address(lane);
    if (address.size() > address_bytes_max) {
      throw setup_error({.problem = fmt::format("the address of a UCX worker has {} bytes", address.size()),
                         .why = fmt::format("Nacre exchanges at most {}", address_bytes_max),
                         .remedy = "name the devices to use by UCX_NET_DEVICES"});
    }
    front.bytes[lane] = static_cast<std::uint32_t>(address.size());
    result.insert(result.end(), address.begin(), address.end());
  }
  std::memcpy(result.data(), &front, sizeof front);
  return result;
}

peer_words hear(const introduction& parts, std::size_t peer, const net::guest& from) {
  hearing ear(parts, peer, from);
  head front;
  ear.read(std::as_writable_bytes(std::span(&front, 1)));
  peer_words result{.key = front.key};
  for (std::uint32_t lane = 0; lane < lane_count; ++lane) {
    if (front.bytes[lane] == 0 || front.bytes[lane] > address_bytes_max) {
      refuse(parts, peer, "its words make no sense", "start all ranks from the same executable");
    }
    result.addresses[lane].resize(front.bytes[lane]);
    ear.read(result.addresses[lane]);
  }
  return result;
}

}  // namespace

std::vector<peer_words> introduce(const introduction& parts, const port& own, const std::vector<std::uint64_t>& keys,
                                  const std::vector<std::optional<net::guest>>& guests) {
  std::vector<std::byte> words = own_words(own);
  for (std::size_t peer = 0; peer < guests.size(); ++peer) {
    if (!guests[peer]) continue;
    std::memcpy(words.data(), &keys[peer], sizeof keys[peer]);
    // The buffer of a new connection takes these few bytes at once.
    if (net::send_some(guests[peer]->socket.get(), words.data(), words.size()) !=
        static_cast<std::ptrdiff_t>(words.size())) {
      refuse(parts, peer, "it has closed its connection", "look for what it has printed");
    }
  }
  std::vector<peer_words> result(guests.size());
  for (std::size_t peer = 0; peer < guests.size(); ++peer) {
    if (guests[peer]) result[peer] = hear(parts, peer, *guests[peer]);
  }
  return result;
}

}  // namespace nacre::transport::ucx
