// SPDX-License-Identifier: Apache-2.0
// The keys of a keyed array that one rank knows, and the messages that wait for their elements. keyed_posting.hpp,
// keyed_forgetting.hpp and keyed_image.hpp define its functions.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nacre/key_entries.hpp>
#include <nacre/key_home.hpp>
#include <nacre/key_text.hpp>
#include <nacre/keyed_array.hpp>
#include <nacre/runtime.hpp>
#include <nacre/task.hpp>

namespace nacre::detail {

/// A keyed array is a sparse array whose places are given to keys, one after the other, by the home of each key: the
/// rank that the key's hash, or a function of the program, chooses among the ranks for which the array was made. The
/// places that it gives are of its own run. Every rank has a table of the keys that it has used; the home's table
/// decides. Keys are compared by ==, so a hash that two keys share does no harm.
///
/// | state of a key | a message to it | the home's answer, or the place is given | the home's answer: no element |
/// |---|---|---|---|
/// | unknown | waits; asks the home, or gives the place | - | - |
/// | asked | waits | posts what waits, in order; known when nothing waits | refuses what the question was for; asks |
/// | | | | again if more waits, else unknown |
/// | known | posted | - | - |
/// | leaving: see keyed_forgetting.hpp | waits | - | - |
///
/// In a sparse array only an insertion is given a place: the home answers the question for other messages by "no
/// element", and refuses its own at once, so keys that are looked up in vain take nothing. Messages that have come
/// behind a question are not refused by its answer: an insertion elsewhere may have ended before they were sent.
///
/// Invariant: one thread at a time posts what waits for a key, and it makes the key known only when nothing waits. So
/// no message overtakes one that has waited. While something waits, the question, the answer, or the handler that posts
/// is under way, which keeps the job from being quiet. No function of T, and no operation of the runtime, runs under a
/// stripe's lock; hash, == and copies of the key do.
template <class T, class K>
class key_table {
 public:
  using group = group_ptr<key_table>;
  /// The caller of an operation.
  struct caller {
    engine& core;
    thread_context& thread;
    object_id acting;
  };
  /// A message, and the state that gets its reply, if any.
  struct request {
    message_ptr message;
    future_state* result;
    key_wish wish;
  };

  /// `ranks`: of the job.
  void begin(group self, const array_ptr<T, by_block>& places, rank_id rank, std::uint32_t ranks, bool on_first_use,
             key_home<K> home) {
    layout_ = {self, places, on_first_use, home};
    rank_ = rank;
    ranks_ = ranks;
    for (std::uint32_t birth = rank.value(); birth < places.ranks(); birth += ranks) {
      const auto [next, end] = by_block::run_of(rank_id(birth), places.shape(), places.ranks());
      runs_.push_back({birth, next, next, end});
    }
  }
  /// Throws usage_error when the function of the program names no rank, and what that function throws.
  [[nodiscard]] rank_id home_of(engine& core, const seen_key<K>& seen) const {
    return rank_id(birth_of(core, seen) % ranks_);
  }

  /// Posts a message to the element of a key, now or when the element is known. What the caller's arguments, and the
  /// key's hash, home, comparison and copy throw comes to the caller, and then nothing has happened. A key that throws
  /// when it is packed for its home ends the job: others may wait for the answer by then.
  template <class By>
  void post(By& actor, const caller& sender, const K& key, request question);

  /// An erasure has been posted.
  template <class By>
  void note_erasure(By& actor, engine& core, const K& key);

  // Handlers.
  /// At the home: a rank wants to know the element of a key, for messages of which this is the strongest wish.
  void ask(context& ctx, const K& key, key_wish wish);
  /// At the home, for a key that has got its place: makes the element, then posts the messages that wait.
  task<void> make(context& ctx, K key);
  /// At the rank that has asked. `element`: 0: there is none, and nobody has asked for one.
  void answer(context& ctx, const K& key, std::uint64_t element);
  /// At the home: the element of a key; not valid if the key is unknown.
  [[nodiscard]] mobile_ptr<T> find(const K& key) {
    const seen_key<K> seen{hash_of(key), key};
    stripe& in = stripe_of(seen.hash);
    const std::scoped_lock lock(in.mutex);
    const auto match = in.keys.find(seen);
    return mobile_ptr<T>(object_id::from_value(match != in.keys.end() ? match->second.element : 0));
  }

  /// The text of the key of an element; empty when this rank does not know the key, or its type has no text. The first
  /// call takes time for all keys of this rank. Any thread, but one that holds a stripe's mutex.
  [[nodiscard]] std::string text_of(object_id element) {
    for (stripe& in : stripes_) {
      std::unique_lock lock(in.mutex);
      const K* const key = in.names.find(in.keys, element.value());
      if (key == nullptr) continue;
      const K copy = *key;  // it may be forgotten meanwhile
      lock.unlock();
      return text_of_key(copy);
    }
    return {};
  }

