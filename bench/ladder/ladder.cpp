// SPDX-License-Identifier: Apache-2.0
// What does each layer add to a small message? Floors and our own rungs, alternating, in one run.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <nacre/nacre.hpp>

namespace {

struct plan {
  std::uint64_t messages = 200'000;
  std::uint64_t round_trips = 50'000;
  int runs = 5;
  std::string only;  // measure rungs whose name contains this
};

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// CPU time of the calling thread: what a message costs, whatever else the machine does.
double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Two lines of the cache that two threads hand to each other: the floor of any exchange between cores.
double cache_line_round_trip(std::uint64_t round_trips) {
  struct alignas(64) line {
    std::atomic<std::uint64_t> value{0};
  };
  line there, back;
  std::thread other([&] {
    for (std::uint64_t n = 1; n <= round_trips; ++n) {
      while (there.value.load(std::memory_order_acquire) != n) continue;  // pairs with the store below
      back.value.store(n, std::memory_order_release);                     // pairs with the load below
    }
  });
  const double start = wall_seconds();
  for (std::uint64_t n = 1; n <= round_trips; ++n) {
    there.value.store(n, std::memory_order_release);
    while (back.value.load(std::memory_order_acquire) != n) continue;
  }
  const double seconds = wall_seconds() - start;
  other.join();
  return seconds / static_cast<double>(round_trips);
}

// Two rings of slots whose stamp tells that they are full: the floor of an exchange over shared memory.
double ring_round_trip(std::uint64_t round_trips) {
  struct alignas(64) slot {
    std::atomic<std::uint64_t> stamp{0};
    std::array<std::uint64_t, 7> words{};
  };
  constexpr std::size_t slots = 512;
  std::vector<slot> there(slots), back(slots);
  const auto put = [](std::vector<slot>& ring, std::uint64_t n) {
    slot& next = ring[n % slots];
    next.words.fill(n);
    next.stamp.store(n, std::memory_order_release);  // pairs with the load below
  };
  const auto take = [](std::vector<slot>& ring, std::uint64_t n) {
    const slot& next = ring[n % slots];
    while (next.stamp.load(std::memory_order_acquire) != n) continue;
    return next.words[6];
  };
  std::thread other([&] {
    for (std::uint64_t n = 1; n <= round_trips; ++n) put(back, take(there, n));
  });
  const double start = wall_seconds();
  for (std::uint64_t n = 1; n <= round_trips; ++n) {
    put(there, n);
    static_cast<void>(take(back, n));
  }
  const double seconds = wall_seconds() - start;
  other.join();
  return seconds / static_cast<double>(round_trips);
}

// Two sockets over loopback, both sides polling: the floor of an exchange over tcp.
double socket_round_trip(std::uint64_t round_trips, std::size_t bytes) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), length) != 0 || listen(listener, 1) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    throw std::runtime_error("no loopback socket to compare with");
  }
  const auto exchange = [&](int end, bool first) {
    const int one = 1;
    setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    std::vector<char> buffer(bytes);
    const auto receive = [&] {
      for (std::size_t got = 0; got < bytes;) {
        const ssize_t more = recv(end, buffer.data() + got, bytes - got, MSG_DONTWAIT);
        if (more > 0) got += static_cast<std::size_t>(more);
      }
    };
    for (std::uint64_t n = 0; n < round_trips; ++n) {
      if (!first) receive();
      if (send(end, buffer.data(), bytes, MSG_NOSIGNAL) < 0) throw std::runtime_error("loopback send failed");
      if (first) receive();
    }
    close(end);
  };
  std::thread other([&] {
    const int end = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(end, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) exchange(end, false);
  });
  const int end = accept(listener, nullptr, nullptr);
  const double start = wall_seconds();
  exchange(end, true);
  const double seconds = wall_seconds() - start;
  other.join();
  close(listener);
  return seconds / static_cast<double>(round_trips);
}

void pong(nacre::context& ctx, std::uint64_t left, bool quick);

/// One leg of the exchange between ranks 0 and 1.
void ping(nacre::context& ctx, std::uint64_t left, bool quick) {
  if (left == 0) return;
  const auto category = quick ? nacre::category::communication : nacre::category::worker;
  const nacre::rank_id other{1 - ctx.rank().value()};
  ctx.send<pong>(nacre::with{.category = category}, other, left - 1, quick);
}

void pong(nacre::context& ctx, std::uint64_t left, bool quick) { ping(ctx, left, quick); }

double message_round_trip(const std::string& transport, std::uint64_t round_trips, bool quick) {
  nacre::config configuration;
  configuration.set("transport", transport);
  configuration.set("ranks", "2");
  configuration.set("workers", "1");
  configuration.set("spin", "10ms");  // the question is what a message costs, not what waking costs
  double seconds = 0;
  nacre::run(configuration, [&](nacre::runtime& rt) {
    rt.barrier();
    const double start = wall_seconds();
    if (rt.rank().value() == 0) rt.send<ping>(nacre::rank_id{1}, round_trips * 2, quick);
    rt.wait_quiescence();
    if (rt.rank().value() == 0) seconds = wall_seconds() - start;
  });
  return seconds / static_cast<double>(round_trips);
}

