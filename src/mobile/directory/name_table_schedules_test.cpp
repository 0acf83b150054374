// SPDX-License-Identifier: Apache-2.0
// The promises of name_table under every schedule of a few threads with few switches between them.
#include "mobile/directory/name_table.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/sanitized.hpp"
#include "exec/fiber.hpp"

namespace nacre {
namespace {

struct alignas(8) item {
  explicit item(std::uint64_t index) : id(rank_id(0), index) {}
  object_id id;
};

/// The fiber that runs, if any: it stops before each access to shared memory.
fiber* running = nullptr;

template <class T>
class stepped_ref {
 public:
  explicit stepped_ref(T& shared) noexcept : shared_(shared) {}
  T load(std::memory_order order) const noexcept {
    step();
    return shared_.load(order);
  }
  T fetch_add(T more, std::memory_order order) const noexcept {
    step();
    return shared_.fetch_add(more, order);
  }
  T fetch_sub(T less, std::memory_order order) const noexcept {
    step();
    return shared_.fetch_sub(less, order);
  }
  bool compare_exchange_strong(T& known, T wanted, std::memory_order yes, std::memory_order no) const noexcept {
    step();
    return shared_.compare_exchange_strong(known, wanted, yes, no);
  }

 private:
  static void step() noexcept {
    if (running != nullptr) running->suspend();
  }
  std::atomic_ref<T> shared_;
};

using stepped_table = name_table<item, stepped_ref>;

/// A few threads on a small table, and the conditions that must hold when they have ended.
struct scene {
  epoch_domain readers;  // no thread joins it, so nothing is freed before its end
  stepped_table table{readers, 8};
  std::deque<item> items;
  std::vector<std::function<void()>> threads;
  std::function<void()> judge;
  std::string wrong;

  item& make(std::uint64_t index) { return items.emplace_back(index); }
  void expect(bool holds, const std::string& name) {
    if (!holds) wrong = name;
  }
  [[nodiscard]] std::multiset<std::uint64_t> names() const {
    std::multiset<std::uint64_t> values;
    table.for_each([&](const item& each) { values.insert(each.id.index()); });
    return values;
  }
};

constexpr int switches_max = tests::thread_sanitized ? 0 : tests::sanitized ? 1 : 2;  // tsan copes badly with fibers

/// Runs a scene with every schedule that leaves a thread that could go on at most `switches_max` times. Returns the
/// number of schedules. Depth first: a run follows the choices of the run before up to the last that had an
/// alternative.
int explore(const std::function<void(scene&)>& build) {
  struct choice {
    std::size_t taken;
    std::vector<std::size_t> others;
  };
  std::vector<choice> path;
  int runs = 0;
  for (bool more = true; more;) {
    ++runs;
    scene now;
    build(now);
    std::vector<std::unique_ptr<fiber>> fibers;
    for (auto& body : now.threads) fibers.push_back(std::make_unique<fiber>(body, 64 * 1024));
    std::size_t current = 0, depth = 0;
    int left = switches_max;
    for (;;) {
      std::vector<std::size_t> able;
      if (!fibers[current]->ended()) able.push_back(current);
      const bool forced = able.empty();
      for (std::size_t each = 0; each < fibers.size(); ++each) {
        if (each != current && !fibers[each]->ended() && (forced || left > 0)) able.push_back(each);
      }
      if (able.empty()) break;
      if (depth == path.size()) path.push_back({able.front(), {able.begin() + 1, able.end()}});
      const std::size_t next = path[depth++].taken;
      if (next != current && !forced) --left;
      current = next;
      running = fibers[current].get();
      running->resume();
      running = nullptr;
    }
    now.judge();
    EXPECT_EQ(now.wrong, "") << "in run " << runs;
    if (!now.wrong.empty()) return runs;
    while (!path.empty() && path.back().others.empty()) path.pop_back();
    more = !path.empty();
    if (more) {
      path.back().taken = path.back().others.back();
      path.back().others.pop_back();
    }
  }
  return runs;
}

TEST(name_table_schedules, two_adds_of_one_name_while_the_table_is_replaced_agree) {
  const int runs = explore([](scene& in) {
    for (const std::uint64_t index : {1U, 2U, 3U}) static_cast<void>(in.table.add(in.make(index)));
    auto* const chosen = new std::vector<item*>(2);
    for (std::size_t thread = 0; thread < 2; ++thread) {
      item& self = in.make(9);
      item& filler = in.make(20 + thread);
      in.threads.push_back([&in, &self, &filler, thread, chosen] {
        if (thread == 0) static_cast<void>(in.table.add(filler));
        (*chosen)[thread] = &in.table.add(self);
        if (thread == 1) static_cast<void>(in.table.add(filler));
        in.expect(in.table.find(self.id) == (*chosen)[thread], "what was added is not found");
      });
    }
    in.judge = [&in, chosen] {
      in.expect((*chosen)[0] == (*chosen)[1], "a name has two items");
      in.expect(in.names() == std::multiset<std::uint64_t>{1, 2, 3, 9, 20, 21}, "an item is lost or twice there");
      in.expect(in.table.size() == 6, "the size is wrong");
      delete chosen;
    };
  });
  EXPECT_GT(runs, switches_max == 2 ? 1000 : 0);
}

TEST(name_table_schedules, who_stays_is_found_at_every_moment_and_who_is_removed_does_not_come_back) {
  const int runs = explore([](scene& in) {
    item& lasting = in.make(1);
    item& gone = in.make(9);
    for (item* each : {&lasting, &gone, &in.make(2)}) static_cast<void>(in.table.add(*each));
    in.threads.push_back([&in] {
      for (const std::uint64_t index : {30U, 31U}) static_cast<void>(in.table.add(in.make(index)));
    });
    in.threads.push_back([&in, &gone, &lasting] {
      in.expect(in.table.remove(gone), "what is there is not removed");
      in.expect(in.table.find(gone.id) == nullptr, "what was removed is found");
      in.expect(in.table.find(lasting.id) == &lasting, "what stays is not found");
      in.expect(!in.table.remove(gone), "it is removed twice");
    });
    in.judge = [&in, &gone] {
      in.expect(in.names() == std::multiset<std::uint64_t>{1, 2, 30, 31}, "an item is lost or has come back");
      in.expect(in.table.find(gone.id) == nullptr, "what was removed has come back");
    };
  });
  EXPECT_GT(runs, switches_max == 2 ? 1000 : 0);
}

TEST(name_table_schedules, copies_that_come_late_change_nothing) {
  const int runs = explore([](scene& in) {
    item& gone = in.make(9);
    static_cast<void>(in.table.add(gone));
    for (const std::uint64_t index : {1U, 2U, 3U}) static_cast<void>(in.table.add(in.make(index)));
    in.threads.push_back([&in] { static_cast<void>(in.table.add(in.make(40))); });  // begins to copy, and may lag
    in.threads.push_back([&in, &gone] {
      static_cast<void>(in.table.add(in.make(41)));
      in.expect(in.table.remove(gone), "what is there is not removed");
      for (std::uint64_t index = 50; index < 56; ++index) static_cast<void>(in.table.add(in.make(index)));
      in.expect(in.table.find(gone.id) == nullptr, "what was removed is found");
    });
    in.judge = [&in, &gone] {
      in.expect(in.table.find(gone.id) == nullptr, "what was removed has come back");
      in.expect(in.names() == std::multiset<std::uint64_t>{1, 2, 3, 40, 41, 50, 51, 52, 53, 54, 55}, "lost or twice");
    };
  });
  EXPECT_GT(runs, switches_max == 2 ? 1000 : 0);
}

}  // namespace
}  // namespace nacre
