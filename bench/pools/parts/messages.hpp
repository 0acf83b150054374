// SPDX-License-Identifier: Apache-2.0
// What a message costs with and without blocks that are there already: PREMA's figure 6.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <nacre/config.hpp>

namespace pools {

/// Seconds of a round trip, and of a message in a stream that is answered once.
struct message_times {
  std::size_t bytes = 0;
  double round_trip = 0;
  double one_way = 0;
};

/// Both ends of a job of two ranks: active messages with a span, run by a worker. Rank 0 reports each size. Returns
/// what nacre::run returns.
int exchange(nacre::config configuration, const std::vector<std::size_t>& sizes,
             const std::function<void(const message_times&)>& report);

}  // namespace pools
