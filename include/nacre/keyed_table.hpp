// SPDX-License-Identifier: Apache-2.0
// The keys of a keyed array that one rank knows, and the messages that wait for their elements.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nacre/key_entries.hpp>
#include <nacre/key_home.hpp>
#include <nacre/key_text.hpp>
#include <nacre/keyed_operations.hpp>
#include <nacre/runtime.hpp>
#include <nacre/task.hpp>

namespace nacre::detail {

/// A keyed array is a sparse array whose places are given to keys, one after the other, by the home of each key: the
/// rank that the key's hash, or a function of the program, chooses among the ranks for which the array was made. The
/// places that it gives are of its own run. Every rank has a table of the keys that it has used; the home's table
/// decides. Keys are compared by ==, so a hash that two keys share does no harm.
///
/// | state of a key | a message to it | the home's answer, or the place is given |
/// |---|---|---|
/// | unknown | waits; asks the home, or gives the place | - |
/// | asked | waits | posts what waits, in order; known when nothing waits |
/// | known | posted | - |
///
/// Invariant: one thread at a time posts what waits for a key, and it makes the key known only when nothing waits. So
/// no message overtakes one that has waited. While something waits, the question, the answer, or the handler that posts
/// is under way, which keeps the job from being quiet. No function of T, and no operation of the runtime, runs under a
/// stripe's lock; hash and == of the key do.
template <class T, class K>
class key_table {
 public:
  using group = group_ptr<key_table>;
  /// The caller of an operation.
  struct caller {
    engine& core;
    thread_context& on;
    object_id acting;
  };
  /// A message, and the state that gets its reply, if any. `makes`: it makes the element of a new key.
  struct request {
    message_ptr message;
    future_state* result;
    bool makes;
  };

  void begin(group self, const array_ptr<T, by_block>& places, rank_id rank, bool on_first_use, key_home<K> home) {
    self_ = self;
    places_ = places;
    rank_ = rank;
    home_ = home;
    on_first_use_ = on_first_use;
    first_ = object_id::first_element + places.first();
    const auto [begin, end] = by_block::run_of(rank, places.shape(), places.ranks());
    next_.store(begin, std::memory_order_relaxed);  // no other thread uses the table yet
    end_ = end;
  }
  /// Throws usage_error when the function of the program names no rank, and what that function throws.
  [[nodiscard]] rank_id home_of(engine& core, const seen_key<K>& seen) const {
    if (!home_) return rank_id(static_cast<std::uint32_t>(((seen.hash >> 32) * places_.ranks()) >> 32));
    const std::int64_t named = home_(seen.key, places_.ranks());
    if (named < 0 || named >= places_.ranks()) refuse_home(core, places_.first(), text_of_key(seen.key), named);
    return rank_id(static_cast<std::uint32_t>(named));
  }

  /// Posts a message to the element of a key, now or when the element is known. What the caller's arguments, and the
  /// key's hash, home, comparison and copy throw comes to the caller, and then nothing has happened. A key that throws
  /// when it is packed for its home ends the job: others may wait for the answer by then.
  template <class By>
  void post(By& by, const caller& at, const K& key, request what);

  // Handlers.
  /// At the home: a rank wants to know the element of a key.
  void ask(context& ctx, const K& key, bool makes);
  /// At the home, for a key that has got its place: makes the element, then posts the messages that wait.
  task<void> make(context& ctx, K key);
  /// At the rank that has asked.
  void answer(context& ctx, const K& key, std::uint64_t element);
  /// At the home: the element of a key; not valid if the key is unknown.
  [[nodiscard]] mobile_ptr<T> find(const K& key) {
    const seen_key<K> seen{hash_of(key), key};
    stripe& in = stripe_of(seen.hash);
    const std::scoped_lock lock(in.mutex);
    const auto found = in.keys.find(seen);
    return mobile_ptr<T>(object_id::from_value(found != in.keys.end() ? found->second.element : 0));
  }

  /// The text of the key of an element; empty when this rank does not know the key, or its type has no text. The first
  /// call takes time for all keys of this rank. Any thread, but one that holds a stripe's mutex.
  [[nodiscard]] std::string text_of(object_id element) {
    for (stripe& in : stripes_) {
      std::unique_lock lock(in.mutex);
      const K* const key = in.names.find(in.keys, element.value());
      lock.unlock();  // the key stays where it is
      if (key != nullptr) return text_of_key(*key);
    }
    return {};
  }

  /// For images: the keys with their elements, and the places that are left. While nothing waits for a key. See
  /// keyed_image.hpp.
  template <class Archive>
  void serialize(Archive& ar);
  /// For images: the array that the table belongs to.
  [[nodiscard]] std::uint64_t array() const noexcept { return places_.first(); }

 private:
  template <class Archive>
  void load_keys(Archive& ar, std::uint64_t count);
  struct waiting_message {
    object_id acting;
    message_ptr message;
  };
  /// The messages and the ranks that wait while a key is being asked for.
  struct waiting {
    std::vector<waiting_message> messages;
    std::vector<std::uint32_t> ranks;  // at the home: they have asked
  };
  struct entry {
    std::uint64_t element = 0;       // its object_id; 0: not known
    std::unique_ptr<waiting> waits;  // null: the key is known, or unknown
    [[nodiscard]] bool known() const noexcept { return element != 0 && waits == nullptr; }
  };
  struct alignas(64) stripe {
    std::mutex mutex;
    key_map<K, entry> keys;  // under mutex; entries stay where they are
    key_names<K> names;      // under mutex
  };
  static constexpr std::size_t stripes = 16;

