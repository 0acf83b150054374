// SPDX-License-Identifier: Apache-2.0
// How two ranks that have met over a stream agree on a connection over datagrams.
#include "transport/udp/peer_exchange.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <nacre/archive.hpp>
#include <nacre/error.hpp>

#include "transport/first_words.hpp"
#include "transport/transport.hpp"

namespace nacre::transport::udp {
namespace {

using nonce = std::array<std::byte, 32>;

constexpr std::uint32_t acknowledge_bytes_min = 4096;
constexpr std::string_view reliable_purpose = "nacre datagrams";
constexpr std::string_view unreliable_purpose = "nacre unreliable datagrams";

/// The words of a rank to a peer. Both run one executable, so it travels as it lies in memory.
struct introduction {
  nonce fresh{};
  std::uint32_t buffer_bytes = 0;  // of its socket
  tag_method method = tag_method::siphash;
  std::array<char, 59> address{};  // of its socket, ended by zeros
};
static_assert(std::has_unique_object_representations_v<introduction>);

/// A socket that the peer has not been connected to yet.
struct half_open {
  datagram_socket socket;
  introduction own_introduction;
};

[[noreturn]] void refuse(const peer_exchange& parts, std::size_t peer, const std::string& name,
                         const std::string& remedy) {
  const std::string trouble = fmt::format("and rank {} do not agree on datagrams: {}", parts.rank.value(), name);
  launch::give_up_start(parts.launcher, {.peer = rank_id(static_cast<std::uint32_t>(peer)),
                                         .reason = trouble + ": " + remedy,
                                         .message = setup_error({.problem = fmt::format("rank {} {}", peer, trouble),
                                                                 .why = "a job begins when all ranks are connected",
                                                                 .remedy = remedy})});
}

/// Whether the stream joins ranks of one process, which have met without addresses.
bool is_local(int stream) noexcept {
  int domain = 0;
  socklen_t bytes = sizeof domain;
  return ::getsockopt(stream, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) == 0 && domain == AF_UNIX;
}

/// The rank's own address as that peer sees it.
net::address local_address(int stream) {
  return is_local(stream) ? net::address::any_port_of_loopback() : net::address::of_own_end(stream).at_any_port();
}

half_open open_towards(const peer_exchange& parts, std::size_t peer, const net::peer_candidate& peer_candidate) {
  half_open result{.socket = datagram_socket(local_address(peer_candidate.socket.get()), parts.receive_buffer_bytes),
                   .own_introduction = {}};
  fill_random(result.own_introduction.fresh);
  result.own_introduction.buffer_bytes = result.socket.buffer_bytes();
  result.own_introduction.method = has_aes() ? tag_method::aes : tag_method::siphash;
  const std::string address = result.socket.own_address().text();
  NACRE_ASSERT(address.size() < result.own_introduction.address.size(), "an address of IPv6 has at most 56 characters");
  std::copy(address.begin(), address.end(), result.own_introduction.address.begin());
  // The buffer of a new connection takes these few bytes at once.
  if (net::send_some(peer_candidate.socket.get(), &result.own_introduction, sizeof result.own_introduction) !=
      std::ptrdiff_t{sizeof result.own_introduction}) {
    refuse(parts, peer, "it has closed its connection", "look for what it has printed");
  }
  return result;
}

/// Waits for the words of one peer; meanwhile the launcher may abort the job.
introduction receive_introduction(const peer_exchange& parts, std::size_t peer,
                                  const net::peer_candidate& peer_candidate) {
  std::array<std::byte, sizeof(introduction)> bytes{};
  switch (receive_first_words(bytes, peer_candidate, parts.launcher, parts.deadline)) {
    case first_words::complete:
      break;
    case first_words::closed:
      refuse(parts, peer, "it has closed its connection", "look for what it has printed");
    case first_words::late:
      refuse(parts, peer, "it does not answer", "raise udp.connect_timeout if the machine is busy");
  }
  return std::bit_cast<introduction>(bytes);
}

/// The key of the datagrams from one rank to another. Each direction has its own, so that no datagram can come back to
/// its sender; and each connection, as the random numbers are fresh. `purpose` keeps the two services apart.
datagram_key key_of_direction(const job_secret& secret, tag_method method, std::string_view purpose,
                              std::uint32_t source, std::uint32_t target, const nonce& of_sender,
                              const nonce& of_receiver) {
  std::array<std::byte, 128> statement{};
  writer writer{std::span<std::byte>(statement)};
  writer(purpose, source, target, of_sender, of_receiver);
  return {method, secret.prove(std::span(statement).first(writer.size()))};
}

peer_parts connect(const peer_exchange& parts, std::uint32_t peer, std::uint32_t ranks, half_open half_open,
                   const introduction& theirs, net::unique_fd stream) {
  const auto end = std::find(theirs.address.begin(), theirs.address.end(), '\0');
  const auto address = net::address::parse(std::string_view(theirs.address.begin(), end));
  if (!address || theirs.method > tag_method::aes) {
    refuse(parts, peer, "its words make no sense", "start all ranks from the same executable");
  }
  half_open.socket.connect(*address);
  const tag_method method = std::min(half_open.own_introduction.method, theirs.method);
  const std::uint32_t own_rank = parts.rank.value();
  // Several datagrams must fit into the peer's socket at a time, so that the next ones travel while one is taken.
  const std::uint32_t bytes =
      std::min(half_open.socket.datagram_bytes(parts.mtu),
               std::max(theirs.buffer_bytes / 6, static_cast<std::uint32_t>(datagram_bytes_min)));
  half_open.socket.use_segmentation(bytes);
  // No network lies between ranks of one host: only the peer's socket limits what is on its way.
  const bool one_host = is_local(stream.get()) || net::joins_one_host(stream.get());
  if (parts.lose) half_open.socket.lose(parts.lose);
  const auto outgoing = [&](std::string_view purpose) {
    return key_of_direction(parts.secret, method, purpose, own_rank, peer, half_open.own_introduction.fresh,
                            theirs.fresh);
  };
  const auto incoming = [&](std::string_view purpose) {
    return key_of_direction(parts.secret, method, purpose, peer, own_rank, theirs.fresh,
                            half_open.own_introduction.fresh);
  };
  return {
      .liveness_socket = std::move(stream),
      .socket = std::move(half_open.socket),
      .link = connection(
          {.frames = {.ranks = ranks, .payload_bytes_max = capabilities{}.payload_bytes_max, .peer = rank_id(peer)},
           .datagram_bytes = bytes,
           .peer_buffer_bytes = theirs.buffer_bytes,
           .acknowledge_bytes = one_host ? std::max(half_open.own_introduction.buffer_bytes / 16, acknowledge_bytes_min)
                                         : acknowledge_bytes_min,
           .network_bytes_min = one_host && !parts.lose ? theirs.buffer_bytes : 0},
          outgoing(reliable_purpose), incoming(reliable_purpose)),
      .apart = unreliable_link(bytes, outgoing(unreliable_purpose), incoming(unreliable_purpose))};
}

}  // namespace

std::string line_of_small_buffer(std::size_t wanted_bytes, std::size_t given_bytes) {
  if (given_bytes >= wanted_bytes / 2) return {};
  return fmt::format(
      "nacre: the kernel keeps {} KiB of what each peer sends instead of {} KiB, so streams of long messages over udp "
      "are slower: raise the limit (sysctl net.core.rmem_max={}), or ask for less (--nacre.udp.receive_buffer={}KiB)",
      given_bytes / 1024, wanted_bytes / 1024, wanted_bytes / 2, given_bytes / 1024);
}

std::vector<std::optional<peer_parts>> exchange_with_peers(const peer_exchange& parts,
                                                           std::vector<std::optional<net::peer_candidate>> candidates) {
  std::vector<std::optional<half_open>> half_opens(candidates.size());
  for (std::size_t peer = 0; peer < candidates.size(); ++peer) {
    if (candidates[peer]) half_opens[peer].emplace(open_towards(parts, peer, *candidates[peer]));
  }
  std::vector<std::optional<peer_parts>> result(candidates.size());
  for (std::size_t peer = 0; peer < candidates.size(); ++peer) {
    if (!candidates[peer]) continue;
    const introduction theirs = receive_introduction(parts, peer, *candidates[peer]);
    result[peer].emplace(connect(parts, static_cast<std::uint32_t>(peer), static_cast<std::uint32_t>(candidates.size()),
                                 std::move(*half_opens[peer]), theirs, std::move(candidates[peer]->socket)));
  }
  return result;
}

}  // namespace nacre::transport::udp
