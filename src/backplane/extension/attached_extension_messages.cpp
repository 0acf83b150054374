// SPDX-License-Identifier: Apache-2.0
// Control messages, datagrams and timers of an extension module.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <nacre/error.hpp>

#include "backplane/extension/attached_extension.hpp"
#include "base/marks.hpp"

namespace nacre {
namespace {

constexpr std::chrono::nanoseconds coarse_step{1'000'000};

}  // namespace

void attached_extension::check_target(rank_id target) const {
  if (target.value() < site_.size) return;
  throw usage_error("a message to rank " + std::to_string(target.value()) + " of a job with " +
                    std::to_string(site_.size) + " ranks");
}

void attached_extension::control(rank_id target, std::span<const std::byte> bytes) {
  check_target(target);
  if (bytes.size() > control_bytes_max) {
    throw usage_error("a control message of " + std::to_string(bytes.size()) + " bytes, where at most " +
                      std::to_string(control_bytes_max) + " fit: send a command");
  }
  if (peers_) peers_->send_control(target, bytes);  // else its destructor calls, when no window is kept any more
}

bool attached_extension::datagram(rank_id target, std::span<const std::byte> bytes) {
  check_target(target);
  if (bytes.size() > datagram_bytes_max()) {
    throw usage_error("a datagram of " + std::to_string(bytes.size()) + " bytes, where at most " +
                      std::to_string(datagram_bytes_max()) + " fit: send it in parts");
  }
  return peers_ && peers_->send_datagram(target, bytes);
}

void attached_extension::take_control(rank_id source, std::span<const std::byte> bytes) {
  if (ended()) return site_.link.send_handled(source, number_, 1, 0);
  const bool well = run("on_control", [&](extension& code) {
    peers_->expect(source);  // here, where a heap that has no room for it ends the module
    code.on_control(*this, source, bytes);
  });
  if (!well) return site_.link.send_handled(source, number_, 1, 0);
  peers_->note_control(source);
}

void attached_extension::take_datagram(rank_id source, datagram_way way, std::span<const std::byte> bytes) {
  const bool counted = way == datagram_way::message;
  const bool well = !ended() && run("on_datagram", [&](extension& code) {
    if (counted) peers_->expect(source);
    code.on_datagram(*this, source, bytes);
  });
  if (!counted) return;
  if (!well) return site_.link.send_handled(source, number_, 0, 1);
  peers_->note_datagram(source);
}

void attached_extension::take_handled(rank_id source, std::uint32_t controls, std::uint32_t datagrams) {
  if (!ended()) peers_->take_handled(source, controls, datagrams);
}

/// Coarse timers are due at whole milliseconds, so that many come at one pass of the poll loop.
std::uint64_t attached_extension::set_timer(std::chrono::nanoseconds delay, bool fine) {
  if (!timers_) return ++last_;  // in deactivate, when no timer will come any more
  auto due = site_.time.now() + std::clamp(delay, std::chrono::nanoseconds::zero(),
                                           std::chrono::nanoseconds(std::chrono::hours(24 * 365)));
  if (!fine) due = (due + coarse_step - std::chrono::nanoseconds(1)) / coarse_step * coarse_step;
  const std::uint64_t number = ++last_;
  const auto position = timers_->try_emplace(number, *this, number).first;
  try {
    site_.timers.set(position->second, due);
  } catch (...) {
    timers_->erase(position);
    throw;
  }
  return number;
}

void attached_extension::cancel(std::uint64_t timer) noexcept {
  if (!timers_) return;
  const auto position = timers_->find(timer);
  if (position == timers_->end()) return;
  site_.timers.remove(position->second);
  timers_->erase(position);
}

void attached_extension::module_timer::fire_one(timer& due, thread_context&) {
  const auto& self = static_cast<module_timer&>(due);
  self.extension.fire(self.number);
}

void attached_extension::fire(std::uint64_t number) {
  timers_->erase(number);
  run("on_timer", [&](extension& code) { code.on_timer(*this, number); });
}

}  // namespace nacre
