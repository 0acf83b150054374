// SPDX-License-Identifier: Apache-2.0
// Detectors under seeded storms of messages, against an omniscient count of what is open.
#include "quiescence/wave_detector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.hpp"

namespace nacre::quiescence {
namespace {

#ifdef NACRE_SLOW_ASSERTS
constexpr std::uint64_t thousands = 100;  // sanitizers are ten to fifty times slower
#else
constexpr std::uint64_t thousands = 1000;
#endif

/// Events in the order of their times; equal times in the order of their posting.
class timeline {
 public:
  void after(std::uint64_t delay, std::function<void()> action) {
    events_.push_back({now_ + delay, next_++, std::move(action)});
    std::push_heap(events_.begin(), events_.end());
  }
  [[nodiscard]] std::uint64_t now() const { return now_; }
  bool step() {
    if (events_.empty()) return false;
    std::pop_heap(events_.begin(), events_.end());
    const event e = std::move(events_.back());
    events_.pop_back();
    now_ = e.time;
    e.action();
    return true;
  }

 private:
  struct event {
    std::uint64_t time;
    std::uint64_t order;
    std::function<void()> action;
    bool operator<(const event& other) const { return std::pair(other.time, other.order) < std::pair(time, order); }
  };
  std::vector<event> events_;  // a heap
  std::uint64_t now_ = 0;
  std::uint64_t next_ = 0;
};

enum : std::uint16_t { probe, answer, kick, declared };  // the wave detector's kinds of messages

enum class counter_order { done_first, created_first };

struct storm_options {
  std::uint64_t seed = 1;
  std::uint32_t ranks = 1;
  counter_order order = counter_order::done_first;
  bool requests = true;
  bool outsiders = false;  ///< requests also from code that is no unit
  bool forgeries = false;
};

using detector_factory = std::function<std::unique_ptr<detector>(rank_id, std::uint32_t)>;

/// A machine of ranks with several threads each, whose units create units at random moments while they run. Counters of
/// threads are read one by one while messages arrive in between. Knows the true number of open units at every moment.
class storm {
 public:
  storm(const storm_options& how, const detector_factory& make) : how_(how), random_(how.seed) {
    delay_max_ = 1 + random_.below(200);
    budget_ = random_.below(400);
    for (std::uint32_t r = 0; r < how.ranks; ++r) {
      ranks_.push_back(std::make_unique<site>(*this, rank_id{r}, make(rank_id{r}, how.ranks)));
    }
    for (auto& s : ranks_) create_unit(*s, *s, 0);  // the mains
    for (std::uint64_t n = how.outsiders ? 10 : 0; n > 0; --n) {
      time_.after(random_.below(5000), [this] { ask(*ranks_[random_.below(ranks_.size())]); });
    }
  }

