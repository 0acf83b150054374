// SPDX-License-Identifier: Apache-2.0
// What the handlers of the random program do.
#include "campaign/program.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "campaign/actions.hpp"
#include "campaign/arrays.hpp"
#include "campaign/pointers.hpp"

namespace campaign {
namespace {

/// Brackets one run of a handler for the oracle.
class run {
 public:
  static constexpr std::uint64_t for_all = 0;  // the number of a message that arrays have a record of

  run(world& in, nacre::context& ctx, std::uint64_t id, std::uint32_t object, bool shared, const std::uint64_t& hash)
      : in_(in),
        ctx_(ctx),
        id_(id),
        object_(object),
        shared_(shared),
        hash_(hash),
        stream_(id != for_all ? in.truth.began(id, object, shared, hash, ctx.now())
                              : in.truth.began_for_all(object, shared, hash, ctx.now())) {}
  run(const run&) = delete;
  run& operator=(const run&) = delete;
  ~run() { in_.truth.ended(id_, object_, shared_, hash_, ctx_.now()); }
  [[nodiscard]] stream_id stream() const noexcept { return stream_; }

 private:
  world& in_;
  nacre::context& ctx_;
  std::uint64_t id_;
  std::uint32_t object_;
  bool shared_;
  const std::uint64_t& hash_;
  stream_id stream_;
};

void work_a_little(world& in, nacre::context& ctx) {
  if (in.truth.random.below(3) == 0) ctx.charge(in.truth.random.uniform() * in.charge_max);
}

std::uint32_t echo(std::uint32_t number) { return number; }

/// Awaits calls on objects of later names only, so that waiting makes no circle; on ranks, where the object may be
/// brought together with any of them.
nacre::task<void> ask_later_ones(world& in, nacre::context& ctx, std::uint32_t name, stream_id stream) {
  if (in.colocate_percent != 0 && is_plain(in, name)) {
    const nacre::rank_id any(static_cast<std::uint32_t>(in.truth.random.below(in.ranks)));
    if (co_await ctx.call<&echo>(any, name) != name) in.truth.violate("a call has another value");
    co_return;
  }
  for (std::uint64_t rounds = in.truth.random.below(3); rounds != 0; --rounds) {
    const std::uint32_t later = name + 1 + static_cast<std::uint32_t>(in.truth.random.below(4));
    if (later >= in.truth.objects() || !in.truth.id_of(later).valid() || !spend(in)) co_return;
    pending_call asked = ask(in, ctx, stream, later);
    co_await finish(in, std::move(asked));
  }
}

}  // namespace

void cell::poke(nacre::context& ctx, std::uint64_t id, std::vector<std::uint32_t> more) {
  const run run(in(), ctx, id, name, false, hash);
  ballast = std::move(more);
  act(in(), ctx, run.stream());
  work_a_little(in(), ctx);
  act(in(), ctx, run.stream());
  hash = in().truth.next_hash(hash, id);
}

void cell::prod(nacre::context& ctx, std::uint64_t id, std::span<const std::uint32_t> more) {
  const run run(in(), ctx, id, name, false, hash);
  for (std::size_t index = 0; index < more.size(); ++index) {
    if (more[index] != index + id) in().truth.violate("an argument of message " + std::to_string(id) + " has changed");
  }
  work_a_little(in(), ctx);
  act(in(), ctx, run.stream());
  hash = in().truth.next_hash(hash, id);
}

void cell::peek(nacre::context& ctx, std::uint64_t id) const {
  const run run(in(), ctx, id, name, true, hash);
  work_a_little(in(), ctx);
  act(in(), ctx, run.stream());
}

std::uint64_t cell::change(nacre::context& ctx, std::uint64_t id) {
  const run run(in(), ctx, id, name, false, hash);
  work_a_little(in(), ctx);
  hash = in().truth.next_hash(hash, id);
  return oracle::expected_value(id);
}

std::uint64_t cell::look(nacre::context& ctx, std::uint64_t id) const {
  const run run(in(), ctx, id, name, true, hash);
  work_a_little(in(), ctx);
  return oracle::expected_value(id);
}

nacre::task<std::uint64_t> cell::walk(nacre::context& ctx, std::uint64_t id) {
  const run run(in(), ctx, id, name, false, hash);
  work_a_little(in(), ctx);
  hash = in().truth.next_hash(hash, id);
  const std::uint64_t mine = hash;
  co_await ask_later_ones(in(), ctx, name, run.stream());
  if (hash != mine)
    in().truth.violate("state: an exclusive coroutine was interrupted, at message " + std::to_string(id));
  act(in(), ctx, run.stream());
  co_return oracle::expected_value(id);
}

nacre::task<std::uint64_t> cell::watch(nacre::context& ctx, std::uint64_t id) const {
  const run run(in(), ctx, id, name, true, hash);
  co_await ask_later_ones(in(), ctx, name, run.stream());
  work_a_little(in(), ctx);
  act(in(), ctx, run.stream());
  co_return oracle::expected_value(id);
}

void cell::hear(nacre::context& ctx, std::uint64_t number, std::uint32_t array) {
  const run run(in(), ctx, run::for_all, name, false, hash);
  in().arrays[array].record.heard(name, number);
  work_a_little(in(), ctx);
  act(in(), ctx, run.stream());
  if (number % 4 == 0)
    ctx.migrate(ctx.self<cell>(), nacre::rank_id(static_cast<std::uint32_t>((number + name) % ctx.size())));
  hash = in().truth.next_hash(hash, number);
}

std::uint64_t cell::heed(nacre::context& ctx, std::uint64_t number, std::uint32_t array) const {
  const run run(in(), ctx, run::for_all, name, true, hash);
  in().arrays[array].record.heard(name, number);
  work_a_little(in(), ctx);
  return 1;
}

nacre::task<std::uint64_t> cell::ponder(nacre::context& ctx, std::uint64_t number, std::uint32_t array) {
  const run run(in(), ctx, run::for_all, name, false, hash);
  in().arrays[array].record.heard(name, number);
  hash = in().truth.next_hash(hash, number);
  co_await ask_later_ones(in(), ctx, name, run.stream());
  co_return 1;
}

}  // namespace campaign
