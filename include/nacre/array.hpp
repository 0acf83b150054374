// SPDX-License-Identifier: Apache-2.0
// Arrays of mobile objects: the handle.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nacre/extents.hpp>
#include <nacre/mobile_ptr.hpp>
#include <nacre/placement.hpp>

namespace nacre {

/// Names an array on every rank: a value, trivially copyable, comparable, serializable. It keeps nothing alive. It
/// computes the name of an element from its place, without communication or look-up, also where there is no element.
template <class T, class Placement = by_block>
class array_ptr {
  static_assert(array_placement<Placement>,
                "a placement is a function object without members, called with (nacre::index, const nacre::extents&, "
                "std::uint32_t ranks), that returns a nacre::rank_id");

 public:
  array_ptr() = default;
  /// For the runtime: see create_array.
  array_ptr(std::uint64_t first, const extents& shape, std::uint32_t ranks) noexcept
      : first_(first), shape_(shape), ranks_(ranks) {}

  /// The element at the place `index`. Throws usage_error when the array has no such place.
  [[nodiscard]] mobile_ptr<T> operator[](const index& index) const {
    const std::uint64_t number = shape_.number_of(index);
    return mobile_ptr<T>(object_id(home_of(index), object_id::first_element + first_ + number));
  }
  /// Whether `element` names a place of this array, with an element or without.
  [[nodiscard]] bool contains(mobile_ptr<T> element) const noexcept {
    const std::uint64_t from_first = element.id().index() - object_id::first_element - first_;
    return from_first < shape_.count();
  }
  /// The place of an element. Throws usage_error when `element` belongs to another array or to none.
  [[nodiscard]] index index_of(mobile_ptr<T> element) const {
    if (!contains(element)) throw usage_error("index_of an object that is no element of the array");
    return shape_.place_of(element.id().index() - object_id::first_element - first_);
  }
  [[nodiscard]] const extents& shape() const noexcept { return shape_; }
  /// The home of a place: the rank that makes its element and answers for it, as the placement says for the number of
  /// ranks that the job had when it made the array. In a job that has been restored on another number of ranks this is
  /// the element's birth only, which its name tells for ever: ask home_of of the runtime or context there. Throws
  /// usage_error when the array has no such place, or when the placement names a rank that there was not.
  [[nodiscard]] rank_id home_of(const index& index) const {
    static_cast<void>(shape_.number_of(index));  // throws for a place that there is not
    const rank_id home = Placement{}(index, shape_, ranks_);
    if (home.value() >= ranks_) {
      throw usage_error("the placement of an array names rank " + std::to_string(home.value()) + " of a job with " +
                        std::to_string(ranks_) + " ranks");
    }
    return home;
  }
  /// For the runtime: a number that differs between the arrays of a job.
  [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
  /// For the runtime: the number of ranks with which the placement is asked, that of the job when it made the array.
  [[nodiscard]] std::uint32_t ranks() const noexcept { return ranks_; }
  explicit operator bool() const noexcept { return ranks_ != 0; }
  friend bool operator==(const array_ptr&, const array_ptr&) = default;
  friend auto operator<=>(const array_ptr&, const array_ptr&) = default;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(first_, shape_, ranks_);
  }

