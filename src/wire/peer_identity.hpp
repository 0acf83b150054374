// SPDX-License-Identifier: Apache-2.0
// The identity that a process claims when it joins a job, and the reasons for which another process refuses it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nacre/archive.hpp>
#include <nacre/ids.hpp>

namespace nacre {

/// The version of all bytes that Nacre sends between processes. Raised whenever a byte changes its meaning.
inline constexpr std::uint16_t wire_protocol_version = 2;

/// One member of a job, as it describes itself to the others.
struct peer_identity {
  static constexpr std::size_t address_bytes_max = 255;

  rank_id rank;
  std::uint32_t size = 0;  ///< ranks in the job
  std::uint16_t protocol = wire_protocol_version;
  std::uint64_t binary = 0;      ///< binary_fingerprint() of the executable
  std::uint64_t handlers = 0;    ///< fingerprint of the handler table
  std::string address;           ///< where the rank listens, for example "10.0.0.7:4242"; printable ASCII, no spaces
  std::uint8_t connection = 0;   ///< number among those of two ranks; means nothing in the acceptor's identity
  std::uint8_t connections = 1;  ///< number of connections between two ranks

  friend bool operator==(const peer_identity&, const peer_identity&) = default;

  /// Whether `other` is the identity of another connection of this peer: all but the connection's number is equal.
  [[nodiscard]] bool same_peer(const peer_identity& other) const {
    peer_identity twin = other;
    twin.connection = connection;
    return *this == twin;
  }

  /// Whether `text` is short and printable. The address is shown in logs and used to connect, so no other is accepted.
  [[nodiscard]] static bool is_address(std::string_view text) noexcept {
    return text.size() <= address_bytes_max &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
  }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(rank, size, binary, handlers, address, connection, connections);  // the version is in every message's head
    if constexpr (Archive::is_loading::value) {
      if (!is_address(address)) ar.fail();
    }
  }
};

/// The reason for which a handshake ended without a peer. Its number travels in the verdict.
enum class refusal_reason : std::uint8_t {
  none,                    ///< not refused
  wrong_secret,            ///< it could not prove the job's secret, or its proof was tampered with on the way
  other_binary,            ///< it runs another executable, or registered other handlers
  other_protocol_version,  ///< it speaks another version of the protocol; nothing after the version was read
  other_job_size,          ///< it believes in another number of ranks
  bad_rank,                ///< its rank is outside the job, is our own, or is not the rank that was called
  malformed,               ///< the bytes that it sent are no handshake
  closed,                  ///< it closed the connection during the handshake
  unreachable,             ///< no connection could be made
  timed_out,               ///< it did not finish in time
  other_connections        ///< it makes another number of connections for two ranks, or one beyond that number
};

/// A reason, and its text.
struct refusal {
  refusal_reason reason = refusal_reason::none;
  bool by_peer = false;     ///< the peer refused us, and proved the secret with its verdict
  std::string explanation;  ///< "it could not prove the job's secret"

  /// One line for a log, such as "refused a peer at 127.0.0.1:4242: it could not prove the job's secret".
  /// `peer_address` is where the caller knows the peer to be; nothing that an unproven peer sent is quoted.
  [[nodiscard]] std::string log_line(std::string_view peer_address) const;
};

/// Checks whether `peer`, a proven identity, fits into the job of `local`. Returns nothing if it does. `expected` is
/// the rank that was called, if the caller cares. Both sides come to the same result, except for `expected`.
[[nodiscard]] std::optional<refusal> judge(const peer_identity& local, const peer_identity& peer,
                                           std::optional<rank_id> expected);

}  // namespace nacre
