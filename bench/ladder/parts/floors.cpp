// SPDX-License-Identifier: Apache-2.0
// The floors: cache lines between threads, and rings, foreign memory and sockets between two processes.
#include "floors.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include "floor_pair.hpp"
#include "payloads.hpp"
#include "ring.hpp"

namespace ladder {
namespace {

/// Memory that a forked process shares.
class shared_memory {
 public:
  explicit shared_memory(std::size_t bytes)
      : bytes_(bytes), memory_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::runtime_error("no shared memory to compare with: mmap failed");
    std::memset(memory_, 0, bytes);
  }
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  ~shared_memory() { munmap(memory_, bytes_); }
  [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(memory_); }

 private:
  std::size_t bytes_;
  void* memory_;
};

struct ring_end {
  ring out, in;
  payloads outgoing, incoming;
  void send(std::size_t bytes, int position) { out.put(outgoing.at(position), bytes); }
  void receive(std::size_t bytes) { in.take(incoming.at(0), bytes); }
};

/// Says where the message is, and waits until the other side has read it.
struct reading_end {
  ring out, in;
  payloads outgoing, incoming;
  pid_t other;
  struct place {
    const char* address;
    std::size_t bytes;
  };
  void send(std::size_t bytes, int position) {
    const place place{outgoing.at(position), bytes};
    out.put(reinterpret_cast<const char*>(&place), sizeof place);
  }
  void receive(std::size_t) {
    place place{};
    in.take(reinterpret_cast<char*>(&place), sizeof place);
    iovec vector{incoming.at(0), place.bytes};
    iovec source{const_cast<char*>(place.address), place.bytes};
    if (process_vm_readv(other, &vector, 1, &source, 1, 0) < 0) throw std::runtime_error("process_vm_readv failed");
  }
};

bool can_read(pid_t other, const void* position) {
  char one = 0;
  iovec vector{&one, 1};
  iovec source{const_cast<void*>(position), 1};
  return process_vm_readv(other, &vector, 1, &source, 1, 0) == 1;
}

struct socket_end {
  int descriptor;
  payloads outgoing, incoming;
  void send(std::size_t bytes, int position) {
    for (std::size_t sent = 0; sent < bytes;) {
      const ssize_t more = ::send(descriptor, outgoing.at(position) + sent, bytes - sent, MSG_NOSIGNAL);
      if (more < 0) throw std::runtime_error("loopback send failed");
      sent += static_cast<std::size_t>(more);
    }
  }
  void receive(std::size_t bytes) {
    for (std::size_t got = 0; got < bytes;) {
      const ssize_t more = recv(descriptor, incoming.at(0) + got, bytes - got, MSG_DONTWAIT);
      if (more == 0 || (more < 0 && errno != EAGAIN)) throw std::runtime_error("the loopback connection broke");
      if (more > 0) got += static_cast<std::size_t>(more);
    }
  }
};

}  // namespace

sample cache_lines() {
  struct alignas(line) cell {
    std::atomic<std::uint64_t> value{0};
  };
  constexpr std::uint64_t trips = 2000;
  constexpr std::uint64_t batches = 20;
  cell remote, back;
  std::thread other([&] {
    for (std::uint64_t n = 1; n <= trips * batches; ++n) {
      while (remote.value.load(std::memory_order_acquire) != n) continue;  // pairs with the store below
      back.value.store(n, std::memory_order_release);                      // pairs with the load below
    }
  });
  double best = 1e9;
  for (std::uint64_t batch = 0; batch < batches; ++batch) {
    const double start = steady_seconds();
    for (std::uint64_t n = batch * trips + 1; n <= (batch + 1) * trips; ++n) {
      remote.value.store(n, std::memory_order_release);
      while (back.value.load(std::memory_order_acquire) != n) continue;
    }
    best = std::min(best, (steady_seconds() - start) / static_cast<double>(trips));
  }
  other.join();
  return {.bytes = 8, .round_trip_seconds = best};
}

sample shared_ring(std::size_t bytes) {
  const std::size_t each = (ring::size_for(bytes) + line - 1) / line * line;
  const shared_memory memory(2 * each);
  ring ring(memory.data(), bytes), back(memory.data() + each, bytes);
  const partner other([&] {
    ring_end end{back, ring, payloads(bytes), payloads(bytes)};
    serve(end, bytes);
  });
  ring_end end{ring, back, payloads(bytes), payloads(bytes)};
  return drive(end, bytes);
}

sample single_copy(std::size_t bytes) {
  const std::size_t each = (ring::size_for(line) + line - 1) / line * line;
  const shared_memory memory(2 * each);
  const shared_memory verdict(line);
  auto& permitted = *new (verdict.data()) std::atomic<int>(0);
  ring ring(memory.data(), line), back(memory.data() + each, line);
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  const pid_t parent = getpid();
  const std::vector<char> probe(1);
  const partner other([&] {
    permitted.store(can_read(parent, probe.data()) ? 1 : 2, std::memory_order_release);  // pairs with the load below
    while (permitted.load(std::memory_order_acquire) == 1) continue;                     // pairs with the store below
    if (permitted.load(std::memory_order_acquire) != 3) return;
    reading_end end{back, ring, payloads(bytes), payloads(bytes), parent};
    serve(end, bytes);
  });
  int answer = 0;
  while ((answer = permitted.load(std::memory_order_acquire)) == 0) continue;
  if (answer == 1) answer = can_read(other.id(), probe.data()) ? 3 : 2;
  permitted.store(answer, std::memory_order_release);
  if (answer == 2) return {.bytes = bytes};
  reading_end end{ring, back, payloads(bytes), payloads(bytes), other.id()};
  return drive(end, bytes);
}

sample raw_socket(std::size_t bytes) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), length) != 0 || listen(listener, 1) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    throw std::runtime_error("no loopback socket to compare with");
  }
  const auto end_of = [&](int descriptor) {
    const int one = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return socket_end{descriptor, payloads(bytes), payloads(bytes)};
  };
  const partner other([&] {
    socket_end end = end_of(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(end.descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) serve(end, bytes);
  });
  socket_end end = end_of(accept(listener, nullptr, nullptr));
  close(listener);
  const sample result = drive(end, bytes);
  close(end.descriptor);
  return result;
}

}  // namespace ladder
