// SPDX-License-Identifier: Apache-2.0
// A seeded storm of messages for tests of detectors, which knows the true number of open units.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nacre/rng.hpp>

#include "quiescence/wave_detector.hpp"

namespace nacre::quiescence {

/// Runs events in the order of their times; events of equal time in the order of posting.
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

/// A machine of ranks with several threads each. Units create units at random moments while they run. The machine reads
/// the threads' counters one by one, and messages arrive in between. It knows the true number of open units at every
/// moment.
class storm {
 public:
  storm(const storm_options& options, const detector_factory& make) : options_(options), random_(options.seed) {
    delay_max_ = 1 + random_.below(200);
    budget_ = random_.below(400);
    for (std::uint32_t r = 0; r < options.ranks; ++r) {
      ranks_.push_back(std::make_unique<site>(*this, rank_id{r}, make(rank_id{r}, options.ranks)));
    }
    for (auto& s : ranks_) create_unit(*s, *s, 0);  // the mains
    for (std::uint64_t n = options.outsiders ? 10 : 0; n > 0; --n) {
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
    void send(rank_id target, const detector_message& m) override { all.carry(*this, target, m); }
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

  /// `source` creates a unit for `target`, where it arrives after a while, runs for a while and perhaps creates others.
  void create_unit(site& source, site& target, std::uint64_t delay) {
    ++source.counters[random_.below(threads)].created;
    ++open_;
    quiet_ = false;
    const bool queued =
        &source == &target && random_.below(2) == 0;  // else in flight or under backpressure: no rank sees it
    if (queued) ++target.busy;
    time_.after(delay, [this, &target, queued] {
      if (!queued) ++target.busy;
      const std::uint64_t length = random_.below(30);
      for (std::uint64_t child = random_.below(3); child > 0 && budget_ > 0; --child, --budget_) {
        time_.after(random_.below(length + 1),
                    [this, &target] { create_unit(target, *ranks_[random_.below(ranks_.size())], travel_time()); });
      }
      if (options_.requests && random_.below(4) == 0) {
        time_.after(random_.below(length + 1), [this, &target] { ask(target); });
      }
      time_.after(length + 1, [this, &target] { finish_unit(target); });
    });
  }

  void finish_unit(site& site) {
    ++site.counters[random_.below(threads)].done;
    --open_;
    --site.busy;
    look(site);
  }

  void ask(site& site) {
    site.asked_at.push_back(moment());
    waves_at_quiet_ = waves();
    if (site.judge->request(site) != site.asked_at.size()) error = "requests are numbered 1, 2, 3";
    look(site);
  }

  void look(site& site) {
    if (site.busy != 0 || site.reading || !site.judge->wants_counters()) return;
    site.reading = true;
    read_next(site, 0, std::make_shared<unit_counters>());
  }

  /// Reads one counter of one thread at each step, in the order of the options; units run in between.
  void read_next(site& site, std::size_t step, std::shared_ptr<unit_counters> sum) {
    if (step == 2 * threads) {
      site.reading = false;
      site.judge->on_idle(site, *sum);
      look(site);
      return;
    }
    const bool read_done = (step < threads) == (options_.order == counter_order::done_first);
    const unit_counters& subject = site.counters[step % threads];
    (read_done ? sum->done : sum->created) += read_done ? subject.done : subject.created;
    time_.after(random_.below(8), [this, &site, step, sum] { read_next(site, step + 1, sum); });
  }

  void carry(site& source_site, rank_id destination, const detector_message& m) {
    ++detector_messages;
    if (destination == source_site.self || destination.value() >= ranks_.size())
      error = "a detector message to a wrong rank";
    std::uint64_t& last = source_site.last_arrival[destination];
    std::uint64_t arrival = time_.now() + travel_time();
    if (m.kind != kick) arrival = last = std::max(last, arrival);  // in order for each pair
    site& target = *ranks_[destination.value()];
    time_.after(arrival - time_.now(), [this, &target, source = source_site.self, m] { arrive(target, source, m); });
  }

  void arrive(site& site, rank_id source, const detector_message& m) {
    if (options_.forgeries) forge(site, source, m);
    if (!site.judge->on_message(site, source, m)) error = "a genuine message was refused";
    look(site);
  }

  /// Delivers messages that no honest neighbour could send at this moment. The detector must refuse them all.
  void forge(site& site, rank_id source, const detector_message& m) {
    const rank_id stranger{static_cast<std::uint32_t>(options_.ranks + random_.below(1000))};
    detector_message bad = m;
    bool taken = site.judge->on_message(site, stranger, bad) || site.judge->on_message(site, site.self, bad);
    bad.kind = static_cast<std::uint16_t>(4 + random_.below(60000));
    taken = taken || site.judge->on_message(site, source, bad);
    bad = m;
    bad.wave += 2 + static_cast<std::uint32_t>(random_.below(1u << 30));
    taken = taken || site.judge->on_message(site, source, bad);
    if (taken) error = "a forged message was taken";
  }

  void on_declare(site& site, std::uint64_t last) {
    ++declarations;
    if (last <= site.declared || last > site.asked_at.size()) {
      error = "a declaration that answers no open request";
      return;
    }
    if (open_ == 0) note_quiet();
    if (last_quiet_ < site.asked_at[last - 1]) error = "declared before the system was quiet";
    if (quiet_ && waves() - waves_at_quiet_ > 2) error = "more than two waves were started in a quiet system";
    site.declared = last;
    if (random_.below(2) == 0) create_unit(site, site, random_.below(20));  // the requester goes on
  }

  storm_options options_;
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

inline detector_factory waves_of_arity(std::uint32_t arity) {
  return [arity](rank_id self, std::uint32_t size) {
    return std::make_unique<wave_detector>(wave_detector::options{.self = self, .size = size, .arity = arity});
  };
}

}  // namespace nacre::quiescence
