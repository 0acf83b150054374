// SPDX-License-Identifier: Apache-2.0
// Forgetting the keys whose elements have ended, so that a keyed array takes memory for those that are alive.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <nacre/keyed_operations.hpp>
#include <nacre/keyed_posting.hpp>
#include <nacre/keyed_table.hpp>
#include <nacre/runtime.hpp>
#include <nacre/task.hpp>

namespace nacre::detail {

/// A key that its home is forgetting.
///
/// 1. The home sees that the place is empty, and asks each rank that knows the key, itself too, to leave.
/// 2. There messages to the key wait from now on. When the threads that are posting to it have done so, the rank tells
///    how many messages it has sent to the place.
/// 3. The home retires the place, if all these messages have come and it is still empty and idle.
/// 4. If so, all forget the key; a rank where messages wait asks for it again. If not, the key is known again, and each
///    rank posts what waits.
///
/// Invariant: a place is retired only when no message sent by its key is under way, and none can be sent by it again.
/// So no message and no insertion is lost, and those that waited go, in their order, to the place that the key gets
/// next. A rank takes part in one round at a time for each home. What is sent by the name of an element that has ended
/// is undeliverable, before and after.
template <class T, class K>
struct key_table<T, K>::leaving_key {
  const kept_key<K>* kept;  // stays: only this round forgets keys of this home
  std::uint64_t element;
  std::vector<std::uint32_t> knowers;
  std::vector<sent_count> counts{};
  bool left = true;
};

/// Keys are collected when as many places have been given as there were keys after the last time: a key costs a
/// constant time.
template <class T, class K>
template <class By>
void key_table<T, K>::collect_if_due(By& by) {
  if (!forgets()) return;
  {
    const std::scoped_lock lock(runs_mutex_);
    if (collecting_ || given_ < collect_at_) return;
    collecting_ = true;
  }
  by.template send<&key_table::collect>(about_.self[rank_]);
}

/// The keys of this home whose places are empty; they leave.
template <class T, class K>
auto key_table<T, K>::take_empty_keys(engine& core, thread_context& on) -> std::vector<leaving_key> {
  std::vector<leaving_key> taken;
  std::uint64_t alive = 0;
  for (stripe& in : stripes_) {
    std::vector<std::pair<const kept_key<K>*, entry*>> own;
    {
      const std::scoped_lock lock(in.mutex);
      for (auto& [kept, of] : in.keys) {
        if (of.known() && gives(object_id::from_value(of.element).birth().value())) own.emplace_back(&kept, &of);
      }
    }
    for (const auto& [kept, of] : own) {
      if (!is_empty_place(core, on, object_id::from_value(of->element))) {
        ++alive;
        continue;
      }
      const std::scoped_lock lock(in.mutex);
      if (!of->known()) continue;
      of->waits = std::make_unique<waiting>();
      of->waits->leaving = true;
      taken.push_back({kept, of->element, of->knowers != nullptr ? *of->knowers : std::vector<std::uint32_t>()});
      if (std::ranges::find(taken.back().knowers, rank_.value()) == taken.back().knowers.end())
        taken.back().knowers.push_back(rank_.value());
    }
  }
  const std::scoped_lock lock(runs_mutex_);
  given_ = 0;
  collect_at_ = std::max<std::uint64_t>(collect_min, alive);
  for (const leaving_key& each : taken) {
    for (const std::uint32_t rank : each.knowers) {
      if (std::ranges::find(asking_ranks_, rank) == asking_ranks_.end()) asking_ranks_.push_back(rank);
    }
  }
  return taken;
}

template <class T, class K>
task<void> key_table<T, K>::collect(context& ctx) {
  std::vector<leaving_key> keys = take_empty_keys(ctx.core(), ctx.current_thread());
  std::map<std::uint32_t, std::vector<std::size_t>> of_rank;
  for (std::size_t each = 0; each < keys.size(); ++each) {
    for (const std::uint32_t rank : keys[each].knowers) of_rank[rank].push_back(each);
  }
  std::vector<future<std::vector<std::int64_t>>> answers;
  for (const auto& [rank, indices] : of_rank) {
    std::vector<K> asked;
    for (const std::size_t each : indices) asked.push_back(keys[each].kept->key);
    answers.push_back(ctx.call<&key_table::leave>(about_.self[rank_id(rank)], std::move(asked)));
  }
  auto answer = answers.begin();
  for (const auto& [rank, indices] : of_rank) {
    future<std::vector<std::int64_t>> next = std::move(*answer++);
    std::vector<std::int64_t> counts;
    try {
      counts = co_await next;
    } catch (const call_error&) {  // the job ends, most likely
    }
    counts.resize(indices.size(), -1);
    for (std::size_t each = 0; each < indices.size(); ++each) {
      leaving_key& key = keys[indices[each]];
      if (counts[each] < 0) key.left = false;
      key.counts.push_back({rank, static_cast<std::uint32_t>(counts[each])});
    }
  }
  std::vector<std::uint64_t> blocks;
  for (leaving_key& each : keys) {
    const object_id element = object_id::from_value(each.element);
    each.left = each.left && retire_place(ctx.core(), ctx.current_thread(), element, each.counts);
    if (each.left && has_retired_block(ctx.core(), element)) blocks.push_back(each.element);
  }
  std::vector<future<void>> told;
  for (const std::uint32_t rank : asking_ranks_) {
    std::vector<K> gone, staying;
    for (const std::size_t each : of_rank[rank]) (keys[each].left ? gone : staying).push_back(keys[each].kept->key);
    if (!staying.empty()) told.push_back(ctx.call<&key_table::stay>(about_.self[rank_id(rank)], std::move(staying)));
    if (!gone.empty() || !blocks.empty())
      told.push_back(ctx.call<&key_table::forget>(about_.self[rank_id(rank)], std::move(gone), blocks));
  }
  for (future<void>& each : told) {
    try {
      co_await each;
    } catch (const call_error&) {
    }
  }
  const std::scoped_lock lock(runs_mutex_);
  collecting_ = false;
}

template <class T, class K>
void key_table<T, K>::switch_sides() {
  for (stripe& in : stripes_) {
    const std::scoped_lock lock(in.mutex);
    in.side ^= 1U;
  }
}

/// Whether no thread is counted on the sides that are not in use. By the handler that has set draining_.
template <class T, class K>
bool key_table<T, K>::is_drained() const noexcept {
  return std::ranges::all_of(stripes_, [](const stripe& in) {
    return in.posting[in.side ^ 1U].load(std::memory_order_acquire) == 0;  // pairs with ~posting_mark
  });
}

/// Waits until all threads have posted that saw a key before it left. False: one of them takes long.
template <class T, class K>
task<bool> key_table<T, K>::drain(context& ctx) {
  constexpr int tries_max = 64;
  constexpr double pause = 100e-6;
  int tries = 0;
  while (draining_.exchange(true, std::memory_order_acquire)) {  // pairs with the store below
    if (++tries > tries_max) co_return false;
    co_await ctx.sleep(pause);
  }
  for (const bool is_second : {false, true}) {
    if (is_second) switch_sides();
    while (!is_drained() && ++tries <= tries_max) co_await ctx.sleep(pause);
  }
  draining_.store(false, std::memory_order_release);
  co_return tries <= tries_max;
}

template <class T, class K>
task<std::vector<std::int64_t>> key_table<T, K>::leave(context& ctx, std::vector<K> keys) {
  std::vector<std::uint64_t> elements;
  for (const K& key : keys) {
    const seen_key<K> seen{hash_of(key), key};
    stripe& in = stripe_of(seen.hash);
    const std::scoped_lock lock(in.mutex);
    const auto found = in.keys.find(seen);
    const bool has_it = found != in.keys.end();
    if (has_it && found->second.known()) {
      found->second.waits = std::make_unique<waiting>();
      found->second.waits->leaving = true;
    }
    elements.push_back(has_it && found->second.leaving() ? found->second.element : 0);  // the home's have left before
  }
  const bool drained = co_await drain(ctx);
  std::vector<std::int64_t> counts;
  for (const std::uint64_t element : elements) {
    const bool left = drained && element != 0;
    counts.push_back(left ? sent_to(ctx.core(), ctx.current_thread(), object_id::from_value(element)) : -1);
  }
  if (!drained) stay(ctx, keys);
  co_return counts;
}

template <class T, class K>
void key_table<T, K>::stay(context& ctx, const std::vector<K>& keys) {
  for (const K& key : keys) {
    const seen_key<K> seen{hash_of(key), key};
    stripe& in = stripe_of(seen.hash);
    entry* of = nullptr;
    {
      const std::scoped_lock lock(in.mutex);
      const auto found = in.keys.find(seen);
      if (found == in.keys.end() || !found->second.leaving()) continue;
      of = &found->second;
      of->waits->leaving = false;
    }
    post_waiting(ctx, {ctx.core(), ctx.current_thread(), {}}, key, in, *of);
  }
}

template <class T, class K>
void key_table<T, K>::forget(context& ctx, const std::vector<K>& keys, const std::vector<std::uint64_t>& blocks) {
  for (const K& key : keys) {
    const seen_key<K> seen{hash_of(key), key};
    stripe& in = stripe_of(seen.hash);
    const rank_id home = home_of(ctx.core(), seen);
    entry* of = nullptr;
    {
      const std::scoped_lock lock(in.mutex);
      const auto found = in.keys.find(seen);
      if (found == in.keys.end() || !found->second.leaving()) continue;
      of = &found->second;
      in.names.forget(of->element);
      if (of->waits->nothing()) {
        in.keys.erase(found);
        continue;
      }
      of->element = 0;
      of->knowers.reset();
      of->waits->leaving = false;
      if (home == rank_) give_place(in, seen, *of);
    }
    if (home == rank_) {
      post_waiting(ctx, {ctx.core(), ctx.current_thread(), {}}, key, in, *of);
    } else {
      ctx.send<&key_table::ask>(about_.self[home], key, false);
    }
  }
  for (const std::uint64_t each : blocks) forget_block(ctx.core(), ctx.current_thread(), object_id::from_value(each));
}

}  // namespace nacre::detail
