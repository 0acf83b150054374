// SPDX-License-Identifier: Apache-2.0
// Several runs of one plan, and their medians.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "plan.hpp"

namespace incast {

enum class network : std::uint8_t { sim, star };

struct spread {
  double median = 0, least = 0, most = 0;
};

struct measured {
  spread goodput_fraction, drops, fairness, token_us, round_ratio, round_p99_ms, retries, megabits;
  std::string choice;  ///< what auto has chosen, and why
};

[[nodiscard]] nlohmann::ordered_json json_of(const spread& spread);
[[nodiscard]] measured measure(const plan& plan, network network, int runs);
[[nodiscard]] std::string_view name_of(coordination coordination) noexcept;

}  // namespace incast