  void run() {
    for (std::uint64_t steps = 0; error.empty() && time_.step(); ++steps) {
      if (steps > 200'000) error = "the storm does not end";
      if (open_ == 0) note_quiet();
    }
    for (auto& s : ranks_) {
      if (error.empty() && s->declared != s->asked_at.size()) error = "a request was never answered";
    }
  }

  std::string error;
  std::uint64_t detector_messages = 0;
  std::uint64_t declarations = 0;

 private:
  static constexpr std::size_t threads = 3;

  struct site final : detector_host {
    site(storm& owner, rank_id rank, std::unique_ptr<detector> mine) : all(owner), self(rank), judge(std::move(mine)) {}
    void send(rank_id to, const detector_message& m) override { all.carry(*this, to, m); }
    void declare(std::uint64_t last) override { all.on_declare(*this, last); }

    storm& all;
    rank_id self;
    std::unique_ptr<detector> judge;
    std::array<unit_counters, threads> counters{};
    std::uint32_t busy = 0;  // units queued or running here
    bool reading = false;
    std::vector<std::uint64_t> asked_at;  // by request: number of the event
    std::uint64_t declared = 0;
    std::map<rank_id, std::uint64_t> last_arrival;
  };

  std::uint64_t moment() { return ++moments_; }
  std::uint64_t travel_time() { return random_.below(random_.below(6) == 0 ? 6 * delay_max_ : delay_max_); }

  void note_quiet() {
    if (!quiet_) {
      quiet_ = true;
      waves_at_quiet_ = waves();
    }
    last_quiet_ = moment();
  }

  std::uint32_t waves() const {
    auto* root = dynamic_cast<wave_detector*>(ranks_[0]->judge.get());
    return root == nullptr ? 0 : root->waves();
  }

  /// `from` creates a unit for `to`, where it arrives after a while, runs for a while and perhaps creates others.
  void create_unit(site& from, site& to, std::uint64_t delay) {
    ++from.counters[random_.below(threads)].created;
    ++open_;
    quiet_ = false;
    const bool queued = &from == &to && random_.below(2) == 0;  // else it is in flight or held back: nobody sees it
    if (queued) ++to.busy;
    time_.after(delay, [this, &to, queued] {
      if (!queued) ++to.busy;
      const std::uint64_t length = random_.below(30);
      for (std::uint64_t child = random_.below(3); child > 0 && budget_ > 0; --child, --budget_) {
        time_.after(random_.below(length + 1),
                    [this, &to] { create_unit(to, *ranks_[random_.below(ranks_.size())], travel_time()); });
      }
      if (how_.requests && random_.below(4) == 0) {
        time_.after(random_.below(length + 1), [this, &to] { ask(to); });
      }
      time_.after(length + 1, [this, &to] { finish_unit(to); });
    });
  }

  void finish_unit(site& at) {
    ++at.counters[random_.below(threads)].done;
    --open_;
    --at.busy;
    look(at);
  }

  void ask(site& at) {
    at.asked_at.push_back(moment());
    waves_at_quiet_ = waves();
    if (at.judge->request(at) != at.asked_at.size()) error = "requests are numbered 1, 2, 3";
    look(at);
  }

  void look(site& at) {
    if (at.busy != 0 || at.reading || !at.judge->wants_counters()) return;
    at.reading = true;
    read_next(at, 0, std::make_shared<unit_counters>());
  }

  /// Reads one counter of one thread each time, in the order in question; units run in between.
  void read_next(site& at, std::size_t step, std::shared_ptr<unit_counters> sum) {
    if (step == 2 * threads) {
      at.reading = false;
      at.judge->on_idle(at, *sum);
      look(at);
      return;
    }
    const bool read_done = (step < threads) == (how_.order == counter_order::done_first);
    const unit_counters& of = at.counters[step % threads];
    (read_done ? sum->done : sum->created) += read_done ? of.done : of.created;
    time_.after(random_.below(8), [this, &at, step, sum] { read_next(at, step + 1, sum); });
  }

  void carry(site& from, rank_id to, const detector_message& m) {
    ++detector_messages;
    if (to == from.self || to.value() >= ranks_.size()) error = "a detector message to a wrong rank";
    std::uint64_t& last = from.last_arrival[to];
    std::uint64_t arrival = time_.now() + travel_time();
    if (m.kind != kick) arrival = last = std::max(last, arrival);  // in order for each pair
    site& target = *ranks_[to.value()];
    time_.after(arrival - time_.now(), [this, &target, source = from.self, m] { arrive(target, source, m); });
  }

  void arrive(site& at, rank_id source, const detector_message& m) {
    if (how_.forgeries) forge(at, source, m);
    if (!at.judge->on_message(at, source, m)) error = "a genuine message was refused";
    look(at);
  }

  /// Messages that no honest neighbour could have sent at this moment; none may be taken.
  void forge(site& at, rank_id source, const detector_message& m) {
    const rank_id stranger{static_cast<std::uint32_t>(how_.ranks + random_.below(1000))};
    detector_message bad = m;
    bool taken = at.judge->on_message(at, stranger, bad) || at.judge->on_message(at, at.self, bad);
    bad.kind = static_cast<std::uint16_t>(4 + random_.below(60000));
    taken = taken || at.judge->on_message(at, source, bad);
    bad = m;
    bad.wave += 2 + static_cast<std::uint32_t>(random_.below(1u << 30));
    taken = taken || at.judge->on_message(at, source, bad);
    if (taken) error = "a forged message was taken";
  }

  void on_declare(site& at, std::uint64_t last) {
    ++declarations;
    if (last <= at.declared || last > at.asked_at.size()) {
      error = "a declaration that answers no open request";
      return;
    }
    if (open_ == 0) note_quiet();
    if (last_quiet_ < at.asked_at[last - 1]) error = "declared before the system was quiet";
    if (quiet_ && waves() - waves_at_quiet_ > 2) error = "more than two waves were started in a quiet system";
    at.declared = last;
    if (random_.below(2) == 0) create_unit(at, at, random_.below(20));  // the one who waited goes on
  }

  storm_options how_;
  rng random_;
  timeline time_;
  std::vector<std::unique_ptr<site>> ranks_;
  std::uint64_t delay_max_ = 1;
  std::uint64_t budget_ = 0;
  std::uint64_t open_ = 0;
  std::uint64_t moments_ = 0;
  std::uint64_t last_quiet_ = 0;
  bool quiet_ = false;
  std::uint32_t waves_at_quiet_ = 0;
};

detector_factory waves_of_arity(std::uint32_t arity) {
  return [arity](rank_id self, std::uint32_t size) {
    return std::make_unique<wave_detector>(wave_detector::options{.self = self, .size = size, .arity = arity});
  };
}

/// The mistake of trusting a single wave: equal sums of one round of snapshots, taken at different moments.
class single_wave_detector final : public detector {
 public:
  single_wave_detector(rank_id self, std::uint32_t size) : self_(self), size_(size) {}

