// SPDX-License-Identifier: Apache-2.0
// Sockets as values: owned descriptors, numeric addresses, and the few calls on them, none of which blocks.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace nacre::net {

/// Owns a file descriptor and closes it at its end.
class unique_fd {
 public:
  unique_fd() noexcept = default;
  explicit unique_fd(int fd) noexcept { reset(fd); }
  unique_fd(unique_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  unique_fd& operator=(unique_fd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~unique_fd() { reset(); }

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] explicit operator bool() const noexcept { return fd_ >= 0; }
  [[nodiscard]] int release() noexcept;
  void reset(int fd = -1) noexcept;

 private:
  int fd_ = -1;
};

/// In a child process that was forked and runs no other program: closes what objects of unique_fd hold, so that the end
/// of the parent shows at the other ends although the child lives on. Nothing may use these objects afterwards, or end
/// them. For a handler of pthread_atfork.
void close_all_in_child() noexcept;

/// A numeric IPv4 or IPv6 address with a port.
class address {
 public:
  /// Reads "127.0.0.1:4711" or "[::1]:4711"; nothing when the text is no such address. Asks no name server.
  [[nodiscard]] static std::optional<address> parse(std::string_view text);
  /// This host only, at a port that the system chooses.
  [[nodiscard]] static address any_port_of_loopback();
  /// Of an IPv4 or IPv6 address.
  [[nodiscard]] static address of(const sockaddr& other) noexcept;
  [[nodiscard]] static address of_own_end(int socket);
  [[nodiscard]] static address of_other_end(int socket);

  /// Whether both are of one host, whatever their ports.
  [[nodiscard]] bool is_of_host(const address& other) const noexcept;
  [[nodiscard]] std::string text() const;
  /// The host of this address, at a port that the system chooses.
  [[nodiscard]] address at_any_port() const;

  [[nodiscard]] const sockaddr* data() const noexcept { return reinterpret_cast<const sockaddr*>(&storage_); }
  [[nodiscard]] socklen_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] int family() const noexcept { return storage_.ss_family; }

 private:
  using name_function = int (*)(int, sockaddr*, socklen_t*);
  [[nodiscard]] static address named_by(name_function ask, int socket);

  sockaddr_storage storage_{};
  socklen_t bytes_ = 0;
};

/// A listening socket. Throws setup_error.
[[nodiscard]] unique_fd listen_at(const address& address);

/// Accepts one connection from a listening socket; empty when none waits or it is gone already. `caller`: gets the
/// address of its other end, which the socket forgets when the other end resets it. Null: not needed.
[[nodiscard]] unique_fd accept_from(int listening_socket, address* caller = nullptr) noexcept;

/// Begins to connect; the socket is writable when that has succeeded or failed. Empty, with errno set, when it cannot
/// begin.
[[nodiscard]] unique_fd start_connect(const address& address) noexcept;

/// Whether both ends of a connection have the same address, port aside, so that they are on one host.
[[nodiscard]] bool joins_one_host(int socket);

/// The outcome of a connect that had begun: 0, or the errno. Call it when the socket is writable.
[[nodiscard]] int connect_result(int socket) noexcept;

/// Makes small messages leave at once, and the end of another host be noticed after 20 s of silence. Within a host
/// nothing asks for a sign of life: the system closes the connections of a process that has ended, and the questions of
/// a thousand ranks to each other would get lost. Sets no limit on the time that a peer takes to read: a process in the
/// debugger is not dead. `other`: the other end.
void set_stream_options(int socket, const address& other) noexcept;

namespace detail {

[[nodiscard]] inline std::ptrdiff_t moved(ssize_t bytes) noexcept {
  if (bytes > 0) return bytes;
  return bytes < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

}  // namespace detail

/// Sends (at least one byte, without SIGPIPE) or receives without blocking. Returns the count of bytes; 0 when nothing
/// moves now; -1 at the end of the stream or after an error, with errno set (0 at the end).
[[nodiscard]] inline std::ptrdiff_t send_some(int socket, const void* data, std::size_t bytes) noexcept {
  return detail::moved(::send(socket, data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL));
}
[[nodiscard]] inline std::ptrdiff_t receive_some(int socket, void* data, std::size_t bytes) noexcept {
  const ssize_t received = ::recv(socket, data, bytes, MSG_DONTWAIT);
  if (received == 0) errno = 0;
  return detail::moved(received);
}
[[nodiscard]] std::ptrdiff_t send_some(int socket, std::span<const iovec> buffers) noexcept;
[[nodiscard]] std::ptrdiff_t receive_some(int socket, std::span<const iovec> buffers) noexcept;

/// The words for an errno, such as "connection refused". Any thread.
[[nodiscard]] std::string error_text(int error);

}  // namespace nacre::net
