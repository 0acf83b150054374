// SPDX-License-Identifier: Apache-2.0
// What only mains do at random: they wait, and come to objects themselves.
#include <cstdint>
#include <type_traits>
#include <vector>

#include "campaign/actions.hpp"
#include "campaign/pointers.hpp"

namespace campaign {

void create_in_main(world& in, nacre::runtime& rt) {
  const std::uint32_t name = in.truth.new_object();
  in.truth.opened();
  const auto make = [&]<class T>(std::type_identity<T>) {
    return rt.create_on<T>(any_rank(in), new_cell(in, name, name % 5)).get().id();
  };
  const nacre::object_id object = with_type(in, name, make);
  in.truth.closed();
  in.truth.created(name, object);
}

void migrate_in_main(world& in, nacre::runtime& rt) {
  const std::uint32_t object = any_object(in);
  if (object >= in.truth.objects()) return;
  in.truth.opened();
  try {
    migrate(in, rt, object, any_rank(in)).get();
  } catch (const nacre::call_error&) {
    if (!in.truth.may_be_gone(object) && !in.truth.may_stay(object)) in.truth.violate("a living object would not move");
  }
  in.truth.closed();
}

void lock_in_main(world& in, nacre::runtime& rt, stream_id stream, std::uint32_t object) {
  const bool shared = chance(in, in.shared_percent);
  const std::uint64_t id = in.truth.lock_sent(stream, rt.rank(), object);
  const auto be_there = [&](const cell& held) {
    const stream_id inside = in.truth.began(id, held.name, shared, held.hash, rt.now());
    act(in, rt, inside);
  };
  const auto leave = [&](const cell& held) { in.truth.ended(id, held.name, shared, held.hash, rt.now()); };
  const std::uint64_t value = oracle::expected_value(id);
  try {
    with_pointer(in, object, [&](auto p) {
      if (shared) {
        rt.with_shared(p, [&](const cell& held) {
          be_there(held);
          leave(held);
        });
      } else {
        rt.with_exclusive(p, [&](cell& held) {
          be_there(held);
          held.hash = in.truth.next_hash(held.hash, id);
          leave(held);
        });
      }
    });
    in.truth.returned(id, &value);
  } catch (const nacre::call_error&) {
    in.truth.returned(id, nullptr);
  }
}

}  // namespace campaign