  std::uint64_t request(detector_host& host) override {
    if (self_.value() != 0) {
      host.send(rank_id{0}, {.kind = ask});
    } else {
      start(host);
    }
    return ++issued_;
  }
  bool on_message(detector_host& host, rank_id, const detector_message& m) override {
    if (m.kind == ask) start(host);
    if (m.kind == poll) wanted_ = true;
    if (m.kind == sums) add(host, {m.created, m.done});
    if (m.kind == quiet) tell(host);
    return true;
  }
  [[nodiscard]] bool wants_counters() const noexcept override { return wanted_; }
  void on_idle(detector_host& host, unit_counters now) override {
    wanted_ = false;
    if (self_.value() == 0) {
      add(host, now);
    } else {
      host.send(rank_id{0}, {.created = now.created, .done = now.done, .kind = sums});
    }
  }

 private:
  enum : std::uint16_t { ask, poll, sums, quiet };

  void start(detector_host& host) {
    if (missing_ != 0) return;
    missing_ = size_;
    total_ = {};
    wanted_ = true;
    for (std::uint32_t r = 1; r < size_; ++r) host.send(rank_id{r}, {.kind = poll});
  }
  void add(detector_host& host, unit_counters more) {
    total_.created += more.created;
    total_.done += more.done;
    if (--missing_ != 0) return;
    if (total_.created != total_.done) return start(host);
    for (std::uint32_t r = 1; r < size_; ++r) host.send(rank_id{r}, {.kind = quiet});
    tell(host);
  }
  void tell(detector_host& host) {
    if (told_ == issued_) return;
    told_ = issued_;
    host.declare(issued_);
  }