  [[nodiscard]] stripe& stripe_of(std::uint64_t hash) noexcept { return stripes_[(hash >> 8) % stripes]; }
  [[nodiscard]] object_id name_of(std::uint64_t element) const noexcept { return object_id::from_value(element); }

  /// Under the stripe's mutex: the entry of a key, made if there is none.
  entry& entry_of(stripe& in, const seen_key<K>& seen) {
    const auto found = in.keys.find(seen);
    return found != in.keys.end() ? found->second : in.keys.try_emplace(kept_key<K>{seen.hash, seen.key}).first->second;
  }
  /// Under the stripe's mutex: the caller becomes the thread that makes the key known. Throws usage_error when this
  /// rank is the home and has no place left.
  void claim(stripe& in, const seen_key<K>& seen, entry& at, bool home) {
    auto waits = std::make_unique<waiting>();
    if (home && at.element == 0) {
      at.element = object_id(rank_, first_ + take_place()).value();
      in.names.note(in.keys, seen, at.element);
    }
    at.waits = std::move(waits);
  }
  [[nodiscard]] std::uint64_t take_place() {
    const std::uint64_t place = next_.fetch_add(1, std::memory_order_relaxed);  // only uniqueness matters
    if (place < end_) return place;
    next_.fetch_sub(1, std::memory_order_relaxed);
    throw usage_error("rank " + std::to_string(rank_.value()) + " is the home of more keys of a keyed array than its " +
                      "share of keys_max: give create_array a larger one (nacre::keyed_by<K>{.keys_max = ...})");
  }
  template <class By>
  void settle(By& by, const caller& at, const K& key, stripe& in, entry& of, bool makes);
  future<void> insertion(context& ctx, const K& key, const index& at) const;
  template <class By>
  void post_waiting(By& by, const caller& at, const K& key, stripe& in, entry& of);

  group self_;
  array_ptr<T, by_block> places_;
  rank_id rank_;
  bool on_first_use_ = true;
  key_home<K> home_;
  std::uint64_t first_ = 0;             // number of the first place among the elements of all arrays
  std::atomic<std::uint64_t> next_{0};  // the next place of this rank
  std::uint64_t end_ = 0;
  std::array<stripe, stripes> stripes_;
};

template <class T, class K>
template <class By>
void key_table<T, K>::post(By& by, const caller& at, const K& key, request what) {
  const seen_key<K> seen{hash_of(key), key};
  stripe& in = stripe_of(seen.hash);
  const auto post_now = [&](std::uint64_t element) {
    post_to_object(at.core, at.on, {at.acting, name_of(element)}, std::move(what.message), what.result);
  };
  std::uint64_t known = 0;
  {
    const std::scoped_lock lock(in.mutex);
    const auto found = in.keys.find(seen);
    if (found != in.keys.end() && found->second.known()) known = found->second.element;
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
      known = of->element;
    } else {
      claimed = of->waits == nullptr;
      if (claimed) claim(in, seen, *of, home == rank_);
      open_keyed_call(at.core, *what.message, what.result);
      of->waits->messages.push_back({at.acting, std::move(what.message)});
    }
  }
  if (known != 0) return post_now(known);
  if (!claimed) return;
  if (home == rank_) return settle(by, at, key, in, *of, what.makes);
  try {
    by.template send<&key_table::ask>(self_[home], key, what.makes);
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
    if (!home_) throw usage_error("the hash of a key differs between ranks");
    refuse_question(ctx.core(), places_.first(), text_of_key(key), ctx.source(), home);
  }
  entry* of = nullptr;
  bool claimed = false;
  {
    const std::scoped_lock lock(in.mutex);
    of = &entry_of(in, seen);
    if (!of->known()) {
      claimed = of->waits == nullptr;
      if (claimed) claim(in, seen, *of, true);
      of->waits->ranks.push_back(ctx.source().value());
      if (!claimed) return;
    }
  }
  if (claimed) return settle(ctx, {ctx.core(), ctx.current_thread(), {}}, key, in, *of, makes);
  ctx.send<&key_table::answer>(self_[ctx.source()], key, of->element);
}

/// At the home, by the thread that has given the place.
template <class T, class K>
template <class By>
void key_table<T, K>::settle(By& by, const caller& at, const K& key, stripe& in, entry& of, bool makes) {
  if (!makes || !on_first_use_) return post_waiting(by, at, key, in, of);
  try {
    by.template send<&key_table::make>(self_[rank_], key);
  } catch (...) {
    fail_for_key(at.core);
    throw;
  }
}

template <class T, class K>
future<void> key_table<T, K>::insertion(context& ctx, const K& key, const index& at) const {
  if constexpr (std::is_constructible_v<T, const K&> && !std::is_aggregate_v<T>) {
    return ctx.insert(places_, at, key);
  } else {
    return ctx.insert(places_, at);
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
  future<void> made = insertion(ctx, key, places_.index_of(mobile_ptr<T>(name_of(of->element))));
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
      if (of.waits->messages.empty() && of.waits->ranks.empty()) {
        of.waits.reset();
        return;
      }
      std::swap(now, *of.waits);
    }
    for (waiting_message& each : now.messages) {
      post_keyed(at.core, at.on, {each.acting, name_of(of.element)}, std::move(each.message));
    }
    for (const std::uint32_t rank : now.ranks) {
      by.template send<&key_table::answer>(self_[rank_id(rank)], key, of.element);
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

template <class T, class K>
inline constexpr bool is_bound_to_ranks<key_table<T, K>> = true;

}  // namespace nacre::detail
