// SPDX-License-Identifier: Apache-2.0
// Flow control of senders as a module of a running rank: its messages, and the messages of the program that wait.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <nacre/runtime.hpp>

#include "am/am_engine.hpp"
#include "backplane/flow/flow_control.hpp"

namespace nacre {

/// Keeps messages until the policy of their sender lets them leave, and carries the protocol's own messages.
///
/// A message that waits has been counted as created, so quiescence waits for it. Control messages are uncounted, on
/// channel::system. Behind the data of a token or a credit goes a word on the channel of the data, which tells the
/// receiver that they have come.
///
/// `post`, `waiting_bytes` by any thread; the rest, and the protocol, belong to the poll loop.
class flow_module final : private flow::flow_host {
 public:
  /// `alone`: no link lies between the ranks, so `automatic` means `none`.
  enum class surroundings : std::uint8_t { links, alone };
  flow_module(am_engine& messages, backplane& link, clock& time, const flow::link_settings& settings,
              surroundings surroundings);

  /// Sends a message to a rank as `policy` says. When it throws nothing has happened.
  void post(thread_context& thread, rank_id target, flow_policy policy, message_ptr m);
  /// The bytes that wait here. Any thread, as a hint.
  [[nodiscard]] std::uint64_t waiting_bytes() const noexcept {
    return waiting_bytes_.load(std::memory_order_relaxed);  // relaxed: a count that publishes nothing
  }
  /// At every pass of the poll loop. Returns the time, on the clock, by which it must be called again.
  std::chrono::nanoseconds poll(thread_context& thread) {
    return used_ ? tick(thread) : std::chrono::nanoseconds::max();
  }

  // For the modules of other ranks, inside the poll loop.
  void on_control(context& ctx, std::span<const std::byte> bytes);
  /// A message of so many bytes has left under the policy, with the token of that number.
  struct departure {
    std::uint32_t bytes = 0;
    std::uint8_t policy = 0, permit = 0;
    channel via{};
    std::uint8_t reserved = 0;
  };
  void on_arrived(context& ctx, departure left, std::uint32_t epoch, std::uint64_t pass, std::uint64_t used);
  /// Of this rank itself: messages have been posted.
  void on_posted(context& ctx);

 private:
  struct posted_message {
    rank_id target;
    flow_policy policy;
    message_ptr m;
  };

  void send(rank_id target, const flow::message& message) override;
  void transmit(rank_id target, flow_policy policy, const flow::token_stamp& stamp) override;
  [[nodiscard]] std::uint64_t held_bytes() const override;
  std::chrono::nanoseconds tick(thread_context& thread);
  void send_released();
  void send_word_behind(rank_id target, const departure& left, const flow::token_stamp& stamp);
  [[nodiscard]] flow_policy chosen(flow_policy asked) const noexcept;

  am_engine& messages_;
  backplane& link_;
  clock& time_;
  const surroundings surroundings_;
  flow::flow_control flow_;
  thread_context* thread_;
  bool used_ = false;
  std::map<std::pair<rank_id, flow_policy>, std::deque<message_ptr>> waiting_;
  struct released_message {
    rank_id target;
    flow_policy policy;
    flow::token_stamp stamp;
    message_ptr m;
  };
  std::map<std::pair<rank_id, channel>, std::uint32_t> sources_;  // of messages with a token: bytes of the last one
  std::vector<released_message> released_;  // by the protocol, and sent when its present step is over
  std::atomic<std::uint64_t> waiting_bytes_{0};
  std::mutex mutex_;
  std::vector<posted_message> posted_;  // under mutex_
};

}  // namespace nacre