  rank_id self_;
  std::uint32_t size_;
  std::uint32_t missing_ = 0;
  unit_counters total_;
  bool wanted_ = false;
  std::uint64_t issued_ = 0;
  std::uint64_t told_ = 0;
};

TEST(wave_detector, declares_neither_early_nor_late_in_thousands_of_storms) {
  std::uint64_t declarations = 0;
  for (std::uint64_t seed = 1; seed <= 3 * thousands; ++seed) {
    const auto ranks = static_cast<std::uint32_t>(1 + (seed * 7919) % (seed % 4 == 0 ? 40 : 12));
    storm s({.seed = seed, .ranks = ranks}, waves_of_arity(1 + seed % 5));
    s.run();
    ASSERT_EQ(s.error, "") << "seed " << seed << ", " << ranks << " ranks";
    declarations += s.declarations;
  }
  EXPECT_GT(declarations, 10 * thousands);
}

TEST(wave_detector, loses_no_request_of_code_that_is_not_counted) {
  for (std::uint64_t seed = 1; seed <= thousands; ++seed) {
    const auto ranks = static_cast<std::uint32_t>(1 + seed % 30);
    storm s({.seed = seed, .ranks = ranks, .requests = seed % 2 == 0, .outsiders = true}, waves_of_arity(1 + seed % 4));
    s.run();
    ASSERT_EQ(s.error, "") << "seed " << seed;
  }
}

TEST(wave_detector, refuses_messages_that_nobody_may_send_and_goes_on_unharmed) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    storm s({.seed = seed, .ranks = static_cast<std::uint32_t>(1 + seed % 20), .forgeries = true}, waves_of_arity(4));
    s.run();
    ASSERT_EQ(s.error, "") << "seed " << seed;
  }
}

TEST(wave_detector, sends_nothing_while_nobody_asks) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    storm s({.seed = seed, .ranks = 12, .requests = false}, waves_of_arity(4));
    s.run();
    ASSERT_EQ(s.error, "");
    EXPECT_EQ(s.detector_messages, 0u);
  }
}

std::string first_error(std::uint64_t seeds, std::uint32_t ranks, counter_order order, const detector_factory& make) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    storm s({.seed = seed, .ranks = ranks, .order = order}, make);
    s.run();
    if (!s.error.empty()) return s.error;
  }
  return "";
}

TEST(wave_detector_canary, a_detector_that_trusts_one_wave_is_caught) {
  const auto make = [](rank_id self, std::uint32_t size) { return std::make_unique<single_wave_detector>(self, size); };
  EXPECT_EQ(first_error(3000, 8, counter_order::done_first, make), "declared before the system was quiet");
}

TEST(wave_detector_canary, a_host_that_reads_created_before_done_is_caught) {
  EXPECT_EQ(first_error(500, 1, counter_order::created_first, waves_of_arity(4)),
            "declared before the system was quiet");
}

/// Ranks that are idle for good, and a network that delivers at once, in order.
class still_machine {
 public:
  still_machine(std::uint32_t size, std::uint32_t arity) {
    for (std::uint32_t r = 0; r < size; ++r) sites_.emplace_back(*this, rank_id{r}, size, arity);
  }

  void ask(rank_id who) {
    site& s = sites_[who.value()];
    s.judge.request(s);
    settle(s);
    for (std::size_t steps = 0; !flying_.empty(); flying_.pop_front(), ++steps) {
      ASSERT_LT(steps, 100 * sites_.size()) << "waves without an end";
      auto [from, to, m] = flying_.front();
      site& target = sites_[to.value()];
      ASSERT_TRUE(target.judge.on_message(target, from, m));
      settle(target);
    }
  }
  [[nodiscard]] std::uint64_t declared(rank_id who) const { return sites_[who.value()].declared; }
  [[nodiscard]] std::uint64_t sent_max() const {
    return std::max_element(sites_.begin(), sites_.end(), [](auto& a, auto& b) { return a.sent < b.sent; })->sent;
  }
  [[nodiscard]] std::uint32_t waves() const { return sites_[0].judge.waves(); }

