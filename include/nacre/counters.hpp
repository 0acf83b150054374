// SPDX-License-Identifier: Apache-2.0
// What a rank counts while it runs.
#pragma once

#include <cstdint>

namespace nacre {

/// What a rank has done since its start, as `--nacre.summary` shows it. Exact while the system is quiet.
struct rank_counters {
  std::uint64_t messages_sent = 0;  ///< to other ranks, of every kind; what travels together is one
  std::uint64_t bytes_sent = 0;     ///< to other ranks, headers included
  std::uint64_t hops = 0;           ///< messages to objects that went from here to another rank
  std::uint64_t forwards = 0;       ///< hops that were not the first of their message: it had come for an object that
                                    ///< was elsewhere, went back to its source, or had come back
  std::uint64_t carried = 0;        ///< messages that an object has taken along when it moved
  std::uint64_t updates_sent = 0;   ///< other ranks were told where an object is
  std::uint64_t updates_received = 0;
  std::uint64_t migrations_out = 0;
  std::uint64_t migrations_in = 0;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(messages_sent, bytes_sent, hops, forwards, carried, updates_sent, updates_received, migrations_out,
       migrations_in);
  }
};

}  // namespace nacre
