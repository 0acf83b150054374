// SPDX-License-Identifier: Apache-2.0
// The extension modules of a rank: attached and detached at any time, and found for each message.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backplane/extension/attached_extension.hpp"
#include "backplane/extension/extension_keys.hpp"
#include "base/report_lines.hpp"

namespace nacre {

/// The dispatch table of extension modules, beside the handler table, which is fixed at the start. Inside the poll loop
/// only, except for `add`, `end_all` and keys().
///
/// | a module's name | command | control message, datagram |
/// |---|---|---|
/// | was never attached | fails at its caller | kept for it and not acknowledged; a datagram is dropped |
/// | attached | checked, run | run |
/// | ended, or detached | fails at its caller, with the reason | dropped, and acknowledged |
class extension_space {
 public:
  /// Early control messages of one rank for one module; more end the job. A module there has one window of them under
  /// way, and has to be loaded anew for another one.
  static constexpr std::uint32_t early_max = 16 * peer_windows::controls_max;

  struct settings {
    rank_id rank;
    std::uint32_t size = 1;
    extension_limits limits{};
    std::function<extension_key()> make_key;
  };
  extension_space(extension_link& link, clock& time, const settings& settings);
  ~extension_space();

  [[nodiscard]] extension_keys& keys() noexcept { return keys_; }
  /// Whether a module has ever been attached here.
  [[nodiscard]] bool used() const noexcept { return !all_.empty(); }
  /// Whether timers are set.
  [[nodiscard]] bool has_timers() const noexcept { return !timers_.empty(); }

  /// Before the first poll: attaches a module, which starts with the first of the functions below. Throws setup_error
  /// when another module has its name.
  void add(attached_extension::parts parts, extension_access access);
  /// Empty, or why the module cannot be attached.
  [[nodiscard]] std::string attach(attached_extension::parts parts, extension_access access);
  /// Calls `done` once no command is deferred there and the module is gone. False when there is no such module.
  bool detach(std::string_view name, std::function<void()> done);
  /// Adds a line for each deferred command.
  void name_deferred(report_lines& report) const;
  /// Ends all modules, when the job ends.
  void end_all();

  void on_command(rank_id source, const extension_command& command, std::span<const std::byte> bytes);
  void on_control(rank_id source, std::uint64_t module, std::span<const std::byte> bytes);
  void on_datagram(rank_id source, std::uint64_t module, datagram_way way, std::span<const std::byte> bytes);
  void on_answer(std::uint64_t asker, std::uint64_t request, bool failed, std::span<const std::byte> bytes);
  void on_handled(rank_id source, std::uint64_t module, std::uint32_t controls, std::uint32_t datagrams);
  /// Fires timers that are due. Returns when the next one is; nanoseconds::max() when there is none.
  std::chrono::nanoseconds poll(thread_context& thread);

 private:
  struct early_message {
    rank_id source;
    std::vector<std::byte> bytes;
  };
  /// For a module that is not attached yet.
  struct early_messages {
    std::deque<early_message> all;                            // in order
    std::unordered_map<std::uint32_t, std::uint32_t> counts;  // by their source
  };
  [[nodiscard]] attached_extension* find(std::uint64_t module) {
    return last_found_ != nullptr && module == last_number_ ? last_found_ : look_up(module);
  }
  [[nodiscard]] attached_extension* look_up(std::uint64_t module);
  void start_all() {
    if (!new_.empty()) start_new();
  }
  void start_new();
  void insert(attached_extension::parts parts, extension_access access);
  [[nodiscard]] std::string problem_with(std::string_view name);
  void finish_detached(const attached_extension& extension);
  void keep_early(rank_id source, std::uint64_t module, std::span<const std::byte> bytes);

  extension_link& link_;
  clock& time_;
  const settings settings_;
  const extension_site site_;
  timer_heap timers_;
  extension_keys keys_;
  std::unordered_map<std::uint64_t, std::unique_ptr<attached_extension>> all_;  // also those that have ended
  std::uint64_t last_number_ = 0;                                               // of the module that was found last
  attached_extension* last_found_ = nullptr;                                    // null: none
  std::vector<attached_extension*> new_;                                        // not started yet, in order
  std::unordered_map<std::uint64_t, early_messages> early_;                     // by the module
  std::unordered_map<const attached_extension*, std::vector<std::function<void()>>> detaching_;
};

}  // namespace nacre
