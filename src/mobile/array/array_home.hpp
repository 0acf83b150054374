// SPDX-License-Identifier: Apache-2.0
// A rank's part of an array: its layout, and the places that have their home on the rank.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include <nacre/array.hpp>
#include <nacre/keyed_array.hpp>
#include <nacre/work.hpp>

#include "am/rank_tree.hpp"
#include "mobile/array/contributing_sets.hpp"
#include "mobile/array/in_order.hpp"
#include "mobile/array/number_runs.hpp"
#include "mobile/entry/inbox.hpp"

namespace nacre {

class object_entry;

/// The head of a message to all elements of an array.
struct broadcast_header {
  std::uint64_t first = 0;      ///< the array
  std::uint64_t reply = 0;      ///< the call of `answer_to` that waits for the result; 0: none
  std::uint32_t answer_to = 0;  ///< rank to answer: at the root the caller, below it the sender
  std::uint32_t number = 0;     ///< in a message to the root: the caller's running number; below: the root's
  std::uint64_t receipt = 0;    ///< the receipt that `answer_to` waits for, see broadcast_receipts; 0: none
  bool counted = false;         ///< to a section: a later receipt is for this message, too
  std::uint32_t end = 0;        ///< the receiver passes it on to the ranks behind itself, up to this one
  std::uint32_t handler = 0;    ///< 0: ends the elements
  std::uint32_t fold = 0;       ///< see array_request
  std::uint8_t flags = 0;       ///< of the element's message, as sent
  nacre::channel channel = nacre::channel::application;

  /// Packs `receipt` only where there is one, so it adds no bytes to other messages.
  template <class Archive>
  void serialize(Archive& ar) {
    constexpr std::uint8_t has_receipt = 0x80, is_counted = 0x40;
    std::uint8_t all_flags = flags;
    if (receipt != 0) all_flags |= has_receipt;
    if (counted) all_flags |= is_counted;
    ar(first, reply, answer_to, number, end, handler, fold, all_flags, channel);
    if ((all_flags & has_receipt) != 0) ar(receipt);
    if constexpr (Archive::is_loading::value) {
      flags = all_flags & static_cast<std::uint8_t>(~(has_receipt | is_counted));
      counted = (all_flags & is_counted) != 0;
    }
  }
};

/// If the copies of an argument for all places that are left would take more than this together, they are made one
/// after the other, as the handlers run; see broadcasts.
inline constexpr std::uint64_t copied_bytes_max = std::uint64_t{1} << 20;

/// A message to all elements. It waits for earlier such messages.
struct early_broadcast {
  broadcast_header head;
  std::vector<std::byte> arguments;
};

/// Adjacent places, with an entry for each place to which a message has ever come. A message to all elements comes to
/// the inbox of the part. One thread at a time runs the part and passes the message on to the places, so that each
/// place gets messages in the order of the inbox.
struct array_part final : work {
  /// The function that runs parts, and what it works for.
  struct run_by {
    work::runner function = nullptr;
    void* owner = nullptr;
  };
  array_part(const run_by& by, std::uint64_t first, std::size_t count)
      : work(by.function), owner(by.owner), first_number(first), places(count) {}
  void* const owner;  ///< see run_by
  inbox arrivals;
  const std::uint64_t first_number;
  std::vector<std::atomic<object_entry*>> places;  // written under the array's mutex
  std::size_t retired = 0;                         // places, under the array's mutex
  std::atomic<bool> ended{false};                  // all places have been retired
};

/// One array on one rank. Lives as long as anything that is sent to all its elements is under way here.
class array_home {
 public:
  /// `rank`: the rank that this object belongs to; `ranks`: how many the job has now.
  array_home(const detail::array_layout& result, std::uint64_t first_of, std::uint64_t running_number,
             std::uint64_t places_a_part, std::uint32_t rank, std::uint32_t ranks, const array_part::run_by& runner)
      : layout(result),
        first(first_of),
        ordinal(running_number),
        sets(std::make_shared<contributing_set>(0, rank == 0, place_in_tree(rank, ranks), !result.dense)),
        places_a_part_(places_a_part),
        runner_(runner) {}

  const detail::array_layout layout;
  const std::uint64_t first;
  const std::uint64_t ordinal;         ///< from 1, in the order in which arrays are made
  std::atomic<std::uint32_t> sent{0};  ///< messages to all elements by callers of this rank

  // Inside the poll loop only.
  in_order<early_broadcast> from_root;
  std::map<std::uint32_t, in_order<early_broadcast>> from_callers;  // by rank; at the root
  std::uint32_t next_number = 0;                                    // at the root

  std::mutex mutex;
  bool closing = false;  // under mutex: the elements are being ended, and no new one may come
  std::map<std::uint64_t, std::shared_ptr<array_part>> parts;  // under mutex; without those that are all retired