  // Handlers that forget the keys of elements that have ended; see keyed_forgetting.hpp.
  /// At the home: looks which keys have no element, and forgets them everywhere.
  task<void> collect(context& ctx);
  /// At the home: so many elements have been erased.
  void count_erasures(context& ctx, std::uint64_t count);
  /// At a rank that knows the keys: stops posting to them. The number of messages to each so far; -1: it did not stop.
  task<std::vector<std::int64_t>> leave(context& ctx, std::vector<K> keys);
  /// Goes on posting to keys that it has left.
  void stay(context& ctx, const std::vector<K>& keys);
  /// Forgets keys that it has left, and what it has sent to blocks of elements.
  void forget(context& ctx, const std::vector<K>& keys, const std::vector<std::uint64_t>& blocks);

  /// For images: the keys with their elements, and the places that are left. While nothing waits for a key. See
  /// keyed_image.hpp.
  template <class Archive>
  void serialize(Archive& ar);
  /// For images: takes over the table of a rank that the job no longer has.
  void merge(key_table&& gone);
  /// For images: called on every rank once all ranks have their tables, loaded, or empty on ranks that the job did not
  /// have.
  void begin_again(engine& core, thread_context& thread);

 private:
  /// The part that all ranks have in common.
  struct description {
    group table{};
    array_ptr<T, by_block> places{};
    bool on_first_use = true;
    key_home<K> home{};
    /// Whether the home gives a place to a key that has none.
    [[nodiscard]] bool gets_place(key_wish wish) const noexcept { return on_first_use || wish == key_wish::insertion; }
    template <class Archive>
    void serialize(Archive& ar) {
      ar(table, places, on_first_use, home);
    }
  };
  /// The places of one birth that have not been given to keys.
  struct run_of_places {
    std::uint32_t birth = 0;
    std::uint64_t first = 0, next = 0, end = 0;
    template <class Archive>
    void serialize(Archive& ar) {
      ar(birth, first, next, end);
    }
  };
  using no_ranks = std::vector<std::uint32_t>;
  /// A key as its home knows it.
  struct saved_key {
    K key = blank<K>();
    std::uint64_t element = 0;
    std::vector<std::uint32_t> knowers{};
    template <class Archive>
    void serialize(Archive& ar) {
      ar(key, element, knowers);
    }
  };
  /// A handler: this rank is the home of these keys, and gives these places.
  void take(context& ctx, const description& description, const std::vector<run_of_places>& runs,
            const std::vector<saved_key>& keys);
  void begin_names(engine& core);
  [[nodiscard]] std::uint64_t array() const noexcept { return layout_.places.first(); }
  [[nodiscard]] bool gives(std::uint32_t birth) const noexcept;
  void add(saved_key&& one);

  struct waiting_message {
    object_id acting;
    message_ptr message;
    key_wish wish;
  };
  struct waiting_rank {
    std::uint32_t rank;
    key_wish wish;
  };
  /// The messages and the ranks that wait while a key is being asked for.
  struct waiting {
    std::vector<waiting_message> messages;
    std::vector<waiting_rank> ranks;  // at the home: they have asked
    std::size_t asked_for = 0;        // messages, the first ones, for which the home is being asked
    bool leaving = false;
    [[nodiscard]] bool nothing() const noexcept { return messages.empty() && ranks.empty(); }
    /// A question begins for all that waits. Returns its wish.
    key_wish begin_question() noexcept {
      asked_for = messages.size();
      key_wish wish = key_wish::none;
      for (const waiting_message& each : messages) wish = std::max(wish, each.wish);
      for (const waiting_rank& each : ranks) wish = std::max(wish, each.wish);
      return wish;
    }
  };
  struct entry {
    std::uint64_t element = 0;                            // its object_id; 0: not known
    std::unique_ptr<waiting> waits;                       // null: the key is known, or unknown
    std::unique_ptr<std::vector<std::uint32_t>> knowers;  // at the home: ranks that may know it; null: none
    [[nodiscard]] bool known() const noexcept { return element != 0 && waits == nullptr; }
    [[nodiscard]] bool leaving() const noexcept { return waits != nullptr && waits->leaving; }
    void note_knower(std::uint32_t rank) {
      if (knowers == nullptr) knowers = std::make_unique<std::vector<std::uint32_t>>();
      if (std::find(knowers->begin(), knowers->end(), rank) == knowers->end()) knowers->push_back(rank);
    }
  };
  struct alignas(64) stripe {
    std::mutex mutex;
    key_map<K, entry> keys;  // under mutex; entries stay where they are, and while something waits they stay
    key_names<K> names;      // under mutex
    unsigned side = 0;       // under mutex: of `posting`
    /// Under the mutex: the entry of a key, made if there is none.
    entry& entry_of(const seen_key<K>& seen) {
      const auto match = keys.find(seen);
      return match != keys.end() ? match->second : keys.try_emplace(kept_key<K>{seen.hash, seen.key}).first->second;
    }
    /// At the home, under the mutex: the key has no place, and nothing waits for one.
    [[nodiscard]] bool is_absent(const seen_key<K>& seen) const {
      const auto match = keys.find(seen);
      return match == keys.end() || (match->second.element == 0 && match->second.waits == nullptr);
    }
    // Threads that have seen a known key, and have not posted to it yet. Two sides, so that one of them runs empty.
    std::array<std::atomic<std::uint32_t>, 2> posting{};
  };
  /// Counts this thread in `posting`, where keys are forgotten.
  class posting_mark {
   public:
    posting_mark() = default;
    posting_mark(const posting_mark&) = delete;
    posting_mark& operator=(const posting_mark&) = delete;
    ~posting_mark() {
      if (count_ != nullptr) count_->fetch_sub(1, std::memory_order_release);  // pairs with the load in is_drained
    }
    /// Under the stripe's mutex.
    void begin(stripe& in) noexcept {
      count_ = &in.posting[in.side];
      count_->fetch_add(1, std::memory_order_relaxed);  // the mutex orders it before the key leaves
    }

