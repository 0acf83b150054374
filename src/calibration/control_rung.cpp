// SPDX-License-Identifier: Apache-2.0
// Two modules that answer each other.
#include "calibration/control_rung.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>

#include "calibration/schedule.hpp"

namespace nacre::calibration {
namespace {

/// A command makes all batches; its answer is the seconds of the fastest one.
class ladder_pair final : public nacre::extension {
  void on_command(nacre::extension_host& host, nacre::rank_id, std::uint32_t, std::span<const std::byte>) override {
    caller_ = host.defer();
    batches_ = 0;
    best_ = std::numeric_limits<double>::max();
    begin_ = seconds();
    begin_batch(host);
  }
  void on_control(nacre::extension_host& host, nacre::rank_id source, std::span<const std::byte> bytes) override {
    if (host.rank().value() != 0) return host.control(source, bytes);
    if (--left_ > 0) return host.control(source, bytes);
    best_ = std::min(best_, seconds() - start_);
    ++batches_;
    const bool is_late = batches_ >= batches_least && seconds() - begin_ > phase_seconds;
    if (batches_ < batches_of(sizeof(std::uint64_t)) && !is_late) return begin_batch(host);
    host.reply(caller_, std::as_bytes(std::span(&best_, 1)));
  }
  void begin_batch(nacre::extension_host& host) {
    constexpr std::uint64_t value = 1;
    left_ = trips_of(sizeof value);
    start_ = seconds();
    host.control(nacre::rank_id{1}, std::as_bytes(std::span(&value, 1)));
  }
  static double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  std::uint64_t caller_ = 0;
  int left_ = 0, batches_ = 0;
  double best_ = 0, begin_ = 0, start_ = 0;
};

}  // namespace

void register_control_rung() {
  nacre::register_extension("ladder_pair", [](const nacre::config&) { return std::make_unique<ladder_pair>(); });
}

sample measure_control(nacre::runtime& rt) {
  sample result{.bytes = sizeof(std::uint64_t)};
  rt.barrier();
  if (rt.rank().value() == 0) {
    const auto best = rt.extension("ladder_pair").command(rt.rank(), 1).get();
    double seconds = 0;
    std::memcpy(&seconds, best.data(), sizeof seconds);
    result.round_trip_seconds = seconds / trips_of(sizeof(std::uint64_t));
  }
  rt.barrier();
  return result;
}

}  // namespace nacre::calibration