  std::vector<std::uint64_t>
      told;  // under mutex: own places that other ranks have told of, see runtime/api/array_making.cpp

  std::mutex steps_mutex;  // never together with the other one
  contributing_sets sets;  // under steps_mutex

  /// The birth of a place, as the placement says; a number that is no rank's where the placement is wrong.
  [[nodiscard]] rank_id birth_of(std::uint64_t number) const { return layout.home(layout.shape, number, layout.ranks); }
  /// The name of the element of a place.
  [[nodiscard]] object_id name_of(std::uint64_t number) const { return name_of(number, birth_of(number)); }
  [[nodiscard]] object_id name_of(std::uint64_t number, rank_id birth) const {
    return {birth, object_id::first_element + first + number};
  }

  /// Before other ranks know the array: it is keyed, and `name` gives the text of an element's key.
  void name_keys(detail::key_namer name) {
    const std::scoped_lock lock(keys_mutex_);
    keyed_ = true;
    key_of_ = std::move(name);
  }
  [[nodiscard]] bool is_keyed() {
    const std::shared_lock lock(keys_mutex_);
    return keyed_;
  }
  /// The array has ended, and its keys end next. Waits for threads that ask for texts of keys; the caller holds no
  /// lock.
  void forget_keys() {
    const std::scoped_lock lock(keys_mutex_);
    key_of_ = nullptr;
  }
  /// The text of the key of an element, empty when this rank does not know it; nothing when the array is not keyed.
  /// Calls the operator<< of the key's class, for which threads do not wait for each other; the caller holds no lock.
  [[nodiscard]] std::optional<std::string> key_of(object_id element) {
    const std::shared_lock lock(keys_mutex_);
    if (!keyed_) return std::nullopt;
    return key_of_ != nullptr ? key_of_(element) : std::string();
  }

  [[nodiscard]] bool is_closing() {
    const std::scoped_lock lock(mutex);
    return closing;
  }
  /// A guess at the bytes that a message of `arguments` bytes to all elements needs on a rank while it waits. It does
  /// not run where a part runs it in place; then this is too much.
  [[nodiscard]] std::uint64_t bytes_to_all(std::uint64_t arguments) {
    constexpr std::uint64_t message_bytes = 128, share_bytes = 192;
    std::uint64_t places = layout.shape.count() / layout.ranks + 1;
    if (!layout.dense) {  // those of this rank that have been touched
      const std::scoped_lock lock(mutex);
      places = std::min(places, parts.size() * places_a_part_);
    }
    const std::uint64_t copies = std::min(places * arguments, copied_bytes_max);
    return arguments + places * message_bytes + copies + (places / places_a_part_ + 2) * share_bytes;
  }
  /// Under the mutex: remembers the entry of a place.
  void note_place(std::uint64_t number, object_entry& entry) {
    array_part& in = part_of(number);
    in.places[number - in.first_number].store(&entry,
                                              std::memory_order_release);  // pairs with the load in the part's run
  }
  /// Under the mutex: the place, which note_place has had, never gets an element any more. Returns its part when that
  /// has no other place left; the caller keeps it until no balancer can look at it any more.
  [[nodiscard]] std::shared_ptr<array_part> retire_place(std::uint64_t number) {
    array_part& in = part_of(number);
    in.places[number - in.first_number].store(nullptr, std::memory_order_release);  // pairs as above
    retired_.insert(number);
    if (++in.retired < in.places.size()) return nullptr;
    in.ended.store(true, std::memory_order_release);  // pairs with the load in the part's run
    recent_ = nullptr;
    return std::move(parts.extract(number / places_a_part_).mapped());
  }
  /// Under the mutex: whether all places from `begin` to `last` have been retired.
  [[nodiscard]] bool has_retired(std::uint64_t begin, std::uint64_t last) const {
    return retired_.contains(begin, last);
  }

 private:
  array_part& part_of(std::uint64_t number) {
    if (recent_ != nullptr && number - recent_->first_number < recent_->places.size()) return *recent_;
    const std::uint64_t part = number / places_a_part_, begin = part * places_a_part_;
    const auto count = static_cast<std::size_t>(std::min(places_a_part_, layout.shape.count() - begin));
    std::shared_ptr<array_part>& known = parts[part];
    if (known == nullptr) known = std::make_shared<array_part>(runner_, begin, count);
    recent_ = known.get();
    return *recent_;
  }

  std::shared_mutex keys_mutex_;
  bool keyed_ = false;        // under keys_mutex_
  detail::key_namer key_of_;  // under keys_mutex_
  const std::uint64_t places_a_part_;
  const array_part::run_by runner_;
  array_part* recent_ = nullptr;                // under mutex
  number_runs retired_{number_runs::no_bound};  // under mutex: places
};

}  // namespace nacre
