// SPDX-License-Identifier: Apache-2.0
// Messages to the keys of a keyed array: from the first one, for which the home gives a place, on.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include <nacre/key_text.hpp>
#include <nacre/keyed_array.hpp>
#include <nacre/keyed_table.hpp>
#include <nacre/runtime.hpp>
#include <nacre/task.hpp>

namespace nacre::detail {

template <class T, class K>
template <class By>
void key_table<T, K>::post(By& by, const caller& at, const K& key, request what) {
  const seen_key<K> seen{hash_of(key), key};
  stripe& in = stripe_of(seen.hash);
  const auto post_now = [&](std::uint64_t element) {
    post_to_object(at.core, at.on, {at.acting, name_of(element)}, std::move(what.message), what.result);
  };
  std::uint64_t known = 0;
  posting_mark mark;
  const auto note_known = [&](const entry& of) {
    known = of.element;
    if (forgets()) mark.begin(in);
  };
  {
    const std::scoped_lock lock(in.mutex);
    const auto found = in.keys.find(seen);
    if (found != in.keys.end() && found->second.known()) note_known(found->second);
  }
  if (known != 0) return post_now(known);
  const rank_id home = home_of(at.core, seen);
  what.message = packed_form(std::move(what.message));
  entry* of = nullptr;
  bool claimed = false;
  {
    const std::scoped_lock lock(in.mutex);
    of = &entry_of(in, seen);
    if (of->known()) {
      note_known(*of);
    } else {
      claimed = of->waits == nullptr;
      if (claimed) claim(in, seen, *of, home == rank_);
      open_keyed_call(at.core, *what.message, what.result);
      of->waits->messages.push_back({at.acting, std::move(what.message)});
    }
  }
  if (known != 0) return post_now(known);
  if (!claimed) return;
  if (home == rank_) {
    settle(by, at, key, in, *of, what.makes);
    return collect_if_due(by);
  }
  try {
    by.template send<&key_table::ask>(about_.self[home], key, what.makes);
  } catch (...) {
    fail_for_key(at.core);
    throw;
  }
}

template <class T, class K>
void key_table<T, K>::ask(context& ctx, const K& key, bool makes) {
  const seen_key<K> seen{hash_of(key), key};
  stripe& in = stripe_of(seen.hash);
  if (const rank_id home = home_of(ctx.core(), seen); home != rank_) {
    if (!about_.home) throw usage_error("the hash of a key differs between ranks");
    refuse_question(ctx.core(), about_.places.first(), text_of_key(key), ctx.source(), home);
  }
  entry* of = nullptr;
  bool claimed = false;
  std::uint64_t known = 0;
  {
    const std::scoped_lock lock(in.mutex);
    of = &entry_of(in, seen);
    if (of->known()) {
      known = of->element;
      if (forgets()) of->note_knower(ctx.source().value());
    } else {
      claimed = of->waits == nullptr;
      if (claimed) claim(in, seen, *of, true);
      of->waits->ranks.push_back(ctx.source().value());
    }
  }
  if (known != 0) return ctx.send<&key_table::answer>(about_.self[ctx.source()], key, known);
  if (!claimed) return;
  settle(ctx, {ctx.core(), ctx.current_thread(), {}}, key, in, *of, makes);
  collect_if_due(ctx);
}

/// At the home, by the thread that has given the place.
template <class T, class K>
template <class By>
void key_table<T, K>::settle(By& by, const caller& at, const K& key, stripe& in, entry& of, bool makes) {
  if (!makes || !about_.on_first_use) return post_waiting(by, at, key, in, of);
  try {
    by.template send<&key_table::make>(about_.self[rank_], key);
  } catch (...) {
    fail_for_key(at.core);
    throw;
  }
}

template <class T, class K>
future<void> key_table<T, K>::insertion(context& ctx, const K& key, const index& at) const {
  if constexpr (std::is_constructible_v<T, const K&> && !std::is_aggregate_v<T>) {
    return ctx.insert(about_.places, at, key);
  } else {
    return ctx.insert(about_.places, at);
  }
}

/// Waits until the element is there: messages of other ranks, which need the answer, could overtake its insertion.
template <class T, class K>
task<void> key_table<T, K>::make(context& ctx, K key) {
  const seen_key<K> seen{hash_of(key), key};
  stripe& in = stripe_of(seen.hash);
  entry* of = nullptr;
  {
    const std::scoped_lock lock(in.mutex);
    of = &entry_of(in, seen);
  }
  future<void> made = insertion(ctx, key, about_.places.index_of(mobile_ptr<T>(name_of(of->element))));
  try {
    co_await made;
  } catch (const call_error&) {  // the array is being destroyed: what waits is told so one by one
  }
  post_waiting(ctx, {ctx.core(), ctx.current_thread(), {}}, key, in, *of);
}

template <class T, class K>
template <class By>
void key_table<T, K>::post_waiting(By& by, const caller& at, const K& key, stripe& in, entry& of) {
  for (;;) {
    waiting now;
    {
      const std::scoped_lock lock(in.mutex);
      if (of.waits->nothing()) {
        of.waits.reset();
        return;
      }
      std::swap(now, *of.waits);
      if (forgets()) {
        for (const std::uint32_t rank : now.ranks) of.note_knower(rank);
      }
    }
    for (waiting_message& each : now.messages) {
      post_keyed(at.core, at.on, {each.acting, name_of(of.element)}, std::move(each.message));
    }
    for (const std::uint32_t rank : now.ranks) {
      by.template send<&key_table::answer>(about_.self[rank_id(rank)], key, of.element);
    }
  }
}

template <class T, class K>
void key_table<T, K>::answer(context& ctx, const K& key, std::uint64_t element) {
  const seen_key<K> seen{hash_of(key), key};
  stripe& in = stripe_of(seen.hash);
  entry* of = nullptr;
  {
    const std::scoped_lock lock(in.mutex);
    const auto found = in.keys.find(seen);
    if (found == in.keys.end() || found->second.waits == nullptr)
      throw usage_error("an answer for a key that this rank has not asked for");
    of = &found->second;
    of->element = element;
    in.names.note(in.keys, seen, element);
  }
  post_waiting(ctx, {ctx.core(), ctx.current_thread(), {}}, key, in, *of);
}

}  // namespace nacre::detail
