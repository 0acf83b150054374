// SPDX-License-Identifier: Apache-2.0
// The nodes of one block: their queue, their threads, and the loop that runs their handlers window by window.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nacre/emulator.hpp>
#include "emulator/event.hpp"
#include "emulator/event_lengths.hpp"
#include "emulator/event_list.hpp"
#include "emulator/handler_records.hpp"
#include "emulator/link_clocks.hpp"
#include "emulator/node_order.hpp"
#include "emulator/node_states.hpp"
#include "emulator/node_table.hpp"
#include "emulator/partition.hpp"
#include "emulator/timing_wheel.hpp"
#include "machine/travel_times.hpp"

namespace nacre::detail {

/// The first thing that went wrong in a block.
struct emulation_failure {
  bool failed = false;
  emulator::virtual_time time = 0;
  std::uint32_t node = 0;  ///< its number in the whole grid
  std::string text;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(failed, time, node, text);
  }
};
/// A handler has thrown; the block's events are no longer of use.
struct emulation_stopped {};

/// Virtual time is divided into windows as wide as the machine's lookahead: the time of the shortest handler (or of the
/// injection of a packet) and of the shortest flight; with contention, of one hop. An event of a window causes events
/// at other nodes only in later windows. So a block whose events of a window have all arrived runs them, node after
/// node, without hearing from others; at one node they run in the order (time, source, number). One thread at a time.
class node_loop {
 public:
  using virtual_time = emulator::virtual_time;
  using event = emulator::event;

  /// Of the end of a handler, and of a delay: some 73 years. A sum of both, and of flights, is a time yet.
  static constexpr virtual_time time_max = virtual_time{1} << 61;

  /// With emulated_order::arrival, the loop also takes events of windows that it has run, and runs them next.
  node_loop(const emulated_machine& machine, std::uint32_t blocks, std::uint32_t block,
            const emulator::handler_records& records, emulated_order order);
  ~node_loop();
  node_loop(const node_loop&) = delete;
  node_loop& operator=(const node_loop&) = delete;

  /// The width of a window on this machine, at least 1 ns. Throws setup_error when the machine has no lookahead.
  [[nodiscard]] static virtual_time window_width(const emulated_machine& machine);

  /// Runs the start function on all nodes, before the first window.
  void start(const std::function<void(emulated_node&)>& program);
  /// Runs the finish function on all nodes, after the last window; `end` is its time. When it has thrown, failure() is
  /// set and the rest of the nodes are left out.
  void finish(const std::function<void(emulated_node&)>& program, virtual_time end);
  /// The first window with events, or timing_wheel::no_window.
  [[nodiscard]] std::uint64_t first_window() const noexcept;
  /// Runs all events of a window. The block has no events of earlier windows.
  void run_window(std::uint64_t window);

  /// The events for another block that start and run_window have made, as bytes for its `accept`.
  [[nodiscard]] std::vector<std::byte>& bundle(std::uint32_t block) noexcept { return bundles_[block]; }
  /// The blocks that have a bundle; the caller clears the list when it has sent the bundles.
  [[nodiscard]] std::vector<std::uint32_t>& bundled() noexcept { return bundled_; }
  /// The first window of the events in the bundles.
  [[nodiscard]] std::uint64_t first_bundled_window() const noexcept { return first_bundled_window_; }
  void clear_bundles() noexcept;
  /// Takes the events of a bundle. Returns false when the bytes are no such events.
  [[nodiscard]] bool accept(std::span<const std::byte> bundle);

  /// The counts so far; the sum of hops is left to by_hops.
  [[nodiscard]] const emulation_counts& counts() const noexcept { return counts_; }
  /// Why a handler ended the emulation; start and run_window have thrown emulation_stopped then.
  [[nodiscard]] const emulation_failure& failure() const noexcept { return failure_; }
  /// About how many bytes `pack` would return.
  [[nodiscard]] std::uint64_t packed_bytes() const noexcept { return pool_.bytes() + nodes_.packed_bytes(); }
  /// Whether all that the nodes keep can be packed: no coroutine waits, no state has an address that would change.
  [[nodiscard]] bool movable() const noexcept;
  /// All of the block as bytes, for `unpack` of a new loop of the same machine and block. Only between windows.
  [[nodiscard]] std::vector<std::byte> pack();
  /// Returns false when the bytes are no block of this kind.
  [[nodiscard]] bool unpack(std::span<const std::byte> bytes);

  // For the running handler: see include/nacre/emulator/node.hpp.
  [[nodiscard]] const emulated_machine& machine() const noexcept { return machine_; }
  friend bool node_exists(const node_loop& loop, const coordinates& place) noexcept;
  [[nodiscard]] virtual_time now() const noexcept { return start_ + charged_; }
  [[nodiscard]] std::uint32_t thread() const noexcept { return thread_; }
  void charge(virtual_time cost);
  void post_packet(const emulated_handler& row, const packet_target& target, const std::uint64_t* payload);
  void post_local(std::uint16_t handler, std::uint16_t thread, virtual_time delay, const std::uint64_t* payload,
                  std::size_t words);
  [[nodiscard]] void* state(std::uint32_t node, const emulated_state& row);
  [[nodiscard]] std::uint32_t suspend() const;
  void resume_coroutine(std::uint32_t number, virtual_time delay);

 private:
  struct stretch;