 private:
  struct site final : detector_host {
    site(still_machine& owner, rank_id rank, std::uint32_t size, std::uint32_t arity)
        : all(owner), self(rank), judge({.self = rank, .size = size, .arity = arity}) {}
    void send(rank_id to, const detector_message& m) override {
      ++sent;
      all.flying_.push_back({self, to, m});
    }
    void declare(std::uint64_t last) override { declared = last; }

    still_machine& all;
    rank_id self;
    wave_detector judge;
    std::uint64_t declared = 0;
    std::uint64_t sent = 0;
  };
  struct flight {
    rank_id from;
    rank_id to;
    detector_message m;
  };

  static void settle(site& s) {
    if (s.judge.wants_counters()) s.judge.on_idle(s, {1, 1});
  }

  std::deque<site> sites_;
  std::deque<flight> flying_;
};

TEST(wave_detector, ten_thousand_ranks_need_two_waves_and_a_handful_of_messages_each) {
  constexpr std::uint32_t size = 10'000;
  still_machine machine(size, 4);
  machine.ask(rank_id{size - 1});
  EXPECT_EQ(machine.declared(rank_id{size - 1}), 1u);
  EXPECT_EQ(machine.declared(rank_id{0}), 0u) << "told though it has not asked";
  EXPECT_EQ(machine.waves(), 2u);
  EXPECT_LE(machine.sent_max(), 2 * (4 + 1) + 2u) << "two waves, a kick, a declaration";
}

TEST(wave_detector, a_lone_rank_needs_one_snapshot) {
  still_machine machine(1, 4);
  machine.ask(rank_id{0});
  EXPECT_EQ(machine.declared(rank_id{0}), 1u);
  EXPECT_EQ(machine.waves(), 1u);
}

class silent_host final : public detector_host {
 public:
  void send(rank_id, const detector_message&) override { ++outputs; }
  void declare(std::uint64_t) override { ++outputs; }
  int outputs = 0;
};

TEST(wave_detector, takes_each_message_only_in_the_state_that_waits_for_it) {
  constexpr rank_id parent{0}, child{3}, sibling{2};
  silent_host host;
  wave_detector rank_1({.self = rank_id{1}, .size = 5, .arity = 2});
  const auto takes = [&](rank_id from, std::uint16_t kind, std::uint32_t wave) {
    return rank_1.on_message(host, from, {.wave = wave, .kind = kind});
  };
  EXPECT_FALSE(takes(child, answer, 0)) << "resting";
  EXPECT_FALSE(takes(parent, declared, 0)) << "nobody has asked";
  EXPECT_FALSE(takes(parent, kick, 0)) << "parents do not kick";
  EXPECT_FALSE(takes(sibling, probe, 1)) << "not the parent";
  EXPECT_FALSE(takes(parent, probe, 2)) << "a wave was skipped";
  EXPECT_EQ(host.outputs, 0);
  ASSERT_TRUE(takes(parent, probe, 1));
  EXPECT_FALSE(takes(parent, probe, 2)) << "the wave is not home yet";
  EXPECT_FALSE(takes(parent, declared, 1)) << "likewise";
  EXPECT_FALSE(takes(child, kick, 2)) << "no wave 2 has been there";
  EXPECT_TRUE(takes(child, kick, 0)) << "sent before the probe arrived";
  ASSERT_TRUE(takes(child, answer, 1));
  EXPECT_FALSE(takes(child, answer, 1)) << "twice";
  EXPECT_EQ(host.outputs, 2) << "two probes";
}

TEST(wave_detector, every_request_is_answered_by_its_own_quiescence) {
  still_machine machine(7, 2);
  for (std::uint64_t round = 1; round <= 5; ++round) {
    for (std::uint32_t r = 0; r < 7; ++r) machine.ask(rank_id{r});
    for (std::uint32_t r = 0; r < 7; ++r) EXPECT_EQ(machine.declared(rank_id{r}), round);
  }
}

}  // namespace
}  // namespace nacre::quiescence
