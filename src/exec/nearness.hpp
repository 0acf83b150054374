// SPDX-License-Identifier: Apache-2.0
// Distances between the processors of a host, from hwloc.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace nacre {

/// The distances between the processors of a host: 0 for two that share the most; one more for each level up to the
/// ancestor that they have in common (core, cache, package, machine).
class nearness {
 public:
  /// `levels[a][b]` is the distance of the processors a and b, symmetric and below 16; `function` returns the processor
  /// on which its caller runs.
  nearness(std::vector<std::vector<std::uint8_t>> levels, std::function<std::uint32_t()> function);
  /// Reads the topology of this host from hwloc; null if all processors are equally near. Takes some milliseconds.
  [[nodiscard]] static std::shared_ptr<const nearness> look_at_host();
  /// As look_at_host, but reads once for all ranks of the process: the topology of the host does not change.
  [[nodiscard]] static std::shared_ptr<const nearness> of_this_host();

  /// A processor that is not known.
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

  [[nodiscard]] std::uint32_t here() const { return own_processor_(); }
  /// The highest level for processors that are not known.
  [[nodiscard]] std::uint8_t between(std::uint32_t a, std::uint32_t b) const noexcept {
    return a < levels_.size() && b < levels_.size() ? levels_[a][b] : highest_;
  }
  [[nodiscard]] std::uint8_t highest() const noexcept { return highest_; }

 private:
  std::vector<std::vector<std::uint8_t>> levels_;
  std::function<std::uint32_t()> own_processor_;
  std::uint8_t highest_ = 0;
};

}  // namespace nacre
