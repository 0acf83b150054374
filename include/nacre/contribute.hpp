// SPDX-License-Identifier: Apache-2.0
// Contributions: reductions that the elements of an array start.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <nacre/array.hpp>
#include <nacre/next.hpp>
#include <nacre/operations.hpp>
#include <nacre/section.hpp>

namespace nacre {
namespace detail {

/// The receiver of the result of a step: a value that travels with the contributions.
struct contribution_target {
  enum class kind : std::uint8_t { object, rank, array };
  kind target_kind = kind::object;
  std::uint64_t name = 0;  ///< object_id, number of the rank, or first number of the array
};

/// Values of a step to combine, in their order: the target that a row of contribution_row is run on.
struct contribution_values {
  std::uint64_t step = 0;
  std::span<const std::span<const std::byte>> packed;  ///< at least one
  bool ends = false;                                   ///< the result is for the handler: make its message
  std::vector<std::byte> sum{};                        ///< the result, packed, unless `ends`
  message_ptr message{};                               ///< the message with the result, if `ends`
};

/// The type of the values that F gets the sum of.
template <auto F>
struct contributed {
  using values = typename traits<F>::values;
  static constexpr bool possible = std::tuple_size_v<values> == 2;
  static_assert(possible,
                "the handler that gets the result of a step is f(nacre::context&, std::uint64_t step, T sum), as a "
                "member of the object that it runs on or, for a rank, as a function");
  using type = std::tuple_element_t<possible ? 1 : 0, std::conditional_t<possible, values, std::tuple<int>>>;
};

template <auto F, class Target, class Op>
outcome combine_contributions(engine&, thread_context&, message_ptr&, void* target, handler_id) {
  using T = typename contributed<F>::type;
  auto& work = *static_cast<contribution_values*>(target);
  expected<T, wire_error> sum = unpack<T>(work.packed.front());
  if (!sum) return outcome::malformed;
  for (const std::span<const std::byte> each : work.packed.subspan(1)) {
    expected<T, wire_error> next = unpack<T>(each);
    if (!next) return outcome::malformed;
    *sum = static_cast<T>(Op{}(std::move(*sum), std::move(*next)));
  }
  if (!work.ends) {
    work.sum = nacre::pack(*sum);
    return outcome::done;
  }
  work.message = make_typed<F, Target>(work.step, std::move(*sum));
  if constexpr (!std::is_void_v<Target>) work.message->header.kind = message_kind::object;
  return outcome::done;
}

template <class Op>
constexpr std::string_view combining_name() noexcept {
  constexpr std::string_view whole = __PRETTY_FUNCTION__;
  return template_argument(whole, whole.find("Op = ") + 5);
}

/// The name of a contribution for people, such as "driver::on_sum by std::plus<void>".
template <auto F, class Op>
struct contribution_text {
  static constexpr std::string_view result = name_of<F>(), by = " by ", operation = combining_name<Op>();
  static constexpr auto letters = [] {
    std::array<char, result.size() + by.size() + operation.size()> all{};
    char* position = all.data();
    for (const std::string_view part : {result, by, operation}) {
      for (const char each : part) *position++ = each;
    }
    return all;
  }();
  static constexpr std::string_view text{letters.data(), letters.size()};
};

/// The mangled name of this class tells apart contributions that have the same name for people.
template <auto F, class Target, class Op>
struct contribution_identity {};

/// The row that combines the values of a step by Op and hands the result to F on a Target. Its own target is
/// contribution_values, so no message of a peer can run it.
template <auto F, class Target, class Op>
inline handler_info contribution_row{body_ops{},
                                     &combine_contributions<F, Target, Op>,
                                     contribution_text<F, Op>::text,
                                     key_of<contribution_values>(),
                                     false,
                                     false,
                                     nullptr,
                                     handler_id{},
                                     &typeid(contribution_identity<F, Target, Op>)};
template <auto F, class Target, class Op>
inline const handler_registration contribution_enlisted{contribution_row<F, Target, Op>};

// src/runtime/api/contributions.cpp
/// `section`: names no section if all elements of the array contribute.
struct contribution_step {
  section_ptr section;
  std::uint64_t step = 0;
};
struct contribution_rows {
  handler_id handler;   ///< of the result
  handler_id combines;  ///< see contribution_row
};
void contribute(engine& core, thread_context& thread, object_id element, const contribution_step& step,
                std::span<const std::byte> value, const contribution_rows& rows, const contribution_target& target);

}  // namespace detail

/// Operations of a handler that runs on an element of an array. A base class of `context`.
class element_operations : public operations {
 public:
  /// In a handler of an element: gives the element's value for a step. When every element of the array has given one,
  /// F runs with the step and with all values combined by Op: `void driver::on_sum(context&, std::uint64_t step, T)` on
  /// the object `target`, a free function on a rank, or a member function on every element of an array. T is the type
  /// of F's last parameter; the value is converted to it. Returns at once.
  ///
  /// The values are combined in the order of the places on each rank that is home of places, then rank by rank, as
  /// reduce does, wherever the elements are; so sums of floating-point numbers are the same in every run. Op must be
  /// associative and runs on any rank, so it has no members or captures.
  ///
  /// Steps may overlap and end in any order. Each F counts steps of its own, so that several reductions may have the
  /// number of one time step. Each element gives one value for a step, and all elements give the same Op and `target`;
  /// a number is used once for an F and an array. Violations throw usage_error or end the job, with a line that says
  /// what to write. A step is complete at the home of a place once the place has given a value or has no
  /// element: an element that ends before it contributes is not waited for, and its earlier values count; an element
  /// that is inserted takes part in the steps that its home has not completed, unless its place has given a value.
  /// Destroying the array drops incomplete steps, which is reported as a message that was not delivered. A step that
  /// lacks a value keeps the job from being quiet; the report of a deadlock tells how many are missing.
  template <auto F, class Value, class Op, class T>
  void contribute(std::uint64_t step, Value&& value, Op, mobile_ptr<T> target) {
    give<F, T, Op>({{}, step}, std::forward<Value>(value), object(target));
  }
  template <auto F, class Value, class Op>
  void contribute(std::uint64_t step, Value&& value, Op, rank_id target) {
    give<F, void, Op>({{}, step}, std::forward<Value>(value),
                      {detail::contribution_target::kind::rank, target.value()});
  }
  template <auto F, class Value, class Op, class T, class P>
  void contribute(std::uint64_t step, Value&& value, Op, const array_ptr<T, P>& array) {
    give<F, T, Op>({{}, step}, std::forward<Value>(value), {detail::contribution_target::kind::array, array.first()});
  }
  /// Gives the element's value for a step of a section (rt.create_section): the step is complete when every element of
  /// the section has given one. A section counts its own steps, so its numbers have nothing to do with those of the
  /// array and of other sections; an element may belong to any number of them. All else is as for the whole array. An
  /// element outside of the section is a usage_error, or ends the job with a line that names it.
  template <auto F, class Value, class Op, class T>
  void contribute(const section_ptr& section_ptr, std::uint64_t step, Value&& value, Op, mobile_ptr<T> target) {
    give<F, T, Op>(step_of(section_ptr, step), std::forward<Value>(value), object(target));
  }
  template <auto F, class Value, class Op>
  void contribute(const section_ptr& section_ptr, std::uint64_t step, Value&& value, Op, rank_id target) {
    give<F, void, Op>(step_of(section_ptr, step), std::forward<Value>(value),
                      {detail::contribution_target::kind::rank, target.value()});
  }
  template <auto F, class Value, class Op, class T, class P>
  void contribute(const section_ptr& section_ptr, std::uint64_t step, Value&& value, Op, const array_ptr<T, P>& array) {
    give<F, T, Op>(step_of(section_ptr, step), std::forward<Value>(value),
                   {detail::contribution_target::kind::array, array.first()});
  }
  /// Does not compile: the homes of the section's places must know it first.
  template <auto F, class T, class P, class... Args>
  void contribute(const section<T, P>&, Args&&...) {
    static_assert(!std::is_same_v<T, T>,
                  "contribute takes a nacre::section_ptr: write `auto s = rt.create_section(section).get();` once, "
                  "send s to the elements, and there ctx.contribute<&f>(s, step, value, op, to)");
  }

