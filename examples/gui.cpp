// SPDX-License-Identifier: Apache-2.0
// A user interface: its event loop has the process's first thread, as toolkits want it, and the job has another one.
//
// run: --nacre.ranks=2
// nacre run -n 2: --nacre.workers=1
// prints: the window shows 5050
#include <nacre/nacre.hpp>

#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

/// Stands for that of a toolkit. What other threads post runs on the thread of the window.
class event_loop {
 public:
  void post(std::function<void()> event) {  // QMetaObject::invokeMethod, g_idle_add, wxEvtHandler::CallAfter
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
    changed_.notify_one();
  }
  void run() {
    for (std::unique_lock lock(mutex_); !closed_;) {
      changed_.wait(lock, [&] { return !events_.empty(); });
      const std::function<void()> event = std::move(events_.front());
      events_.pop_front();
      lock.unlock();
      event();
      lock.lock();
    }
  }
  void close() { closed_ = true; }  // by an event

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> events_;
  bool closed_ = false;
};

long sum_to(long count) { return count * (count + 1) / 2; }

/// On the first thread: a click asks the job, and the answer comes back as an event.
void show_window(nacre::submitter door) {
  event_loop window;
  const auto show = [&](long sum) {
    std::printf("the window shows %ld\n", sum);
    window.close();
  };
  const auto fail = [&](const std::string& reason) {
    std::printf("the window shows an error: %s\n", reason.c_str());
    window.close();
  };
  const auto click = [&] {
    door.call<sum_to>(nacre::rank_id{0}, 100)
        .then([&](long sum) { window.post([&, sum] { show(sum); }); },
              [&](const nacre::call_error& problem) {
                window.post([&, reason = std::string(problem.what())] { fail(reason); });
              });
  };
  window.post(click);
  window.run();
}  // the submitter ends here, and the job may

int main(int argc, char** argv) {
  std::promise<std::optional<nacre::submitter>> opened;
  std::future<std::optional<nacre::submitter>> door = opened.get_future();
  int code = 0;
  std::thread job([&] {
    bool shown = false;
    code = nacre::run(argc, argv, [&](nacre::runtime& rt) {
      if (rt.rank().value() != 0) return;  // one rank has the window
      shown = true;
      opened.set_value(rt.submitter());
      rt.wait_quiescence();  // until the window is closed
    });
    if (!shown) opened.set_value(std::nullopt);  // a process without rank 0, or a job that could not begin
  });
  if (std::optional<nacre::submitter> submitter = door.get()) show_window(std::move(*submitter));
  job.join();
  return code;
}