/// An object that answers another one: each message goes to an idle object, is scheduled and run.
struct partner {
  std::uint64_t seen = 0;
  void exchange(nacre::context& ctx, nacre::mobile_ptr<partner> other, std::uint64_t left) {
    ++seen;
    if (left != 0) ctx.send<&partner::exchange>(other, ctx.self<partner>(), left - 1);
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(seen);
  }
};

double object_message(std::uint64_t messages) {
  nacre::config configuration;
  configuration.set("workers", "1");
  configuration.set("progress", "shared");
  double seconds = 0;
  nacre::run(configuration, [&](nacre::runtime& rt) {
    const auto a = rt.create<partner>();
    const auto b = rt.create<partner>();
    rt.wait_quiescence();
    const double start = cpu_seconds();  // while main waits, its thread is the worker
    rt.send<&partner::exchange>(a, b, messages);
    rt.wait_quiescence();
    seconds = cpu_seconds() - start;
  });
  return seconds / static_cast<double>(messages);
}

struct rung {
  std::string name;
  std::string unit;
  std::function<double()> measure;
  std::vector<double> nanoseconds;

  [[nodiscard]] double median() const {
    std::vector<double> sorted = nanoseconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

void print(std::vector<rung>& rungs) {
  fmt::print("{:<52} {:>10} {:>10} {:>10}  {}\n", "", "median ns", "min", "max", "of");
  for (const rung& each : rungs) {
    if (each.nanoseconds.empty()) continue;
    const auto [least, most] = std::minmax_element(each.nanoseconds.begin(), each.nanoseconds.end());
    fmt::print("{:<52} {:>10.1f} {:>10.1f} {:>10.1f}  {}\n", each.name, each.median(), *least, *most, each.unit);
  }
  if (rungs[8].nanoseconds.size() == rungs[7].nanoseconds.size() && !rungs[8].nanoseconds.empty()) {
    fmt::print("\nactive message over shm / raw ring  {:.2f}\n", rungs[8].median() / rungs[7].median());
  }
  if (rungs[0].nanoseconds.empty() || rungs[5].nanoseconds.empty()) return;
  fmt::print("\nactive message / cache lines  {:.2f}\n", rungs[1].median() / rungs[0].median());
  fmt::print("active message over tcp / raw socket  {:.2f}\n", rungs[5].median() / rungs[4].median());
}

}  // namespace

int main(int argc, char** argv) {
  plan how;
  CLI::App app("What each layer adds to a small message. Floors and rungs alternate; run it on an idle machine.");
  app.add_option("--messages", how.messages, "Messages between objects a run")->capture_default_str();
  app.add_option("--round-trips", how.round_trips, "Round trips a run")->capture_default_str();
  app.add_option("--runs", how.runs, "Runs of every rung")->check(CLI::Range(1, 100))->capture_default_str();
  app.add_option("--only", how.only, "Measure only the rungs whose name contains this");
  CLI11_PARSE(app, argc, argv);

  constexpr std::size_t message_bytes = 64;  // header and arguments of a ping
  std::vector<rung> rungs{
      {"two cache lines between two threads", "wall, round trip", [&] { return cache_line_round_trip(how.round_trips); }, {}},
      {"active message, inproc, in the poll loop", "wall, round trip",
       [&] { return message_round_trip("inproc", how.round_trips, true); }, {}},
      {"active message, inproc, on a worker", "wall, round trip",
       [&] { return message_round_trip("inproc", how.round_trips, false); }, {}},
      {"message to a local object, sent and run", "CPU, message", [&] { return object_message(how.messages); }, {}},
      {"raw loopback socket, polled", "wall, round trip",
       [&] { return socket_round_trip(how.round_trips / 4, message_bytes); }, {}},
      {"active message, tcp, in the poll loop", "wall, round trip",
       [&] { return message_round_trip("tcp", how.round_trips / 4, true); }, {}},
      {"active message, tcp, on a worker", "wall, round trip",
       [&] { return message_round_trip("tcp", how.round_trips / 4, false); }, {}},
      {"raw ring of slots, polled", "wall, round trip", [&] { return ring_round_trip(how.round_trips); }, {}},
      {"active message, shm, in the poll loop", "wall, round trip",
       [&] { return message_round_trip("shm", how.round_trips, true); }, {}},
      {"active message, shm, on a worker", "wall, round trip",
       [&] { return message_round_trip("shm", how.round_trips, false); }, {}},
  };
  for (int run = 0; run < how.runs; ++run) {
    for (rung& each : rungs) {
      if (each.name.find(how.only) != std::string::npos) each.nanoseconds.push_back(each.measure() * 1e9);
    }
  }
  print(rungs);
}
