// SPDX-License-Identifier: Apache-2.0
// Serialization: turns values into bytes for another rank and back, in the idiom of cereal.
//
// A class of the program is packable when it has one of
//
//   template <class Archive> void serialize(Archive& ar) { ar(every, member); }      // reads and writes
//   template <class Archive> void save(Archive& ar) const;  template <class Archive> void load(Archive& ar);
//
// as members (private ones with `friend class nacre::archive_access;`) or as free functions that take the value as
// their second parameter and are found by argument-dependent lookup. A trivially copyable class without them is packed
// as its bytes: padding is included, bools inside are not checked, and an address inside is told on arrival only where
// an aggregate has a pointer among its first members. Give a class that has any of these a `serialize`. Std types of
// packable types are packable, adaptors and atomics among them. Pointers and references are not. std::unique_ptr and
// std::shared_ptr are packed by value, so two shared_ptr to one object arrive as two objects. What they own keeps its
// derived class if nacre::polymorphic lists it. A type that is read needs a default constructor or an `explicit
// T(nacre::deserialize_tag)`.
//
// Format (little-endian, without type information: both sides must be the same program; see docs/protocols/wire.md):
//
//   bool                      1 byte, 0 or 1
//   number, enum, trivial T   its bytes, unaligned; an enum E with a free `bool wire_valid(E)` is checked on reading
//   empty class               nothing
//   pair, tuple, array        the elements one after the other
//   length                    4 bytes; 0xffffffff means that 8 bytes with the true length follow
//   string, vector<trivial>   length, zero bytes up to the alignment of T (16 at most) in the payload, the elements
//   span, string_view         as string and vector<trivial>; read as a view into the payload
//   other containers          length, elements; an element that packs to nothing is followed by a zero byte
//   vector<bool>, bitset<N>   length (vector only), eight bits a byte, lowest first, the rest zero
//   optional, unique_ptr,     1 byte, 0 or 1, then the value if 1
//   shared_ptr
//   owner of a listed base    1 byte, 0 or the place of the class in its list from 1 on, then the object
//   variant                   1 byte, the index of the alternative, then its value
#pragma once

#include <bit>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <nacre/archive/load.hpp>
#include <nacre/archive/writer.hpp>
#include <nacre/expected.hpp>

namespace nacre {

static_assert(std::endian::native == std::endian::little, "nacre's wire format is little-endian, as its hosts are");
static_assert(sizeof(void*) == 8, "nacre needs a 64-bit machine: addresses and lengths have 64 bits");

/// Returns the number of bytes that `values` pack to, one behind the other.
template <class... Ts>
[[nodiscard]] std::size_t packed_size(const Ts&... values) {
  sizer count;
  count(values...);
  return count.size();
}

/// Packs `values` one behind the other: pack(a, b) gives the same bytes as pack(std::tuple(a, b)).
template <class... Ts>
[[nodiscard]] std::vector<std::byte> pack(const Ts&... values) {
  std::vector<std::byte> bytes(packed_size(values...));
  writer writer{std::span<std::byte>(bytes)};
  writer(values...);
  return bytes;
}

/// Reads one T that fills `bytes` exactly, else returns the error. Several values are read as a std::tuple. Views in T
/// point into `bytes`.
template <class T>
[[nodiscard]] expected<T, wire_error> unpack(std::span<const std::byte> bytes) {
  reader reader{bytes};
  T value = detail::blank<T>();
  reader(value);
  if (!reader.finish()) return unexpected(reader.error());
  return expected<T, wire_error>(std::move(value));
}

}  // namespace nacre
