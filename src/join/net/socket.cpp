// SPDX-License-Identifier: Apache-2.0
// Sockets as values: owned descriptors, numeric addresses, and the few calls on them, none of which blocks.
#include "join/net/socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

#include <nacre/assert.hpp>
#include <nacre/error.hpp>

namespace nacre::net {
namespace {

/// The descriptors of all objects of unique_fd. Larger ones than fit are left to the end of the process.
class descriptor_set {
 public:
  void add(int fd) noexcept {
    if (fits(fd)) word(fd).fetch_or(bit(fd), std::memory_order_relaxed);  // read by the only thread of a child
  }
  void remove(int fd) noexcept {
    if (fits(fd)) word(fd).fetch_and(~bit(fd), std::memory_order_relaxed);
  }
  void close_all() noexcept {
    for (int each = 0; each < count; each += bits) {
      for (std::uint64_t left = word(each).exchange(0, std::memory_order_relaxed); left != 0; left &= left - 1)
        ::close(each + std::countr_zero(left));
    }
  }

 private:
  static constexpr int bits = 64, count = 1 << 20;
  static bool fits(int fd) noexcept { return fd < count; }
  static std::uint64_t bit(int fd) noexcept { return std::uint64_t{1} << fd % bits; }
  std::atomic<std::uint64_t>& word(int fd) noexcept { return words_[static_cast<std::size_t>(fd / bits)]; }

  std::array<std::atomic<std::uint64_t>, count / bits> words_{};  // takes memory where it is written
};
constinit descriptor_set held_descriptors;

void set_option(int socket, int level, int name, int value) noexcept {
  ::setsockopt(socket, level, name, &value, sizeof value);  // only advice: the job works without it
}

msghdr message_of(std::span<const iovec> buffers) noexcept {
  msghdr whole{};
  whole.msg_iov = const_cast<iovec*>(buffers.data());
  whole.msg_iovlen = buffers.size();
  return whole;
}

/// Whether this host has no such loopback address. Connecting a datagram socket chooses the route and sends nothing.
bool lacks(const address& loopback) noexcept {
  const unique_fd probe(::socket(loopback.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const bool reached = probe && ::connect(probe.get(), loopback.data(), loopback.bytes()) == 0;
  return !reached && (errno == EADDRNOTAVAIL || errno == ENETUNREACH || errno == EAFNOSUPPORT);
}

}  // namespace

void unique_fd::reset(int fd) noexcept {
  if (fd_ >= 0) {
    held_descriptors.remove(fd_);
    ::close(fd_);
  }
  fd_ = fd;
  if (fd_ >= 0) held_descriptors.add(fd_);
}

int unique_fd::release() noexcept {
  if (fd_ >= 0) held_descriptors.remove(fd_);
  return std::exchange(fd_, -1);
}

void close_all_in_child() noexcept { held_descriptors.close_all(); }

std::optional<address> address::parse(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::uint16_t port = 0;
  const std::string_view digits = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  std::string host(text.substr(0, colon));

  address result;
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    auto* six = reinterpret_cast<sockaddr_in6*>(&result.storage_);
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    result.bytes_ = sizeof *six;
    if (::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &six->sin6_addr) != 1) return std::nullopt;
  } else {
    auto* four = reinterpret_cast<sockaddr_in*>(&result.storage_);
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    result.bytes_ = sizeof *four;
    if (::inet_pton(AF_INET, host.c_str(), &four->sin_addr) != 1) return std::nullopt;
  }
  return result;
}

/// 127.0.0.1, or ::1 on a host without IPv4. Throws setup_error on a host that has neither.
address address::any_port_of_loopback() {
  if (!lacks(*parse("127.0.0.1:9"))) return *parse("127.0.0.1:0");
  if (!lacks(*parse("[::1]:9"))) return *parse("[::1]:0");
  throw setup_error({.problem = "this host has neither of the addresses 127.0.0.1 and ::1",
                     .why = "the ranks of a job connect to each other",
                     .remedy = "bring its loopback interface up (ip link set lo up; ip address show lo)"});
}
address address::of(const sockaddr& other) noexcept {
  address result;
  result.bytes_ = other.sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  std::memcpy(&result.storage_, &other, result.bytes_);
  return result;
}
address address::of_own_end(int socket) {
  return named_by([](int fd, sockaddr* name, socklen_t* bytes) { return ::getsockname(fd, name, bytes); }, socket);
}
address address::of_other_end(int socket) {
  return named_by([](int fd, sockaddr* name, socklen_t* bytes) { return ::getpeername(fd, name, bytes); }, socket);
}

address address::named_by(name_function ask, int socket) {
  address result;
  result.bytes_ = sizeof result.storage_;
  if (ask(socket, reinterpret_cast<sockaddr*>(&result.storage_), &result.bytes_) != 0) return {};
  return result;
}

std::string address::text() const {
  char host[INET6_ADDRSTRLEN] = "?";
  if (family() == AF_INET6) {
    const auto* six = reinterpret_cast<const sockaddr_in6*>(&storage_);
    ::inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof host);
    return "[" + std::string(host) + "]:" + std::to_string(ntohs(six->sin6_port));
  }
  const auto* four = reinterpret_cast<const sockaddr_in*>(&storage_);
  ::inet_ntop(AF_INET, &four->sin_addr, host, sizeof host);
  return std::string(host) + ":" + std::to_string(ntohs(four->sin_port));
}

