// SPDX-License-Identifier: Apache-2.0
// All ranks of a job as processes of this host, started by the launcher itself.
#include "tool/local_crew.hpp"

#include <utility>

#include <fmt/format.h>

namespace nacre::tool {

std::string label_of(std::uint32_t rank, bool label) { return label ? fmt::format("[{}] ", rank) : ""; }

local_crew::local_crew(const rank_recipe& recipe, bool label, printer& out) : out_(&out) {
  for (std::uint32_t rank = 0; rank < recipe.size; ++rank) {
    rank_process started = ranks_.start(rank, recipe, rank == 0 ? input_.for_rank_zero() : -1);
    out.attach(std::move(started.output), false, label_of(rank, label));
    out.attach(std::move(started.error), true, label_of(rank, label));
    if (rank == 0) input_.started();
  }
}

void local_crew::watch(std::vector<pollfd>& watched) const {
  watched.push_back({.fd = input_.source(), .events = POLLIN, .revents = 0});
  watched.push_back({.fd = input_.target(), .events = POLLOUT, .revents = 0});
}

void local_crew::serve(time_point, bool child, std::vector<rank_end>& ends) {
  if (child) ranks_.reap(ends);
  input_.pump();
}

}  // namespace nacre::tool
