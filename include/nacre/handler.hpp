// SPDX-License-Identifier: Apache-2.0
// Typed handlers: turns a function pointer known at compile time into a row of the handler table, which messages name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <nacre/archive.hpp>
#include <nacre/archive/held_addresses.hpp>
#include <nacre/buffer.hpp>
#include <nacre/gather.hpp>
#include <nacre/lambda.hpp>
#include <nacre/message.hpp>
#include <nacre/signature.hpp>

namespace nacre {

class engine;
class thread_context;

namespace detail {

struct colocation_shape;

/// The result of running a message.
enum class outcome : std::uint8_t {
  done,      ///< ran; the message may be released
  malformed  ///< the bytes are not the arguments of this handler; nothing ran
};

/// The phase in which a handler failed.
enum class handler_phase : std::uint8_t { decoding, running };

/// One row of the handler table. It lives as long as the program or the library that holds it. `id` is assigned when
/// the first job starts that can know it. It is equal in every process of one binary with the same libraries, because
/// rows are numbered in the order of their names. Lambdas may share a name: their order is that of `identity`, and then
/// that of the files in the link of the program.
struct handler_info {
  body_ops ops;  ///< the arguments, while they are live values
  /// `target` is the object, the module, or null. The message stays the caller's, unless the handler keeps its memory,
  /// as a handler that takes a buffer does. Live values in the message have been moved from.
  outcome (*invoke)(engine&, thread_context&, message_ptr&, void* target, handler_id self);
  std::string_view name;
  const void* target_key;  ///< key_of the class that the handler is a member of; null for a free function
  bool shared = false;     ///< a const member function
  bool coroutine = false;  ///< returns a task
  const colocation_shape* colocation = nullptr;  ///< for a colocated function: the classes of its objects
  handler_id id{};
  const std::type_info* identity = nullptr;  ///< differs between handlers of one name
  handler_info* next = nullptr;              ///< link of the list that the table is made from
  /// Null, or for messages that their object keeps (next.hpp): the number by which they are asked for.
  std::uint64_t (*tag)(message&) = nullptr;
  bool takes_addresses = false;  ///< an argument holds_addresses
  /// target_key as the library that holds the row has it. In the table one key stands for a class in all libraries.
  const void* own_key = nullptr;
};

/// Adds a row to the list while static objects of the program or of a library are initialised, and takes it away when
/// they end. A job knows the rows that were there when it began.
class handler_registration {
 public:
  explicit handler_registration(handler_info& row) noexcept;
  handler_registration(const handler_registration&) = delete;
  handler_registration& operator=(const handler_registration&) = delete;
  ~handler_registration();

