// SPDX-License-Identifier: Apache-2.0
// All ranks of a job as processes of this host, started by the launcher itself.
#include "tool/local_process_group.hpp"

#include <utility>

#include <fmt/format.h>

namespace nacre::tool {

std::string label_of(std::uint32_t rank, bool label) { return label ? fmt::format("[{}] ", rank) : ""; }

local_process_group::local_process_group(const rank_launch_spec& rank_spec, bool label, printer& out,
                                         const std::function<void()>& after_each)
    : out_(&out) {
  for (std::uint32_t rank = 0; rank < rank_spec.size; ++rank) {
    rank_process started = ranks_.start(rank, rank_spec, rank == 0 ? input_.for_rank_zero() : -1);
    out.attach(std::move(started.output), false, label_of(rank, label));
    out.attach(std::move(started.error), true, label_of(rank, label));
    if (rank == 0) input_.started();
    after_each();
  }
}

void local_process_group::watch(std::vector<pollfd>& watched) const {
  watched.push_back({.fd = input_.source(), .events = POLLIN, .revents = 0});
  watched.push_back({.fd = input_.target(), .events = POLLOUT, .revents = 0});
}

void local_process_group::serve(time_point, bool child, std::vector<rank_end>& ends) {
  if (child) ranks_.reap(ends);
  input_.pump();
}

}  // namespace nacre::tool
