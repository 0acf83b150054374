// SPDX-License-Identifier: Apache-2.0
// Collectives on every size of tree under seeded delays, against what a single loop computes.
#include "am/collective.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/rng.hpp"

namespace nacre {
namespace {

using bytes = std::vector<std::byte>;

template <class T>
bytes bytes_of(T value) {
  bytes result(sizeof value);
  std::memcpy(result.data(), &value, sizeof value);
  return result;
}

template <class T>
T value_of(std::span<const std::byte> from) {
  T value{};
  EXPECT_EQ(from.size(), sizeof value);
  std::memcpy(&value, from.data(), std::min(from.size(), sizeof value));
  return value;
}

collective_call sum_of(double mine) {
  return {.kind = collective_kind::all_reduce,
          .root = {},
          .value = bytes_of(mine),
          .combine =
              [](bytes& sum, std::span<const std::byte> more) {
                sum = bytes_of(value_of<double>(sum) + value_of<double>(more));
              },
          .type = 8};
}

/// Joins the numbers of ranks: an operation that is associative and nothing else.
collective_call spell(collective_kind kind, rank_id self, rank_id root = {}) {
  return {
      .kind = kind,
      .root = root,
      .value = bytes_of(self.value()),
      .combine = [](bytes& all, std::span<const std::byte> more) { all.insert(all.end(), more.begin(), more.end()); },
      .type = 4};
}

/// What spell gives for ranks begin .. end - 1.
bytes spelt(std::uint32_t begin, std::uint32_t end) {
  bytes all;
  for (; begin < end; ++begin) {
    const bytes one = bytes_of(begin);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

/// Ranks whose messages wait in a bag, out of which the seed draws one after the other, in any order at all.
class machine {
 public:
  machine(std::uint32_t size, std::uint32_t arity, std::uint64_t seed) : random_(seed) {
    for (std::uint32_t r = 0; r < size; ++r) sites_.emplace_back(*this, rank_id{r}, size, arity);
  }

  using program = std::vector<std::function<collective_call(rank_id)>>;

  /// Runs one program on all ranks, which enter its collectives at random moments, up to `ahead` at a time.
  void run(const program& calls, std::uint32_t ahead = 1) {
    while (true) {
      std::vector<site*> ready;
      for (site& s : sites_) {
        if (s.engine.next() < calls.size() && s.engine.outstanding() < ahead) ready.push_back(&s);
      }
      const std::size_t choices = ready.size() + flying_.size();
      if (choices == 0 || mismatch) return;
      const std::size_t choice = random_.below(choices);
      if (choice < ready.size()) {
        site& s = *ready[choice];
        s.engine.start(s, calls[s.engine.next()](s.self));
      } else {
        deliver(choice - ready.size());
      }
    }
  }

  /// All ranks enter one collective, one after the other, and then what is under way arrives in any order.
  void run_once(const std::function<collective_call(rank_id)>& call) {
    watch = false;
    for (site& s : sites_) s.engine.start(s, call(s.self));
    while (!flying_.empty()) deliver(random_.below(flying_.size()));
  }
  [[nodiscard]] std::uint32_t most_sent() const {
    return std::max_element(sites_.begin(), sites_.end(), [](const site& a, const site& b) { return a.sent < b.sent; })
        ->sent;
  }
  [[nodiscard]] std::uint32_t steps() const {
    return std::max_element(sites_.begin(), sites_.end(), [](const site& a, const site& b) { return a.step < b.step; })
        ->step;
  }

  [[nodiscard]] const bytes& result(std::uint32_t rank, std::uint32_t number) {
    return sites_[rank].results.at(number);
  }
  [[nodiscard]] bool complete(std::size_t count) const {
    return std::all_of(sites_.begin(), sites_.end(), [&](const site& s) { return s.results.size() == count; });
  }

  std::optional<collective_mismatch> mismatch;
  bool left_before_all_entered = false;
  bool watch = true;  // for that
  bool forge = false;
  bool refused = false;
  bool forgery_taken = false;

 private:
  struct site final : collective_host {
    site(machine& owner, rank_id rank, std::uint32_t size, std::uint32_t arity)
        : all(owner), self(rank), engine({.self = rank, .size = size, .arity = arity}) {}
    void send(rank_id to, collective_message m) override {
      ++sent;
      const bool for_one = m.kind == collective_kind::reduce || m.kind == collective_kind::gather;
      if (for_one && m.result && !m.value.empty()) {
        EXPECT_TRUE(passed_on.insert(m.number).second) << "not only on the way to the root";
      }
      all.flying_.push_back({self, to, std::move(m), step + 1});
    }
    void complete(std::uint32_t number, bytes value) override {
      if (!all.watch) {
        results.emplace(number, std::move(value));
        return;
      }
      for (const site& s : all.sites_) all.left_before_all_entered |= s.engine.next() <= number && &s != this;
      EXPECT_TRUE(results.emplace(number, std::move(value)).second) << "complete twice";
    }
    void mismatch(const collective_mismatch& what) override { all.mismatch = what; }

    machine& all;
    rank_id self;
    collective_engine engine;
    std::map<std::uint32_t, bytes> results;
    std::set<std::uint32_t> passed_on;
    std::uint32_t sent = 0;
    std::uint32_t step = 0;  // messages in the longest chain that has ended here
  };
  struct flight {
    rank_id from;
    rank_id to;
    collective_message m;
    std::uint32_t step;
  };

  void deliver(std::size_t index) {
    std::swap(flying_[index], flying_.back());
    flight f = std::move(flying_.back());
    flying_.pop_back();
    site& target = sites_[f.to.value()];
    target.step = std::max(target.step, f.step);
    if (forge) send_nonsense(target, f);
    const collective_message copy = f.m;
    refused |= !target.engine.on_message(target, f.from, std::move(f.m));
    if (forge) forgery_taken |= target.engine.on_message(target, f.from, copy);  // a second time
  }

  void send_nonsense(site& target, const flight& f) {
    const auto size = static_cast<std::uint32_t>(sites_.size());
    std::vector<flight> bad(7, f);
    bad[0].from = rank_id{size + static_cast<std::uint32_t>(random_.below(100))};
    bad[1].from = target.self;
    bad[2].m.number += 100 + static_cast<std::uint32_t>(random_.below(1u << 31));
    bad[3].m.kind = static_cast<collective_kind>(9 + random_.below(200));
    bad[4].m.root = size + static_cast<std::uint32_t>(random_.below(1u << 30));
    bad[5].m.result = !f.m.result;
    bad[6].m.type += 1 + static_cast<std::uint32_t>(random_.below(99));
    if (!f.m.result) bad.pop_back();  // on the way up that is a mismatch
    for (flight& each : bad) forgery_taken |= target.engine.on_message(target, each.from, std::move(each.m));
  }

  rng random_;
  std::deque<site> sites_;
  std::vector<flight> flying_;
};

collective_call barrier_call(rank_id) { return {}; }

auto broadcast_from(std::uint32_t root) {
  return [root](rank_id self) -> collective_call {
    return {.kind = collective_kind::broadcast, .root = rank_id{root}, .value = bytes_of(self.value()), .combine = {}};
  };
}

TEST(collective_engine, every_size_and_root_gets_every_result) {
  for (std::uint32_t size = 1; size <= 33; ++size) {
    for (std::uint32_t root = 0; root < size; ++root) {
      machine m(size, 1 + (size + root) % 5, size * 100 + root);
      m.run({broadcast_from(root), barrier_call, [](rank_id self) { return sum_of(self.value()); }});
      ASSERT_TRUE(m.complete(3)) << size << " ranks, root " << root;
      ASSERT_FALSE(m.left_before_all_entered);
      ASSERT_FALSE(m.refused);
      for (std::uint32_t rank = 0; rank < size; ++rank) {
        ASSERT_EQ(value_of<std::uint32_t>(m.result(rank, 0)), root);
        ASSERT_TRUE(m.result(rank, 1).empty());
        ASSERT_EQ(value_of<double>(m.result(rank, 2)), size * (size - 1) / 2.0);
      }
    }
  }
}

TEST(collective_engine, a_floating_point_sum_is_the_same_to_the_last_bit_in_every_schedule) {
  const auto tenth = [](rank_id self) { return sum_of(0.1 * self.value() + 1e9 / (1 + self.value())); };
  std::optional<bytes> first;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    machine m(23, 3, seed);
    m.run({tenth});
    ASSERT_TRUE(m.complete(1));
    if (!first) first = m.result(0, 0);
    for (std::uint32_t rank = 0; rank < 23; ++rank) ASSERT_EQ(m.result(rank, 0), *first) << "seed " << seed;
  }
}

TEST(collective_engine, reductions_scans_and_gathers_keep_the_order_of_the_ranks_on_every_size) {
  using enum collective_kind;
  const auto gathered = [](std::uint32_t size) {
    bytes all;
    for (std::uint32_t r = 0; r < size; ++r) detail::append_part(all, bytes_of(r));
    return all;
  };
  for (std::uint32_t size = 1; size <= 18; ++size) {
    const std::uint32_t ranks = size == 18 ? 100 : size;
    const rank_id root{ranks * 2 / 3};
    machine::program calls;
    for (const collective_kind kind : {reduce, all_reduce, gather, all_gather, scan, exclusive_scan}) {
      calls.emplace_back([=](rank_id self) { return spell(kind, self, root); });
    }
    machine m(ranks, 1 + size % 6, size);
    m.run(calls, 1 + size % 4);
    ASSERT_TRUE(m.complete(6)) << ranks;
    ASSERT_FALSE(m.left_before_all_entered);
    ASSERT_FALSE(m.refused);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const bool root_here = rank == root.value();
      ASSERT_EQ(m.result(rank, 0), root_here ? spelt(0, ranks) : bytes()) << ranks << " ranks, rank " << rank;
      ASSERT_EQ(m.result(rank, 1), spelt(0, ranks));
      ASSERT_EQ(m.result(rank, 2), root_here ? gathered(ranks) : bytes());
      ASSERT_EQ(m.result(rank, 3), gathered(ranks));
      ASSERT_EQ(m.result(rank, 4), spelt(0, rank + 1)) << ranks << " ranks, rank " << rank;
      ASSERT_EQ(m.result(rank, 5), spelt(0, rank));
    }
  }
}

TEST(collective_engine, ten_thousand_ranks_send_few_messages_each_in_few_steps) {
  using enum collective_kind;
  constexpr std::uint32_t ranks = 10'000, arity = 4, levels = 8;  // 10,000 -> 2,500 -> 625 -> 156 -> 39 -> 10 -> 3 -> 1
  const auto sum = [](collective_kind kind) {
    return [kind](rank_id self) {
      collective_call call = sum_of(self.value());
      call.kind = kind;
      return call;
    };
  };
  for (const collective_kind kind : {all_reduce, scan, barrier}) {
    machine m(ranks, arity, 5);
    m.run_once(sum(kind));
    ASSERT_TRUE(m.complete(1));
    EXPECT_LE(m.most_sent(), arity + 1);
    EXPECT_LE(m.steps(), 2 * levels);
    if (kind == barrier) continue;
    EXPECT_EQ(value_of<double>(m.result(ranks - 1, 0)), ranks * (ranks - 1.0) / 2);
    EXPECT_EQ(value_of<double>(m.result(99, 0)), kind == scan ? 99 * 100 / 2.0 : ranks * (ranks - 1.0) / 2);
  }
}

TEST(collective_engine, gathered_bytes_that_are_none_are_refused) {
  bytes all;
  detail::append_part(all, bytes_of(std::uint32_t{7}));
  EXPECT_EQ(detail::parts_of(all).size(), 1U);
  for (std::size_t cut = 1; cut < all.size(); ++cut) {
    EXPECT_THROW(static_cast<void>(detail::parts_of(std::span(all).first(cut))), std::runtime_error);
  }
  all.assign(8, std::byte{255});
  EXPECT_THROW(static_cast<void>(detail::parts_of(all)), std::runtime_error);
}

TEST(collective_engine, several_may_be_open_at_a_time_up_to_a_bound) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    rng random(seed);
    const auto size = static_cast<std::uint32_t>(1 + random.below(12));
    machine::program calls;
    for (std::uint32_t n = 0; n < 40; ++n) {
      const auto root = static_cast<std::uint32_t>(random.below(size));
      if (n % 2 == 0)
        calls.emplace_back(broadcast_from(root));
      else
        calls.emplace_back([n](rank_id self) { return sum_of(n + self.value()); });
    }
    machine m(size, 2, seed);
    m.run(calls, collective_engine::outstanding_max);
    ASSERT_TRUE(m.complete(40)) << "seed " << seed;
    ASSERT_FALSE(m.refused);
    for (std::uint32_t n = 1; n < 40; n += 2) {
      ASSERT_EQ(value_of<double>(m.result(size - 1, n)), n * size + size * (size - 1) / 2.0);
    }
  }
}

