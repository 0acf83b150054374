// SPDX-License-Identifier: Apache-2.0
// Each figure is the time of one thread at work. A rank that is to receive is kept busy until all is there, so that
// waiting is no part of it.
#include "calibration/runtime_costs.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <utility>
#include <vector>

namespace nacre::calibration {
namespace {

constexpr std::uint64_t burst = 128;  // messages
constexpr std::uint32_t large_bytes = 32768, crowd = 32;
constexpr double long_enough = 2e-3;  // for a burst to be sent and to arrive

double thread_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

void spin(double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds) continue;
}

/// Is kept busy, and measures from then on.
struct meter {
  double begin_ns = 0, end_ns = 0;
  std::uint64_t heard = 0;

  void begin(double busy_seconds) {
    spin(busy_seconds);
    heard = 0;
    begin_ns = thread_ns();
  }
  void hear(std::uint64_t) {
    if (++heard == burst) end_ns = thread_ns();
  }
  void end() { end_ns = thread_ns(); }
  double spent() const { return end_ns - begin_ns; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(begin_ns, end_ns, heard);
  }
};

/// Hears, elsewhere.
struct hearer {
  std::uint64_t heard = 0;
  void hear(std::uint64_t) { ++heard; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(heard);
  }
};

struct cargo {
  std::vector<std::byte> body{};
  void grow(std::uint32_t bytes) { body.resize(bytes); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(body);
  }
};

/// Does what is measured, in handlers, so that one thread does nothing else.
struct actor {
  double begin_ns = 0, end_ns = 0;

  void send_burst(context& ctx, mobile_ptr<meter> watch, double busy_seconds) {
    ctx.send<&meter::begin>(watch, busy_seconds);
    spin(busy_seconds / 4);
    begin_ns = thread_ns();
    for (std::uint64_t n = 0; n < burst; ++n) ctx.send<&meter::hear>(watch, n);
    end_ns = thread_ns();
  }
  void send_past(context& ctx, mobile_ptr<meter> watch, mobile_ptr<hearer> object) {
    ctx.send<&meter::begin>(watch, long_enough);
    spin(long_enough / 4);
    for (std::uint64_t n = 0; n < burst; ++n) ctx.send<&hearer::hear>(object, n);
    ctx.send<&meter::end>(watch);
  }
  void move_out(context& ctx, mobile_ptr<meter> watch, const std::vector<mobile_ptr<cargo>>& all) {
    ctx.send<&meter::begin>(watch, long_enough);
    spin(long_enough / 4);
    for (const mobile_ptr<cargo> each : all) static_cast<void>(ctx.migrate(each, rank_id(1)));
    ctx.send<&actor::moved_out>(ctx.self<actor>(), watch);
    begin_ns = thread_ns();
  }
  void moved_out(context& ctx, mobile_ptr<meter> watch) {
    end_ns = thread_ns();
    ctx.send<&meter::end>(watch);
  }
  double spent() const { return end_ns - begin_ns; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(begin_ns, end_ns);
  }
};

/// A time that one round in ten does not exceed. Others that compute on this machine make rounds longer, since they use
/// its caches, and never shorter.
double low_decile(std::vector<double> values) {
  const std::size_t place = values.size() / 10;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(place), values.end());
  return values[place];
}

/// Returns the low deciles of both figures that `round` returns, over all rounds.
template <class Round>
std::pair<double, double> middle(int rounds, std::uint64_t units, Round&& round) {
  std::vector<double> first, second;
  for (int n = 0; n < rounds; ++n) {
    const auto [one, other] = round();
    first.push_back(one / static_cast<double>(units));
    second.push_back(other / static_cast<double>(units));
  }
  return {low_decile(first), low_decile(second)};
}

/// Only rank 0 acts. The others' mains wait for quiescence as often, in which their threads are the workers.
class stage {
 public:
  stage(runtime& rt, int rounds) : rt_(rt), rounds_(rounds) {
    if (!first()) return;
    act_ = rt.create<actor>();
    near_meter_ = rt.create<meter>();
    far_meter_ = rt.create_on<meter>(rank_id(1)).get();
    hearer_ = rt.create_on<hearer>(rank_id(1)).get();
    rt.migrate(hearer_, rank_id(2)).get();
  }
  [[nodiscard]] bool first() const { return rt_.rank() == rank_id(0); }

