// SPDX-License-Identifier: Apache-2.0
// The backend udp over a path that loses datagrams, as rows for the conformance suite.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include <nacre/rng.hpp>

#include "transport/udp/backend.hpp"
#include "transport/udp/fabric.hpp"

namespace nacre::transport::udp {

/// Ranks in this process. Each socket loses so many percent of the datagrams that it sends.
template <std::uint64_t Percent>
std::unique_ptr<fabric> make_losing_local(std::uint32_t ranks, const config& configuration) {
  settings settings = read_settings(configuration);
  settings.lose = [next = std::make_shared<std::atomic<std::uint64_t>>(1)] {
    return rng(next->fetch_add(1)).below(100) < Percent;
  };
  return std::make_unique<local_fabric>(ranks, settings);
}

/// The row of that path, under a name of its own.
template <std::uint64_t Percent>
const backend& losing_backend() {
  static constexpr const char* names[]{"udp_losing_1_percent", "udp_losing_10_percent", "udp_losing_30_percent"};
  static const backend row = [] {
    backend result = make_backend();
    result.name = names[Percent == 1 ? 0 : Percent == 10 ? 1 : 2];
    result.make_local = make_losing_local<Percent>;
    return result;
  }();
  static_assert(Percent == 1 || Percent == 10 || Percent == 30);
  return row;
}

}  // namespace nacre::transport::udp