 private:
  handler_info& row_;
};

/// True for arguments that are simple, as body_ops::simple defines it.
template <class Values>
inline constexpr bool is_simple = false;
template <class... Ts>
inline constexpr bool is_simple<std::tuple<Ts...>> = ((flat<Ts> || (block<Ts> && !custom<Ts>)) && ...);

/// True for arguments that must lie at addresses at which a message cannot hold them. They are packed when the message
/// is made, and read where the handler finds them.
template <class Values>
inline constexpr bool over_aligned = alignof(Values) > archive_alignment;
/// True for values that a coroutine can keep: operator new makes its frame, and does not learn of their alignment.
template <class T>
inline constexpr bool aligned_in_frame = alignof(T) <= archive_alignment;
template <>
inline constexpr bool aligned_in_frame<void> = true;

/// The live values in the body of a message. Of those that are over_aligned only the table is used.
template <class Values>
struct body_of {
  static Values& values(message& m) noexcept { return *std::launder(reinterpret_cast<Values*>(m.body())); }
  static const Values& values(const message& m) noexcept {
    return *std::launder(reinterpret_cast<const Values*>(m.body()));
  }
  static std::size_t packed_size(const message& m) {
    return std::apply([](const auto&... v) { return nacre::packed_size(v...); }, values(m));
  }
  static void pack(message& m, writer& out) {
    std::apply([&](const auto&... v) { out(v...); }, values(m));
  }
  static void destroy(message& m) noexcept { std::destroy_at(&values(m)); }
  static constexpr auto adopt() noexcept -> message_ptr (*)(message&) {
    if constexpr (ends_with_buffer<Values>) {
      return [](message& m) { return adopt_buffer(values(m)); };
    } else {
      return nullptr;
    }
  }
  static constexpr body_ops ops{&packed_size, &pack, &destroy, false, adopt(), is_simple<Values>};
};

template <auto F>
constexpr std::string_view name_of() noexcept {
  if constexpr (stands_for_lambda<decltype(F)>) {
    return lambda_name<typename decltype(F)::closure_type>();
  } else if constexpr (requires { decltype(F)::handled; }) {
    return name_of<decltype(F)::handled>();
  } else {
    constexpr std::string_view whole = __PRETTY_FUNCTION__;
    return template_argument(whole, whole.find("F = ") + 4);
  }
}

/// The mangled name of this class tells apart handlers of equal name_of: lambdas of one function, and templates of such
/// lambdas.
template <auto F, class... T>
struct handler_identity {};

/// Its type_info identifies the class T, which need not be complete.
template <class T>
struct class_tag {};
template <class T>
constexpr const void* key_of() noexcept {
  if constexpr (std::is_void_v<T>) {
    return nullptr;
  } else {
    return &typeid(class_tag<T>);
  }
}
/// True where two keys, none of them null, are of one class. In one file they are one address; libraries whose symbols
/// are hidden have one each.
inline bool same_class(const void* a, const void* b) noexcept {
  return a == b || *static_cast<const std::type_info*>(a) == *static_cast<const std::type_info*>(b);
}

/// Runs F for one message; defined in invoke.hpp, where context is complete.
template <auto F, class T>
outcome invoke(engine& core, thread_context& thread, message_ptr& m, void* target, handler_id self);

/// The first argument of a message to a member that returns awaited, if it is a number; else 0.
template <auto F>
std::uint64_t tag_of(message& m) {
  using values = typename traits<F>::values;
  if constexpr (std::tuple_size_v<values> != 0) {
    using first = std::tuple_element_t<0, values>;
    if constexpr (std::is_integral_v<first>) {
      if (!m.packed()) return static_cast<std::uint64_t>(std::get<0>(body_of<values>::values(m)));
      // As its bytes, at the beginning; a peer may have sent a bool that is neither.
      std::conditional_t<std::is_same_v<first, bool>, std::uint8_t, first> number{};
      if (m.header.payload_bytes >= sizeof number) std::memcpy(&number, m.body(), sizeof number);
      return static_cast<std::uint64_t>(number);
    }
  }
  return 0;
}
template <auto F>
constexpr auto tag_function() noexcept -> std::uint64_t (*)(message&) {
  using shape = traits<F>;
  if constexpr (is_awaited<typename shape::result> && !std::is_void_v<typename shape::target>) return &tag_of<F>;
  return nullptr;
}

/// The row of F on targets of class T, which is F's own class or one derived from it; void for a free function.
template <auto F, class T>
inline handler_info handler_row{body_of<typename traits<F>::values>::ops,
                                &invoke<F, T>,
                                name_of<F>(),
                                key_of<T>(),
                                traits<F>::is_const,
                                task_value<typename traits<F>::result>::is_task,
                                nullptr,
                                handler_id{},
                                &typeid(handler_identity<F, T>),
                                nullptr,
                                tag_function<F>(),
                                holds_addresses<typename traits<F>::values>};
template <auto F, class T>
inline const handler_registration handler_enlisted{handler_row<F, T>};

/// Returns the row of F. A program that calls this function anywhere has F in the handler table.
template <auto F, class T = typename traits<F>::target>
const handler_info& handler_of() noexcept {
  static_cast<void>(&handler_enlisted<F, T>);
  return handler_row<F, T>;
}

/// An argument in the form that a message stores: the argument itself, or, for a span parameter, a copy of the
/// elements.
template <class Stored, class Arg>
decltype(auto) to_stored(Arg&& argument) {
  if constexpr (std::is_constructible_v<Stored, Arg&&>) {
    return std::forward<Arg>(argument);
  } else {
    constexpr bool elements = requires { Stored(std::begin(argument), std::end(argument)); };
    static_assert(elements, "an argument does not fit the parameter of the handler that stands in its place");
    if constexpr (elements) {
      return Stored(std::begin(argument), std::end(argument));
    } else {
      Stored (*const none)() = nullptr;  // never called
      return none();
    }
  }
}

/// True for arguments that are packed when the message is made, because packing costs no more than storing them; they
/// then need no work when the message leaves. These are flat arguments of at most 256 bytes together, and spans with
/// any flat arguments. The elements of a span are copied once, into the message, and the handler sees them there. Also
/// true for arguments that are over_aligned.
template <class Views>
inline constexpr bool packs_at_once = false;
template <class... Views>
inline constexpr bool packs_at_once<std::tuple<Views...>> = over_aligned<std::tuple<Views...>> ||
                                                            (((is_span<Views> || flat<Views>)&&...) &&
                                                             ((is_span<Views> || ...) || flat_sum<Views...>() <= 256));

/// True for a gathered argument of a parameter that is a span of such elements.
template <class Viewed, class Arg>
inline constexpr bool fills = false;
template <class T, std::size_t Parts>
inline constexpr bool fills<std::span<const T>, gathered<T, Parts>> = true;

/// An argument in the form that is packed: without a copy where its type permits.
template <class Viewed, class Stored, class Arg>
decltype(auto) to_packable(Arg&& argument) {
  if constexpr (std::is_same_v<Viewed, std::decay_t<Arg>> || fills<Viewed, std::decay_t<Arg>>) {
    return std::as_const(argument);
  } else if constexpr (std::is_constructible_v<Viewed, Arg&>) {
    return Viewed(argument);
  } else {
    return to_stored<Stored>(std::forward<Arg>(argument));
  }
}

/// Makes a message with packed arguments; make_typed uses it where packs_at_once.
template <class Views, class Values, class... Args>
message_ptr make_packed(Args&&... args) {
  return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    [[maybe_unused]] const std::tuple<
        decltype(to_packable<std::tuple_element_t<Index, Views>, std::tuple_element_t<Index, Values>>(
            std::forward<Args>(args)))...>
    parts(to_packable<std::tuple_element_t<Index, Views>, std::tuple_element_t<Index, Values>>(
        std::forward<Args>(args))...);
    const std::size_t bytes = nacre::packed_size(std::get<Index>(parts)...);
    message_ptr m = make_message(bytes);
    writer out(std::span<std::byte>(m->body(), bytes));
    out(std::get<Index>(parts)...);
    return m;
  }
  (std::index_sequence_for<Args...>{});
}

/// Makes a message for F on a T. It holds the arguments as live values, or packed.
template <auto F, class T = typename traits<F>::target, class... Args>
message_ptr make_typed(Args&&... args) {
  using values = typename traits<F>::values;
  using views = typename traits<F>::views;
  constexpr bool counted = sizeof...(Args) == traits<F>::count;
  static_assert(counted || !traits<F>::possible, "the handler takes another number of arguments");
  message_ptr m;
  if constexpr (traits<F>::possible && counted) {
    const handler_info& row = handler_of<F, T>();
    if constexpr (packs_at_once<views>) {
      m = make_packed<views, values>(std::forward<Args>(args)...);
    } else {
      m = make_message(sizeof(values));
      [&]<std::size_t... Index>(std::index_sequence<Index...>) {
        ::new (static_cast<void*>(m->body()))
            values(to_stored<std::tuple_element_t<Index, values>>(std::forward<Args>(args))...);
      }
      (std::index_sequence_for<Args...>{});
      m->ops = &row.ops;
    }
    m->header.handler = row.id.value();
  }
  return m;
}

}  // namespace detail
}  // namespace nacre
