// SPDX-License-Identifier: Apache-2.0
// The assignment of a job's ranks to hosts, by slots, as mpirun does it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nacre::tool {

/// A host as the user names it, and its number of slots, each for a rank.
struct host_slots {
  std::string name;                    ///< as the remote shell takes it: "b", "user@b", "10.0.0.7"
  std::optional<std::uint32_t> slots;  ///< absent: the user gave no number
};

/// Reads "a,b:4,user@c,[::1]:2". A name that comes again adds to its slots. Throws setup_error.
[[nodiscard]] std::vector<host_slots> parse_hosts(std::string_view list);

/// Reads the text of a host file: one host in a line, as "a", "a:4" or "a slots=4"; # begins a comment. Throws
/// setup_error.
[[nodiscard]] std::vector<host_slots> parse_host_file(std::string_view text, const std::string& name);

/// block: a host gets consecutive ranks until its slots are full, then the next host does. cyclic: consecutive ranks go
/// to consecutive hosts, round robin over the hosts that have free slots.
enum class distribution : std::uint8_t { block, cyclic };

/// One host of a job and its ranks, in ascending order.
struct host_share {
  std::string name;
  std::vector<std::uint32_t> ranks;
};

/// Assigns ranks to hosts. Without `ranks` every slot gets a rank. A host without a number has one slot, but if no host
/// has a number, `ranks` are spread evenly. Hosts without ranks are left out. Throws setup_error when there are more
/// ranks than slots.
[[nodiscard]] std::vector<host_share> spread_ranks(const std::vector<host_slots>& hosts,
                                                   std::optional<std::uint32_t> ranks, distribution distribution);

}  // namespace nacre::tool
