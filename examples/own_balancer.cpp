// SPDX-License-Identifier: Apache-2.0
// A balancer of one's own, see docs/balancing.md: an idle rank asks a random other one.
// run: --nacre.ranks=3 --nacre.balancer=ask_around
// run: --nacre.transport=sim --nacre.ranks=8 --nacre.balancer=ask_around
// nacre run -n 2: --nacre.balancer=ask_around --nacre.workers=1
// prints: 4000 turns
#include <nacre/nacre.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <vector>

class ask_around final : public nacre::balancer {
 public:
  void on_tick(nacre::balancer_host& host) override {  // asks, if there is nothing to run and no answer due
    if (asked_ || host.size() == 1 || host.idle_workers() == 0 || host.now() < ask_at_) return;
    const std::uint64_t other = (host.rank().value() + 1 + host.rng().below(host.size() - 1)) % host.size();
    host.send(nacre::rank_id(static_cast<std::uint32_t>(other)), nacre::pack(asked_ = true));
  }
  void on_message(nacre::balancer_host& host, nacre::rank_id source, std::span<const std::byte> bytes) override {
    const auto is_request = nacre::unpack<bool>(bytes);  // bytes of a peer are input
    if (!is_request) return;
    if (*is_request) return give(host, source);
    asked_ = false;
    ask_at_ = host.now() + 100e-6;  // what has been given must be here by then
  }

 private:
  static void give(nacre::balancer_host& host, nacre::rank_id target) {  // every second of some objects that wait
    bool mine = host.idle_workers() != 0;
    for (const nacre::object_load& each : host.candidates(32)) {
      if (!mine) host.migrate(each.object, target);
      mine = !mine;
    }
    host.send(target, nacre::pack(false));
  }
  bool asked_ = false;
  double ask_at_ = 0;
};

struct task {
  long work(nacre::context& ctx) { return ctx.charge(1e-3), 100; }
  template <class Archive>
  void serialize(Archive&) {}
};

int main(int argc, char** argv) {
  nacre::register_balancer("ask_around", [](const nacre::config&) { return std::make_unique<ask_around>(); });
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    long sum = 0;
    std::vector<nacre::future<long>> results;
    for (int n = 0; rt.rank().value() == 0 && n < 40; ++n) results.push_back(rt.call<&task::work>(rt.create<task>()));
    for (auto& each : results) sum += each.get();
    if (sum != 0) std::printf("%ld turns\n", sum);
  });
}
