// SPDX-License-Identifier: Apache-2.0
// A counter on another rank, as an extension module that is loaded: fetch-and-add, bounded, with back-off.
#include <nacre/extension.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>

/// A rank commands its own module to add to the counter of an owner. Where the counter would leave its bounds, the
/// module tries again, after a time that doubles, until it fits: nobody waits but the caller's future.
class remote_counter final : public nacre::extension {
  enum command : std::uint32_t { add, add_here };
  struct order {
    std::uint32_t owner = 0;
    std::uint32_t unused = 0;
    std::int64_t delta = 0;
    std::int64_t least = 0, most = 0;  // the counter stays between these
  };
  struct attempt {
    std::uint64_t caller = 0;
    order command{};
    std::chrono::nanoseconds wait{first_wait};
  };
  static constexpr std::chrono::nanoseconds first_wait{20'000}, longest_wait{5'000'000};
  using table = std::pmr::map<std::uint64_t, attempt>;

  void init(nacre::extension_host& host) override {
    asked_ = std::make_unique<table>(host.memory());
    waiting_ = std::make_unique<table>(host.memory());
  }

  void on_command(nacre::extension_host& host, nacre::rank_id, std::uint32_t number,
                  std::span<const std::byte> bytes) override {
    order asked;
    if (bytes.size() != sizeof asked) return host.fail("an order has 32 bytes");
    std::memcpy(&asked, bytes.data(), sizeof asked);
    if (number == add) {
      if (asked.owner >= host.size()) return host.fail("there is no such rank");
      return ask(host, {.caller = host.defer(), .command = asked});
    }
    if (number != add_here) return host.fail("no such command");
    const std::int64_t previous = value_;
    std::int64_t next = 0;
    if (__builtin_add_overflow(previous, asked.delta, &next) || next < asked.least || next > asked.most)
      return host.reply({});  // not now
    value_ = next;
    host.reply(std::as_bytes(std::span(&previous, 1)));
  }

  void on_answer(nacre::extension_host& host, std::uint64_t request, const nacre::extension_answer& answer) override {
    const auto position = asked_->find(request);
    if (position == asked_->end()) return;
    attempt one = position->second;
    asked_->erase(position);
    if (answer.failed) return host.fail(one.caller, answer.reason());
    if (!answer.bytes.empty()) return host.reply(one.caller, answer.bytes);
    const std::uint64_t timer = host.set_timer(one.wait, true);
    one.wait = std::min(one.wait * 2, longest_wait);
    waiting_->emplace(timer, one);
  }

  void on_timer(nacre::extension_host& host, std::uint64_t timer) override {
    const auto position = waiting_->find(timer);
    if (position == waiting_->end()) return;
    const attempt one = position->second;
    waiting_->erase(position);
    ask(host, one);
  }

  void deactivate(nacre::extension_host& host) noexcept override {
    for (const auto& [timer, one] : *waiting_) host.cancel(timer);
    asked_.reset();
    waiting_.reset();
  }

  void ask(nacre::extension_host& host, const attempt& one) {
    const auto bytes = std::as_bytes(std::span(&one.command, 1));
    asked_->emplace(host.command(nacre::rank_id(one.command.owner), "remote_counter", {}, add_here, bytes), one);
  }

  std::int64_t value_ = 0;
  std::unique_ptr<table> asked_;    // by request
  std::unique_ptr<table> waiting_;  // by timer
};

NACRE_EXTENSION(remote_counter)
