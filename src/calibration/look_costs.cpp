// SPDX-License-Identifier: Apache-2.0
// A balancer that looks at the loads of its rank and notes how long that takes.
#include "calibration/look_costs.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

namespace nacre::calibration {
namespace {

constexpr int objects = 2000;
constexpr std::size_t asked = 992;        // objects of a look: so many that the rest of it does not count
constexpr double object_seconds = 20e-6;  // long enough for hundreds of looks while objects wait
constexpr double idle_seconds = 0.03;     // likewise, while none does

struct timed_look {
  bool work_waits;
  std::size_t objects;
  double ns;
};

/// The looks of all ranks, which look on threads of their own.
struct look_log {
  std::mutex mutex;
  std::vector<timed_look> looks;
};

class looking_balancer final : public balancer {
 public:
  explicit looking_balancer(std::shared_ptr<look_log> log) : log_(std::move(log)) {}
  void on_tick(balancer_host& host) override {
    const auto begin = std::chrono::steady_clock::now();
    const bool waits = host.summary().waiting != 0;
    const std::size_t seen = host.candidates(asked, candidate_kind::waiting).size();
    const double ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
    const std::scoped_lock lock(log_->mutex);
    log_->looks.push_back({waits, seen, ns});
  }

 private:
  std::shared_ptr<look_log> log_;
};

struct busy_object {
  void work() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(object_seconds);
    while (std::chrono::steady_clock::now() < end) continue;
  }
  template <class Archive>
  void serialize(Archive&) {}
};

/// A time that one look in ten does not exceed, since others on this machine make looks longer.
[[nodiscard]] double low_decile_of(std::vector<double> values) {
  if (values.empty()) throw std::runtime_error("the balancer that measures looks was never called");
  const std::size_t place = values.size() / 10;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(place), values.end());
  return values[place];
}

}  // namespace

look_costs measure_looks() {
  const auto log = std::make_shared<look_log>();
  register_balancer("calibrating", [log](const config&) { return std::make_unique<looking_balancer>(log); });
  config configuration;
  for (const auto& [name, value] : {std::pair{"transport", "inproc"},
                                    {"ranks", "2"},
                                    {"workers", "1"},
                                    {"balancer", "calibrating"},
                                    {"balance.tick", "20us"},
                                    {"balance.time_share", "1"}}) {
    configuration.set(name, value);
  }
  const int code = run(configuration, [](runtime& rt) {
    if (rt.rank() != rank_id(0)) return;
    for (int each = 0; each < objects; ++each) rt.send<&busy_object::work>(rt.create<busy_object>());
    rt.wait_quiescence();
    const double begin = rt.now();
    while (rt.now() - begin < idle_seconds) continue;
  });
  if (code != 0) throw std::runtime_error("the ranks that measure looks of a balancer failed");
  std::vector<double> empty, steps;
  for (const timed_look& each : log->looks) {
    if (!each.work_waits && each.objects == 0) empty.push_back(each.ns);
    if (each.objects >= asked / 2) steps.push_back(each.ns / static_cast<double>(each.objects));
  }
  return {.look_ns = low_decile_of(std::move(empty)), .step_ns = low_decile_of(std::move(steps))};
}

}  // namespace nacre::calibration
