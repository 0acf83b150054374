// SPDX-License-Identifier: Apache-2.0
// One extension module at work on a rank: its host, its limits, and its end.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nacre/extension_module.hpp>

#include "backplane/extension/call_budget.hpp"
#include "backplane/extension/extension_link.hpp"
#include "backplane/extension/extension_watchdog.hpp"
#include "backplane/extension/module_memory.hpp"
#include "backplane/extension/peer_windows.hpp"
#include "backplane/timer_heap.hpp"
#include "base/clock.hpp"
#include "base/report_lines.hpp"

namespace nacre {

/// The limits of every module of a rank.
struct extension_limits {
  std::size_t memory_bytes = std::size_t{16} << 20;
  std::chrono::nanoseconds call{10'000'000};          ///< 0: none
  std::chrono::nanoseconds patience{10'000'000'000};  ///< of the watchdog; 0: none
  bool simulated = false;                             ///< calls are measured in virtual time
};

/// The rank of a module.
struct extension_site {
  extension_link& link;
  clock& time;
  std::chrono::nanoseconds started;
  rank_id rank;
  std::uint32_t size;
  timer_heap& timers;
};

class attached_extension;
/// Appends a line for each deferred command of a module until `report` has `most` lines.
void name_deferred(const attached_extension& extension, report_lines& report);

/// A module, and the host that it sees. Inside the poll loop only.
///
/// | state | init has run | a function fails | close | last deferred command answered |
/// |---|---|---|---|---|
/// | new | working | ended | ended | - |
/// | working | - | ended | closing, or ended if no command is deferred | - |
/// | closing | - | ended | - | ended |
/// | ended | - | - | - | - |
///
/// Invariants: a function of the module runs only while the module is new, working or closing, one at a time. When it
/// ends, its deferred commands fail, its timers go, its heap is empty, and reason() says why.
class attached_extension final : public extension_host {
 public:
  /// `keeps`: what must live as long as the module's code is needed.
  struct parts {
    std::string name;
    std::shared_ptr<void> keeps{};  // destroyed after code
    std::unique_ptr<extension> code;
  };
  attached_extension(const extension_site& site, const extension_limits& limits, parts parts);
  attached_extension(const attached_extension&) = delete;
  attached_extension& operator=(const attached_extension&) = delete;
  ~attached_extension();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] bool ended() const noexcept { return code_ == nullptr; }
  [[nodiscard]] bool closing() const noexcept { return closing_; }
  /// Why commands fail here, once the module has ended or is closing.
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

  void start();
  void command(const extension_request& request, std::uint32_t number, std::span<const std::byte> bytes);
  void take_control(rank_id source, std::span<const std::byte> bytes);
  void take_datagram(rank_id source, datagram_way way, std::span<const std::byte> bytes);
  void take_answer(std::uint64_t request, bool failed, std::span<const std::byte> bytes);
  /// A peer has handled so many messages of this module, or of one before it that had its name.
  void take_handled(rank_id source, std::uint32_t controls, std::uint32_t datagrams);
  /// Ends the module as soon as no command is deferred.
  void close(std::string reason);
  /// A module that is closing: ends it if no command is deferred any more.
  void close_if_answered() {
    if (!ended() && closing_ && deferred_->empty()) end(reason_);
  }
  friend void name_deferred(const attached_extension& extension, report_lines& report);
  /// Ends the module now.
  void end(std::string reason);

  // The host, as the module sees it.
  [[nodiscard]] rank_id rank() const noexcept override { return site_.rank; }
  [[nodiscard]] std::uint32_t size() const noexcept override { return site_.size; }
  [[nodiscard]] double now() const override;
  void control(rank_id target, std::span<const std::byte> bytes) override;
  bool datagram(rank_id target, std::span<const std::byte> bytes) override;
  [[nodiscard]] std::size_t datagram_bytes_max() const noexcept override { return site_.link.datagram_bytes_max(); }
  void reply(std::span<const std::byte> bytes) override;
  void fail(std::string_view reason) override;
  [[nodiscard]] std::uint64_t defer() override;
  void reply(std::uint64_t deferred, std::span<const std::byte> bytes) override;
  void fail(std::uint64_t deferred, std::string_view reason) override;
  std::uint64_t set_timer(std::chrono::nanoseconds delay, bool fine) override;
  void cancel(std::uint64_t timer) noexcept override;
  [[nodiscard]] std::pmr::memory_resource* memory() noexcept override { return &memory_; }
  void log(std::string_view text) override;
  std::uint64_t command(rank_id target, std::string_view name, const extension_key& key, std::uint32_t number,
                        std::span<const std::byte> bytes) override;
  void charge(double seconds) override { site_.link.charge(seconds); }

 private:
  struct module_timer final : timer {
    module_timer(attached_extension& owner, std::uint64_t id) : timer(&fire_one), extension(owner), number(id) {}
    static void fire_one(timer& due, thread_context& thread);
    attached_extension& extension;
    std::uint64_t number;
  };
  /// Runs a function of the module; false when the module has ended by it.
  template <class Body>
  bool run(const char* function, Body&& body) {
    const double charged = limits_.simulated ? site_.link.charged() : 0;
    watch_.begin(function);
    if (!limits_.simulated) budget_.begin();
    std::string fault;
    try {
      body(*code_);
    } catch (...) {
      fault = function + thrown_reason();
    }
    watch_.end();
    if (!fault.empty()) {  // behind the catch clause: the class of what was thrown may be in the module's file
      end_by_fault(fault);
      return false;
    }
    if (limits_.simulated ? site_.link.charged() - charged <= budget_.most_seconds() : !budget_.over()) return true;
    return end_by_overrun(function);
  }
  [[nodiscard]] std::string thrown_reason() const;
  bool end_by_overrun(const char* function);
  void end_by_fault(const std::string& fault);
  void answer(std::uint64_t deferred, bool failed, std::span<const std::byte> bytes);
  void fire(std::uint64_t number);
  void check_target(rank_id target) const;
  void check_current(const char* name) const;

  const extension_site site_;
  const extension_limits limits_;
  const std::string name_;
  const std::uint64_t number_;
  std::shared_ptr<void> keeps_;  // destroyed after code_
  std::string reason_;
  call_budget budget_;
  extension_watch watch_;
  module_memory memory_;
  std::unique_ptr<extension> code_;  // null: ended
  bool started_ = false;
  bool closing_ = false;
  std::uint64_t last_ = 0;                      // number given last, of timers, deferred commands and requests
  const extension_request* current_ = nullptr;  // the command that runs and is neither answered nor deferred
  std::chrono::nanoseconds log_since_{0};
  std::uint32_t log_lines_ = 0;  // since log_since_

  // In the module's heap; none once it has ended.
  std::optional<std::pmr::unordered_map<std::uint64_t, module_timer>> timers_;
  std::optional<std::pmr::unordered_map<std::uint64_t, extension_request>> deferred_;
  std::optional<std::pmr::unordered_map<std::uint64_t, bool>> asked_;
  std::optional<peer_windows> peers_;
};

}  // namespace nacre