  /// In a coroutine handler of an object, which is no const member function: `co_await ctx.next<&cell::halo>(step)`
  /// waits for the next message to F whose first argument is `step`, runs F on the object, and has its result as value.
  /// F is a member function that returns nacre::awaited. Without an argument: the next message to an F whose first
  /// parameter is no integer. Each message is given once. While the coroutine waits, the object keeps what comes for
  /// such members; other messages, migration and the end of the object wait until the handler has ended. T: the class
  /// of the object, where F is a member of a base class.
  template <auto F, class T = typename detail::traits<F>::target>
  [[nodiscard]] detail::next_request<F, T> next(std::uint64_t step) const noexcept {
    using values = typename detail::traits<F>::values;
    if constexpr (std::tuple_size_v<values> == 0) {
      static_assert(std::tuple_size_v<values> != 0, "F has no parameter: write ctx.next<F>()");
    } else {
      static_assert(std::is_integral_v<std::tuple_element_t<0, values>>,
                    "next<F>(step) compares the first parameter of F with the step, so it is an integer");
    }
    return {step};
  }
  template <auto F, class T = typename detail::traits<F>::target>
  [[nodiscard]] detail::next_request<F, T> next() const noexcept {
    using values = typename detail::traits<F>::values;
    if constexpr (std::tuple_size_v<values> != 0) {
      static_assert(!std::is_integral_v<std::tuple_element_t<0, values>>,
                    "the first parameter of F is an integer, which says the step: write ctx.next<F>(step)");
    }
    return {0};
  }
  /// `co_await ctx.next_n<&cell::halo>(step, 4)` waits for 4 messages to F whose first argument is `step`, as `next`
  /// does for one message. F runs for each of them, once all have come or once a caller waits for the result of one.
  /// The value is the vector of the results in the order in which the messages came, or nothing if F has no result.
  /// Without the argument `step` it waits for any messages to F, as next() does.
  template <auto F, class T = typename detail::traits<F>::target>
  [[nodiscard]] detail::next_n_request<F, T> next_n(std::uint64_t step, std::size_t count) const noexcept {
    return {next<F, T>(step), count};
  }
  template <auto F, class T = typename detail::traits<F>::target>
  [[nodiscard]] detail::next_n_request<F, T> next_n(std::size_t count) const noexcept {
    return {next<F, T>(), count};
  }