TEST(collective_engine, every_mismatch_between_any_two_groups_of_ranks_is_reported) {
  const std::vector<std::function<collective_call(rank_id)>> kinds = {
      barrier_call,
      broadcast_from(0),
      broadcast_from(1),
      broadcast_from(2),
      [](rank_id) { return sum_of(1); },
      [](rank_id self) { return spell(collective_kind::all_reduce, self); },
      [](rank_id self) { return spell(collective_kind::scan, self); },
      [](rank_id self) { return spell(collective_kind::gather, self); },
      [](rank_id self) { return spell(collective_kind::end_of_main, self); }};
  for (std::uint32_t size = 2; size <= 6; ++size) {
    for (std::uint32_t group = 1; group + 1 < (1u << size); ++group) {
      for (std::size_t one = 0; one < kinds.size(); ++one) {
        const std::size_t other = (one + 1 + group % (kinds.size() - 1)) % kinds.size();
        if (size == 2 && (one == 3 || other == 3)) continue;  // there is no rank 2
        machine m(size, 1 + group % 3, group * 10 + one);
        m.run({[&](rank_id self) { return kinds[(group >> self.value() & 1) != 0 ? one : other](self); }});
        ASSERT_TRUE(m.mismatch.has_value()) << size << " ranks, group " << group << ", " << one << " and " << other;
        EXPECT_NE((group >> m.mismatch->one.rank.value()) & 1, (group >> m.mismatch->other.rank.value()) & 1);
      }
    }
  }
}

