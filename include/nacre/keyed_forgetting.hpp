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
#include <span>
#include <utility>
#include <vector>

#include <nacre/keyed_array.hpp>
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
/// 4. If so, all forget the key; a rank where messages wait asks for it again, and the home, where something waits too,
///    gives it another place if one of them is an insertion, else refuses them. If not, the key is known again, and
///    each rank posts what waits.
///
/// Invariant: a place is retired only when no message sent by its key is under way, and none can be sent by it again.
/// So no message and no insertion is lost, and those that waited go, in their order, to the place that the key gets
/// next, if an insertion is among them. A rank takes part in one round at a time for each home. What is sent by the
/// name of an element that has ended is undeliverable, before and after.
template <class T, class K>
struct key_table<T, K>::leaving_key {
  K key;
  std::uint64_t element;
  std::vector<std::uint32_t> knowers;
  std::vector<sent_count> counts{};
  bool left = true;
};

/// Keys are collected when places have been given, and elements erased, as often as there were keys after the last
/// time: a key costs a constant time. A home that has given half of its places forgets no more, since a forgotten key
/// would need another place if it came back.
template <class T, class K>
template <class By>
void key_table<T, K>::collect_if_due(By& actor) {
  if (!forgets()) return;
  {
    const std::scoped_lock lock(runs_mutex_);
    const bool has_places = std::ranges::all_of(
        runs_, [](const run_of_places& each) { return each.next - each.first <= (each.end - each.first) / 2; });
    if (collecting_ || given_ < collect_at_ || !has_places) return;
    collecting_ = true;
    given_ = 0;
  }
  actor.template send<&key_table::collect>(layout_.table[rank_]);
}

/// The home hears of some of the erasures, so that it looks for ended elements also when no new ones come.
template <class T, class K>
template <class By>
void key_table<T, K>::note_erasure(By& actor, engine& core, const K& key) {
  constexpr std::uint64_t told_at_once = 64;
  if (!forgets() || (erased_.fetch_add(1, std::memory_order_relaxed) + 1) % told_at_once != 0) return;
  actor.template send<&key_table::count_erasures>(layout_.table[home_of(core, {hash_of(key), key})], told_at_once);
}

template <class T, class K>
void key_table<T, K>::count_erasures(context& ctx, std::uint64_t count) {
  {
    const std::scoped_lock lock(runs_mutex_);
    given_ += count;
  }
  collect_if_due(ctx);
}

/// Adds the keys of a stripe that have their home here. They stay until the collection that asks forgets them.
template <class T, class K>
void key_table<T, K>::add_own_keys(stripe& in, std::vector<own_key>& keys) {
  const std::scoped_lock lock(in.mutex);
  for (auto& [kept, key_entry] : in.keys) {
    if (key_entry.known() && gives(object_id::from_value(key_entry.element).birth().value()))
      keys.push_back({&in, &kept, &key_entry});
  }
}

/// Picks the keys that have empty places; they leave.
template <class T, class K>
auto key_table<T, K>::take_empty_keys(engine& core, thread_context& thread, std::span<const own_key> keys)
    -> std::vector<leaving_key> {
  std::vector<leaving_key> taken;
  for (const auto& [in, kept, key_entry] : keys) {
    if (!is_empty_place(core, thread, object_id::from_value(key_entry->element))) continue;
    const std::scoped_lock lock(in->mutex);
    if (!key_entry->known()) continue;
    key_entry->waits = std::make_unique<waiting>();
    key_entry->waits->leaving = true;
    leaving_key one{kept->key, key_entry->element, key_entry->knowers != nullptr ? *key_entry->knowers : no_ranks()};
    if (std::ranges::find(one.knowers, rank_.value()) == one.knowers.end()) one.knowers.push_back(rank_.value());
    taken.push_back(std::move(one));
  }
  return taken;
}

/// Goes through all keys of this home, some at a time, since a round has a price of its own; in between the worker does
/// other work.
template <class T, class K>
task<void> key_table<T, K>::collect(context& ctx) {
  constexpr std::size_t keys_a_round = 1024;
  constexpr double pause = 1e-6;
  std::uint64_t alive = 0;
  std::vector<own_key> own;
  for (stripe& in : stripes_) {
    add_own_keys(in, own);
    if (own.size() < keys_a_round && &in != &stripes_.back()) continue;
    for (std::size_t begin = 0; begin < own.size(); begin += keys_a_round) {
      const auto some = std::span(own).subspan(begin, std::min(keys_a_round, own.size() - begin));
      std::vector<leaving_key> keys = take_empty_keys(ctx.core(), ctx.current_thread(), some);
      alive += some.size() - keys.size();
      if (keys.empty()) {
        co_await ctx.sleep(pause);
      } else {
        co_await forget_round(ctx, std::move(keys));
      }
    }
    own.clear();
  }
  const std::scoped_lock lock(runs_mutex_);
  collect_at_ = std::max<std::uint64_t>(collect_min, alive);
  collecting_ = false;
}

