// SPDX-License-Identifier: Apache-2.0
// Arrays whose places are keys of any type: the handle.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <nacre/archive.hpp>
#include <nacre/array.hpp>
#include <nacre/core.hpp>
#include <nacre/group.hpp>
#include <nacre/key_hash.hpp>
#include <nacre/key_home.hpp>

namespace nacre {

/// Options of a keyed array, equal on all ranks; see runtime::create_array.
///
///     auto ages = rt.create_array<person>(nacre::keyed_by<std::string>{});
template <class K>
struct keyed_by {
  /// The most keys, which are spread over the ranks by their homes: a rank takes its share of them, rounded down.
  std::uint64_t keys_max = std::uint64_t{1} << 28;
  /// How ranks find the elements, as in array_options.
  location_policy location = location_policy::of_program;
  /// Empty, so that the hash of a key chooses its home, or the function that says the home of each key: a lambda
  /// without captures, a function object without members, or a pointer to a function, which takes (const K&,
  /// std::uint32_t ranks) and returns a number below `ranks`, or a rank_id. Any thread of a rank calls it, when the
  /// rank sends to a key for the first time. All ranks give the same function, and it returns the same for equal keys
  /// on all of them; else a key may get an element on each of two ranks. A number that is no rank's throws usage_error
  /// at the caller.
  ///
  ///     rt.create_array<block>(nacre::keyed_by<place>{.home = [](const place& of, std::uint32_t ranks) {
  ///       return of.column * ranks / columns;
  ///     }});
  detail::key_home<K> home = {};
};

namespace detail {

template <class T, class K>
class key_table;

/// Does not compile for a type that cannot be a key; the compiler's message gives the reason.
template <class K>
consteval bool check_key() {
  static_assert(is_hashed<K>::value,
                "nacre: the key of a keyed array needs a hash that is the same on every rank: specialise std::hash for "
                "its type (numbers, enums, text, pairs, tuples, arrays and vectors of keys have one, and classes with "
                "a `serialize`)");
  static_assert(std::equality_comparable<K>,
                "nacre: the key of a keyed array is compared by ==: write `friend bool operator==(const key&, const "
                "key&) = default;` in its class");
  static_assert(
      !holds_view<K>,
      "nacre: the key of a keyed array is kept, so that it owns what it has: write std::string or std::vector "
      "instead of a view");
  static_assert(serializable<K> && std::is_default_constructible_v<K> && std::copyable<K>,
                "nacre: the key of a keyed array travels in messages: it has `template <class Archive> void "
                "serialize(Archive& ar) { ar(every, member); }`, a default constructor, and can be copied");
  return true;
}

}  // namespace detail

/// The element of one key: a value, to send to, serializable.
template <class T, class K>
class keyed_element {
 public:
  keyed_element() = default;
  /// For the runtime: see keyed_array_ptr.
  keyed_element(group_ptr<detail::key_table<T, K>> table, K key) : table_(table), key_(std::move(key)) {}
  [[nodiscard]] const K& key() const noexcept { return key_; }
  /// For the runtime.
  [[nodiscard]] group_ptr<detail::key_table<T, K>> table() const noexcept { return table_; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(table_, key_);
  }

 private:
  group_ptr<detail::key_table<T, K>> table_;
  K key_{};
};

/// Names a keyed array on every rank: a value, trivially copyable, comparable, serializable. It keeps nothing alive.
/// Messages, calls and reductions to all elements, sections by number, contributions and destroy take it as they take
/// an array_ptr. K: has ==, a hash (key_hash.hpp), a default constructor, and can be copied and packed.
template <class T, class K>
class keyed_array_ptr : public array_ptr<T, by_block> {
  static_assert(detail::check_key<K>());

 public:
  keyed_array_ptr() = default;
  /// For the runtime: see create_array.
  keyed_array_ptr(const array_ptr<T, by_block>& array, group_ptr<detail::key_table<T, K>> table) noexcept
      : array_ptr<T, by_block>(array), table_(table) {}

  /// The element of a key, whether there is one or not.
  [[nodiscard]] keyed_element<T, K> operator[](K key) const { return {table_, std::move(key)}; }
  /// For the runtime.
  [[nodiscard]] group_ptr<detail::key_table<T, K>> table() const noexcept { return table_; }
  friend bool operator==(const keyed_array_ptr&, const keyed_array_ptr&) = default;
  friend auto operator<=>(const keyed_array_ptr&, const keyed_array_ptr&) = default;
  template <class Archive>
  void serialize(Archive& ar) {
    array_ptr<T, by_block>::serialize(ar);
    ar(table_);
  }

 private:
  group_ptr<detail::key_table<T, K>> table_;
};

namespace detail {

// The untyped operations; src/runtime/api/keyed.cpp.
/// The effect that a message may have on a key without an element. The strongest is last.
enum class key_wish : std::uint8_t {
  none,       ///< an erasure
  first_use,  ///< a message of the program: makes the element, unless the array is sparse
  insertion
};
/// The message that makes an element; takes ownership of the object.
[[nodiscard]] message_ptr make_insertion(const object_type& type, void* object);
/// The message that ends an element.
[[nodiscard]] message_ptr make_erasure();
/// A main that sends to a key waits here while too much of what it has sent waits.
void throttle(engine& core, thread_context& thread);
/// Opens the call that gets the reply to a message that is posted later, and is packed. Calls no function of the user.
void open_keyed_call(engine& core, message& m, future_state* result) noexcept;
/// Posts a message that is packed, with its call open. Calls no function of the user, and does not wait.
void post_keyed(engine& core, thread_context& thread, const object_pair& ends, message_ptr m);
/// Refuses a message to a key without an element. The message is packed, and its call open. A worker of this rank tells
/// the sender, which is on this rank. `key`: the text of the key, used if the message has no call. Calls no function of
/// the user.
void refuse_keyed(engine& core, thread_context& thread, std::uint64_t array, std::string key, message_ptr m);
/// In a catch clause: ends the job, because a key cannot be sent to its home.
void fail_for_key(engine& core);
/// The text of the key of an element; empty when this rank does not know the key, or the type has no text.
using key_namer = std::function<std::string(object_id element)>;
/// How many messages a rank has numbered in its stream to an element.
struct sent_count {
  std::uint32_t rank, count;
};
/// The count of this rank.
[[nodiscard]] std::uint32_t sent_to(engine& core, thread_context& thread, object_id element);
/// Whether this rank is the home of an element's place, and no element is there. A hint.
[[nodiscard]] bool is_empty_place(engine& core, thread_context& thread, object_id element);
/// Ends the empty place of an element for ever, at its home, unless a message that is counted is still under way or the
/// place is in use: then false, and nothing has happened. Later messages to the element are undeliverable.
[[nodiscard]] bool retire_place(engine& core, thread_context& thread, object_id element,
                                std::span<const sent_count> counts);
/// Whether that has been done to all elements of the block of names in which this one is. At their home.
[[nodiscard]] bool has_retired_block(engine& core, object_id element);
/// On any rank: forgets what it has sent to the elements of such a block.
void forget_block(engine& core, thread_context& thread, object_id element);
/// Lets messages to people name the keys of an array that is being made. Ends with the array.
void name_keys(engine& core, std::uint64_t first, key_namer name);

}  // namespace detail
}  // namespace nacre
