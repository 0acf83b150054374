// SPDX-License-Identifier: Apache-2.0
// The phases of a program: their names, and their times on each thread context of a rank.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nacre/phase.hpp>

#include "base/thread_counter.hpp"
#include "trace/recorder.hpp"
#include "trace/summary.hpp"

namespace nacre::trace {

inline constexpr std::size_t phases_max = 256;           // of a rank, the last one for all further names
inline constexpr std::size_t phase_name_bytes_max = 64;  // what is longer is cut

/// The names of a rank's phases, each with a number from 1. Any thread.
class phase_names {
 public:
  /// Tells the names to a trace: `file` is null if there is none.
  phase_names(file_writer* file, std::uint32_t rank) : file_(file), rank_(rank) {}

  struct numbered {
    std::string_view name;  ///< lives as long as this object
    std::uint32_t number;
  };
  /// The number of a name, and the name itself, or "(other phases)" if there are too many.
  [[nodiscard]] numbered find(std::string_view name);

 private:
  file_writer* file_;
  std::uint32_t rank_;
  std::mutex mutex_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
};

/// The counts of one name on one thread context. The thread writes; others read the counters.
struct phase_entry {
  std::string name;
  std::uint32_t number = 0;
  std::uint32_t open = 0;   ///< own thread: phases of this name that run
  thread_counter count;     ///< phases that have begun
  thread_counter own_time;  ///< ticks without inner phases and waits
  thread_counter whole;     ///< ticks with inner phases, without waits
  thread_counter elapsed;   ///< ticks from begin to end; phases inside one of their own name do not count
  std::unique_ptr<phase_entry> next{};
};

/// The phases that run on one thread context, innermost first. At each moment the innermost one accrues time. A
/// coroutine that waits takes its phases along, and brings them to the thread context on which it goes on.
///
/// Invariant: `runs` of a phase says whether it is in this list; entry->open is the number of such phases in the list.
class phase_stack {
 public:
  /// Records events into `events`; null: no trace. `source` and `subject`: the clock.
  phase_stack(phase_names& names, recorder* events, instant_source source, const void* subject)
      : names_(names), events_(events), source_(source), subject_(subject) {}
  phase_stack(const phase_stack&) = delete;
  phase_stack& operator=(const phase_stack&) = delete;
  ~phase_stack();

  // Own thread.
  void begin(detail::open_phase& opened, const void* owner, std::string_view name);
  /// Ends a phase. One that is not the innermost ends, too; those inside it go on. One that waits is only dropped.
  void end(detail::open_phase& ended);
  /// Takes the innermost phases of an owner out of the list, all phases if `owner` is null. Returns the innermost.
  [[nodiscard]] detail::open_phase* suspend(const void* owner);
  /// Puts such phases, here or elsewhere taken out, into the list.
  void resume(detail::open_phase* innermost);

  /// Calls visit(const phase_entry&) for each name. Any thread.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& first : buckets_) {
      // acquire: pairs with the release in `add`
      for (const phase_entry* each = first.load(std::memory_order_acquire); each != nullptr; each = each->next.get())
        visit(*each);
    }
  }

 private:
  using bucket = std::atomic<phase_entry*>;

  [[nodiscard]] std::uint64_t now() const { return source_(subject_); }
  [[nodiscard]] phase_entry& entry_of(std::string_view name);
  phase_entry& add(bucket& place, phase_names::numbered numbered);
  void accrue(std::uint64_t instant);
  void leave(detail::open_phase& left, std::uint64_t instant);
  void enter(detail::open_phase& entered, event_kind kind, std::uint64_t instant);
  void record(event_kind kind, std::uint32_t number);

  phase_names& names_;
  recorder* events_;
  instant_source source_;
  const void* subject_;
  detail::open_phase* innermost_ = nullptr;
  std::uint64_t accrued_ = 0;  // tick up to which the innermost has its time
  std::array<bucket, 16> buckets_{};
};

/// The phases of one rank.
class rank_phases {
 public:
  rank_phases(file_writer* file, std::uint32_t rank, instant_source source, const void* subject)
      : names_(file, rank), rank_(rank), source_(source), subject_(subject) {}

  /// Adds the next thread context. The stack lives as long as this object.
  [[nodiscard]] phase_stack& add_thread(recorder* events) {
    return *stacks_.emplace_back(std::make_unique<phase_stack>(names_, events, source_, subject_));
  }
  /// The sums over the thread contexts, by name. Any thread; exact while nothing runs.
  [[nodiscard]] std::vector<phase_row> rows(double seconds_a_tick) const;

 private:
  phase_names names_;
  std::uint32_t rank_;
  instant_source source_;
  const void* subject_;
  std::vector<std::unique_ptr<phase_stack>> stacks_;
};

}  // namespace nacre::trace
