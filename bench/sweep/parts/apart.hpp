// SPDX-License-Identifier: Apache-2.0
// A measurement in a process of its own, so that nothing of the last one is left, and none lasts for ever.
#pragma once

#include <functional>
#include <optional>

namespace sweep {

/// What `measure` returns; nothing if it fails, or takes longer than `seconds_max`.
[[nodiscard]] std::optional<double> measured_apart(const std::function<double()>& measure, double seconds_max);

}  // namespace sweep
