// SPDX-License-Identifier: Apache-2.0
// How an unreliable message is made: a last argument of elements stays where it is.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include <nacre/address.hpp>
#include <nacre/archive.hpp>
#include <nacre/core.hpp>
#include <nacre/gather.hpp>
#include <nacre/handler.hpp>
#include <nacre/message.hpp>

namespace nacre::detail {

/// The elements of an argument for a parameter std::span<const T>, as bytes in their places.
template <class T, std::size_t Parts>
std::array<std::span<const std::byte>, Parts> places_of(const gathered<T, Parts>& elements) noexcept {
  std::array<std::span<const std::byte>, Parts> result;
  for (std::size_t i = 0; i < Parts; ++i) result[i] = std::as_bytes(elements.parts()[i]);
  return result;
}
template <class T>
std::array<std::span<const std::byte>, 1> places_of(std::span<const T> elements) noexcept {
  return {std::as_bytes(elements)};
}

/// The type of the last of several types.
template <class Tuple>
struct last_of {
  using type = void;
};
template <class... Ts>
requires(sizeof...(Ts) != 0) struct last_of<std::tuple<Ts...>> {
  using type = std::tuple_element_t<sizeof...(Ts) - 1, std::tuple<Ts...>>;
};

/// Whether the elements of the last of these arguments may stay where they are while the message leaves: the parameter
/// is a span of a type that travels as its bytes, and the argument already has such elements.
template <class Last, class Views, class Values>
inline constexpr bool stays_apart = false;
template <class Last, class Views, class Values>
requires is_span<typename last_of<Views>::type>
inline constexpr bool stays_apart<Last, Views, Values> =
    packs_at_once<Views> && !over_aligned<Values> &&
    (std::is_constructible_v<typename last_of<Views>::type, const std::decay_t<Last>&> ||
     fills<typename last_of<Views>::type, std::decay_t<Last>>);

/// Makes a message for F. Of its last argument everything is packed but the elements.
template <auto F, class... Args>
message_ptr make_front(const std::tuple<const Args&...>& arguments) {
  using views = typename traits<F>::views;
  using values = typename traits<F>::values;
  using last_view = typename last_of<views>::type;
  constexpr std::size_t last = sizeof...(Args) - 1;
  const auto& elements = std::get<last>(arguments);
  std::size_t count = 0;
  if constexpr (fills<last_view, std::decay_t<decltype(elements)>>) {
    count = elements.size();
  } else {
    count = last_view(elements).size();
  }
  message_ptr m;
  const auto pack = [&](auto& out) {
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      if constexpr (last != 0) {
        out(to_packable<std::tuple_element_t<Index, views>, std::tuple_element_t<Index, values>>(
            std::get<Index>(arguments))...);
      }
    }
    (std::make_index_sequence<last>{});
    out.write_length(count);
    if (count != 0) out.align(alignment_of<typename last_view::value_type>);
  };
  sizer measure;
  pack(measure);
  m = make_message(measure.size());
  writer out(std::span<std::byte>(m->body(), measure.size()));
  pack(out);
  m->header.handler = handler_of<F>().id.value();
  return m;
}

template <auto F, class Address, class... Args>
void send_unreliable(const Address& address, const message_caller& caller, const with& options, Args&&... arguments) {
  if constexpr (std::is_void_v<typename Address::object> && traits<F>::count == sizeof...(Args)) {
    const auto post = [&](message_ptr m, std::span<const std::span<const std::byte>> apart) {
      stamp<F>(*m, options);
      if constexpr (Address::count == target_count::one) {
        post_unreliable(caller.core, caller.thread, address.rank, std::move(m), apart);
      } else {
        post_unreliable(caller.core, caller.thread, to_all, std::move(m), apart);
      }
    };
    using views = typename traits<F>::views;
    using last_argument = typename last_of<std::tuple<std::decay_t<Args>...>>::type;
    if constexpr (stays_apart<last_argument, views, typename traits<F>::values>) {
      using last_view = typename last_of<views>::type;
      const std::tuple<const std::remove_reference_t<Args>&...> all(arguments...);
      const auto& elements = std::get<sizeof...(Args) - 1>(all);
      if constexpr (fills<last_view, last_argument>) {
        post(make_front<F>(all), places_of(elements));
      } else {
        post(make_front<F>(all), places_of(last_view(elements)));
      }
    } else {
      post(make_typed<F>(std::forward<Args>(arguments)...), {});
    }
  } else if constexpr (std::is_void_v<typename Address::object>) {
    static_cast<void>(make_typed<F>(std::forward<Args>(arguments)...));  // the compiler's sentence names the wrong one
  } else {
    refuse_unreliable("a message to an object or a group");
  }
}

}  // namespace nacre::detail