  // node_loop.cpp: the order of events
  struct grouped_window {
    std::vector<emulator::event_list> groups;  ///< the events of so many neighbouring nodes each
    std::uint64_t events = 0;
  };
  struct node_run {
    std::uint32_t node, end;  ///< the end of its events in order_; they begin at the end of the run before
  };
  void distribute(emulator::event_list& events, grouped_window& window);
  void run_groups(grouped_window& window);
  void run_group(emulator::event_list& events, std::uint32_t first, std::uint32_t nodes);
  void run_in_order();
  void run_node(std::uint32_t node, std::span<const event*> events);
  void run_local_before(const event* next);
  void enter(std::uint32_t node) noexcept;

  // node_loop_threads.cpp: which thread runs an event
  void execute(const event& e);
  void execute_waiting(const event& wake);
  void arrive(const event& e);
  [[nodiscard]] bool hold_back(const event& e);
  void admit();
  [[nodiscard]] bool is_packet(const event& e) const noexcept { return e.source != source_; }
  void wait(const event& e);
  [[nodiscard]] std::uint32_t idle_thread(std::uint16_t wanted) const noexcept;
  [[nodiscard]] virtual_time& clock_of(std::uint32_t thread) const noexcept { return nodes_.clock_of(*slot_, thread); }
  /// The thread that is free first, of equal ones that with the least number.
  [[nodiscard]] std::uint32_t first_free(std::uint16_t wanted) const noexcept;
  void run_on(std::uint32_t thread, const event& e);
  void run_start(const std::function<void(emulated_node&)>& program);
  void call(const event& e);
  void run_stretch(std::uint32_t number);
  void schedule_wake(emulator::waiting_queue& queue);
  [[noreturn]] void fail(std::string_view handler);

  // node_loop_send.cpp: what a handler has sent
  [[nodiscard]] event& stage(const emulator::packet_way& way, virtual_time delay, std::size_t bytes);
  void dispatch(virtual_time end);
  [[nodiscard]] std::byte* room_for(const event& e, std::size_t bytes);
  void deliver(const event& e, std::size_t bytes);
  void depart(const event& e);
  void queue_departure(const emulator::packet_way& way, const event& packet, std::size_t bytes, virtual_time end,
                       virtual_time delay);
  void forward(std::uint32_t block, const event& e, std::size_t bytes);
  [[nodiscard]] std::uint64_t window_of(virtual_time time) const noexcept {
    const auto ahead = static_cast<std::uint64_t>(time - window_begin_);
    const auto width = static_cast<std::uint64_t>(width_);
    if (ahead < width) return window_;
    if (ahead < 2 * width) return window_ + 1;
    if (time < window_begin_) return window_;  // late, in the order of arrival
    return window_ + ahead / width;
  }
  // node_loop_links.cpp: packets from router to router
  void carry(const event& head, const emulator::packet_way& way, const event& packet, std::size_t bytes,
             std::uint32_t block);
  void enter_network(const emulator::packet_way& way, const event& packet, std::size_t bytes, virtual_time time);
  void pass_router(const event& e);
  // node_loop_state.cpp
  [[nodiscard]] bool unpack_extras(reader& in);
  [[nodiscard]] bool unpack_states(reader& in);

  const emulated_machine machine_;
  const emulator::partition partition_;
  const std::uint32_t block_;
  const emulator::brick brick_;
  const machine::travel_times times_;
  const std::span<const emulated_handler* const> handlers_;
  const emulator::event_lengths lengths_;
  const virtual_time width_;
  const virtual_time handler_cost_;
  const std::chrono::nanoseconds clock_cost_;  ///< of looking at the processor's time; 0 where nothing is measured
  const std::uint32_t threads_;
  const std::uint32_t workers_from_;
  const std::uint32_t group_shift_;  ///< a group has 1 << group_shift_ nodes

  emulator::chunk_pool pool_;
  emulator::timing_wheel wheel_;
  std::array<grouped_window, 4> grouped_;  ///< by the number of the window
  emulator::node_table nodes_;
  emulator::node_states states_;
  std::unique_ptr<emulator::link_clocks> links_;  ///< null where links have no contention
  const bool through_network_;  ///< packets to other nodes do not simply arrive: there are ports, or links
  std::vector<std::unique_ptr<stretch>> stretches_;
  std::vector<std::uint32_t> free_stretches_;
  std::vector<std::vector<std::byte>> bundles_;
  std::vector<std::uint32_t> bundled_;
  std::uint64_t first_bundled_window_ = emulator::timing_wheel::no_window;
  emulation_counts counts_;
  emulation_failure failure_;
  const emulator::handler_records records_;
  const bool recording_;
  const emulated_order block_order_;

  // The window that runs.
  std::uint64_t window_ = 0;
  virtual_time window_begin_ = 0;
  std::vector<const event*> order_;
  emulator::node_order node_order_;  ///< of the nodes of a group
  std::vector<node_run> runs_;
  bool dense_ = false;  ///< the last window had many events: those of the next two are kept by groups at once
  // The node that runs.
  emulated_node current_node_;
  std::uint32_t node_ = 0;
  std::uint32_t source_ = 0;
  emulator::node_slot* slot_ = nullptr;
  emulator::event_list local_events_;
  std::vector<const event*> local_;  ///< a heap: events of this node that this window still has to run
  bool running_ = false;             ///< a window runs, so events of this node may go to local_
  // The handler that runs.
  virtual_time start_ = 0;
  virtual_time charged_ = 0;
  std::uint32_t thread_ = 0;
  std::uint32_t current_stretch_ = 0;
  bool in_stretch_ = false;
  std::unique_ptr<std::uint64_t[]> staged_;  ///< for each message that leaves when the handler ends: way, delay, event
  std::size_t staged_words_ = 0;
  std::size_t staged_room_ = 0;
};

}  // namespace nacre::detail
