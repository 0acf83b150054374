// SPDX-License-Identifier: Apache-2.0
// What do messages cost whose object moves on while they wait? Forwards and time of one, and how both grow.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

#include <program_options.hpp>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

namespace {

struct plan {
  std::uint64_t most = 40'000, least = 2'500;
  std::uint32_t every = 97;
  std::uint32_t charge_ns = 0;
  bool apart = false;
  /// How many ranks send; all, or half of them.
  [[nodiscard]] std::uint32_t senders(std::uint32_t ranks) const { return apart ? std::max(1U, ranks / 2) : ranks; }
};

/// Moves to the next rank from `first` on whenever it has run so many messages, and knows whether each sender's came in
/// order.
struct wanderer {
  std::vector<std::uint64_t> next;
  std::uint64_t ran = 0, wrong = 0;
  std::uint32_t every = 1, first = 0;

  void begin(std::uint32_t ranks, std::uint32_t moves_every, std::uint32_t source) {
    next.assign(ranks, 0);
    every = moves_every;
    first = source;
  }
  void take(nacre::context& ctx, std::uint32_t source, std::uint64_t number, std::uint32_t charge_ns) {
    if (next.at(source)++ != number) ++wrong;
    if (charge_ns != 0) ctx.charge(1e-9 * charge_ns);
    if (++ran % every != 0) return;
    const std::uint32_t new_value = ctx.rank().value() + 1;
    const nacre::rank_id target(new_value < ctx.size() ? std::max(new_value, first) : first);
    static_cast<void>(ctx.migrate(ctx.self<wanderer>(), target));
  }
  std::uint64_t answer() const { return wrong == 0 ? ran : 0; }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(next, ran, wrong, every, first);
  }
};

/// What one size cost, of all ranks together.
struct row {
  std::uint64_t each = 0, messages = 0, forwards = 0, carried = 0, moves = 0;
  double seconds = 0;
  bool exact = false;
};

nacre::rank_counters total(nacre::runtime& rt) {
  nacre::rank_counters sum = rt.counters();
  const auto add = [&](std::uint64_t& one) { one = rt.all_reduce(one, std::plus<>{}); };
  add(sum.forwards);
  add(sum.carried);
  add(sum.migrations_out);
  return sum;
}

row measure(nacre::runtime& rt, std::uint64_t each, const plan& plan) {
  const bool first = rt.rank().value() == 0;
  const auto object = rt.broadcast(first ? rt.create<wanderer>() : nacre::mobile_ptr<wanderer>(), nacre::rank_id(0));
  const std::uint32_t senders = plan.senders(rt.size()), visited = plan.apart && rt.size() > 1 ? senders : 0;
  if (first) rt.call<&wanderer::begin>(object, rt.size(), plan.every, visited).get();
  const nacre::rank_counters previous = total(rt);
  rt.barrier();
  const double begin = rt.now();
  for (std::uint64_t number = 0; number < each && rt.rank().value() < senders; ++number) {
    rt.send<&wanderer::take>(object, rt.rank().value(), number, plan.charge_ns);
  }
  rt.wait_quiescence();
  const double seconds = rt.now() - begin;
  const nacre::rank_counters last = total(rt);
  row match{each,
            each * senders,
            last.forwards - previous.forwards,
            last.carried - previous.carried,
            last.migrations_out - previous.migrations_out,
            seconds,
            false};
  if (first) {
    match.exact = rt.call<&wanderer::answer>(object).get() == match.messages;
    rt.destroy(object);
  }
  rt.wait_quiescence();
  return match;
}

/// The slope of log y over log x, by least squares: 1 is in proportion.
double exponent(const std::vector<row>& all, const std::function<double(const row&)>& y) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (const row& each : all) {
    const double lx = std::log(static_cast<double>(each.messages)), ly = std::log(std::max(y(each), 1e-9));
    n += 1;
    sx += lx;
    sy += ly;
    sxx += lx * lx;
    sxy += lx * ly;
  }
  return n < 2 ? 0 : (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

double forwards_of(const row& each) { return static_cast<double>(each.forwards) / static_cast<double>(each.messages); }

/// False: messages were lost, doubled or out of order, or forwards grow faster than messages.
bool report(const std::vector<row>& all, std::uint32_t ranks) {
  fmt::print("{} ranks\n   each rank   forwards  forwards/message  carried/message      moves   seconds\n", ranks);
  bool good = true;
  for (const row& each : all) {
    fmt::print("{:>12} {:>10} {:>17.2f} {:>16.2f} {:>10} {:>9.4f}{}\n", each.each, each.forwards, forwards_of(each),
               static_cast<double>(each.carried) / static_cast<double>(each.messages), each.moves, each.seconds,
               each.exact ? "" : "  WRONG");
    good = good && each.exact;
  }
  if (all.size() < 2) return good;
  const double steps = exponent(all, [](const row& each) { return static_cast<double>(each.forwards + each.carried); });
  fmt::print("exponents: forwards and carried {:.3f}, seconds {:.3f}\n", steps,
             exponent(all, [](const row& each) { return each.seconds; }));
  return good && steps <= 1.1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    nacre::config configuration = nacre::read_config(argc, argv);
    plan plan;
    nacre::program_options options(
        "chase",
        "Every rank sends to one object that moves to the next rank after so many messages. Counts how often "
        "messages are forwarded, and fits how that and the time grow with the messages.");
    options.footer("Exit code: 0; 1 when messages were lost or out of order, or cost more than in proportion.");
    options.add("--most", plan.most, "Messages of each rank, in the largest run").between(1u, 100'000'000u);
    options.add("--least", plan.least, "In the smallest; each run has twice as many as the one before")
        .between(1u, 100'000'000u);
    options.add("--every", plan.every, "Messages between two moves").between(1u, 1'000'000u);
    options.add("--apart", plan.apart,
                "One half of the ranks sends, and the object visits the other half: its own requests to move stand "
                "behind no message then");
    options.add("--charge", plan.charge_ns, "Virtual nanoseconds of a message").between(0u, 1'000'000u);
    if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
    if (!configuration.was_set("transport")) configuration.set("transport", "sim", nacre::setting_source::program);
    if (!configuration.was_set("ranks")) configuration.set("ranks", "5", nacre::setting_source::program);
    configuration.set("balancer", "none", nacre::setting_source::program);
    bool good = true;
    const int failed = nacre::run(configuration, [&](nacre::runtime& rt) {
      std::vector<row> all;
      for (std::uint64_t each = std::min(plan.least, plan.most); each <= plan.most; each *= 2) {
        all.push_back(measure(rt, each, plan));
      }
      if (rt.rank().value() == 0) good = report(all, rt.size());
    });
    return failed != 0 ? failed : good ? 0 : 1;
  } catch (const nacre::setup_error& error) {
    fmt::print(stderr, "chase: {}\n", error.what());
    return 2;
  }
}
