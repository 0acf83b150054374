// SPDX-License-Identifier: Apache-2.0
// Datagrams of a module: eight leave, a control message asks for more, and each that comes is looked at.
#include "extensions/courier.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace nacre::tests {
namespace {

constexpr std::uint32_t datagrams = 1600, at_a_time = 8;
constexpr std::chrono::milliseconds late_ones{20};

using counts = std::array<std::uint64_t, 3>;  // sent, came, wrong

std::byte byte_of(std::uint32_t number, std::size_t place) { return static_cast<std::byte>(number * 13 + place * 5); }

class courier final : public extension {
 public:
  enum command : std::uint32_t { send_all = 1, tell = 2 };

  void on_command(extension_host& host, rank_id, std::uint32_t number, std::span<const std::byte>) override {
    if (number == tell) return host.reply(std::as_bytes(std::span(counts_)));
    deferred_ = host.defer();
    send_too_long_a_one(host);
    send_some(host);
  }
  /// A question of the rank before, which has sent some; or an answer of the next one.
  void on_control(extension_host& host, rank_id source, std::span<const std::byte> bytes) override {
    if (!bytes.empty()) return host.control(source, {});
    if (next_ < datagrams) return send_some(host);
    host.set_timer(late_ones);
  }
  void on_timer(extension_host& host, std::uint64_t) override { host.reply(deferred_, {}); }
  void on_datagram(extension_host& host, rank_id source, std::span<const std::byte> bytes) override {
    std::uint32_t number = datagrams;
    if (bytes.size() >= sizeof number) std::memcpy(&number, bytes.data(), sizeof number);
    const bool known = number < datagrams && (source.value() + 1) % host.size() == host.rank().value();
    bool right = known && !came_[number] && bytes.size() == length_of(host, number);
    for (std::size_t index = sizeof number; right && index < bytes.size(); ++index)
      right = bytes[index] == byte_of(number, index);
    if (known) came_[number] = true;
    ++counts_[right ? 1 : 2];
  }

 private:
  static std::size_t length_of(const extension_host& host, std::uint32_t number) {
    if (number % 200 == 0) return host.datagram_bytes_max();
    return sizeof number + number * 31 % std::min<std::size_t>(host.datagram_bytes_max(), 1000);
  }
  void send_some(extension_host& host) {
    const rank_id next((host.rank().value() + 1) % host.size());
    for (std::uint32_t i = 0; i < at_a_time; ++i, ++next_) {
      content_.resize(length_of(host, next_));
      for (std::size_t index = sizeof next_; index < content_.size(); ++index) content_[index] = byte_of(next_, index);
      std::memcpy(content_.data(), &next_, sizeof next_);
      counts_[0] += host.datagram(next, content_) ? 1 : 0;
    }
    const std::byte question{1};
    host.control(next, std::span(&question, 1));
  }
  void send_too_long_a_one(extension_host& host) {
    content_.resize(host.datagram_bytes_max() + 1);
    try {
      static_cast<void>(host.datagram(host.rank(), content_));
      ++counts_[2];
    } catch (const usage_error&) {
      return;
    }
  }

  std::uint64_t deferred_ = 0;
  std::uint32_t next_ = 0;
  std::vector<bool> came_ = std::vector<bool>(datagrams);
  std::vector<std::byte> content_;
  counts counts_{};
};

}  // namespace

void register_courier() {
  register_extension("courier", [](const config&) { return std::make_unique<courier>(); });
}

void send_datagrams(runtime& rt) {
  const extension_ref extension_ref = rt.extension("courier");
  extension_ref.command(rt.rank(), courier::send_all).get();
  rt.barrier();
  counts own_counts{};
  const auto told = extension_ref.command(rt.rank(), courier::tell).get();
  std::memcpy(own_counts.data(), told.data(), sizeof own_counts);
  counts all{};
  for (std::size_t i = 0; i < own_counts.size(); ++i) all[i] = rt.all_reduce(own_counts[i], std::plus<>{});
  if (rt.rank().value() != 0) return;
  std::printf("sent %llu came %llu wrong %llu\n", static_cast<unsigned long long>(all[0]),
              static_cast<unsigned long long>(all[1]), static_cast<unsigned long long>(all[2]));
}

}  // namespace nacre::tests
