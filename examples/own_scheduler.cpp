// SPDX-License-Identifier: Apache-2.0
// A scheduler of one's own, see docs/balancing.md: the workers of a rank draw what they run next.
// run: --nacre.workers=3 --nacre.scheduler=lottery
// run: --nacre.transport=sim --nacre.ranks=2 --nacre.workers=2 --nacre.scheduler=lottery
// nacre run -n 2: --nacre.scheduler=lottery --nacre.workers=2
// prints: 10000 drawn
#include <nacre/nacre.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

class lottery final : public nacre::scheduler {
 public:
  explicit lottery(std::uint64_t seed) : random_(seed) {}
  void push(nacre::worker_id, nacre::work& item) override {
    const std::scoped_lock lock(mutex_);
    items_.push_back(&item);
  }
  nacre::work* pop(nacre::worker_id) override {  // null only when there is nothing: the worker may sleep then
    const std::scoped_lock lock(mutex_);
    if (items_.empty()) return nullptr;
    std::swap(items_[random_.below(items_.size())], items_.back());
    nacre::work* const drawn = items_.back();
    items_.pop_back();
    return drawn;
  }

 private:
  std::mutex mutex_;
  std::vector<nacre::work*> items_;
  nacre::rng random_;
};

long draw(nacre::context& ctx, long number) { return ctx.charge(1e-6), number; }

int main(int argc, char** argv) {
  nacre::register_scheduler("lottery", [](const nacre::config&, const nacre::scheduler_site& site) {
    return std::make_unique<lottery>(site.seed);
  });
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    long sum = 0;
    std::vector<nacre::future<long>> results;
    for (int n = 0; rt.rank().value() == 0 && n < 10'000; ++n) results.push_back(rt.call<draw>(rt.rank(), 1L));
    for (auto& each : results) sum += each.get();
    if (sum != 0) std::printf("%ld drawn\n", sum);
  });
}
