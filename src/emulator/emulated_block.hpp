// SPDX-License-Identifier: Apache-2.0
// A block of nodes as a mobile object, and the object that coordinates all blocks of an emulation.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#include <nacre/emulator.hpp>
#include "emulator/move_credit.hpp"
#include "emulator/node_loop.hpp"
#include "emulator/window_protocol.hpp"

namespace nacre::detail {

class emulation_coordinator;

/// The report of a block after a round.
struct window_report {
  std::uint64_t first_window = 0;
  std::uint64_t events = 0;   ///< handlers that the block has run since its last report
  std::uint64_t windows = 0;  ///< that it has run since then
  std::vector<std::uint32_t> bundled_to;
  emulation_failure failure;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(first_window, events, windows, bundled_to, failure);
  }
};

/// A block of nodes. All its work happens in exclusive handlers; one window is one handler.
class emulated_block {
 public:
  emulated_block() = default;
  emulated_block(const emulated_machine& machine, std::uint32_t blocks, std::uint32_t block,
                 const emulation_options& options)
      : order_(options.order), moves_(options.moves), block_count_(blocks), block_(block) {
    make_loop(machine, options.critical_path, !options.profile.empty());
  }
  emulated_block(emulated_block&&) = default;
  emulated_block& operator=(emulated_block&&) = default;

  /// Runs the start function, which lives at this address of this process, and reports.
  void begin(context& ctx, mobile_ptr<emulation_coordinator> coordinator,
             const std::vector<mobile_ptr<emulated_block>>& blocks, std::uintptr_t program);
  void grant(context& ctx, std::uint64_t window, std::uint32_t bundles);
  /// In the order of arrival: runs the first window, and goes on by a message to itself while there is one.
  void go_on(context& ctx);
  /// In the order of arrival: another block has failed.
  void stop() { stopped_ = true; }
  void take(context& ctx, std::uint64_t round, std::vector<std::byte> bundle);
  [[nodiscard]] emulation_counts counts() const;
  /// For a block that keeps a profile; see block_profile.
  [[nodiscard]] std::vector<std::byte> profile(context&, std::uint32_t shift) { return profile_->encode(shift); }
  // For a block that records its handlers; see block_path.
  [[nodiscard]] emulator::path_end end_of_path(context&) { return path_->end(); }
  [[nodiscard]] emulator::path_piece walk_path(context&, const emulator::path_cursor& path_cursor) {
    return path_->walk(path_cursor);
  }
  /// Runs the finish function, which lives at one of these addresses, one for each rank. Returns how it failed.
  [[nodiscard]] emulation_failure finish(context& ctx, const std::vector<std::uintptr_t>& programs, std::int64_t end);

  /// A block stays until its nodes have started, while a coroutine waits on it, and while a move costs too much.
  [[nodiscard]] bool may_migrate() const {
    if (!begun_ || !loop_->movable()) return false;
    return moves_ == emulated_moves::always || credit_.covers(loop_->packed_bytes());
  }
  template <class Archive>
  void save(Archive& ar) const {
    // Called to count the bytes and, if the block then moves, to write them: packed once for both.
    if (packed_.empty()) packed_ = loop_->pack();
    ar(loop_->machine(), block_count_, block_, begun_, events_reported_, coordinator_, blocks_, gate_, packed_, order_,
       moves_, going_on_, stopped_, windows_, path_ != nullptr, profile_ != nullptr);
    if (path_) ar(*path_);
    if (profile_) ar(*profile_);
    if constexpr (std::is_same_v<Archive, writer>) packed_ = {};
  }
  template <class Archive>
  void load(Archive& ar) {
    emulated_machine machine;
    ar(machine, block_count_, block_, begun_, events_reported_, coordinator_, blocks_, gate_, packed_, order_, moves_,
       going_on_, stopped_, windows_);
    bool has_path = false, has_profile = false;
    ar(has_path, has_profile);
    if (!ar.ok()) return;
    make_loop(machine, has_path, has_profile);
    if (path_) ar(*path_);
    if (profile_) ar(*profile_);
    if (!loop_->unpack(packed_)) ar.fail();
    packed_ = {};
  }

 private:
  void make_loop(const emulated_machine& machine, bool has_path, bool has_profile);
  /// The loop, which is about to change: its bytes, packed for a move that did not take place, are of no use any more.
  [[nodiscard]] node_loop& changing() noexcept {
    packed_ = {};
    return *loop_;
  }
  void run_if_ready(context& ctx);
  void report(context& ctx);
  void run_window(context& ctx, std::uint64_t window);
  void send_bundles(context& ctx);
  void go_on_later(context& ctx);

  emulated_order order_ = emulated_order::exact;
  emulated_moves moves_ = emulated_moves::worthwhile;
  emulator::move_credit credit_;
  bool going_on_ = false, stopped_ = false;
  std::uint64_t windows_ = 0;  ///< that have run since the last report
  std::unique_ptr<emulator::block_path> path_;
  std::unique_ptr<emulator::block_profile> profile_;
  std::unique_ptr<node_loop> loop_;
  mutable std::vector<std::byte> packed_;
  std::uint32_t block_count_ = 0;
  std::uint32_t block_ = 0;
  bool begun_ = false;
  std::uint64_t events_reported_ = 0;
  mobile_ptr<emulation_coordinator> coordinator_;
  std::vector<mobile_ptr<emulated_block>> blocks_;
  emulator::window_gate gate_;
};

/// Lives on rank 0 and does not move, because it holds the program's progress function.
class emulation_coordinator {
 public:
  emulation_coordinator() = default;
  emulation_coordinator(const emulated_machine& machine, const std::vector<mobile_ptr<emulated_block>>& blocks,
                        const emulation_options& options);

  void report(context& ctx, const window_report& one);
  /// Rounds of all blocks; in the order of arrival, windows of all blocks together. The start is one.
  [[nodiscard]] std::uint64_t rounds() const noexcept {
    return order_ == emulated_order::exact ? windows_.rounds() : 1 + windows_run_;
  }
  [[nodiscard]] emulation_failure failure() const { return failure_; }

  [[nodiscard]] bool may_migrate() const noexcept { return false; }
  template <class Archive>
  void serialize(Archive&) {}

 private:
  void note_arrivals(context& ctx, const window_report& one);
  void show_progress(double now, std::uint64_t window);

  emulator::window_coordinator windows_;
  emulation_failure failure_;
  std::vector<mobile_ptr<emulated_block>> blocks_;
  std::function<void(const emulation_progress&)> progress_;
  emulated_order order_ = emulated_order::exact;
  std::uint64_t windows_run_ = 0;
  std::chrono::nanoseconds width_{1};
  std::uint64_t events_ = 0;
  double began_ = -1;
  double shown_ = 0;
};

}  // namespace nacre::detail
