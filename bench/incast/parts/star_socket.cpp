// SPDX-License-Identifier: Apache-2.0
// System calls of the star.
#include "star_socket.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <system_error>

namespace incast {
namespace {

constexpr std::uint32_t first_address = 0x0a4d0000;  // 10.77.0.0

void keep_to(unsigned processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  static_cast<void>(::sched_setaffinity(0, sizeof one, &one));  // it is a courtesy: without it figures vary more
}

/// Asks for a turn of the processor soon after each sleep, and short ones: what a rank does takes microseconds, and on
/// Linux 6.12 and later a process with short slices need not wait for the end of another's. No privilege is needed.
void ask_for_short_slices() {
  if (::sched_getscheduler(0) != SCHED_OTHER) return;  // its user knows better
  struct {
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime_ns, deadline_ns, period_ns;
  } wish{.size = 48,
         .policy = SCHED_OTHER,
         .flags = 0,
         .nice = ::getpriority(PRIO_PROCESS, 0),
         .priority = 0,
         .runtime_ns = 100'000,
         .deadline_ns = 0,
         .period_ns = 0};
  static_cast<void>(::syscall(SYS_sched_setattr, 0, &wish, 0U));  // older kernels ignore it
}

[[nodiscard]] unsigned processors() {
  const long count = ::sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : static_cast<unsigned>(count);
}

}  // namespace

void fail(const char* name) { throw std::system_error(errno, std::generic_category(), name); }

nanoseconds star_now() { return std::chrono::steady_clock::now().time_since_epoch(); }

sockaddr_in address_of(std::uint32_t host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(first_address + host + 1);
  return address;
}

void enter_host(std::uint32_t host) {
  const std::string name = "/run/netns/host" + std::to_string(host);
  const int space = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (space < 0 || ::setns(space, CLONE_NEWNET) != 0) fail(("entering host " + std::to_string(host)).c_str());
  ::close(space);
  static_cast<void>(::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL));  // sleeps are as long as they are asked to be
  ask_for_short_slices();
  if (host == 0) return stay_with_receiver();
  if (processors() > 1) keep_to((host - 1) % (processors() - 1));
}

void stay_with_receiver() {
  if (processors() > 1) keep_to(processors() - 1);
}

void become_ordinary() {
  const sched_param none{};
  static_cast<void>(::sched_setscheduler(0, SCHED_OTHER, &none));
  static_cast<void>(::setpriority(PRIO_PROCESS, 0, std::max(0, ::getpriority(PRIO_PROCESS, 0))));
}

datagrams::datagrams(std::uint16_t port, urgency urgency)
    : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)), port_(port) {
  if (socket_ < 0) fail("socket");
  const int send_bytes = 32768, receive_bytes = 8 << 20, priority = urgency == urgency::control ? 6 : 0;
  static_cast<void>(::setsockopt(socket_, SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof send_bytes));
  if (::setsockopt(socket_, SOL_SOCKET, SO_RCVBUFFORCE, &receive_bytes, sizeof receive_bytes) != 0) {
    static_cast<void>(::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes));
  }
  if (::setsockopt(socket_, SOL_SOCKET, SO_PRIORITY, &priority, sizeof priority) != 0) fail("SO_PRIORITY");
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_port = htons(port);
  if (::bind(socket_, reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0) fail("bind");
}

datagrams::~datagrams() { ::close(socket_); }

bool datagrams::send(std::uint32_t host, std::span<const std::byte> head, std::span<const std::byte> rest) {
  sockaddr_in address = address_of(host, port_);
  std::array<iovec, 2> parts{iovec{const_cast<std::byte*>(head.data()), head.size()},
                             iovec{const_cast<std::byte*>(rest.data()), rest.size()}};
  msghdr message{};
  message.msg_name = &address;
  message.msg_namelen = sizeof address;
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  if (::sendmsg(socket_, &message, MSG_DONTWAIT) >= 0) return true;
  if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR) return false;
  fail("sendmsg");
}

bool datagrams::holds_some() const noexcept {
  int bytes = 0;
  return ::ioctl(socket_, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

std::optional<datagrams::arrival> datagrams::receive(std::span<std::byte> target) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  const ssize_t got =
      ::recvfrom(socket_, target.data(), target.size(), MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&address), &length);
  if (got < 0) return std::nullopt;  // also an error that an earlier datagram has had
  return arrival{ntohl(address.sin_addr.s_addr) - first_address - 1, static_cast<std::size_t>(got)};
}

}  // namespace incast