   private:
    std::atomic<std::uint32_t>* count_ = nullptr;
  };
  static constexpr std::size_t stripes = 16;

  [[nodiscard]] stripe& stripe_of(std::uint64_t hash) noexcept { return stripes_[(hash >> 8) % stripes]; }

  /// Under the stripe's mutex: the caller becomes the thread that makes the key known. Throws usage_error when this
  /// rank is the home and has no place left.
  void claim(stripe& in, const seen_key<K>& seen, entry& key_entry, bool home) {
    auto waits = std::make_unique<waiting>();
    waits->asked_for = 1;  // the message of the caller
    if (home && key_entry.element == 0) give_place(in, seen, key_entry);
    key_entry.waits = std::move(waits);
  }
  void give_place(stripe& in, const seen_key<K>& seen, entry& key_entry) {
    key_entry.element = take_place(birth_of(seen)).value();
    in.names.note(in.keys, seen, key_entry.element);
  }
  [[nodiscard]] object_id take_place(std::int64_t birth) {
    const std::scoped_lock lock(runs_mutex_);
    for (run_of_places& each : runs_) {
      if (each.birth != birth || each.next == each.end) continue;
      ++given_;
      return {rank_id(each.birth), object_id::first_element + layout_.places.first() + each.next++};
    }
    throw usage_error(
        "rank " + std::to_string(rank_.value()) + " is the home of more keys of a keyed array than its " +
        "share of keys_max, where a key that was erased and comes again counts again: give create_array " +
        "a larger one (nacre::keyed_by<K>{.keys_max = ...})");
  }
  /// The rank that would be the key's home in a job of as many ranks as the array was made for.
  [[nodiscard]] std::int64_t birth_of(const seen_key<K>& seen) const {
    const std::uint32_t births = layout_.places.ranks();
    return layout_.home ? layout_.home(seen.key, births)
                        : static_cast<std::int64_t>(((seen.hash >> 32) * births) >> 32);
  }
  [[nodiscard]] std::uint32_t birth_of(engine& core, const seen_key<K>& seen) const {
    const std::int64_t named = birth_of(seen);
    if (named < 0 || named >= layout_.places.ranks())
      refuse_home(core, layout_.places.first(), text_of_key(seen.key), named);
    return static_cast<std::uint32_t>(named);
  }
  template <class By>
  void settle(By& actor, const caller& sender, const K& key, stripe& in, entry& key_entry, key_wish wish);
  void answer_none(context& ctx, const K& key);
  future<void> insertion(context& ctx, const K& key, const index& index) const;
  template <class By>
  void post_waiting(By& actor, const caller& sender, const K& key, stripe& in, entry& key_entry);
  /// Keys are forgotten where a message to a forgotten key does what one to an empty place does.
  [[nodiscard]] bool forgets() const noexcept { return !layout_.on_first_use; }
  template <class By>
  void collect_if_due(By& actor);
  struct leaving_key;
  struct own_key {
    stripe* in;
    const kept_key<K>* kept;
    entry* key_entry;
  };
  void add_own_keys(stripe& in, std::vector<own_key>& keys);
  [[nodiscard]] std::vector<leaving_key> take_empty_keys(engine& core, thread_context& thread,
                                                         std::span<const own_key> keys);
  task<void> forget_round(context& ctx, std::vector<leaving_key> keys);
  [[nodiscard]] bool is_drained() const noexcept;
  task<bool> drain(context& ctx);
  void forget_key(context& ctx, const K& key);

  description layout_;
  rank_id rank_;
  std::uint32_t ranks_ = 1;          // of the job
  std::mutex runs_mutex_;            // taken under a stripe's, not the other way round
  std::vector<run_of_places> runs_;  // under runs_mutex_: of the births whose keys have their home here
  bool is_taken_ = false;            // under runs_mutex_: begun by `take`, after a restore on more ranks
  std::uint64_t given_ = 0;          // under runs_mutex_: places, and erasures, since the last collection
  static constexpr std::uint64_t collect_min = 64;
  std::uint64_t collect_at_ = collect_min;   // under runs_mutex_: so many given places
  bool collecting_ = false;                  // under runs_mutex_
  std::vector<std::uint32_t> asking_ranks_;  // of the handler that collects: ranks that have known keys
  std::atomic<std::uint64_t> erased_{0};     // by this rank: a statistic
  std::atomic<bool> draining_{false};        // a handler waits for the sides to run empty
  std::array<stripe, stripes> stripes_;
};

}  // namespace nacre::detail
