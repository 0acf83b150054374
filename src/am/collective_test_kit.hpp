// SPDX-License-Identifier: Apache-2.0
// Collectives of many ranks in one thread: calls, and a machine that delivers messages in any order.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <nacre/rng.hpp>

#include "am/collective.hpp"

namespace nacre {

using bytes = std::vector<std::byte>;

template <class T>
bytes bytes_of(T value) {
  bytes result(sizeof value);
  std::memcpy(result.data(), &value, sizeof value);
  return result;
}

template <class T>
T value_of(std::span<const std::byte> source) {
  T value{};
  EXPECT_EQ(source.size(), sizeof value);
  std::memcpy(&value, source.data(), std::min(source.size(), sizeof value));
  return value;
}

inline collective_call sum_of(double mine) {
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
inline collective_call spell(collective_kind kind, rank_id self, rank_id root = {}) {
  return {
      .kind = kind,
      .root = root,
      .value = bytes_of(self.value()),
      .combine = [](bytes& all, std::span<const std::byte> more) { all.insert(all.end(), more.begin(), more.end()); },
      .type = 4};
}

/// The result of spell for ranks begin .. end - 1.
inline bytes spelt(std::uint32_t begin, std::uint32_t end) {
  bytes all;
  for (; begin < end; ++begin) {
    const bytes one = bytes_of(begin);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

/// Ranks with a bag of their messages, out of which the seed draws one after the other, in any order at all.
class shuffled_machine {
 public:
  /// `first`: the number of the first collective.
  shuffled_machine(std::uint32_t size, std::uint32_t arity, std::uint64_t seed, std::uint32_t first = 0)
      : random_(seed), first_(first) {
    for (std::uint32_t r = 0; r < size; ++r) sites_.emplace_back(*this, rank_id{r}, size, arity);
  }

  using program = std::vector<std::function<collective_call(rank_id)>>;

  /// Runs one program on all ranks, which enter its collectives at random moments, up to `ahead` at a time.
  void run(const program& calls, std::uint32_t ahead = 1) {
    while (true) {
      std::vector<site*> ready;
      for (site& s : sites_) {
        if (s.engine.next() - first_ < calls.size() && s.engine.outstanding() < ahead) ready.push_back(&s);
      }
      const std::size_t choices = ready.size() + flying_.size();
      if (choices == 0 || mismatch) return;
      const std::size_t choice = random_.below(choices);
      if (choice < ready.size()) {
        site& s = *ready[choice];
        s.engine.start(s, calls[s.engine.next() - first_](s.self));
      } else {
        deliver(choice - ready.size());
      }
    }
  }

  /// All ranks enter one collective, one after the other, and then the messages under way arrive in any order.
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
    return sites_[rank].results.at(first_ + number);
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
    site(shuffled_machine& owner, rank_id rank, std::uint32_t size, std::uint32_t arity)
        : all(owner), self(rank), engine({.self = rank, .size = size, .arity = arity, .first = owner.first_}) {}
    void send(rank_id target, collective_message m) override {
      ++sent;
      const bool for_one = m.kind == collective_kind::reduce || m.kind == collective_kind::gather;
      if (for_one && m.result && !m.value.empty()) {
        EXPECT_TRUE(passed_on.insert(m.number).second) << "not only on the way to the root";
      }
      all.flying_.push_back({self, target, std::move(m), step + 1});
    }
    void complete(std::uint32_t number, bytes value) override {
      if (!all.watch) {
        results.emplace(number, std::move(value));
        return;
      }
      for (const site& s : all.sites_)
        all.left_before_all_entered |= s.engine.next() - all.first_ <= number - all.first_ && &s != this;
      EXPECT_TRUE(results.emplace(number, std::move(value)).second) << "complete twice";
    }
    void mismatch(const collective_mismatch& collective_mismatch) override { all.mismatch = collective_mismatch; }

    shuffled_machine& all;
    rank_id self;
    collective_engine engine;
    std::map<std::uint32_t, bytes> results;
    std::set<std::uint32_t> passed_on;
    std::uint32_t sent = 0;
    std::uint32_t step = 0;  // messages in the longest chain that has ended here
  };
  struct flight {
    rank_id source;
    rank_id target;
    collective_message m;
    std::uint32_t step;
  };

  void deliver(std::size_t index) {
    std::swap(flying_[index], flying_.back());
    flight f = std::move(flying_.back());
    flying_.pop_back();
    site& target = sites_[f.target.value()];
    target.step = std::max(target.step, f.step);
    if (forge) send_nonsense(target, f);
    const collective_message copy = f.m;
    refused |= !target.engine.on_message(target, f.source, std::move(f.m));
    if (forge) forgery_taken |= target.engine.on_message(target, f.source, copy);  // a second time
  }

  void send_nonsense(site& target, const flight& f) {
    const auto size = static_cast<std::uint32_t>(sites_.size());
    std::vector<flight> bad(7, f);
    bad[0].source = rank_id{size + static_cast<std::uint32_t>(random_.below(100))};
    bad[1].source = target.self;
    bad[2].m.number += 100 + static_cast<std::uint32_t>(random_.below(1u << 31));
    bad[3].m.kind =
        static_cast<collective_kind>(static_cast<unsigned>(collective_kind::end_of_main) + 1 + random_.below(200));
    bad[4].m.root = size + static_cast<std::uint32_t>(random_.below(1u << 30));
    bad[5].m.result = !f.m.result;
    bad[6].m.type += 1 + static_cast<std::uint32_t>(random_.below(99));
    if (!f.m.result) bad.pop_back();  // on the way up that is a mismatch
    for (flight& each : bad) forgery_taken |= target.engine.on_message(target, each.source, std::move(each.m));
  }

  rng random_;
  std::uint32_t first_ = 0;
  std::deque<site> sites_;
  std::vector<flight> flying_;
};

inline collective_call barrier_call(rank_id) { return {}; }

inline auto broadcast_from(std::uint32_t root) {
  return [root](rank_id self) -> collective_call {
    return {.kind = collective_kind::broadcast, .root = rank_id{root}, .value = bytes_of(self.value()), .combine = {}};
  };
}

}  // namespace nacre