TEST(collective_engine, a_mismatch_is_told_in_words_that_name_both_ranks) {
  const collective_mismatch what{.number = 7,
                                 .one = {rank_id{0}, collective_kind::barrier, rank_id{0}},
                                 .other = {rank_id{3}, collective_kind::broadcast, rank_id{1}}};
  EXPECT_EQ(
      describe(what),
      "collective number 7 is not the same on all ranks: rank 0 calls barrier, rank 3 calls broadcast with root 1");
  EXPECT_EQ(
      describe({.number = 1,
                .one = {rank_id{0}, collective_kind::end_of_main, rank_id{0}},
                .other = {rank_id{3}, collective_kind::gather, rank_id{1}}}),
      "collective number 1 is not the same on all ranks: rank 0 has left its main, rank 3 calls gather with root 1");
  EXPECT_EQ(describe({.number = 1,
                      .one = {rank_id{0}, collective_kind::scan, rank_id{0}, 1},
                      .other = {rank_id{2}, collective_kind::scan, rank_id{0}, 2}}),
            "collective number 1 is not the same on all ranks: rank 0 calls scan, rank 2 calls scan with values of "
            "another type");
}

TEST(collective_engine, refuses_messages_that_nobody_may_send_and_goes_on_unharmed) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    machine m(1 + seed % 20, 3, seed);
    m.forge = true;
    m.run({barrier_call, broadcast_from(0), [](rank_id self) { return sum_of(self.value()); }, barrier_call});
    ASSERT_TRUE(m.complete(4)) << "seed " << seed;
    ASSERT_FALSE(m.forgery_taken) << "seed " << seed;
    ASSERT_FALSE(m.refused);
  }
}

TEST(collective_engine_death, starting_more_than_the_bound_says_what_to_do) {
  class silent final : public collective_host {
    void send(rank_id, collective_message) override {}
    void complete(std::uint32_t, bytes) override {}
    void mismatch(const collective_mismatch&) override {}
  } host;
  collective_engine engine({.self = rank_id{1}, .size = 2});
  for (std::uint32_t n = 0; n < collective_engine::outstanding_max; ++n) engine.start(host, {});
  EXPECT_DEATH(engine.start(host, {}), "wait for one of them");
}

}  // namespace
}  // namespace nacre
