// SPDX-License-Identifier: Apache-2.0
// The counters of a rank.
#pragma once

#include <cstdint>

namespace nacre {

/// Counts of a rank since its start, as `--nacre.summary` shows them. Exact while the system is quiet.
struct rank_counters {
  std::uint64_t messages_local = 0;  ///< sent to this rank, or to one object that was here; not those to all elements
  std::uint64_t messages_sent = 0;   ///< to other ranks, of every kind; messages that travel together count as one
  std::uint64_t bytes_sent = 0;      ///< to other ranks, headers included
  std::uint64_t hops = 0;            ///< messages to objects that went from here to another rank
  std::uint64_t forwards = 0;        ///< hops that were not the first of their message: it had come for an object that
                                     ///< was elsewhere, went back to its source, or had come back
  std::uint64_t carried = 0;         ///< messages that objects have taken along when they moved
  std::uint64_t updates_sent = 0;    ///< messages that told another rank the location of an object
  std::uint64_t updates_received = 0;
  std::uint64_t migrations_out = 0;
  std::uint64_t migrations_in = 0;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(messages_local, messages_sent, bytes_sent, hops, forwards, carried, updates_sent, updates_received,
       migrations_out, migrations_in);
  }
};

}  // namespace nacre
