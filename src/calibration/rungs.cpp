// SPDX-License-Identifier: Apache-2.0
// Messages between ranks, asked and answered by handlers; rank 0 measures, and the last rank answers.
#include "calibration/rungs.hpp"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <span>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "calibration/control_rung.hpp"
#include "calibration/schedule.hpp"

namespace nacre::calibration {
namespace {

enum class way { poll_loop, worker, moved, object };

nacre::with how(way way) {
  return {.category = way == way::poll_loop ? nacre::category::communication : nacre::category::worker};
}

struct partner;

/// The measurement of rank 0. Set by its main before a barrier; then only its handlers use it, one at a time.
struct asker {
  way method = way::poll_loop;
  std::size_t bytes = 0;
  std::vector<char> payload;
  nacre::mobile_ptr<partner> own_partner, other;
  std::vector<nacre::mobile_ptr<partner>> others;  // if not empty, each message goes to the next of them
  std::size_t next_other = 0;
  int count = 0;  // messages there for each one back
  int trips = 0;  // of those, in a batch
  int trips_left = 0;
  int batches = 0;
  int batches_done = 0;
  double begin = 0;  // of the phase
  double start = 0;  // of the batch
  double best = 0;   // seconds of a batch
};

/// The state of the last rank, which answers.
struct answerer {
  way method = way::poll_loop;
  int count = 0;
  int seen = 0;
  nacre::mobile_ptr<partner> asker_object;
};

// Each is the state of one rank of this process: rank 0's main and handlers use the first, those of the last rank the
// second.
asker& here() {
  static asker state;
  return state;
}
answerer& there() {
  static answerer state;
  return state;
}

void give(nacre::context& ctx);
void begin_batch(nacre::context& ctx);
void take_small(nacre::context& ctx, std::uint64_t value);
void take(nacre::context& ctx, std::span<const char> payload);
void answered_small(nacre::context& ctx, std::uint64_t value);
void answered(nacre::context& ctx, std::span<const char> payload);
void take_moved(nacre::context& ctx, nacre::buffer payload);
void answered_moved(nacre::context& ctx, nacre::buffer payload);

/// These handlers as members of an object.
struct partner {
  std::uint64_t seen = 0;
  void take_small(nacre::context& ctx, std::uint64_t value) { calibration::take_small(ctx, value); }
  void take(nacre::context& ctx, std::span<const char> payload) { calibration::take(ctx, payload); }
  void answered_small(nacre::context& ctx, std::uint64_t value) { calibration::answered_small(ctx, value); }
  void answered(nacre::context& ctx, std::span<const char> payload) { calibration::answered(ctx, payload); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(seen);
  }
};

void give_one(nacre::context& ctx, asker& me, nacre::rank_id last) {
  const bool small = me.bytes <= sizeof(std::uint64_t);
  if (me.method == way::object) {
    const auto target = me.others.empty() ? me.other : me.others[me.next_other++ % me.others.size()];
    small ? ctx.send<&partner::take_small>(target, 1u)
          : ctx.send<&partner::take>(target, std::span<const char>(me.payload));
  } else if (small) {
    ctx.send<take_small>(how(me.method), last, 1u);
  } else if (me.method == way::moved) {
    ctx.send<take_moved>(how(me.method), last, nacre::buffer(me.bytes));  // not written anew, like the floors
  } else {
    ctx.send<take>(how(me.method), last, std::span<const char>(me.payload));
  }
}

void give(nacre::context& ctx) {
  const nacre::rank_id last{ctx.size() - 1};
  for (int k = 0; k < here().count; ++k) give_one(ctx, here(), last);
}

void begin_batch(nacre::context& ctx) {
  here().trips_left = here().trips;
  here().start = ctx.now();
  give(ctx);
}

/// True when this message is the last of its stream, so that an answer is due.
bool answer_due() {
  if (++there().seen < there().count) return false;
  there().seen = 0;
  return true;
}

void answer_small(nacre::context& ctx) {
  if (there().method == way::object) {
    ctx.send<&partner::answered_small>(there().asker_object, 1u);
  } else {
    ctx.send<answered_small>(how(there().method), nacre::rank_id{0}, 1u);
  }
}

void take_small(nacre::context& ctx, std::uint64_t) {
  if (answer_due()) answer_small(ctx);
}

void take(nacre::context& ctx, std::span<const char> payload) {
  if (!answer_due()) return;
  if (there().count > 1) {
    answer_small(ctx);
  } else if (there().method == way::object) {
    ctx.send<&partner::answered>(there().asker_object, payload);
  } else {
    ctx.send<answered>(how(there().method), nacre::rank_id{0}, payload);
  }
}

void take_moved(nacre::context& ctx, nacre::buffer payload) {
  if (!answer_due()) return;
  if (there().count > 1) return answer_small(ctx);
  ctx.send<answered_moved>(how(there().method), nacre::rank_id{0}, std::move(payload));
}

void answered_small(nacre::context& ctx, std::uint64_t) {
  asker& me = here();
  if (--me.trips_left > 0) return give(ctx);
  me.best = std::min(me.best, ctx.now() - me.start);
  ++me.batches_done;
  const bool is_late = me.batches_done >= batches_least && ctx.now() - me.begin > phase_seconds;
  if (me.batches_done < me.batches && !is_late) begin_batch(ctx);
}

void answered(nacre::context& ctx, std::span<const char>) { answered_small(ctx, 0); }
void answered_moved(nacre::context& ctx, nacre::buffer) { answered_small(ctx, 0); }

/// One phase, collective: all batches of round trips (`count` 1) or of streams. Returns the seconds of the fastest
/// batch.
double phase(nacre::runtime& rt, way way, std::size_t bytes, int count, int trips, int batches) {
  asker& me = here();
  if (rt.rank().value() == 0) {
    me.method = way;
    me.bytes = bytes;
    me.payload.assign(bytes, 'x');
    me.count = count;
    me.trips = trips;
    me.batches = batches;
    me.batches_done = 0;
    me.best = 1e9;
    me.begin = rt.now();
  }
  if (rt.rank().value() + 1 == rt.size()) {
    there().method = way;
    there().count = count;
    there().seen = 0;
  }
  rt.barrier();
  if (rt.rank().value() == 0) rt.send<begin_batch>(how(way), rt.rank());
  rt.wait_quiescence();
  return rt.rank().value() == 0 ? me.best : 0;
}

sample measure(nacre::runtime& rt, way way, std::size_t bytes) {
  sample result{.bytes = bytes};
  const int trips = trips_of(bytes);
  const int messages = streams_of(bytes) * stream_of(bytes);
  result.round_trip_seconds = phase(rt, way, bytes, 1, trips, batches_of(bytes)) / trips;
  result.one_way_seconds = phase(rt, way, bytes, stream_of(bytes), streams_of(bytes), batches_of(bytes)) / messages;
  return result;
}

/// Objects at both ends that know of each other.
void place_objects(nacre::runtime& rt) {
  const auto object = rt.create<partner>();
  const std::vector<nacre::mobile_ptr<partner>> all = rt.all_gather(object);
  if (rt.rank().value() == 0) {
    here().own_partner = object;
    here().other = all.back();
    here().others.clear();
  }
  if (rt.rank().value() + 1 == rt.size()) there().asker_object = all.front();
}

/// Rank 1 makes objects and moves them to rank 2; rank 0 knows only where they were made. Its first message to each is
/// forwarded by rank 1, which also tells it where the object is now, so that the second one goes straight there.
std::vector<nacre::mobile_ptr<partner>> scatter(nacre::runtime& rt, int count) {
  std::vector<nacre::mobile_ptr<partner>> moved;
  if (rt.rank().value() == 1) {
    for (int i = 0; i < count; ++i) {
      moved.push_back(rt.create<partner>());
      rt.migrate(moved.back(), nacre::rank_id{2});
    }
  }
  rt.wait_quiescence();
  return rt.broadcast(moved, nacre::rank_id{1});
}

void measure_forwarding(nacre::runtime& rt, std::size_t bytes, const listener& report) {
  sample forwarded{bytes, 1e9, 1e9}, direct{bytes, 1e9, 1e9};
  const int trips = std::min(trips_of(bytes), 100);
  const int streamed = std::min(stream_of(bytes), 200);
  const auto least = [](double& value, double seconds, int messages) { value = std::min(value, seconds / messages); };
  for (int batch = 0; batch < std::min(batches_of(bytes), 4); ++batch) {
    for (const bool streaming : {false, true}) {
      const int messages = streaming ? streamed : trips;
      const auto objects = scatter(rt, messages);
      if (rt.rank().value() == 0) {
        here().others = objects;
        here().next_other = 0;
      }
      for (sample* each : {&forwarded, &direct}) {
        const double seconds =
            streaming ? phase(rt, way::object, bytes, messages, 1, 1) : phase(rt, way::object, bytes, 1, messages, 1);
        least(streaming ? each->one_way_seconds : each->round_trip_seconds, seconds, messages);
      }
      if (rt.rank().value() == 1) std::for_each(objects.begin(), objects.end(), [&](auto each) { rt.destroy(each); });
      rt.wait_quiescence();
    }
  }
  if (rt.rank().value() != 0) return;
  report(rung::direct, direct);
  report(rung::forwarded, forwarded);
}

/// An object that answers another one: each message goes to an idle object, is scheduled and run.
struct neighbour {
  std::uint64_t seen = 0;
  void exchange(nacre::context& ctx, nacre::mobile_ptr<neighbour> other, std::uint64_t left) {
    ++seen;
    if (left != 0) ctx.send<&neighbour::exchange>(other, ctx.self<neighbour>(), left - 1);
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(seen);
  }
};

/// Processor time of the calling thread: what a message costs, whatever else the machine does.
double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

int climb(nacre::config configuration, const std::vector<std::size_t>& sizes,
          const std::function<bool(std::string_view)>& keep, const listener& report) {
  configuration.set("workers", "1");
  if (keep(rung::control)) register_control_rung();
  return nacre::run(configuration, [&](nacre::runtime& rt) {
    place_objects(rt);
    const bool first = rt.rank().value() == 0;
    for (const std::size_t bytes : sizes) {
      if (rt.size() == 3) {
        if (keep(rung::direct) || keep(rung::forwarded)) measure_forwarding(rt, bytes, report);
        continue;
      }
      if (bytes == sizeof(std::uint64_t) && keep(rung::control)) {
        const sample result = measure_control(rt);
        if (first) report(rung::control, result);
      }
      for (const auto& [name, method] :
           {std::pair{rung::poll_loop, way::poll_loop}, std::pair{rung::worker, way::worker},
            std::pair{rung::moved, way::moved}, std::pair{rung::object, way::object}}) {
        if (!keep(name) || (method == way::moved && bytes <= sizeof(std::uint64_t))) continue;
        const sample result = measure(rt, method, bytes);
        if (first) report(name, result);
      }
    }
  });
}

sample local_object_message() {
  constexpr std::uint64_t messages = 200'000;
  nacre::config configuration;
  configuration.set("workers", "1");
  configuration.set("progress", "shared");
  double seconds = 0;
  nacre::run(configuration, [&](nacre::runtime& rt) {
    const auto a = rt.create<neighbour>();
    const auto b = rt.create<neighbour>();
    rt.wait_quiescence();
    const double start = cpu_seconds();  // while main waits, its thread is the worker
    rt.send<&neighbour::exchange>(a, b, messages);
    rt.wait_quiescence();
    seconds = cpu_seconds() - start;
  });
  return {.bytes = 8, .round_trip_seconds = seconds / static_cast<double>(messages)};
}

}  // namespace nacre::calibration