  std::pair<double, double> messages(bool local) {
    return middle(rounds_, burst, [&] {
      const mobile_ptr<meter> watch = local ? near_meter_ : far_meter_;
      rt_.send<&actor::send_burst>(act_, watch, local ? 0.0 : long_enough);
      rt_.wait_quiescence();
      return std::pair(rt_.call<&actor::spent>(act_).get(), rt_.call<&meter::spent>(watch).get());
    });
  }
  double passing_on() {
    return middle(rounds_, burst,
                  [&] {
                    rt_.send<&actor::send_past>(act_, far_meter_, hearer_);
                    rt_.wait_quiescence();
                    return std::pair(0.0, rt_.call<&meter::spent>(far_meter_).get());
                  })
        .second;
  }
  std::pair<double, double> moves(std::uint32_t bytes) {
    return middle(rounds_, crowd, [&] {
      std::vector<mobile_ptr<cargo>> all(crowd);
      for (auto& each : all) {
        each = rt_.create<cargo>();
        rt_.send<&cargo::grow>(each, bytes);
      }
      rt_.wait_quiescence();
      rt_.send<&actor::move_out>(act_, far_meter_, all);
      rt_.wait_quiescence();
      for (const auto each : all) rt_.destroy(each);
      return std::pair(rt_.call<&actor::spent>(act_).get(), rt_.call<&meter::spent>(far_meter_).get());
    });
  }
  double creation() {
    return middle(rounds_, burst,
                  [&] {
                    std::vector<mobile_ptr<hearer>> all(burst);
                    const double begin = thread_ns();
                    for (auto& each : all) each = rt_.create<hearer>();
                    const double spent = thread_ns() - begin;
                    for (const auto each : all) rt_.destroy(each);
                    rt_.wait_quiescence();
                    return std::pair(spent, 0.0);
                  })
        .first;
  }

 private:
  runtime& rt_;
  int rounds_;
  mobile_ptr<actor> act_{};
  mobile_ptr<meter> near_meter_{}, far_meter_{};
  mobile_ptr<hearer> hearer_{};
};

}  // namespace

std::vector<std::string> cost_job_options() {
  return {"--nacre.workers=1",       "--nacre.spin=10ms",
          "--nacre.progress=shared", "--nacre.aggregate=off",
          "--nacre.balancer=none",   "--nacre.progress_patience=0us",
          "--nacre.scheduler=fifo",  "--nacre.location=lazy_forwarding"};
}

void measure_costs(runtime& rt, int rounds, const std::function<void(const std::string& name, double ns)>& tell) {
  stage all(rt, rounds);
  if (!all.first()) return;
  const auto [send_local, dispatch] = all.messages(true);
  tell("send_local", send_local);
  tell("dispatch", dispatch);
  const auto [send, receive] = all.messages(false);
  tell("send", send);
  tell("receive_and_dispatch", receive);
  tell("receive_and_send_on", all.passing_on());
  const auto [small_out, small_in] = all.moves(64);
  tell("small_out", small_out);
  tell("small_in", small_in);
  const auto [large_out, large_in] = all.moves(large_bytes);
  tell("large_out", large_out);
  tell("large_in", large_in);
  tell("create", all.creation());
}

cost_rows rows_of(const std::map<std::string, double>& measured, double idle_message_ns) {
  const auto function = [&](const char* name) { return measured.at(name); };
  const double receive = function("receive_and_dispatch") - function("dispatch");
  const double item = idle_message_ns - function("send_local") - function("dispatch");
  const auto speed = [&](double more_ns) {
    return more_ns > 0 ? std::to_string(large_bytes / more_ns) : std::string("0");
  };
  return {{"sim.cost.send_local", duration_text(function("send_local"))},
          {"sim.cost.dispatch", duration_text(function("dispatch"))},
          {"sim.cost.send", duration_text(function("send"))},
          {"sim.cost.receive", duration_text(receive)},
          {"sim.cost.item", duration_text(item)},
          {"sim.cost.forward", duration_text(function("receive_and_send_on") - receive - function("send"))},
          {"sim.cost.move_out", duration_text(function("small_out") - item - function("send"))},
          // The rank that asked is told, and so is the home, which here is the same.
          {"sim.cost.move_in", duration_text(function("small_in") - receive - 2 * function("send"))},
          {"sim.cost.pack", speed(function("large_out") - function("small_out"))},
          {"sim.cost.unpack", speed(function("large_in") - function("small_in"))},
          {"sim.cost.create", duration_text(function("create"))}};
}

}  // namespace nacre::calibration
