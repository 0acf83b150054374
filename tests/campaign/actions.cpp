// SPDX-License-Identifier: Apache-2.0
// What can be done at random.
#include "campaign/actions.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "campaign/arrays.hpp"
#include "campaign/colocations.hpp"
#include "campaign/pointers.hpp"

namespace campaign {
namespace {

void create_here(world& in, nacre::operations& op) {
  const std::uint32_t name = in.truth.new_object();
  const auto make = [&]<class T>(std::type_identity<T>) { return op.create<T>(new_cell(in, name, name % 7)).id(); };
  in.truth.created(name, with_type(in, name, make));
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

void glance(nacre::context& ctx, std::uint64_t key, std::uint64_t id) {
  world& in = world::of(key);
  in.truth.began_on_rank(id, ctx.rank());
  if (chance(in, 30)) ctx.charge(in.truth.random.uniform() * in.charge_max);
  in.truth.ended_on_rank(id);
}

nacre::task<void> wait_for_migration(world& in, nacre::future<void> moved, std::uint32_t object) {
  in.truth.opened();
  try {
    co_await std::move(moved);
  } catch (const nacre::call_error&) {
    if (!in.truth.may_be_gone(object) && !in.truth.may_stay(object)) in.truth.violate("a living object would not move");
  }
  in.truth.closed();
}

template <class T>
nacre::task<void> create_somewhere(world& in, nacre::context& ctx, std::uint32_t name) {
  const cell model = new_cell(in, name, name % 9);
  const auto result = co_await ctx.create_on<T>(any_rank(in), model);
  in.truth.created(name, result.id());
}

nacre::task<void> roam(nacre::context& ctx, std::uint64_t key, std::uint64_t id) {
  world& in = world::of(key);
  const stream_id stream = in.truth.began_on_rank(id, ctx.rank());
  for (std::uint64_t rounds = 1 + in.truth.random.below(3); rounds != 0 && spend(in); --rounds) {
    if (chance(in, in.memory_percent)) {
      pending_transfer begun = begin_transfer(in, ctx);
      co_await finish(in, std::move(begun));
    }
    if (chance(in, in.array_percent)) {
      if (auto asked = ask_all(in, ctx, stream)) co_await finish(in, std::move(*asked));
    }
    if (chance(in, in.colocate_percent)) {
      if (auto asked = ask_colocation(in, ctx, stream)) co_await finish(in, std::move(*asked));
    }
    const std::uint32_t object = any_object(in);
    switch (in.truth.random.below(4)) {
      case 0: {
        const std::uint32_t name = in.truth.new_object();
        co_await with_type(in, name,
                           [&]<class T>(std::type_identity<T>) { return create_somewhere<T>(in, ctx, name); });
        break;
      }
      case 1:
        if (object < in.truth.objects()) {
          co_await wait_for_migration(in, migrate(in, ctx, object, any_rank(in)), object);
        }
        break;
      default:
        if (object < in.truth.objects()) {
          pending_call asked = ask(in, ctx, stream, object);
          co_await finish(in, std::move(asked));
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
  with_pointer(in, object, [&](auto p) { op.send<F>(p, id, std::move(args)...); });
}

template <auto F>
void call_and_forget(world& in, nacre::operations& op, stream_id stream, std::uint32_t object) {
  const std::uint64_t id = in.truth.sent(posted::abandoned, stream, op.rank(), object, name_of<F>);
  with_pointer(in, object, [&](auto p) { static_cast<void>(op.call<F>(p, id)); });
}

template <auto F>
pending_call call(world& in, nacre::operations& op, stream_id stream, std::uint32_t object) {
  const std::uint64_t id = in.truth.sent(posted::awaited, stream, op.rank(), object, name_of<F>);
  return {id, with_pointer(in, object, [&](auto p) { return op.call<F>(p, id); })};
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
      const std::uint64_t id = in.truth.sent_to_rank(stream, nacre::rank_id(rank), oracle::runner::several);
      if (rank == 0) first = id;
    }
    return op.send<&visit_all>(nacre::to_all, in.key(), first);
  }
  const nacre::rank_id target = any_rank(in);
  if (chance(in, 30)) {
    const std::uint64_t id = in.truth.sent_to_rank(stream, target, oracle::runner::poll_loop);
    return op.send<&visit_shortly>(nacre::with{.category = nacre::category::communication}, target, in.key(), id);
  }
  const bool ordered = op.workers() == 1 && target != op.rank() && !in.newest_first;
  const auto function = ordered ? oracle::runner::only_worker : oracle::runner::several;
  if (chance(in, 10)) {  // whole bundles that are for workers only
    for (std::uint64_t burst = 10 + in.truth.random.below(50); burst != 0; --burst) {
      op.send<&glance>(target, in.key(), in.truth.sent_to_rank(stream, target, function));
    }
    return;
  }
  const std::uint64_t id = in.truth.sent_to_rank(stream, target, function);
  if (chance(in, in.coroutine_percent)) return op.send<&roam>(target, in.key(), id);
  op.send<&visit>(target, in.key(), id);
}

void one_action(world& in, nacre::operations& op, stream_id stream) {
  const std::uint32_t object = any_object(in);
  if (object >= in.truth.objects() || chance(in, 3)) {
    return create_here(in, op);
  }
  if (chance(in, in.array_percent)) return use_array(in, op, stream);
  if (chance(in, in.colocate_percent)) return colocate_some(in, op, stream);
  if (chance(in, in.migrate_percent)) {
    static_cast<void>(migrate(in, op, object, any_rank(in)));
  } else if (chance(in, in.destroy_percent)) {
    if (!may_destroy(in, object)) return;
    in.truth.destroy_sent(stream, op.rank(), object);
    with_pointer(in, object, [&](auto p) { op.destroy(p); });
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

void returned(world& in, const pending_call& asked, const std::uint64_t* value) {
  if (asked.of_colocation) return in.truth.colocation_returned(asked.id, value);
  in.truth.returned(asked.id, value);
}

}  // namespace

nacre::rank_id any_rank(world& in) {
  return nacre::rank_id(static_cast<std::uint32_t>(in.truth.random.below(in.ranks)));
}

bool chance(world& in, std::uint32_t percent) { return in.truth.random.below(100) < percent; }

nacre::future<void> migrate(world& in, nacre::operations& op, std::uint32_t object, nacre::rank_id target) {
  return with_pointer(in, object, [&](auto p) { return op.migrate(p, target); });
}

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
  const std::uint32_t target = in.truth.target_of(object);
  return in.truth.id_of(target).valid() ? target : count;
}

void act(world& in, nacre::operations& op, stream_id stream) {
  for (std::uint64_t actions = in.truth.random.below(in.fan_out + 1); actions != 0 && spend(in); --actions) {
    one_action(in, op, stream);
  }
}

void crowd_in_main(world& in, nacre::runtime& rt, stream_id stream) {
  const std::uint32_t object = any_object(in);
  if (object >= in.truth.objects()) return;
  for (std::uint32_t left = in.crowd; left != 0; --left) message_to_object(in, rt, stream, object);
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

nacre::task<void> finish(world& in, pending_call asked) {
  try {
    const std::uint64_t value = co_await std::move(asked.value);
    returned(in, asked, &value);
  } catch (const nacre::call_error&) {
    returned(in, asked, nullptr);
  }
}

void finish_in_main(world& in, pending_call asked) {
  try {
    const std::uint64_t value = asked.value.get();
    returned(in, asked, &value);
  } catch (const nacre::call_error&) {
    returned(in, asked, nullptr);
  }
}

}  // namespace campaign
