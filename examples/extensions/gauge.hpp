// SPDX-License-Identifier: Apache-2.0
// The module of docs/extensions.md: each rank keeps a value, and any rank can ask for the largest of all.
#pragma once

#include <nacre/extension.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

class gauge final : public nacre::extension {
 public:
  enum command : std::uint32_t { set, largest };

  void on_command(nacre::extension_host& host, nacre::rank_id, std::uint32_t number,
                  std::span<const std::byte> bytes) override {
    if (number == set && bytes.size() == sizeof value_) {
      std::memcpy(&value_, bytes.data(), sizeof value_);
      return;  // the answer is empty
    }
    if (number != largest || caller_) return host.fail("no such command, or one question too many");
    caller_ = host.defer();  // answered in on_control
    missing_ = host.size();
    most_ = value_;
    for (std::uint32_t rank = 0; rank < host.size(); ++rank) send(host, nacre::rank_id(rank), {.asks = true});
  }

  void on_control(nacre::extension_host& host, nacre::rank_id source, std::span<const std::byte> bytes) override {
    packet got;
    if (bytes.size() != sizeof got) return;  // bytes of a peer are input
    std::memcpy(&got, bytes.data(), sizeof got);
    if (got.asks) return send(host, source, {.asks = false, .value = value_});
    if (!caller_) return;
    most_ = std::max(most_, got.value);
    if (--missing_ != 0) return;
    host.reply(*caller_, std::as_bytes(std::span(&most_, 1)));
    caller_.reset();
  }

 private:
  struct packet {
    std::int64_t asks = 0;
    std::int64_t value = 0;
  };
  static void send(nacre::extension_host& host, nacre::rank_id target, const packet& packet) {
    host.control(target, std::as_bytes(std::span(&packet, 1)));
  }

  std::int64_t value_ = 0, most_ = 0;
  std::uint32_t missing_ = 0;
  std::optional<std::uint64_t> caller_;
};
