// SPDX-License-Identifier: Apache-2.0
// Which ranks of a job run on which host, as users of mpirun know it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nacre::tool {

/// A host as the user names it, and how many ranks it is to have.
struct host_slots {
  std::string name;                    ///< what the remote shell understands: "b", "user@b", "10.0.0.7"
  std::optional<std::uint32_t> slots;  ///< absent: the user has not said
};

/// Reads "a,b:4,user@c,[::1]:2". A name that comes again adds to its slots. Throws setup_error.
[[nodiscard]] std::vector<host_slots> parse_hosts(std::string_view list);

/// Reads the text of a host file: one host in a line, as "a", "a:4" or "a slots=4"; what follows a # is a comment.
[[nodiscard]] std::vector<host_slots> parse_host_file(std::string_view text, const std::string& name);

/// block: the first host gets the first ranks, until its slots are taken; cyclic: rank by rank to one host after the
/// other, as long as it has slots.
enum class distribution : std::uint8_t { block, cyclic };

/// One host of a job and its ranks, in ascending order.
struct host_share {
  std::string name;
  std::vector<std::uint32_t> ranks;
};

/// Spreads the ranks. Without `ranks` every slot gets one; a host without a number has one slot then. When no host has
/// a number, `ranks` are spread evenly. Hosts that get no rank are left out. Throws setup_error when there are more
/// ranks than slots.
[[nodiscard]] std::vector<host_share> spread_ranks(const std::vector<host_slots>& hosts,
                                                   std::optional<std::uint32_t> ranks, distribution how);

}  // namespace nacre::tool
