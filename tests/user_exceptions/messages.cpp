// SPDX-License-Identifier: Apache-2.0
// Code of the user that is called for messages: arguments, results, handlers, errors of delivery.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "user_exceptions/cell.hpp"
#include "user_exceptions/places.hpp"

namespace nacre::tests {
namespace {

std::atomic<fuse> armed{fuse::none};

}  // namespace

void arm(fuse fuse) noexcept { armed = fuse; }
void burn(fuse fuse) {
  if (armed == fuse) boom();
}
void boom() { throw std::out_of_range("boom"); }
void say(std::string_view name) {
  std::printf("caught: %.*s\n", static_cast<int>(name.size()), name.data());
  std::fflush(stdout);
}

namespace {

/// An argument or a result that throws.
struct grenade {
  std::string ballast;  // so that it is no flat value
  fuse trigger = fuse::none;

  grenade() = default;
  explicit grenade(fuse fuse) : ballast(100, 'x'), trigger(fuse) {}
  grenade(const grenade& other) : ballast(other.ballast), trigger(other.trigger) {
    if (trigger == fuse::copy) boom();
  }
  grenade(grenade&&) = default;
  grenade& operator=(const grenade&) = default;
  grenade& operator=(grenade&&) = default;
  template <class Archive>
  void serialize(Archive& ar) {
    if constexpr (std::is_same_v<Archive, sizer>) {
      if (trigger == fuse::count) boom();
    } else if constexpr (std::is_same_v<Archive, writer>) {
      if (trigger == fuse::write) boom();
    }
    ar(ballast, trigger);
    if constexpr (std::is_same_v<Archive, reader>) {
      if (trigger == fuse::read) boom();
    }
  }
};

constexpr rank_id other{1};

int taken = 0;
void take(const grenade&) { ++taken; }
int taken_there() { return taken; }
int size_of_it(const grenade& g) { return static_cast<int>(g.ballast.size()); }
grenade give(fuse fuse) { return grenade(fuse); }
void throws_out_of_range() { boom(); }
void throws_a_number() { throw 7; }
void throws_bad_alloc() { throw std::bad_alloc(); }
task<int> throws_before(int mode) {
  if (mode == 0) boom();
  return [](int n) -> task<int> { co_return n; }(mode);
}
task<int> throws_inside(int mode) {
  if (mode == 0) boom();
  co_return mode;
}
task<grenade> gives_later(fuse fuse) { co_return grenade(fuse); }

/// What was caught has left nothing behind: messages to the same rank and to the same object still come, and the job
/// comes to rest.
void go_on(runtime& rt, mobile_ptr<cell> p = {}) {
  rt.send<take>(other, grenade());
  rt.wait_quiescence();
  if (rt.rank().value() != 0) return;
  const int present_count = rt.call<taken_there>(other).get();
  const int at_object = p.id().valid() ? rt.call<&cell::total>(p).get() : 2;
  std::printf("%s\n", present_count >= 2 && at_object == 2 ? "goes on" : "lost");
}

template <fuse Which>
void argument_of_send(runtime& rt) {
  const grenade g(Which);
  if (rt.rank().value() == 0) expect_throw([&] { rt.send<take>(other, g); });
  go_on(rt);
}
template <fuse Which>
void argument_of_call(runtime& rt) {
  const grenade g(Which);
  if (rt.rank().value() == 0) expect_throw([&] { static_cast<void>(rt.call<size_of_it>(other, g).get()); });
  go_on(rt);
}
void argument_to_all(runtime& rt) {
  if (rt.rank().value() == 0) expect_throw([&] { rt.send<take>(to_all, grenade(fuse::write)); });
  go_on(rt);
}
template <fuse Which>
void argument_of_member(runtime& rt) {
  const auto p = rt.broadcast(rt.create<cell>(), other);
  if (rt.rank().value() == 0) {
    rt.send<&cell::add>(p, std::string("a"), 1);
    expect_throw([&] { rt.send<&cell::take<grenade>>(p, grenade(Which)); });
    rt.send<&cell::add>(p, std::string("b"), 1);
  }
  go_on(rt, p);
}
void argument_of_member_call(runtime& rt) {
  const auto p = rt.broadcast(rt.create<cell>(), other);
  if (rt.rank().value() == 0) {
    rt.send<&cell::add>(p, std::string("a"), 1);
    expect_throw([&] { rt.call<&cell::take<grenade>>(p, grenade(fuse::write)).get(); });
    rt.send<&cell::add>(p, std::string("b"), 1);
  }
  go_on(rt, p);
}
void argument_to_nobody(runtime& rt) {
  if (rt.rank().value() == 0) {
    expect_throw([&] { static_cast<void>(rt.call<size_of_it>(rank_id{99}, grenade()).get()); });
    say("boom");
  }
  go_on(rt);
}
/// Sends from a handler, whose exception is the handler's.
void relay(context& ctx, fuse fuse) { ctx.send<take>(rank_id{0}, grenade(fuse)); }
void argument_in_handler(runtime& rt) {
  if (rt.rank().value() == 0) expect_throw([&] { rt.call<relay>(other, fuse::write).get(); });
  go_on(rt);
}
void argument_read(runtime& rt) {
  if (rt.rank().value() == 0) rt.send<take>(other, grenade(fuse::read));
}
void argument_read_by_member(runtime& rt) {
  const auto p = rt.broadcast(rt.create<cell>(), other);
  if (rt.rank().value() == 0) rt.send<&cell::take<grenade>>(p, grenade(fuse::read));
}
template <fuse Which>
void result(runtime& rt) {
  if (rt.rank().value() == 0) expect_throw([&] { static_cast<void>(rt.call<give>(other, Which).get()); });
  go_on(rt);
}
template <fuse Which>
void result_here(runtime& rt) {
  if (rt.rank().value() == 0) expect_throw([&] { static_cast<void>(rt.call<give>(rt.rank(), Which).get()); });
  go_on(rt);
}
void result_of_coroutine(runtime& rt) {
  if (rt.rank().value() == 0) {
    expect_throw([&] { static_cast<void>(rt.call<gives_later>(other, fuse::write).get()); });
  }
  go_on(rt);
}
template <auto F>
void called(runtime& rt) {
  if (rt.rank().value() == 0) expect_throw([&] { static_cast<void>(rt.call<F>(other, 0).get()); });
  go_on(rt);
}
template <auto F>
void sent(runtime& rt) {
  if (rt.rank().value() == 0) rt.send<F>(other, 0);
}
template <auto F>
void sent_alone(runtime& rt) {
  if (rt.rank().value() == 0) rt.send<F>(other);
}
template <auto F>
void member_called(runtime& rt) {
  const auto p = rt.broadcast(rt.create<cell>(), other);
  if (rt.rank().value() == 0) {
    rt.send<&cell::add>(p, std::string("a"), 1);
    expect_throw([&] { static_cast<void>(rt.call<F>(p, 0).get()); });
    rt.send<&cell::add>(p, std::string("b"), 1);
  }
  go_on(rt, p);
}
template <auto F>
void member_sent(runtime& rt) {
  const auto p = rt.broadcast(rt.create<cell>(), other);
  if (rt.rank().value() == 0) rt.send<F>(p, 0);
}

/// `from`: the rank that has made the object, so that another one reports or this one does itself.
template <std::uint32_t Home>
void error_of_delivery(runtime& rt) {
  rt.on_delivery_error([](const delivery_error&) { boom(); });
  const auto p = rt.broadcast(rt.create<cell>(), rank_id{Home});
  if (rt.rank().value() == Home) rt.destroy(p);
  rt.wait_quiescence();
  if (rt.rank().value() != 0) return;
  try {
    rt.send<&cell::add>(p, std::string("late"), 1);
  } catch (const std::exception&) {  // a main that catches and goes on
  }
}
void quiescence_handler(runtime& rt) {
  if (rt.rank().value() == 0) rt.on_quiescence<throws_out_of_range>();
}
void quiescence_argument(runtime& rt) {
  if (rt.rank().value() == 0) expect_throw([&] { rt.on_quiescence<take>(grenade(fuse::write)); });
  go_on(rt);
}
template <auto F>
void throwing_main(runtime& rt) {
  if (rt.rank().value() == 0) F();
}
void combining(runtime& rt) {
  static_cast<void>(rt.all_reduce(1, [](int a, int b) -> int { return a > 0 ? (boom(), 0) : b; }));
}
void broadcast_value(runtime& rt) { static_cast<void>(rt.broadcast(grenade(fuse::write), rank_id{0})); }

constexpr place rows[] = {
    {"send: an argument is copied", &argument_of_send<fuse::copy>, ends_as::caught, ""},
    {"send: an argument is measured", &argument_of_send<fuse::count>, ends_as::caught, "", "check_serialization"},
    {"send: an argument is packed", &argument_of_send<fuse::write>, ends_as::caught, "", "check_serialization"},
    {"call: an argument is copied", &argument_of_call<fuse::copy>, ends_as::caught, ""},
    {"call: an argument is packed", &argument_of_call<fuse::write>, ends_as::caught, "", "check_serialization"},
    {"call: an argument is unpacked", &argument_of_call<fuse::read>, ends_as::caught, "size_of_it",
     "check_serialization"},
    {"call: there is no such rank", &argument_to_nobody, ends_as::caught, "rank 99"},
    {"send to all: an argument is packed", &argument_to_all, ends_as::caught, ""},
    {"send to an object: an argument is measured", &argument_of_member<fuse::count>, ends_as::caught, "",
     "check_serialization"},
    {"send to an object: an argument is packed", &argument_of_member<fuse::write>, ends_as::caught, "",
     "check_serialization"},
    {"call of an object: an argument is packed", &argument_of_member_call, ends_as::caught, "", "check_serialization"},
    {"send in a handler: an argument is packed", &argument_in_handler, ends_as::caught, "relay", "check_serialization"},
    {"send: an argument is unpacked", &argument_read, ends_as::job, "take", "check_serialization"},
    {"send to an object: an argument is unpacked", &argument_read_by_member, ends_as::job, "(object 1:1)",
     "check_serialization"},
    {"call: the result is measured", &result<fuse::count>, ends_as::caught, "give", "check_serialization"},
    {"call: the result is packed", &result<fuse::write>, ends_as::caught, "give", "check_serialization"},
    {"call: the result is unpacked", &result<fuse::read>, ends_as::caught, "", "check_serialization"},
    {"call of the own rank: the result is packed", &result_here<fuse::write>, ends_as::caught, "give",
     "check_serialization"},
    {"call of the own rank: the result is unpacked", &result_here<fuse::read>, ends_as::caught, "",
     "check_serialization"},
    {"call: the result of a coroutine is packed", &result_of_coroutine, ends_as::caught, "gives_later",
     "check_serialization"},
    {"call: a handler throws before its coroutine exists", &called<throws_before>, ends_as::caught, "throws_before"},
    {"send: a handler throws before its coroutine exists", &sent<throws_before>, ends_as::job, "throws_before"},
    {"call: a coroutine throws", &called<throws_inside>, ends_as::caught, "throws_inside"},
    {"send: a coroutine throws", &sent<throws_inside>, ends_as::job, "throws_inside"},
    {"call of an object: it throws before its coroutine exists", &member_called<&cell::throws_before>, ends_as::caught,
     "throws_before"},
    {"call of an object: a reader throws before its coroutine exists", &member_called<&cell::reads_before>,
     ends_as::caught, "reads_before"},
    {"send to an object: it throws before its coroutine exists", &member_sent<&cell::throws_before>, ends_as::job,
     "(object 1:1)"},
    {"send to an object: it throws", &member_sent<&cell::throws>, ends_as::job, "(object 1:1)"},
    {"call of an object: it throws", &member_called<&cell::throws>, ends_as::caught, "(object 1:1)"},
    {"send: a handler throws what is no std::exception", &sent_alone<throws_a_number>, ends_as::job,
     "no std::exception"},
    {"send: a handler throws bad_alloc", &sent_alone<throws_bad_alloc>, ends_as::job, "std::bad_alloc"},
    {"main throws", &throwing_main<throws_out_of_range>, ends_as::job, "main threw: boom"},
    {"main throws what is no std::exception", &throwing_main<throws_a_number>, ends_as::job, "no std::exception"},
    {"on_delivery_error, told by the own rank", &error_of_delivery<0>, ends_as::job, "on_delivery_error"},
    {"on_delivery_error, told by another rank", &error_of_delivery<1>, ends_as::job, "on_delivery_error"},
    {"on_quiescence: the handler throws", &quiescence_handler, ends_as::job, "throws_out_of_range"},
    {"on_quiescence: an argument is packed", &quiescence_argument, ends_as::caught, "", "check_serialization"},
    {"a reduction combines", &combining, ends_as::job, ""},
    {"a broadcast is packed", &broadcast_value, ends_as::job, "main threw: boom"},
};

}  // namespace

std::span<const place> places_of_messages() noexcept { return rows; }

}  // namespace nacre::tests
