// SPDX-License-Identifier: Apache-2.0
// Messages to the keys of a keyed array: from the first one, for which the home gives a place, on.
#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nacre/key_text.hpp>
#include <nacre/keyed_array.hpp>
#include <nacre/keyed_table.hpp>
#include <nacre/runtime.hpp>
#include <nacre/task.hpp>

namespace nacre::detail {

/// The key of a message has no element. `result`: of a call that has not been opened.
template <class K>
void refuse_message(engine& core, thread_context& thread, std::uint64_t array, const K& key, message_ptr m,
                    future_state* result = nullptr) {
  open_keyed_call(core, *m, result);
  std::string text = m->header.reply == 0 ? text_of_key(key) : std::string();
  refuse_keyed(core, thread, array, std::move(text), std::move(m));
}

template <class T, class K>
template <class By>
void key_table<T, K>::post(By& actor, const caller& sender, const K& key, request question) {
  const seen_key<K> seen{hash_of(key), key};
  stripe& in = stripe_of(seen.hash);
  std::uint64_t known = 0;
  const auto post_now = [&] {
    const object_pair ends{sender.acting, object_id::from_value(known)};
    post_to_object(sender.core, sender.thread, ends, std::move(question.message), question.result);
  };
  posting_mark mark;
  const auto note_known = [&](const entry& subject) {
    known = subject.element;
    if (forgets()) mark.begin(in);
  };
  {
    const std::scoped_lock lock(in.mutex);
    const auto match = in.keys.find(seen);
    if (match != in.keys.end() && match->second.known()) note_known(match->second);
  }
  if (known != 0) return post_now();
  throttle(sender.core, sender.thread);
  const rank_id home = home_of(sender.core, seen);
  question.message = packed_form(std::move(question.message));
  entry* key_entry = nullptr;
  bool claimed = false;
  {
    const std::scoped_lock lock(in.mutex);
    const bool refused = home == rank_ && !layout_.gets_place(question.wish) && in.is_absent(seen);
    if (!refused) key_entry = &in.entry_of(seen);
    if (!refused && key_entry->known()) {
      note_known(*key_entry);
    } else if (!refused) {
      claimed = key_entry->waits == nullptr;
      if (claimed) claim(in, seen, *key_entry, home == rank_);
      open_keyed_call(sender.core, *question.message, question.result);
      key_entry->waits->messages.push_back({sender.acting, std::move(question.message), question.wish});
    }
  }
  if (known != 0) return post_now();
  if (key_entry == nullptr)
    return refuse_message(sender.core, sender.thread, array(), key, std::move(question.message), question.result);
  if (!claimed) return;
  if (home == rank_) return settle(actor, sender, key, in, *key_entry, question.wish);
  try {
    actor.template send<&key_table::ask>(layout_.table[home], key, question.wish);
  } catch (...) {
    fail_for_key(sender.core);
    throw;
  }
}

template <class T, class K>
void key_table<T, K>::ask(context& ctx, const K& key, key_wish wish) {
  const seen_key<K> seen{hash_of(key), key};
  stripe& in = stripe_of(seen.hash);
  if (const rank_id home = home_of(ctx.core(), seen); home != rank_) {
    if (!layout_.home) throw usage_error("the hash of a key differs between ranks");
    refuse_question(ctx.core(), layout_.places.first(), text_of_key(key), ctx.source(), home);
  }
  entry* key_entry = nullptr;
  bool claimed = false;
  std::uint64_t known = 0;
  {
    const std::scoped_lock lock(in.mutex);
    const bool refused = !layout_.gets_place(wish) && in.is_absent(seen);
    if (!refused) key_entry = &in.entry_of(seen);
    if (!refused && key_entry->known()) {
      known = key_entry->element;
      if (forgets()) key_entry->note_knower(ctx.source().value());
    } else if (!refused) {
      claimed = key_entry->waits == nullptr;
      if (claimed) claim(in, seen, *key_entry, true);
      key_entry->waits->ranks.push_back({ctx.source().value(), wish});
    }
  }
  if (known != 0 || key_entry == nullptr) return ctx.send<&key_table::answer>(layout_.table[ctx.source()], key, known);
  if (!claimed) return;
  settle(ctx, {ctx.core(), ctx.current_thread(), {}}, key, in, *key_entry, wish);
}

/// At the home, by the thread that has given the place.
template <class T, class K>
template <class By>
void key_table<T, K>::settle(By& actor, const caller& sender, const K& key, stripe& in, entry& key_entry,
                             key_wish wish) {
  if (wish != key_wish::first_use || !layout_.on_first_use) {
    post_waiting(actor, sender, key, in, key_entry);
    return collect_if_due(actor);
  }
  try {
    actor.template send<&key_table::make>(layout_.table[rank_], key);
  } catch (...) {
    fail_for_key(sender.core);
    throw;
  }
}

template <class T, class K>
future<void> key_table<T, K>::insertion(context& ctx, const K& key, const index& index) const {
  if constexpr (std::is_constructible_v<T, const K&> && !std::is_aggregate_v<T>) {
    return ctx.insert(layout_.places, index, key);
  } else {
    return ctx.insert(layout_.places, index);
  }
}

/// Waits until the element is there: messages of other ranks, which need the answer, could overtake its insertion.
template <class T, class K>
task<void> key_table<T, K>::make(context& ctx, K key) {
  const seen_key<K> seen{hash_of(key), key};
  stripe& in = stripe_of(seen.hash);
  entry* key_entry = nullptr;
  {
    const std::scoped_lock lock(in.mutex);
    key_entry = &in.entry_of(seen);
  }
  future<void> future =
      insertion(ctx, key, layout_.places.index_of(mobile_ptr<T>(object_id::from_value(key_entry->element))));
  try {
    co_await future;
  } catch (const call_error&) {  // the array is being destroyed: what waits is told so one by one
  }
  post_waiting(ctx, {ctx.core(), ctx.current_thread(), {}}, key, in, *key_entry);
}

template <class T, class K>
template <class By>
void key_table<T, K>::post_waiting(By& actor, const caller& sender, const K& key, stripe& in, entry& key_entry) {
  for (;;) {
    waiting now;
    {
      const std::scoped_lock lock(in.mutex);
      if (key_entry.waits->nothing()) {
        key_entry.waits.reset();
        return;
      }
      std::swap(now, *key_entry.waits);
      if (forgets()) {
        for (const waiting_rank& each : now.ranks) key_entry.note_knower(each.rank);
      }
    }
    for (waiting_message& each : now.messages) {
      post_keyed(sender.core, sender.thread, {each.acting, object_id::from_value(key_entry.element)},
                 std::move(each.message));
    }
    for (const waiting_rank& each : now.ranks) {
      actor.template send<&key_table::answer>(layout_.table[rank_id(each.rank)], key, key_entry.element);
    }
  }
}

template <class T, class K>
void key_table<T, K>::answer(context& ctx, const K& key, std::uint64_t element) {
  if (element == 0) return answer_none(ctx, key);
  const seen_key<K> seen{hash_of(key), key};
  stripe& in = stripe_of(seen.hash);
  entry* key_entry = nullptr;
  {
    const std::scoped_lock lock(in.mutex);
    const auto match = in.keys.find(seen);
    if (match == in.keys.end() || match->second.waits == nullptr)
      throw usage_error("an answer for a key that this rank has not asked for");
    key_entry = &match->second;
    key_entry->element = element;
    in.names.note(in.keys, seen, element);
  }
  post_waiting(ctx, {ctx.core(), ctx.current_thread(), {}}, key, in, *key_entry);
}

/// The home does not know the key, and none of the messages for which it was asked makes an element.
template <class T, class K>
void key_table<T, K>::answer_none(context& ctx, const K& key) {
  const seen_key<K> seen{hash_of(key), key};
  stripe& in = stripe_of(seen.hash);
  std::vector<waiting_message> refused;
  std::optional<key_wish> next;
  {
    const std::scoped_lock lock(in.mutex);
    const auto match = in.keys.find(seen);
    if (match == in.keys.end() || match->second.waits == nullptr || match->second.leaving())
      throw usage_error("an answer for a key that this rank has not asked for");
    waiting& waits = *match->second.waits;
    std::vector<waiting_message> later(std::make_move_iterator(waits.messages.begin() + waits.asked_for),
                                       std::make_move_iterator(waits.messages.end()));
    waits.messages.resize(waits.asked_for);
    refused = std::exchange(waits.messages, std::move(later));
    if (waits.nothing()) {
      in.keys.erase(match);
    } else {
      next = waits.begin_question();
    }
  }
  for (waiting_message& each : refused)
    refuse_message(ctx.core(), ctx.current_thread(), array(), key, std::move(each.message));
  if (next) ctx.send<&key_table::ask>(layout_.table[home_of(ctx.core(), seen)], key, *next);
}

}  // namespace nacre::detail
