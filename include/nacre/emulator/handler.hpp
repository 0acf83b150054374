// SPDX-License-Identifier: Apache-2.0
// Handlers and states of emulated nodes: rows of two tables that the linker collects.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <nacre/archive.hpp>
#include <nacre/emulated_machine.hpp>
#include <nacre/emulator/task.hpp>
#include <nacre/handler.hpp>

namespace nacre {

class emulated_node;

namespace detail {

/// The payload of a message between nodes: the arguments, one behind the other, without padding between them.
template <class... P>
struct packet_of {
  static constexpr std::size_t bytes = (std::size_t{0} + ... + sizeof(P));
  static constexpr std::size_t words = (bytes + 7) / 8;
  static_assert((std::is_trivially_copyable_v<P> && ...),
                "an argument of a node's handler is trivially copyable, because it travels in a packet");
  static_assert(bytes <= packet_bytes_max,
                "the arguments of a node's handler fit one packet of 128 bytes: split larger data");
};

/// The signature of a node's handler.
template <class Signature>
struct emulated_signature {
  static_assert(!std::is_same_v<Signature, Signature>,
                "a node's handler is a function void f(nacre::emulated_node& here, arguments...)");
};
template <class R, class... P>
struct emulated_signature<R (*)(emulated_node&, P...)> {
  static_assert(std::is_void_v<R> || std::is_same_v<R, emulated_task>,
                "a node's handler returns void, or nacre::emulated_task if it waits");
  using packet = packet_of<std::decay_t<P>...>;
  static constexpr bool is_coroutine = std::is_same_v<R, emulated_task>;
  static constexpr std::size_t count = sizeof...(P);

  template <class... Args>
  static void pack(std::array<std::uint64_t, packet::words>& values, Args&&... args) {
    static_assert(sizeof...(Args) == sizeof...(P), "the node's handler takes another number of arguments");
    static_assert((std::is_convertible_v<Args, std::decay_t<P>> && ...),
                  "an argument does not fit the parameter of the node's handler that stands in its place");
    [[maybe_unused]] std::byte* position = reinterpret_cast<std::byte*>(values.data());
    (pack_one<std::decay_t<P>>(position, std::forward<Args>(args)), ...);
  }
  template <auto F>
  static R run(emulated_node& node, const std::byte* payload) {
    return [&]<std::size_t... Index>(std::index_sequence<Index...>)->R {
      return F(node, get<std::decay_t<P>>(payload + offset<Index>())...);
    }
    (std::make_index_sequence<sizeof...(P)>());
  }

 private:
  template <class T, class Arg>
  static void pack_one(std::byte*& position, Arg&& argument) {
    const T value = static_cast<T>(std::forward<Arg>(argument));
    std::memcpy(position, &value, sizeof(T));
    position += sizeof(T);
  }
  template <class T>
  static T get(const std::byte* source) noexcept {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), source, sizeof(T));
    return std::bit_cast<T>(bytes);
  }
  template <std::size_t Index>
  static constexpr std::size_t offset() noexcept {
    constexpr std::array<std::size_t, sizeof...(P) + 1> sizes{sizeof(std::decay_t<P>)...};
    std::size_t sum = 0;
    for (std::size_t k = 0; k < Index; ++k) sum += sizes[k];
    return sum;
  }
};
template <class R, class... P>
struct emulated_signature<R (*)(emulated_node&, P...) noexcept> : emulated_signature<R (*)(emulated_node&, P...)> {};

/// One row of the table of nodes' handlers. It lives for ever. `id` is assigned when the first emulation starts, in the
/// order of names, so it is equal in all processes of one binary.
struct emulated_handler {
  void (*run)(emulated_node&, const std::byte* payload);  ///< null for a coroutine
  emulated_task (*start)(emulated_node&, const std::byte* payload);
  std::string_view name;
  std::uint16_t payload_words = 0;
  std::uint16_t payload_bytes = 0;
  std::uint16_t id = 0;
  emulated_handler* next = nullptr;
};
/// Lists a row while static objects are initialised, and takes it away when they end, as handler_registration does.
class emulated_registration {
 public:
  explicit emulated_registration(emulated_handler& row) noexcept;
  emulated_registration(const emulated_registration&) = delete;
  emulated_registration& operator=(const emulated_registration&) = delete;
  ~emulated_registration();

 private:
  emulated_handler& row_;
};

template <auto F>
constexpr emulated_handler make_emulated_row() noexcept {
  using signature = emulated_signature<decltype(F)>;
  emulated_handler row{nullptr, nullptr, name_of<F>(), signature::packet::words, signature::packet::bytes};
  if constexpr (signature::is_coroutine) {
    row.start = &signature::template run<F>;
  } else {
    row.run = &signature::template run<F>;
  }
  return row;
}
template <auto F>
inline emulated_handler emulated_row = make_emulated_row<F>();
template <auto F>
inline const emulated_registration emulated_enlisted{emulated_row<F>};
/// Returns the row of F. A program that calls this function anywhere has F in the table.
template <auto F>
const emulated_handler& emulated_handler_of() noexcept {
  static_cast<void>(&emulated_enlisted<F>);
  return emulated_row<F>;
}

/// One row of the table of the types that nodes keep as their states.
struct emulated_state {
  void (*make)(void* position);
  void (*destroy)(void*) noexcept;     ///< leaves the memory
  void (*pack)(const void*, writer&);  ///< null when the type cannot be packed: its block stays on its rank
  void (*unpack)(void*, reader&);
  std::string_view name;
  std::uint32_t bytes = 0;  ///< of a value
  std::uint32_t id = 0;
  emulated_state* next = nullptr;
};
class emulated_state_registration {
 public:
  explicit emulated_state_registration(emulated_state& row) noexcept;
  emulated_state_registration(const emulated_state_registration&) = delete;
  emulated_state_registration& operator=(const emulated_state_registration&) = delete;
  ~emulated_state_registration();

 private:
  emulated_state& row_;
};
template <class T>
constexpr std::string_view state_name() noexcept {
  constexpr std::string_view whole = __PRETTY_FUNCTION__;
  constexpr std::size_t begin = whole.find("T = ") + 4;
  return whole.substr(begin, whole.find_first_of(";]", begin) - begin);
}
template <class T>
constexpr emulated_state make_state_row() noexcept {
  static_assert(alignof(T) <= 64, "the state of a node begins at a line of the cache at best");
  emulated_state row{[](void* position) { ::new (position) T(); },
                     [](void* value) noexcept { static_cast<T*>(value)->~T(); },
                     nullptr,
                     nullptr,
                     state_name<T>(),
                     sizeof(T)};
  if constexpr (serializable<T>) {
    row.pack = [](const void* value, writer& out) { out(*static_cast<const T*>(value)); };
    row.unpack = [](void* value, reader& in) { in(*static_cast<T*>(value)); };
  }
  return row;
}
template <class T>
inline emulated_state state_row = make_state_row<T>();
template <class T>
inline const emulated_state_registration state_enlisted{state_row<T>};
template <class T>
const emulated_state& state_row_of() noexcept {
  static_cast<void>(&state_enlisted<T>);
  return state_row<T>;
}

}  // namespace detail
}  // namespace nacre