 private:
  std::uint64_t first_ = 0;  // number of its first place among the places of all arrays
  extents shape_;
  std::uint32_t ranks_ = 0;  // of the job when it made the array: the placement is asked with it
};

/// Options of create_array. They come before the shape and are equal on all ranks:
///
///     rt.create_array<cell>(nacre::array_options{.location = nacre::location_policy::home}, nacre::extents{64, 64});
struct array_options {
  /// How ranks find its elements. of_program: by the policy of the element type, else by the policy of the program.
  location_policy location = location_policy::of_program;
};

/// Tells create_array to make no elements: the program inserts them one by one.
struct sparse_t {};
inline constexpr sparse_t sparse{};

namespace detail {

using visit_place = std::function<void(const index&)>;
using home_function = rank_id (*)(const extents& shape, std::uint64_t number, std::uint32_t ranks);
using list_function = void (*)(const extents& shape, rank_id rank, std::uint32_t ranks, const visit_place& visit);

/// The data that every rank has of an array.
struct array_layout {
  extents shape;
  const object_type* type = nullptr;
  home_function home = nullptr;
  /// Visits the places of a rank in their order; null: the placement does not list them, see lists_places.
  list_function list = nullptr;
  std::uint32_t ranks = 0;  ///< with which `home` and `list` are asked: of the job when it made the array
  bool dense = true;
  location_policy location = location_policy::of_program;  ///< of all its elements; outranks the policy of their type
};

template <class P>
rank_id home_of_number(const extents& shape, std::uint64_t number, std::uint32_t ranks) {
  return P{}(shape.place_of(number), shape, ranks);
}

template <class P>
void list_of_places(const extents& shape, rank_id rank, std::uint32_t ranks, const visit_place& visit) {
  P{}.for_each_place(rank, shape, ranks, visit);
}

template <class P>
constexpr list_function lister_of() noexcept {
  if constexpr (lists_places<P>) {
    return &list_of_places<P>;
  } else {
    return nullptr;
  }
}

/// A request to all elements, without the handler and its arguments.
struct array_request {
  std::uint64_t first = 0;       ///< the array
  future_state* done = nullptr;  ///< completed when all elements are done; null: no caller waits
  std::uint32_t fold = 0;        ///< handler_id of the row that combines two results; 0: results are dropped
};

// The untyped operations; implemented in src/runtime/api/arrays.cpp, fill_array in array_making.cpp.
[[nodiscard]] std::uint64_t open_array(engine& core, const array_layout& layout);
/// The number of ranks with which the placement of a new array is asked: that of the job, but in some tests.
[[nodiscard]] std::uint32_t births_of(engine& core) noexcept;
/// Collective: makes the elements of this rank by `make`, which returns an object of the array's type, owned by the
/// array then. Throws on every rank when it throws on one; then there is no array. `make` is null for a sparse array.
void fill_array(engine& core, thread_context& thread, std::uint64_t first, std::uint32_t placement_mark,
                const std::function<void*(const index&)>& make);
void destroy_array(engine& core, thread_context& thread, std::uint64_t first);
/// `m` is the message for the handler; null ends all elements.
void post_to_array(engine& core, thread_context& thread, const array_request& request, message_ptr m);
void post_insert(engine& core, thread_context& thread, object_id element, const object_type& type, void* object,
                 future_state& done);
void post_erase(engine& core, thread_context& thread, object_id element, future_state& done);
[[nodiscard]] index index_of_element(engine& core, thread_context& thread, object_id element);

/// Packed results to combine, one after the other: the target that a row of fold_row is run on.
struct folding {
  std::vector<std::byte>& accumulated;
  std::span<const std::span<const std::byte>> next;
};

template <class R, class Op>
outcome fold(engine&, thread_context&, message_ptr&, void* target, handler_id) {
  auto& step = *static_cast<folding*>(target);
  expected<R, wire_error> first = unpack<R>(step.accumulated);
  if (!first) return outcome::malformed;
  std::optional<R> sum(std::move(*first));
  for (const std::span<const std::byte> each : step.next) {
    expected<R, wire_error> other = unpack<R>(each);
    if (!other) return outcome::malformed;
    sum.emplace(static_cast<R>(Op{}(std::move(*sum), std::move(*other))));
  }
  step.accumulated = nacre::pack(*sum);
  return outcome::done;
}

template <class R, class Op>
constexpr std::string_view fold_name() noexcept {
  return __PRETTY_FUNCTION__;
}

template <class R, class Op>
struct fold_identity {};

/// The row that combines results of type R by Op. Its target is a `folding`, so no message of a peer can run it.
template <class R, class Op>
inline handler_info fold_row{body_ops{}, &fold<R, Op>, fold_name<R, Op>(),           key_of<folding>(), false, false,
                             nullptr,    handler_id{}, &typeid(fold_identity<R, Op>)};
template <class R, class Op>
inline const handler_registration fold_enlisted{fold_row<R, Op>};

template <class R, class Op>
std::uint32_t fold_of() noexcept {
  static_cast<void>(&fold_enlisted<R, Op>);
  return fold_row<R, Op>.id.value();
}

}  // namespace detail
}  // namespace nacre
