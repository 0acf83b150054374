// SPDX-License-Identifier: Apache-2.0
// How authenticated ranks of one host exchange their segments.
#include "transport/shm/segment_exchange.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <nacre/error.hpp>

#include "join/net/descriptors.hpp"
#include "transport/first_words.hpp"
#include "transport/shm/process_memory.hpp"
#include "transport/transport.hpp"
#include "wire/job_secret.hpp"

namespace nacre::transport::shm {
namespace {

/// The message of the exchange. Both sides run one binary on one host, so it travels as it lies in memory.
struct words {
  std::uint64_t nonce = 0;     // the segment holds it, too
  std::uint64_t nonce_at = 0;  // its address in the sender's process
  std::uint64_t data_bytes = 0;
  std::int32_t process = 0;
  std::int32_t descriptor = -1;
};
static_assert(std::has_unique_object_representations_v<words>);

[[noreturn]] void refuse(const segment_exchange& parts, std::size_t peer, const std::string& name,
                         const std::string& remedy) {
  const std::string trouble = fmt::format("and rank {} cannot share memory: {}", parts.rank.value(), name);
  launch::give_up_start(parts.launcher, {.peer = rank_id(static_cast<std::uint32_t>(peer)),
                                         .reason = trouble + ": " + remedy,
                                         .message = setup_error({.problem = fmt::format("rank {} {}", peer, trouble),
                                                                 .why = "the ranks of one host talk through it",
                                                                 .remedy = remedy})});
}

/// Waits for the words of one peer; meanwhile the launcher may abort the job.
words receive_words(const segment_exchange& parts, std::size_t peer, const net::peer_candidate& peer_candidate) {
  std::array<std::byte, sizeof(words)> bytes{};
  switch (receive_first_words(bytes, peer_candidate, parts.launcher, parts.deadline)) {
    case first_words::complete:
      break;
    case first_words::closed:
      refuse(parts, peer, "it has closed its connection", "look for what it has printed");
    case first_words::late:
      refuse(parts, peer, "it does not answer", "raise shm.connect_timeout if the machine is busy");
  }
  return std::bit_cast<words>(bytes);
}

/// Maps the segment of a peer.
peer_parts map_segment_of(const segment_exchange& parts, std::size_t peer, const words& of_peer,
                          net::unique_fd liveness_socket) {
  if (of_peer.data_bytes != parts.sizes.data_bytes) {
    refuse(parts, peer, fmt::format("its rings have {} bytes, and not {}", of_peer.data_bytes, parts.sizes.data_bytes),
           "give all ranks the same options shm.ring_bytes and shm.memory_max");
  }
  auto theirs = segment::open(of_peer.process, of_peer.descriptor, parts.sizes);
  if (!theirs) {
    refuse(parts, peer, fmt::format("its segment cannot be mapped: {}", net::error_text(errno)),
           "run all ranks as one user who sees their processes in /proc, or use --transport tcp");
  }
  if (theirs->head().nonce != of_peer.nonce) {
    refuse(parts, peer, "the segment that it names is another one", "use --transport tcp");
  }
  peer_parts result{.theirs = std::make_shared<segment>(std::move(*theirs)),
                    .liveness_socket = std::move(liveness_socket),
                    .process = of_peer.process};
  std::uint64_t nonce = 0;
  // Made before the nonce proves that the process is the peer.
  if (parts.single_copy) result.handle = std::make_shared<process_handle>(of_peer.process);
  if (parts.single_copy && of_peer.nonce_at != 0 &&
      read_memory(of_peer.process, of_peer.nonce_at, reinterpret_cast<std::byte*>(&nonce), sizeof nonce) &&
      nonce == of_peer.nonce) {
    result.fetch_from = of_peer.process;
    result.can_copy = can_copy_directly(of_peer.process, of_peer.nonce_at, nonce);
  }
  return result;
}

}  // namespace

std::vector<std::optional<peer_parts>> exchange_segments(const segment_exchange& parts,
                                                         std::vector<std::optional<net::peer_candidate>> candidates) {
  // Where Yama lets only ancestors access a process, the process may admit one more and its descendants.
  const std::size_t handles = parts.single_copy ? ranks_of_host(candidates) : 0;
  if (handles != 0) net::allow_descriptors(candidates.size() + handles, "start fewer ranks");
  if (parts.single_copy) ::prctl(PR_SET_PTRACER, static_cast<unsigned long>(::getppid()), 0, 0, 0);
  words own_words{
      .data_bytes = parts.sizes.data_bytes, .process = ::getpid(), .descriptor = parts.own_segment.descriptor()};
  fill_random(std::as_writable_bytes(std::span(&own_words.nonce, 1)));
  own_words.nonce_at = parts.single_copy ? reinterpret_cast<std::uint64_t>(&parts.own_segment.head().nonce) : 0;
  parts.own_segment.head().nonce = own_words.nonce;

  const auto bytes = std::bit_cast<std::array<std::byte, sizeof(words)>>(own_words);
  for (std::size_t peer = 0; peer < candidates.size(); ++peer) {
    if (!candidates[peer]) continue;
    // The connection is still empty, so it takes these few bytes at once.
    if (net::send_some(candidates[peer]->socket.get(), bytes.data(), bytes.size()) != std::ptrdiff_t{sizeof(words)}) {
      refuse(parts, peer, "it has closed its connection", "look for what it has printed");
    }
  }
  std::vector<std::optional<peer_parts>> result(candidates.size());
  for (std::size_t peer = 0; peer < candidates.size(); ++peer) {
    if (!candidates[peer]) continue;
    const words of_peer = receive_words(parts, peer, *candidates[peer]);
    result[peer] = map_segment_of(parts, peer, of_peer, std::move(candidates[peer]->socket));
  }
  return result;
}

}  // namespace nacre::transport::shm
