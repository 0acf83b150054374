// SPDX-License-Identifier: Apache-2.0
// What a balancer sees of its rank, and how few steps that takes.
#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "balance/balancer/surplus.hpp"
#include "balance/balancing.hpp"
#include "balance/load/load.hpp"

namespace nacre {
namespace {

constexpr std::size_t words_a_walk = 4096;   // of the directory; two, at most sixteen for each object
constexpr std::size_t found_max = 1024;      // candidates of one search
constexpr std::size_t sample_min = 32;       // what a search looks for at least, to find heavy ones
constexpr std::size_t sample_more_max = 32;  // and what it looks for at most beyond what is asked for
constexpr std::size_t sample_of_load = 64;   // what an estimate of a sum is made of
constexpr std::size_t sample_of_bucket = 8;
constexpr double seconds_of_nobody = 1e-6;  // of a message when none has been measured

}  // namespace

/// Other work that waits counts: it will keep a worker as busy as an object does.
rank_load balancing::summary() {
  const std::size_t ready = messages_.pool().ready_items();
  return {.waiting = ready - std::min(ready, objects_.stale_items()), .running = workers() - idle_workers()};
}

void balancing::add(const object_estimate& each, std::vector<object_load>& to) {
  messages_.pool().charge_own(own_work::look_step);
  facts_.push_back({.declared = each.declared, .message_seconds = each.message_seconds, .messages = each.messages});
  to.push_back({.object = each.id,
                .messages = each.messages,
                .migration_cost = objects_.migration_seconds(),
                .running = each.running,
                .seconds = each.message_seconds * each.messages});
}

/// Gives all of `all`, which facts_ tells of, their loads.
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

/// Puts up to `count` waiting objects into found_, those first that have waited longest. Where the scheduler shows
/// nothing, it takes those that it meets among the next few entries of the directory.
void balancing::find_waiting(std::size_t count) {
  struct finder final : work_visitor {
    finder(balancing& host, std::size_t most) : of(host), end(most), repeats(host.objects_.stale_items() != 0) {}
    [[nodiscard]] verdict look(work& item) override {
      object_estimate found{};
      switch (of.objects_.look_at(item, found)) {
        case object_space::shown::stale:
          return verdict::stale;
        case object_space::shown::object:
          if (repeats && !shown.insert(found.id).second) break;
          of.add(found, of.found_);
          return of.found_.size() == end ? verdict::enough : verdict::go_on;
        case object_space::shown::none:
          break;
      }
      return verdict::go_on;
    }
    void taken_out(work& item) override { of.objects_.end_stale(*of.by_, item); }
    balancing& of;
    std::size_t end;
    bool repeats;  // an object that waits again after it was claimed has a stale item, too, which looks alike
    std::unordered_set<object_id> shown;
  };
  finder visitor(*this, count);
  if (messages_.pool().order().visit_waiting(visitor, 2 * count)) return;
  objects_.visit_loads(search_cursor_, 8 * count, [&](const object_estimate& each) {
    if (!each.running && each.messages != 0 && found_.size() < count) add(each, found_);
  });
}

/// Adds up to `count` objects that declare a load, the heaviest, and are not there yet.
void balancing::find_declared(std::size_t count, candidate_kind of) {
  if (objects_.declaring() == 0) return;
  std::vector<object_id> known;
  for (const object_load& each : found_) known.push_back(each.object);
  std::sort(known.begin(), known.end());
  // Some of each magnitude: what is to be evened out may need light ones.
  const std::size_t of_bucket_max = std::max(count / 4, sample_of_bucket);
  std::array<std::size_t, load_index::buckets> of_bucket{};
  const std::size_t end = found_.size() + count;
  objects_.visit_declared(2 * count, [&](const object_estimate& each, std::size_t bucket, std::size_t) {
    const bool wanted = !each.running && (of == candidate_kind::any || each.messages != 0);
    if (wanted && found_.size() < end && !std::binary_search(known.begin(), known.end(), each.id)) add(each, found_);
    return ++of_bucket[bucket] < of_bucket_max;
  });
}

std::span<const object_load> balancing::candidates(std::size_t most, candidate_kind of) {
  found_.clear();
  facts_.clear();
  if (!enabled_.load(std::memory_order_relaxed) || most == 0) return {};  // a wish
  const std::size_t sample = std::clamp(most + std::min(most, sample_more_max), sample_min, found_max);
  find_waiting(sample);
  find_declared(sample, of);
  price(found_);
  const auto heavier = [](const object_load& a, const object_load& b) { return a.load > b.load; };
  if (!std::is_sorted(found_.begin(), found_.end(), heavier)) {
    std::stable_sort(found_.begin(), found_.end(), heavier);
  }
  return std::span(found_).first(std::min(most, found_.size()));
}

std::optional<object_load> balancing::load_of(object_id object) {
  found_.clear();
  facts_.clear();
  object_estimate known{};
  if (!enabled_.load(std::memory_order_relaxed) || !objects_.look_at(object, known)) return std::nullopt;  // a wish
  add(known, found_);
  price(found_);
  return found_.front();
}

/// Looks at the next part of the directory, or at all of it.
void balancing::walk() {
  loads_.clear();
  facts_.clear();
  sent_away_.clear();
  walked_in_ = looks_.load(std::memory_order_relaxed);  // written by the poll loop
  loads_are_all_ = objects_.visit_loads(cursor_, words_a_walk, [&](const object_estimate& each) { add(each, loads_); });
  price(loads_);
  std::sort(loads_.begin(), loads_.end(),
            [](const object_load& a, const object_load& b) { return a.object.value() < b.object.value(); });
  const auto same = [](const object_load& a, const object_load& b) { return a.object == b.object; };
  loads_.erase(std::unique(loads_.begin(), loads_.end(), same), loads_.end());  // what has moved in the directory
}

/// An object of the last walk is left out when loads_ is asked for again; the caller may be going through it now.
void balancing::note_sent_away(object_id object) {
  const auto at = std::lower_bound(loads_.begin(), loads_.end(), object,
                                   [](const object_load& each, object_id of) { return each.object < of; });
  const bool known = at != loads_.end() && at->object == object;
  if (known && sent_away_.size() < loads_.size()) sent_away_.push_back(object);
}

std::span<const object_load> balancing::local_loads() {
  if (!enabled_.load(std::memory_order_relaxed)) return {};  // a wish
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
  if (!enabled_.load(std::memory_order_relaxed)) return 0;  // a wish
  if (2 * objects_.known() > words_a_walk) return estimated_load();
  const std::span<const object_load> all = local_loads();
  if (!loads_are_all_) return estimated_load();
  double sum = 0;
  for (const object_load& each : all) sum += each.load;
  return sum;
}

/// The mean of some that wait times how many do; to which those that declare a load add. The sum of what they declare
/// is known, so that two ranks whose loads do not change see no difference that is none; a sample, bucket by bucket,
/// only tells what the load model makes of it.
double balancing::estimated_load() {
  found_.clear();
  facts_.clear();
  find_waiting(sample_of_load);
  const std::size_t waiting = found_.size();
  std::vector<std::pair<std::size_t, std::size_t>> bucket_of;  // its number, and how many it has
  std::array<std::size_t, load_index::buckets> sampled{};
  objects_.visit_declared(load_index::buckets * sample_of_bucket,
                          [&](const object_estimate& each, std::size_t bucket, std::size_t in_bucket) {
                            add(each, found_);
                            bucket_of.emplace_back(bucket, in_bucket);
                            return ++sampled[bucket] < sample_of_bucket;
                          });
  std::vector<load_facts> facts = facts_;  // as price() fills in what is not known
  price(found_);
  double undeclared = 0, declared = 0, weight = 0;
  for (std::size_t index = 0; index < waiting; ++index) {
    if (!(facts[index].declared > 0)) undeclared += found_[index].load;
  }
  for (std::size_t index = waiting; index < found_.size(); ++index) {
    const auto [bucket, in_bucket] = bucket_of[index - waiting];
    const double stands_for = static_cast<double>(in_bucket) / static_cast<double>(sampled[bucket]);
    declared += found_[index].load * stands_for;
    weight += balance::sane(facts[index].declared) * stands_for;
  }
  if (weight > 0) declared = objects_.declared_sum() * (declared / weight);
  const double items = std::max(static_cast<double>(summary().waiting), static_cast<double>(waiting));
  return declared + (waiting == 0 ? 0 : undeclared * items / static_cast<double>(waiting));
}

}  // namespace nacre
