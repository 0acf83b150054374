// SPDX-License-Identifier: Apache-2.0
// The rungs that stand on Nacre: active messages, mobile objects, and messages that run after a moved object.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include <nacre/config.hpp>

#include "calibration/sample.hpp"

namespace nacre::calibration {

/// Told of each result, on the thread that called climb, in the process of rank 0.
using listener = std::function<void(std::string_view rung, const sample& value)>;

/// Runs the rungs of one transport once for each size and reports them; `keep` says which rungs are wanted. A job of
/// two ranks measures active messages and mobile objects, one of three ranks messages that are forwarded. Returns what
/// nacre::run returns.
int climb(nacre::config configuration, const std::vector<std::size_t>& sizes,
          const std::function<bool(std::string_view)>& keep, const listener& report);

/// Processor time of one message to a local object: sent, scheduled and run. The result's round trip is that time.
[[nodiscard]] sample local_object_message();

/// The names, in the order of the ladder. Payloads of more than 8 bytes are a std::span, which the sender copies into
/// the message and the handler sees in it, but for `moved`, which sends a nacre::buffer that is the message.
namespace rung {
inline constexpr std::string_view poll_loop = "active message, in the poll loop";
inline constexpr std::string_view control = "control message of an extension module";
inline constexpr std::string_view worker = "active message, on a worker";
inline constexpr std::string_view moved = "active message, on a worker, as a buffer";
inline constexpr std::string_view object = "mobile object on the other rank";
inline constexpr std::string_view direct = "mobile object, three ranks";
inline constexpr std::string_view forwarded = "forwarded mobile object, three ranks";
}  // namespace rung

}  // namespace nacre::calibration
