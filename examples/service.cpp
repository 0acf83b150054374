// SPDX-License-Identifier: Apache-2.0
// A service: it serves until it is asked to stop, by SIGTERM or SIGINT. Here it asks itself, after some requests.
//
// nacre run -n 2:
// run: --nacre.ranks=2
// prints: served at least 10 requests, and ended by itself
#include <nacre/nacre.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>

/// Stands for a server from a library, with a thread of its own.
class server {
 public:
  server(nacre::submitter door, nacre::rank_id target, bool ends)
      : ends_(ends), thread_([this, door, target] { serve(door, target); }) {}
  ~server() { stop(); }
  void stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();  // and with the thread ends its submitter
  }
  [[nodiscard]] long served() const { return served_; }

 private:
  void serve(const nacre::submitter& door, nacre::rank_id target) {
    while (!stopping_) {
      if (door.call(
                  target, [](long n) { return 2 * n; }, served_.load())
              .get() == 2 * served_)
        ++served_;
      if (served_ == 10 && ends_) std::raise(SIGTERM);  // as somebody else would, to end the service
    }
  }
  const bool ends_;  // one of them does: a second signal would not ask, it would end the process
  std::atomic<bool> stopping_ = false;
  std::atomic<long> served_ = 0;
  std::thread thread_;
};

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    rt.handle_signals();
    rt.barrier();
    const bool ends = rt.rank().value() == 0;
    server web(rt.submitter(), nacre::rank_id(rt.size() - 1), ends);
    while (!rt.stop_requested()) rt.sleep(0.01).wait();  // handlers run meanwhile
    web.stop();
    rt.barrier();
    if (rt.rank().value() == 0) std::puts("served at least 10 requests, and ended by itself");
  });
}