template <class T, class K>
task<void> key_table<T, K>::forget_round(context& ctx, std::vector<leaving_key> keys) {
  std::map<std::uint32_t, std::vector<std::size_t>> of_rank;
  for (std::size_t each = 0; each < keys.size(); ++each) {
    for (const std::uint32_t rank : keys[each].knowers) of_rank[rank].push_back(each);
  }
  std::vector<future<std::vector<std::int64_t>>> answers;
  for (const auto& [rank, indices] : of_rank) {
    std::vector<K> asked;
    for (const std::size_t each : indices) asked.push_back(keys[each].key);
    answers.push_back(ctx.call<&key_table::leave>(layout_.table[rank_id(rank)], std::move(asked)));
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
  for (const auto& [rank, indices] : of_rank) {  // one round at a time, so no other thread uses asking_ranks_
    if (std::ranges::find(asking_ranks_, rank) == asking_ranks_.end()) asking_ranks_.push_back(rank);
  }
  std::vector<future<void>> told;
  for (const std::uint32_t rank : asking_ranks_) {
    std::vector<K> gone, staying;
    for (const std::size_t each : of_rank[rank]) (keys[each].left ? gone : staying).push_back(keys[each].key);
    if (!staying.empty()) told.push_back(ctx.call<&key_table::stay>(layout_.table[rank_id(rank)], std::move(staying)));
    if (!gone.empty() || !blocks.empty())
      told.push_back(ctx.call<&key_table::forget>(layout_.table[rank_id(rank)], std::move(gone), blocks));
  }
  for (future<void>& each : told) {
    try {
      co_await each;
    } catch (const call_error&) {
    }
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
    for (stripe& in : stripes_) {
      const std::scoped_lock lock(in.mutex);
      if (is_second) in.side ^= 1U;
    }
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
    const auto match = in.keys.find(seen);
    const bool has_it = match != in.keys.end();
    if (has_it && match->second.known()) {
      match->second.waits = std::make_unique<waiting>();
      match->second.waits->leaving = true;
    }
    elements.push_back(has_it && match->second.leaving() ? match->second.element : 0);  // the home's have left before
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
    entry* key_entry = nullptr;
    {
      const std::scoped_lock lock(in.mutex);
      const auto match = in.keys.find(seen);
      if (match == in.keys.end() || !match->second.leaving()) continue;
      key_entry = &match->second;
      key_entry->waits->leaving = false;
    }
    post_waiting(ctx, {ctx.core(), ctx.current_thread(), {}}, key, in, *key_entry);
  }
}

template <class T, class K>
void key_table<T, K>::forget(context& ctx, const std::vector<K>& keys, const std::vector<std::uint64_t>& blocks) {
  for (const K& key : keys) forget_key(ctx, key);
  for (const std::uint64_t each : blocks) forget_block(ctx.core(), ctx.current_thread(), object_id::from_value(each));
}

template <class T, class K>
void key_table<T, K>::forget_key(context& ctx, const K& key) {
  const seen_key<K> seen{hash_of(key), key};
  stripe& in = stripe_of(seen.hash);
  const rank_id home = home_of(ctx.core(), seen);
  entry* key_entry = nullptr;
  key_wish wish{};
  waiting refused;
  {
    const std::scoped_lock lock(in.mutex);
    const auto match = in.keys.find(seen);
    if (match == in.keys.end() || !match->second.leaving()) return;
    key_entry = &match->second;
    in.names.forget(key_entry->element);
    waiting& waits = *key_entry->waits;
    wish = waits.begin_question();
    if (waits.nothing() || (home == rank_ && !layout_.gets_place(wish))) {
      refused = std::move(waits);
      in.keys.erase(match);
      key_entry = nullptr;
    } else {
      key_entry->element = 0;
      key_entry->knowers.reset();
      waits.leaving = false;
      try {
        if (home == rank_) give_place(in, seen, *key_entry);
      } catch (...) {
        fail_for_key(ctx.core());
        throw;
      }
    }
  }
  if (key_entry == nullptr) {
    for (waiting_message& each : refused.messages)
      refuse_message(ctx.core(), ctx.current_thread(), array(), key, std::move(each.message));
    for (const waiting_rank& each : refused.ranks)
      ctx.send<&key_table::answer>(layout_.table[rank_id(each.rank)], key, 0);
  } else if (home == rank_) {
    post_waiting(ctx, {ctx.core(), ctx.current_thread(), {}}, key, in, *key_entry);
  } else {
    ctx.send<&key_table::ask>(layout_.table[home], key, wish);
  }
}

}  // namespace nacre::detail
