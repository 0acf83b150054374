// SPDX-License-Identifier: Apache-2.0
// The promises of epoch_domain, each as a sentence.
#include "base/epoch.hpp"

#include <array>
#include <atomic>
#include <latch>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

namespace nacre {
namespace {

/// An object that counts its destruction.
struct counted {
  explicit counted(int& count) : destroyed(&count) {}
  static void destroy(void* object) {
    std::unique_ptr<counted> self(static_cast<counted*>(object));
    ++*self->destroyed;
  }
  int* destroyed;
};

TEST(epoch_domain, a_retired_object_waits_for_every_online_participant) {
  int destroyed = 0;
  epoch_domain domain;
  epoch_domain::participant writer(domain), first(domain), second(domain);
  writer.retire(new counted(destroyed), counted::destroy);
  EXPECT_EQ(writer.collect(), 0U);
  writer.quiescent();
  first.quiescent();
  EXPECT_EQ(writer.collect(), 0U);
  second.quiescent();
  EXPECT_EQ(writer.collect(), 1U);
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(writer.collect(), 0U);
}

TEST(epoch_domain, a_quiescent_state_from_before_the_batch_was_closed_does_not_count) {
  int destroyed = 0;
  epoch_domain domain;
  epoch_domain::participant writer(domain), reader(domain);
  reader.quiescent();
  writer.retire(new counted(destroyed), counted::destroy);
  reader.quiescent();
  EXPECT_EQ(writer.collect(), 0U);
  writer.quiescent();
  EXPECT_EQ(writer.collect(), 0U);
  EXPECT_EQ(destroyed, 0);
  reader.quiescent();
  EXPECT_EQ(writer.collect(), 1U);
}

TEST(epoch_domain, offline_participants_hold_nothing_back) {
  int destroyed = 0;
  epoch_domain domain;
  epoch_domain::participant writer(domain), sleeper(domain);
  sleeper.offline();
  writer.retire(new counted(destroyed), counted::destroy);
  EXPECT_EQ(writer.collect(), 0U);
  writer.quiescent();
  EXPECT_EQ(writer.collect(), 1U);
  EXPECT_EQ(destroyed, 1);
}

TEST(epoch_domain, a_participant_that_came_back_holds_back_what_is_retired_from_then_on) {
  int destroyed = 0;
  epoch_domain domain;
  epoch_domain::participant writer(domain), sleeper(domain);
  sleeper.offline();
  sleeper.online();
  writer.retire(new counted(destroyed), counted::destroy);
  writer.collect();
  writer.quiescent();
  EXPECT_EQ(writer.collect(), 0U);
  sleeper.quiescent();
  EXPECT_EQ(writer.collect(), 1U);
  EXPECT_EQ(destroyed, 1);
}

TEST(epoch_domain, any_thread_may_retire_through_the_domain) {
  int destroyed = 0;
  epoch_domain domain;
  epoch_domain::participant reader(domain);
  std::thread([&] { domain.retire(new counted(destroyed), counted::destroy); }).join();
  EXPECT_EQ(domain.collect(), 0U);
  reader.quiescent();
  EXPECT_EQ(domain.collect(), 1U);
  EXPECT_EQ(destroyed, 1);
}

TEST(epoch_domain, a_leaving_participant_leaves_its_objects_to_the_domain) {
  int destroyed = 0;
  epoch_domain domain;
  epoch_domain::participant reader(domain);
  {
    epoch_domain::participant writer(domain);
    writer.retire(new counted(destroyed), counted::destroy);
    writer.collect();
    writer.retire(new counted(destroyed), counted::destroy);
  }
  EXPECT_EQ(domain.collect(), 0U);
  reader.quiescent();
  EXPECT_EQ(domain.collect(), 2U);
  EXPECT_EQ(destroyed, 2);
}

TEST(epoch_domain, collects_by_itself_after_many_retirements) {
  int destroyed = 0;
  epoch_domain domain;
  epoch_domain::participant writer(domain);
  for (int i = 0; i < 1000; ++i) {
    writer.retire(new counted(destroyed), counted::destroy);
    writer.quiescent();
  }
  EXPECT_GT(destroyed, 800);
  for (int i = 0; i < 1000; ++i) {
    domain.retire(new counted(destroyed), counted::destroy);
    writer.quiescent();
  }
  EXPECT_GT(destroyed, 1600);
}

TEST(epoch_domain, destroys_all_that_is_left_at_its_end) {
  int destroyed = 0;
  {
    epoch_domain domain;
    domain.retire(new counted(destroyed), counted::destroy);
    epoch_domain::participant writer(domain);
    writer.retire(new counted(destroyed), counted::destroy);
  }
  EXPECT_EQ(destroyed, 2);
}

TEST(epoch_domain_death_test, participants_must_not_outlive_their_domain) {
  EXPECT_DEATH(
      {
        auto domain = std::make_unique<epoch_domain>();
        const epoch_domain::participant late(*domain);
        domain.reset();
      },
      "all participants leave before");
}

/// The object that readers look at: alive until it is destroyed.
struct published {
  static constexpr int alive = 0x11feed;
  int state = alive;
  std::atomic<int>* destroyed;

