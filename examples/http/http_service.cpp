// SPDX-License-Identifier: Apache-2.0
// A job behind an HTTP server, cpp-httplib here: its threads turn requests into calls of objects, and results into
// responses. SIGTERM ends it: requests that are being answered get their answers. http_service_test.py speaks to it.
#include <httplib.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <nacre/nacre.hpp>

/// Made at the first request for its name, on the rank that the name's hash chooses.
struct counter {
  long value = 0;
  long add(long amount) { return value += amount; }
  long read() const { return value; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(value);
  }
};
using counters = nacre::keyed_array_ptr<counter, std::string>;

/// Answers later: neither a worker nor another request waits for it.
nacre::task<std::string> nap(nacre::context& ctx, double seconds) {
  co_await ctx.sleep(seconds);
  co_return "rank " + std::to_string(ctx.rank().value()) + " has slept\n";
}

class front {
 public:
  front(const nacre::submitter& door, counters all, nacre::rank_id last)
      : server_(std::make_unique<httplib::Server>()) {
    server_->set_keep_alive_timeout(
        1);  // seconds that the end waits for clients that keep a connection and say nothing
    server_->Get("/counters/([a-z]+)", [this, door, all](const httplib::Request& asked, httplib::Response& answer) {
      reply(answer, door.call<&counter::read>(all[asked.matches[1]]));
    });
    server_->Post("/counters/([a-z]+)", [this, door, all](const httplib::Request& asked, httplib::Response& answer) {
      long amount = 0;
      try {
        amount = std::stol(asked.body);
      } catch (const std::logic_error&) {
        answer.status = 400;
        return answer.set_content("a number is expected\n", "text/plain");
      }
      reply(answer, door.call<&counter::add>(all[asked.matches[1]], amount));
    });
    server_->Get("/nap/([0-9.]+)", [this, door, last](const httplib::Request& asked, httplib::Response& answer) {
      reply(answer, door.call<nap>(last, std::stod(asked.matches[1])));
    });
    server_->Get("/waiting", [this](const httplib::Request&, httplib::Response& answer) {
      answer.set_content(std::to_string(waiting_) + "\n", "text/plain");
    });
  }
  front(const front&) = delete;
  front& operator=(const front&) = delete;
  ~front() { stop(); }

  /// Any free port for 0. Returns the port.
  int listen(int port) {
    const char* const host = "127.0.0.1";
    if (port == 0) {
      port = server_->bind_to_any_port(host);
    } else if (!server_->bind_to_port(host, port)) {
      port = -1;
    }
    if (port < 0) throw std::runtime_error("the port is taken, or may not be used: try --port 0 for any");
    thread_ = std::thread([this] { server_->listen_after_bind(); });
    while (!server_->is_running()) std::this_thread::yield();  // else stop() would come too early to stop it
    return port;
  }
  /// Takes no further connections, and returns when all requests have been answered. With the server end its handlers,
  /// and with them the submitters that they hold.
  void stop() {
    if (server_ == nullptr) return;
    server_->stop();
    if (thread_.joinable()) thread_.join();
    server_.reset();
  }
  [[nodiscard]] long answered() const noexcept { return answered_; }

 private:
  static std::string text_of(const std::string& text) { return text; }
  static std::string text_of(long number) { return std::to_string(number) + "\n"; }
  /// On a thread of the server, which waits.
  template <class T>
  void reply(httplib::Response& answer, nacre::outside_future<T> result) {
    ++waiting_;
    try {
      answer.set_content(text_of(result.get()), "text/plain");
    } catch (const nacre::call_error& error) {
      answer.status = 500;
      answer.set_content(std::string(error.what()) + "\n", "text/plain");
    }
    --waiting_;
    ++answered_;
  }

  std::atomic<long> waiting_ = 0, answered_ = 0;
  std::unique_ptr<httplib::Server> server_;
  std::thread thread_;
};

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [&](nacre::runtime& rt) {
    const counters all = rt.create_array<counter>(nacre::keyed_by<std::string>{});
    rt.handle_signals();
    rt.barrier();
    if (rt.rank().value() != 0) return;  // its workers go on until the job ends
    front web(rt.submitter(), all, nacre::rank_id(rt.size() - 1));
    const int port = argc > 2 && std::string(argv[1]) == "--port" ? std::stoi(argv[2]) : 0;
    std::printf("http://127.0.0.1:%d/counters/NAME\n", web.listen(port));
    std::fflush(stdout);
    while (!rt.stop_requested()) rt.sleep(0.02).wait();  // handlers run meanwhile
    web.stop();
    std::printf("answered %ld requests\n", web.answered());
  });
}
