// SPDX-License-Identifier: Apache-2.0
// Code of the user that decides: balancers, load models, schedulers.
#include <array>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include <nacre/balancer.hpp>
#include <nacre/scheduler.hpp>

#include "user_exceptions/cell.hpp"
#include "user_exceptions/places.hpp"

namespace nacre::tests {
namespace {

class throwing_balancer final : public balancer {
 public:
  void on_load(const object_load&) override { burn(fuse::on_load); }
  void on_tick(balancer_host& host) override {
    burn(fuse::on_tick);
    static_cast<void>(host.total_load());
    const std::array<std::byte, 1> bytes{};
    host.send(rank_id{(host.rank().value() + 1) % host.size()}, bytes);
  }
  void on_message(balancer_host&, rank_id, std::span<const std::byte>) override { burn(fuse::on_message); }
};

class throwing_model final : public load_model {
 public:
  [[nodiscard]] double load(const load_facts&) const override {
    burn(fuse::model);
    return 1;
  }
};

class throwing_scheduler final : public scheduler {
 public:
  void push(worker_id, work& item) override {
    burn(fuse::push);
    const std::scoped_lock lock(mutex_);
    ready_.push_back(&item);
  }
  [[nodiscard]] work* pop(worker_id) override {
    burn(fuse::pop);
    const std::scoped_lock lock(mutex_);
    if (ready_.empty()) return nullptr;
    work* const next = ready_.front();
    ready_.pop_front();
    return next;
  }

 private:
  std::mutex mutex_;
  std::deque<work*> ready_;
};

const bool registered = [] {
  register_balancer("throwing", [](const config&) { return std::make_unique<throwing_balancer>(); });
  register_balancer("unmakable", [](const config&) -> std::unique_ptr<balancer> { boom(); });
  register_load_model("throwing", [](const config&) { return std::make_unique<throwing_model>(); });
  register_scheduler("throwing",
                     [](const config&, const scheduler_site&) { return std::make_unique<throwing_scheduler>(); });
  return true;
}();

/// Main catches whatever comes, and goes on.
template <fuse Which>
void armed_policy(runtime& rt) {
  const auto p = rt.create<cell>();
  rt.barrier();
  if (rt.rank().value() == 0) arm(Which);
  rt.barrier();
  for (int n = 0; n < 100; ++n) {
    try {
      rt.send<&cell::add>(p, std::string("a"), 1);
      static_cast<void>(rt.call<&cell::total>(p).get());
    } catch (const std::exception&) {
    }
  }
  for (;;) {  // until a tick comes
    static_cast<void>(rt.call<&cell::total>(p).get());
  }
}
void nothing(runtime&) {}

constexpr place rows[] = {
    {"a balancer is made", &nothing, ends_as::job, "", "balancer=unmakable", false, true},
    {"a balancer's on_tick", &armed_policy<fuse::on_tick>, ends_as::job, "the balancer 'throwing'",
     "balancer=throwing"},
    {"a balancer's on_message", &armed_policy<fuse::on_message>, ends_as::job, "the balancer 'throwing'",
     "balancer=throwing"},
    {"a balancer's on_load", &armed_policy<fuse::on_load>, ends_as::job, "the balancer 'throwing'",
     "balancer=throwing"},
    {"a load model", &armed_policy<fuse::model>, ends_as::job, "the load model 'throwing'",
     "balance.load=throwing balancer=throwing"},
    {"a scheduler's push", &armed_policy<fuse::push>, ends_as::job, "the scheduler threw", "scheduler=throwing"},
    {"a scheduler's pop", &armed_policy<fuse::pop>, ends_as::job, "the scheduler threw", "scheduler=throwing"},
};

}  // namespace

std::span<const place> places_of_policies() noexcept { return registered ? rows : std::span<const place>(); }

}  // namespace nacre::tests
