// SPDX-License-Identifier: Apache-2.0
// The one thread of a process that looks at its extension modules.
#include "backplane/extension/extension_watchdog.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace nacre {
namespace {

constexpr int looks = 4;  // in each patience

}  // namespace

/// It belongs to the process: a rank whose poll loop is stuck cannot watch itself, and thousands of simulated ranks
/// need no thread each. The thread lives as long as a module is watched.
class extension_watchdog {
 public:
  static extension_watchdog& of_process() {
    static extension_watchdog only;
    return only;
  }

  /// Throws std::system_error where the process may have no more threads; then nothing is watched.
  void add(extension_watch& watched) {
    const std::scoped_lock lock(mutex_);
    watched.look_at_ = std::chrono::steady_clock::now() + watched.patience_ / looks;
    all_.reserve(all_.size() + 1);
    if (!thread_.joinable()) thread_ = std::thread([this, ended = ended_] { run(ended); });
    all_.push_back(&watched);
    changed_.notify_all();
  }

  void remove(extension_watch& watched) {
    std::thread worker_thread;
    {
      const std::scoped_lock lock(mutex_);
      std::erase(all_, &watched);
      if (all_.empty()) worker_thread = std::exchange(thread_, std::thread());
      if (worker_thread.joinable()) ++ended_;
      changed_.notify_all();
    }
    if (worker_thread.joinable()) worker_thread.join();
  }

 private:
  void run(std::uint64_t ended) {
    std::unique_lock lock(mutex_);
    while (ended_ == ended) {
      const auto now = std::chrono::steady_clock::now();
      auto next = now + std::chrono::hours(1);
      for (extension_watch* each : all_) {
        if (each->look_at_ <= now) {
          each->look();
          each->look_at_ = now + each->patience_ / looks;
        }
        next = std::min(next, each->look_at_);
      }
      changed_.wait_until(lock, next);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<extension_watch*> all_;  // under mutex_
  std::thread thread_;                 // under mutex_
  std::uint64_t ended_ = 0;            // under mutex_: threads that are to end
};

extension_watch::extension_watch(std::chrono::nanoseconds patience, std::function<void(const char*, double)> stuck)
    : patience_(patience), stuck_(std::move(stuck)) {
  if (patience_.count() != 0) extension_watchdog::of_process().add(*this);
}

extension_watch::~extension_watch() {
  if (patience_.count() != 0) extension_watchdog::of_process().remove(*this);
}

void extension_watch::look() {
  const char* const function = running_.load(std::memory_order_relaxed);  // a hint: the next look reads it again
  const std::uint64_t call = calls_.load(std::memory_order_relaxed);      // a hint, as well
  if (function == nullptr || call != seen_call_) {
    seen_call_ = call;
    seen_times_ = function == nullptr ? 0 : 1;
    return;
  }
  if (++seen_times_ > looks) stuck_(function, std::chrono::duration<double>(patience_).count());
}

}  // namespace nacre
