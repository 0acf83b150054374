// SPDX-License-Identifier: Apache-2.0
// What can be done at random.
#include "campaign/actions.hpp"

#include <string_view>
#include <utility>

namespace campaign {
namespace {

nacre::rank_id any_rank(world& in) {
  return nacre::rank_id(static_cast<std::uint32_t>(in.truth.random.below(in.ranks)));
}

bool chance(world& in, std::uint32_t percent) { return in.truth.random.below(100) < percent; }

nacre::mobile_ptr<cell> pointer(world& in, std::uint32_t object) {
  return nacre::mobile_ptr<cell>(in.truth.id_of(object));
}

template <auto F>
constexpr std::string_view name_of = nacre::detail::name_of<F>();

/// Handlers on a rank: one for each category, and a coroutine that asks and moves and waits.
void visit(nacre::context& ctx, std::uint64_t key, std::uint64_t id) {
  world& in = world::of(key);
  const stream_id stream = in.truth.began_on_rank(id, ctx.rank());
  act(in, ctx, stream);
  in.truth.ended_on_rank(id);
}

void visit_all(nacre::context& ctx, std::uint64_t key, std::uint64_t first) {
  visit(ctx, key, first + ctx.rank().value());
}

void visit_shortly(nacre::context& ctx, std::uint64_t key, std::uint64_t id) {
  world& in = world::of(key);
  in.truth.began_on_rank(id, ctx.rank());
  in.truth.ended_on_rank(id);
}

nacre::task<void> wait_for_migration(world& in, nacre::future<void> moved, std::uint32_t object) {
  in.truth.opened();
  try {
    co_await std::move(moved);
  } catch (const nacre::call_error&) {
    if (!in.truth.destroy_posted(object) && !cell::refuses(object)) in.truth.violate("a living object would not move");
  }
  in.truth.closed();
}

nacre::task<void> roam(nacre::context& ctx, std::uint64_t key, std::uint64_t id) {
  world& in = world::of(key);
  const stream_id stream = in.truth.began_on_rank(id, ctx.rank());
  for (std::uint64_t rounds = 1 + in.truth.random.below(3); rounds != 0 && spend(in); --rounds) {
    if (chance(in, in.memory_percent)) {
      pending_transfer begun = begin_transfer(in, ctx);
      co_await settle(in, std::move(begun));
    }
    const std::uint32_t object = any_object(in);
    switch (in.truth.random.below(4)) {
      case 0: {
        const std::uint32_t name = in.truth.new_object();
        std::vector<std::uint32_t> ballast(name % 9, name);
        const auto made = co_await ctx.create_on<cell>(any_rank(in), key, name, 0u, std::move(ballast));
        in.truth.created(name, made.id());
        break;
      }
      case 1:
        if (object < in.truth.objects()) {
          co_await wait_for_migration(in, ctx.migrate(pointer(in, object), any_rank(in)), object);
        }
        break;
      default:
        if (object < in.truth.objects()) {
          pending_call asked = ask(in, ctx, stream, object);
          co_await settle(in, std::move(asked));
        }
    }
  }
  act(in, ctx, stream);
  in.truth.ended_on_rank(id);
}

std::vector<std::uint32_t> some_numbers(world& in, std::uint64_t first) {
  std::vector<std::uint32_t> numbers(in.truth.random.below(in.truth.random.below(16) == 0 ? 2000 : 20));
  for (std::size_t index = 0; index < numbers.size(); ++index)
    numbers[index] = static_cast<std::uint32_t>(index + first);
  return numbers;
}

template <auto F, class... Args>
void send(world& in, nacre::operations& op, stream_id stream, std::uint32_t object, Args... args) {
  const std::uint64_t id = in.truth.sent(posted::one_way, stream, op.rank(), object, name_of<F>);
  op.send<F>(pointer(in, object), id, std::move(args)...);
}

template <auto F>
void call_and_forget(world& in, nacre::operations& op, stream_id stream, std::uint32_t object) {
  const std::uint64_t id = in.truth.sent(posted::abandoned, stream, op.rank(), object, name_of<F>);
  static_cast<void>(op.call<F>(pointer(in, object), id));
}

template <auto F>
pending_call call(world& in, nacre::operations& op, stream_id stream, std::uint32_t object) {
  const std::uint64_t id = in.truth.sent(posted::awaited, stream, op.rank(), object, name_of<F>);
  return {id, op.call<F>(pointer(in, object), id)};
}

void message_to_object(world& in, nacre::operations& op, stream_id stream, std::uint32_t object) {
  if (chance(in, in.coroutine_percent)) {
    if (chance(in, in.shared_percent)) return send<&cell::watch>(in, op, stream, object);
    return send<&cell::walk>(in, op, stream, object);
  }
  if (chance(in, in.shared_percent)) {
    if (chance(in, 20)) return call_and_forget<&cell::look>(in, op, stream, object);
    return send<&cell::peek>(in, op, stream, object);
  }
  switch (in.truth.random.below(5)) {
    case 0:
      return call_and_forget<&cell::change>(in, op, stream, object);
    case 1:
    case 2:
      // The oracle gives the next message the next number, which `prod` expects in its argument.
      return send<&cell::prod>(in, op, stream, object, some_numbers(in, in.truth.messages() + 1));
    default:
      return send<&cell::poke>(in, op, stream, object, some_numbers(in, 0));
  }
}

void message_to_rank(world& in, nacre::operations& op, stream_id stream) {
  if (chance(in, 10)) {
    std::uint64_t first = 0;  // every rank's copy is a message of its own; they are numbered in the order of the ranks
    for (std::uint32_t rank = 0; rank < in.ranks; ++rank) {
      const std::uint64_t id = in.truth.sent_to_rank(stream, nacre::rank_id(rank), false);
      if (rank == 0) first = id;
    }
    return op.send<&visit_all>(nacre::to_all, in.key(), first);
  }
  const nacre::rank_id to = any_rank(in);
  if (chance(in, 30)) {
    const std::uint64_t id = in.truth.sent_to_rank(stream, to, true);
    return op.send<&visit_shortly>(nacre::with{.category = nacre::category::communication}, to, in.key(), id);
  }
  const std::uint64_t id = in.truth.sent_to_rank(stream, to, false);
  if (chance(in, in.coroutine_percent)) return op.send<&roam>(to, in.key(), id);
  op.send<&visit>(to, in.key(), id);
}

void one_action(world& in, nacre::operations& op, stream_id stream) {
  const std::uint32_t object = any_object(in);
  if (object >= in.truth.objects() || chance(in, 3)) {
    const std::uint32_t name = in.truth.new_object();
    in.truth.created(name, op.create<cell>(in.key(), name, 0u, std::vector<std::uint32_t>(name % 7)).id());
    return;
  }
  if (chance(in, in.migrate_percent)) {
    static_cast<void>(op.migrate(pointer(in, object), any_rank(in)));
  } else if (chance(in, in.destroy_percent)) {
    in.truth.destroy_sent(stream, op.rank(), object);
    op.destroy(pointer(in, object));
  } else if (chance(in, in.memory_percent)) {
    use_memory(in, op);
  } else if (chance(in, 15)) {
    message_to_rank(in, op, stream);
  } else {
    // Bursts to one object are what order and access are about.
    for (std::uint64_t burst = 1 + in.truth.random.below(4); burst != 0 && spend(in); --burst) {
      message_to_object(in, op, stream, object);
    }
  }
}

}  // namespace

bool spend(world& in) {
  if (in.messages_left == 0) return false;
  --in.messages_left;
  return true;
}

std::uint32_t any_object(world& in) {
  if (in.truth.objects() == 0) return 0;
  // Young objects and a few favourites get most of the traffic.
  const std::uint32_t count = in.truth.objects();
  const auto object = static_cast<std::uint32_t>(chance(in, 50) ? in.truth.random.below(count < 3 ? count : 3)
                                                                : in.truth.random.below(count));
  return in.truth.id_of(object).valid() ? object : count;
}

void act(world& in, nacre::operations& op, stream_id stream) {
  for (std::uint64_t actions = in.truth.random.below(in.fan_out + 1); actions != 0 && spend(in); --actions) {
    one_action(in, op, stream);
  }
}

pending_call ask(world& in, nacre::operations& op, stream_id stream, std::uint32_t object) {
  switch (in.truth.random.below(4)) {
    case 0:
      return call<&cell::look>(in, op, stream, object);
    case 1:
      return call<&cell::walk>(in, op, stream, object);
    case 2:
      return call<&cell::watch>(in, op, stream, object);
    default:
      return call<&cell::change>(in, op, stream, object);
  }
}

nacre::task<void> settle(world& in, pending_call asked) {
  try {
    const std::uint64_t value = co_await std::move(asked.value);
    in.truth.returned(asked.id, &value);
  } catch (const nacre::call_error&) {
    in.truth.returned(asked.id, nullptr);
  }
}

void settle_in_main(world& in, pending_call asked) {
  try {
    const std::uint64_t value = asked.value.get();
    in.truth.returned(asked.id, &value);
  } catch (const nacre::call_error&) {
    in.truth.returned(asked.id, nullptr);
  }
}

void create_in_main(world& in, nacre::runtime& rt) {
  const std::uint32_t name = in.truth.new_object();
  in.truth.opened();
  const auto made = rt.create_on<cell>(any_rank(in), in.key(), name, 0u, std::vector<std::uint32_t>(name % 5)).get();
  in.truth.closed();
  in.truth.created(name, made.id());
}

void migrate_in_main(world& in, nacre::runtime& rt) {
  const std::uint32_t object = any_object(in);
  if (object >= in.truth.objects()) return;
  in.truth.opened();
  try {
    rt.migrate(pointer(in, object), any_rank(in)).get();
  } catch (const nacre::call_error&) {
    if (!in.truth.destroy_posted(object) && !cell::refuses(object)) in.truth.violate("a living object would not move");
  }
  in.truth.closed();
}

void lock_in_main(world& in, nacre::runtime& rt, stream_id stream, std::uint32_t object) {
  if (cell::refuses(object)) return;
  const bool shared = chance(in, in.shared_percent);
  const std::uint64_t id = in.truth.sent(posted::awaited, stream, rt.rank(), object, "lock");
  const auto be_there = [&](const std::uint64_t& hash) {
    const stream_id inside = in.truth.began(id, object, shared, hash, rt.now());
    act(in, rt, inside);
  };
  const auto leave = [&](const std::uint64_t& hash) { in.truth.ended(id, object, shared, hash, rt.now()); };
  const std::uint64_t value = oracle::expected_value(id);
  try {
    if (shared) {
      rt.with_shared(pointer(in, object), [&](const cell& held) {
        be_there(held.hash);
        leave(held.hash);
      });
    } else {
      rt.with_exclusive(pointer(in, object), [&](cell& held) {
        be_there(held.hash);
        held.hash = in.truth.next_hash(held.hash, id);
        leave(held.hash);
      });
    }
    in.truth.returned(id, &value);
  } catch (const nacre::call_error&) {
    in.truth.returned(id, nullptr);
  }
}

}  // namespace campaign