  explicit published(std::atomic<int>& count) : destroyed(&count) {}
  static void destroy(void* object) {
    std::unique_ptr<published> self(static_cast<published*>(object));
    self->state = 0;
    self->destroyed->fetch_add(1);
  }
};

/// A reader's rounds of looks, until all is done.
void look_until(const std::atomic<bool>& done, const std::atomic<published*>& current, epoch_domain& domain,
                std::latch& ready, bool naps, std::atomic<int>& looks, std::atomic<int>& dead_seen) {
  epoch_domain::participant self(domain);
  ready.arrive_and_wait();
  for (int round = 0; !done.load(); ++round) {
    for (int look = 0; look < 3; ++look) {
      if (current.load()->state != published::alive) dead_seen.fetch_add(1);
    }
    looks.fetch_add(1, std::memory_order_relaxed);  // relaxed: the domain itself must order the accesses
    if (naps) {
      self.offline();
      if (round % 64 == 0) std::this_thread::yield();
      self.online();
    } else {
      self.quiescent();
    }
  }
}

TEST(epoch_domain, readers_never_see_a_destroyed_object_while_they_come_and_go) {
  constexpr int replacements = 4000;
  std::atomic<int> destroyed{0};
  std::atomic<int> dead_seen{0};
  std::atomic<int> looks{0};
  std::atomic<bool> done{false};
  {
    epoch_domain domain;
    std::atomic<published*> current{new published(destroyed)};
    std::latch ready{4};
    const auto read = [&](bool naps) { look_until(done, current, domain, ready, naps, looks, dead_seen); };
    std::array readers{std::thread(read, true), std::thread(read, true), std::thread(read, false)};
    {
      epoch_domain::participant writer(domain);
      ready.arrive_and_wait();
      for (int i = 0; i < replacements; ++i) {
        published* const old = current.exchange(new published(destroyed));
        if (i % 4 == 0) {
          domain.retire(old, published::destroy);
        } else {
          writer.retire(old, published::destroy);
        }
        writer.quiescent();
        if (i % 2 == 0) writer.collect();
        if (i % 16 != 0) continue;
        const int previous = looks.load(std::memory_order_relaxed);  // relaxed, for the same reason
        while (looks.load(std::memory_order_relaxed) == previous) std::this_thread::yield();
      }
    }
    done.store(true);
    for (std::thread& reader : readers) reader.join();
    domain.retire(current.load(), published::destroy);
  }
  EXPECT_EQ(dead_seen.load(), 0);
  EXPECT_EQ(destroyed.load(), replacements + 1);
}

}  // namespace
}  // namespace nacre
