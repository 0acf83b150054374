// SPDX-License-Identifier: Apache-2.0
// A balancer's view of its rank, found in a bounded number of steps.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "balance/balancer/surplus.hpp"
#include "balance/balancing.hpp"
#include "balance/load/load.hpp"

namespace nacre {
namespace {

constexpr std::size_t words_a_walk = 4096;   // of the directory; an object takes 2 to 16
constexpr std::size_t found_max = 1024;      // candidates of one search
constexpr std::size_t sample_min = 32;       // objects that a search looks for at least, to find heavy ones
constexpr std::size_t sample_more_max = 32;  // objects that it looks for at most beyond the number asked for
constexpr std::size_t sample_of_load = 64;   // waiting objects from which a sum is estimated
constexpr std::size_t sample_of_bucket = 8;
constexpr double seconds_of_nobody = 1e-6;  // assumed for a message while none has been measured
// What is taken at least on threads: by a migration with the messages about it, and by a message that moves with the
// object or follows it. Usually as many messages are under way to the object as wait for it.
constexpr double seconds_of_migration = 2e-6, seconds_of_message_moved = 0.5e-6;

}  // namespace

/// Counts all waiting work, not only objects: any item keeps a worker busy.
rank_load balancing::summary() {
  const std::size_t ready = messages_.pool().ready_items();
  return {.waiting = ready - std::min(ready, objects_.view.stale_items()), .running = workers() - idle_workers()};
}

void balancing::add(const object_estimate& each, std::vector<object_load>& object_loads) {
  messages_.pool().charge_own(own_work::look_step);
  const std::uint32_t rest = each.messages - std::min(each.messages, 1U);  // the first; its object's cost has one
  double move_seconds = objects_.costs.of(each.packed_bytes);
  if (move_seconds > 0 && !messages_.deferred()) move_seconds = std::max(move_seconds, seconds_of_migration);
  // Of objects that cost much few may move in vain, so one that has not run counts as others.
  const bool as_others = (each.packed_bytes != 0 || each.declared_cost > 0) && !(each.message_seconds > 0);
  facts_.push_back({.declared = each.declared, .message_seconds = each.message_seconds, .messages = each.messages});
  object_loads.push_back({.object = each.id,
                          .messages = each.messages,
                          .migration_cost = move_seconds + each.declared_cost + rest * seconds_of_message_moved,
                          .running = each.running,
                          .seconds = (as_others ? each.handler_seconds : each.message_seconds) * each.messages});
}

/// Sets the load of each element of `all`; facts_ holds the facts of the element of the same index.
void balancing::price(std::vector<object_load>& all) {
  const double measured = balance::usual_message_seconds(facts_);
  if (measured > 0) usual_seconds_ = measured;
  const double usual = assumed_seconds_ > 0 ? assumed_seconds_
                       : usual_seconds_ > 0 ? usual_seconds_
                                            : seconds_of_nobody;
  const auto name = [this] { return "the load model '" + model_name_ + '\''; };
  for (std::size_t index = 0; index < facts_.size(); ++index) {
    if (!(facts_[index].message_seconds > 0)) facts_[index].message_seconds = usual;
    all[index].load = balance::sane(call_named(name, [&] { return model_->load(facts_[index]); }));
  }
}

/// Appends up to `count` waiting objects to candidates_, the longest waiting first. If the scheduler shows nothing, it
/// takes waiting objects from the next few entries of the directory.
void balancing::find_waiting(std::size_t count, sought kind) {
  struct finder final : work_visitor {
    finder(balancing& host, std::size_t most, sought kind)
        : owner(host), end(most), all(kind == sought::all), repeats(host.objects_.view.stale_items() != 0) {}
    [[nodiscard]] verdict look(work& item) override {
      object_estimate estimate{};
      switch (owner.objects_.view.look_at(item, estimate)) {
        case balancer_view::shown::stale:
          return verdict::stale;
        case balancer_view::shown::object:
          if (estimate.stays && !all) break;
          if (repeats && !shown.insert(estimate.id).second) break;
          owner.add(estimate, owner.candidates_);
          return owner.candidates_.size() == end ? verdict::enough : verdict::go_on;
        case balancer_view::shown::none:
          break;
      }
      return verdict::go_on;
    }
    void taken_out(work& item) override { owner.objects_.requests.end_stale(*owner.thread_, item); }
    balancing& owner;
    std::size_t end;
    bool all;
    bool repeats;  // an object that waits again after it was claimed may be shown by its stale item, too
    std::unordered_set<object_id> shown;
  };
  finder visitor(*this, count, kind);
  if (messages_.pool().order().visit_waiting(visitor, 2 * count)) return;
  objects_.view.visit_loads(search_cursor_, 8 * count, [&](const object_estimate& each) {
    const bool fits = kind == sought::all || !each.stays;
    if (fits && !each.running && each.messages != 0 && candidates_.size() < count) add(each, candidates_);
  });
}

/// Appends up to `count` of the heaviest objects that declare a load and are not in candidates_ yet.
void balancing::find_declared(std::size_t count, candidate_kind kind) {
  if (objects_.view.declaring() == 0) return;
  std::vector<object_id> known;
  for (const object_load& each : candidates_) known.push_back(each.object);
  std::sort(known.begin(), known.end());
  // Some of each magnitude: a small difference of loads needs light objects.
  const std::size_t of_bucket_max = std::max(count / 4, sample_of_bucket);
  std::array<std::size_t, load_index::buckets> of_bucket{}, staying{};
  const std::size_t end = candidates_.size() + count;
  objects_.view.visit_declared(4 * count, [&](const object_estimate& each, std::size_t bucket, std::size_t) {
    if (each.stays) return ++staying[bucket] < std::max(count, of_bucket_max);  // else they could hide lighter objects
    const bool wanted = !each.running && (kind == candidate_kind::any || each.messages != 0);
    if (wanted && candidates_.size() < end && !std::binary_search(known.begin(), known.end(), each.id))
      add(each, candidates_);
    return ++of_bucket[bucket] < of_bucket_max;
  });
}

std::span<const object_load> balancing::candidates(std::size_t most, candidate_kind kind) {
  candidates_.clear();
  facts_.clear();
  if (!enabled_.load(std::memory_order_relaxed) || most == 0) return {};  // see enable
  const std::size_t sample = std::clamp(most + std::min(most, sample_more_max), sample_min, found_max);
  find_waiting(sample, sought::movable);
  find_declared(sample, kind);
  price(candidates_);
  const auto heavier = [](const object_load& a, const object_load& b) { return a.load > b.load; };
  if (!std::is_sorted(candidates_.begin(), candidates_.end(), heavier)) {
    std::stable_sort(candidates_.begin(), candidates_.end(), heavier);
  }
  return std::span(candidates_).first(std::min(most, candidates_.size()));
}

std::optional<object_load> balancing::load_of(object_id object) {
  candidates_.clear();
  facts_.clear();
  object_estimate known{};
  if (!enabled_.load(std::memory_order_relaxed) || !objects_.view.look_at(object, known))
    return std::nullopt;  // see enable
  add(known, candidates_);
  price(candidates_);
  return candidates_.front();
}

/// Looks at the next part of the directory, or at all of it. Objects that stay are only in the sum.
void balancing::walk() {
  loads_.clear();
  facts_.clear();
  std::vector<object_id> staying;
  staying_load_ = 0;
  sent_away_.clear();
  walked_in_ = looks_.load(std::memory_order_relaxed);  // the poll loop, which runs this, is the only writer
  loads_are_all_ = objects_.view.visit_loads(cursor_, words_a_walk, [&](const object_estimate& each) {
    add(each, loads_);
    if (each.stays) staying.push_back(each.id);
  });
  price(loads_);
  std::sort(staying.begin(), staying.end());
  std::erase_if(loads_, [&](const object_load& each) {
    const bool stays = std::binary_search(staying.begin(), staying.end(), each.object);
    staying_load_ += stays ? each.load : 0;
    return stays;
  });
  std::sort(loads_.begin(), loads_.end(),
            [](const object_load& a, const object_load& b) { return a.object.value() < b.object.value(); });
  const auto same = [](const object_load& a, const object_load& b) { return a.object == b.object; };
  loads_.erase(std::unique(loads_.begin(), loads_.end(), same), loads_.end());  // entries that moved meanwhile
}

std::span<const object_load> balancing::local_loads() {
  if (!enabled_.load(std::memory_order_relaxed)) return {};  // see enable
  const bool just_walked = walked_in_ == looks_.load(std::memory_order_relaxed) && sent_away_.empty();
  if (walked_in_ == 0 || (!just_walked && may_look())) {
    walk();
  } else if (!sent_away_.empty()) {
    std::sort(sent_away_.begin(), sent_away_.end());
    std::erase_if(loads_, [&](const object_load& each) {
      return std::binary_search(sent_away_.begin(), sent_away_.end(), each.object);
    });
    sent_away_.clear();
  }
  return loads_;
}

double balancing::total_load() {
  if (!enabled_.load(std::memory_order_relaxed)) return 0;  // see enable
  if (2 * objects_.entries.size() > words_a_walk) return estimated_load();
  const std::span<const object_load> all = local_loads();
  if (!loads_are_all_) return estimated_load();
  double sum = staying_load_;
  for (const object_load& each : all) sum += each.load;
  return sum;
}

/// Two parts: the mean load of a sample of waiting objects that declare none, times the number of waiting items; and
/// the load of the objects that declare one. The sum of all declared loads is known exactly, so ranks with constant
/// loads compare without sampling noise. A sample of each bucket only gives the ratio of the model's load to the
/// declared one.
double balancing::estimated_load() {
  candidates_.clear();
  facts_.clear();
  find_waiting(sample_of_load, sought::all);
  const std::size_t waiting = candidates_.size();
  std::vector<std::pair<std::size_t, std::size_t>> bucket_of;  // bucket number, objects in that bucket
  std::array<std::size_t, load_index::buckets> sampled{};
  objects_.view.visit_declared(load_index::buckets * sample_of_bucket,
                               [&](const object_estimate& each, std::size_t bucket, std::size_t in_bucket) {
                                 add(each, candidates_);
                                 bucket_of.emplace_back(bucket, in_bucket);
                                 return ++sampled[bucket] < sample_of_bucket;
                               });
  std::vector<load_facts> facts = facts_;  // a copy: price() fills in unknown times
  price(candidates_);
  double undeclared = 0, declared = 0, weight = 0;
  for (std::size_t index = 0; index < waiting; ++index) {
    if (!(facts[index].declared > 0)) undeclared += candidates_[index].load;
  }
  for (std::size_t index = waiting; index < candidates_.size(); ++index) {
    const auto [bucket, in_bucket] = bucket_of[index - waiting];
    const double stands_for = static_cast<double>(in_bucket) / static_cast<double>(sampled[bucket]);
    declared += candidates_[index].load * stands_for;
    weight += balance::sane(facts[index].declared) * stands_for;
  }
  if (weight > 0) declared = objects_.view.declared_sum() * (declared / weight);
  const double items = std::max(static_cast<double>(summary().waiting), static_cast<double>(waiting));
  return declared + (waiting == 0 ? 0 : undeclared * items / static_cast<double>(waiting));
}

}  // namespace nacre
