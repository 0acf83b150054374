// SPDX-License-Identifier: Apache-2.0
// Code of the user that is called for containers and keyed arrays: hash, comparison and copy of a key.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <type_traits>

#include <nacre/containers/counting_set.hpp>
#include <nacre/containers/map.hpp>
#include <nacre/containers/multimap.hpp>

#include "user_exceptions/cell.hpp"
#include "user_exceptions/places.hpp"

namespace nacre::tests {
namespace {

/// A key that is packed as its bytes.
struct flat_key {
  std::uint64_t number = 0;
  friend bool operator==(const flat_key& a, const flat_key& b) {
    burn(fuse::compare);
    return a.number == b.number;
  }
};

/// A key that is packed by its own function.
struct packed_key {
  std::string name;
  friend bool operator==(const packed_key& a, const packed_key& b) {
    burn(fuse::compare);
    return a.name == b.name;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(name);
  }
};

template <class K>
K key_of_number(std::uint64_t number) {
  if constexpr (std::is_same_v<K, flat_key>) {
    return {number};
  } else {
    return {std::string(40, 'k') + std::to_string(number)};
  }
}

}  // namespace
}  // namespace nacre::tests

template <>
struct std::hash<nacre::tests::flat_key> {
  std::size_t operator()(const nacre::tests::flat_key& key) const {
    nacre::tests::burn(nacre::tests::fuse::hash);
    return key.number;
  }
};
template <>
struct std::hash<nacre::tests::packed_key> {
  std::size_t operator()(const nacre::tests::packed_key& key) const {
    nacre::tests::burn(nacre::tests::fuse::hash);
    return std::hash<std::string>{}(key.name);
  }
};

namespace nacre::tests {
namespace {

constexpr std::uint64_t keys = 20;

int one() { return 1; }

void go_on(runtime& rt) {
  if (rt.rank().value() == 0) std::printf("goes on\n");
}

/// A map with some keys, made by rank 0.
template <class K>
void fill(runtime& rt, map<K, int>& table) {
  if (rt.rank().value() == 0) {
    for (std::uint64_t i = 0; i < keys; ++i) table.insert(key_of_number<K>(i), 1);
  }
  rt.wait_quiescence();
}

/// An operation on a key throws where the key is; the job ends.
template <class K, fuse Which>
void in_operation(runtime& rt) {
  map<K, int> all(rt);
  fill(rt, all);
  if (rt.rank().value() != 0) return;
  all.visit(key_of_number<K>(1), [](const K&, int&) { arm(Which); });
  for (std::uint64_t i = 0; i < keys; ++i) all.erase(key_of_number<K>(i));
}
template <class K, fuse Which>
void in_find(runtime& rt) {
  map<K, int> all(rt);
  fill(rt, all);
  arm(Which);
  rt.barrier();
  const auto look = [&] { static_cast<void>(all.find(key_of_number<K>(5))); };
  if (rt.rank().value() == 0) {
    expect_throw(look);
  } else {
    try {
      look();
    } catch (const std::exception&) {
    }
  }
  arm(fuse::none);
  rt.barrier();
  if (all.size() == keys) go_on(rt);
}
template <class K>
void in_insert(runtime& rt) {
  map<K, int> all(rt);
  fill(rt, all);
  if (rt.rank().value() == 0) {
    arm(fuse::hash);
    expect_throw([&] { all.insert(key_of_number<K>(keys), 1); });
    arm(fuse::none);
    all.insert(key_of_number<K>(keys), 1);
  }
  rt.wait_quiescence();
  if (all.size() == keys + 1) go_on(rt);
}
/// Counts wait on the rank that makes them, and a key is compared there.
void in_count(runtime& rt) {
  counting_set<flat_key> all(rt);
  rt.barrier();
  const auto insert = [&](int times) {
    for (int i = 0; i < times; ++i) all.insert({7});
  };
  if (rt.rank().value() == 0) {
    insert(40);
    arm(fuse::compare);
    expect_throw([&] { insert(40); });
    arm(fuse::none);
    insert(1);
  }
  rt.wait_quiescence();
  const std::uint64_t counted = all.count_all();
  if (counted > 40 && counted <= 81) go_on(rt);
}
/// The counts leave when main waits: what that throws comes to main, and a later wait sends them.
template <fuse Which>
void in_flush(runtime& rt) {
  counting_set<flat_key> all(rt);
  rt.barrier();
  if (rt.rank().value() == 0) {
    for (int i = 0; i < 100; ++i) all.insert({7});
    arm(Which);
    expect_throw([&] { static_cast<void>(rt.call<one>(rank_id{1}).get()); });
    arm(fuse::none);
  }
  rt.wait_quiescence();
  if (all.count_all() == 100) go_on(rt);
}
/// The counts of a handler leave when its worker has nothing to do.
void count_there(context& ctx, counting_set_handle<flat_key> all) {
  for (int i = 0; i < 100; ++i) all.insert(ctx, {7});
  arm(fuse::hash);
}
void in_flush_of_worker(runtime& rt) {
  counting_set<flat_key> all(rt);
  rt.barrier();
  if (rt.rank().value() == 0) rt.send<count_there>(rank_id{1}, all.handle());
}
template <fuse Which>
void in_keyed_array(runtime& rt) {
  const auto all = rt.create_array<cell>(keyed_by<packed_key>{});
  rt.barrier();
  if (rt.rank().value() == 0) {
    const auto key = key_of_number<packed_key>(1);
    rt.call<&cell::add>(all[key], std::string("a"), 1).get();
    arm(Which);
    expect_throw([&] { rt.call<&cell::add>(all[key], std::string("a"), 1).get(); });
    arm(fuse::none);
    rt.call<&cell::add>(all[key], std::string("a"), 1).get();
    if (rt.call<&cell::total>(all[key]).get() == 2) go_on(rt);
  }
}

constexpr place rows[] = {
    {"map: a flat key is compared", &in_operation<flat_key, fuse::compare>, ends_as::job, "erase_key"},
    {"map: a packed key is compared", &in_operation<packed_key, fuse::compare>, ends_as::job, "erase_key"},
    {"map: a flat key is hashed", &in_insert<flat_key>, ends_as::caught, ""},
    {"map: a packed key is hashed", &in_insert<packed_key>, ends_as::caught, ""},
    {"find: a flat key is compared", &in_find<flat_key, fuse::compare>, ends_as::caught, ""},
    {"find: a packed key is compared", &in_find<packed_key, fuse::compare>, ends_as::caught, ""},
    {"counting_set: a key is compared", &in_count, ends_as::caught, ""},
    {"counting_set: a key is compared when its counts leave", &in_flush<fuse::compare>, ends_as::caught, ""},
    {"counting_set: a key is hashed when its counts leave", &in_flush<fuse::hash>, ends_as::caught, ""},
    {"counting_set: a key is hashed when a worker's counts leave", &in_flush_of_worker, ends_as::job, ""},
    {"keyed array: a key is hashed", &in_keyed_array<fuse::hash>, ends_as::caught, ""},
    {"keyed array: a key is compared", &in_keyed_array<fuse::compare>, ends_as::caught, ""},
};

}  // namespace

std::span<const place> places_of_containers() noexcept { return rows; }

}  // namespace nacre::tests