 protected:
  using operations::operations;
  ~element_operations() = default;

 private:
  template <class T>
  static detail::contribution_target object(mobile_ptr<T> target) noexcept {
    return {detail::contribution_target::kind::object, target.id().value()};
  }
  static detail::contribution_step step_of(const section_ptr& section, std::uint64_t step) {
    if (!section)
      throw usage_error("contribute to a section_ptr that names nothing: take the one that rt.create_section returns");
    return {section, step};
  }
  template <auto F, class Target, class Op, class Value>
  void give(const detail::contribution_step& step, Value&& value,
            const detail::contribution_target& contribution_target) {
    using own = typename detail::traits<F>::target;
    constexpr bool fits = std::is_void_v<Target>
                              ? std::is_void_v<own>
                              : std::is_base_of_v<std::conditional_t<std::is_void_v<own>, int, own>,
                                                  std::conditional_t<std::is_void_v<Target>, int, Target>>;
    static_assert(
        fits,
        "the handler of a result is a member function of the object or of the elements that it runs on, and a "
        "free function if it runs on a rank");
    static_assert(std::is_empty_v<Op> && std::is_default_constructible_v<Op>,
                  "the operation of a contribution runs on any rank, so it has no members and no captures");
    if constexpr (fits && detail::contributed<F>::possible) {
      using T = typename detail::contributed<F>::type;
      static_cast<void>(&detail::contribution_enlisted<F, Target, Op>);
      const T stored(detail::to_stored<T>(std::forward<Value>(value)));
      const std::size_t bytes = nacre::packed_size(stored);
      alignas(archive_alignment) std::array<std::byte, 64> few;
      std::vector<std::byte> many(bytes > few.size() ? bytes : 0);
      const std::span<std::byte> memory = many.empty() ? std::span(few).first(bytes) : std::span(many);
      writer out(memory);
      out(stored);
      const detail::contribution_rows rows{detail::handler_of<F, Target>().id,
                                           detail::contribution_row<F, Target, Op>.id};
      detail::contribute(*core_, *thread_, acting_, step, memory, rows, contribution_target);
    }
  }
};

}  // namespace nacre