address address::at_any_port() const {
  address result = *this;
  if (family() == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&result.storage_)->sin6_port = 0;
  } else {
    reinterpret_cast<sockaddr_in*>(&result.storage_)->sin_port = 0;
  }
  return result;
}

unique_fd listen_at(const address& address) {
  unique_fd listening_socket(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!listening_socket || ::bind(listening_socket.get(), address.data(), address.bytes()) != 0 ||
      ::listen(listening_socket.get(), SOMAXCONN) != 0) {
    throw setup_error({.problem = "cannot listen at " + address.text() + ": " + error_text(errno),
                       .why = "the ranks of a job connect to each other",
                       .remedy = "check the limit of open files and the network of this host"});
  }
  return listening_socket;
}

unique_fd accept_from(int listening_socket, address* caller) noexcept {
  sockaddr_storage socket_address{};
  socklen_t bytes = sizeof socket_address;
  unique_fd accepted(
      ::accept4(listening_socket, reinterpret_cast<sockaddr*>(&socket_address), &bytes, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!accepted) return accepted;
  const address other = address::of(reinterpret_cast<const sockaddr&>(socket_address));
  set_stream_options(accepted.get(), other);
  if (caller != nullptr) *caller = other;
  return accepted;
}

unique_fd start_connect(const address& address) noexcept {
  unique_fd socket(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return socket;
  if (::connect(socket.get(), address.data(), address.bytes()) != 0 && errno != EINPROGRESS) return unique_fd();
  set_stream_options(socket.get(), address);
  return socket;
}

bool joins_one_host(int socket) {
  const address self = address::of_own_end(socket);
  return self.family() == AF_UNIX || self.is_of_host(address::of_other_end(socket));
}

int connect_result(int socket) noexcept {
  int error = 0;
  socklen_t bytes = sizeof error;
  return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 ? error : errno;
}

bool address::is_of_host(const address& other) const noexcept {
  if (family() != other.family()) return false;
  if (family() == AF_INET) {
    return reinterpret_cast<const sockaddr_in&>(storage_).sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in&>(other.storage_).sin_addr.s_addr;
  }
  return family() == AF_INET6 &&
         std::memcmp(&reinterpret_cast<const sockaddr_in6&>(storage_).sin6_addr,
                     &reinterpret_cast<const sockaddr_in6&>(other.storage_).sin6_addr, sizeof(in6_addr)) == 0;
}

void set_stream_options(int socket, const address& other) noexcept {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  sockaddr_storage storage{};
  socklen_t bytes = sizeof storage;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&storage), &bytes) == 0 &&
      address::of(reinterpret_cast<const sockaddr&>(storage)).is_of_host(other)) {
    return;
  }
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 5);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

std::ptrdiff_t send_some(int socket, std::span<const iovec> buffers) noexcept {
  if (buffers.size() == 1) return send_some(socket, buffers[0].iov_base, buffers[0].iov_len);
  const msghdr whole = message_of(buffers);
  return detail::moved(::sendmsg(socket, &whole, MSG_DONTWAIT | MSG_NOSIGNAL));
}

std::ptrdiff_t receive_some(int socket, std::span<const iovec> buffers) noexcept {
  msghdr whole = message_of(buffers);
  const ssize_t received = ::recvmsg(socket, &whole, MSG_DONTWAIT);
  if (received == 0) errno = 0;
  return detail::moved(received);
}

std::string error_text(int error) {
  std::string text = std::generic_category().message(error);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

}  // namespace nacre::net
