// SPDX-License-Identifier: Apache-2.0
// A UDP socket to one peer, which moves many datagrams with one system call.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "join/net/socket.hpp"
#include "transport/udp/datagram.hpp"

namespace nacre::transport::udp {

/// Datagrams that leave together. Each lies in the memory of the batch, or only its head does.
class outgoing_batch {
 public:
  static constexpr std::size_t datagrams_max = 64;

  /// Room for one more datagram; empty: there is none. Valid until `add` or `clear`.
  [[nodiscard]] std::span<std::byte> space() noexcept;
  /// The first `bytes` of `space`, and then the bytes of `apart`, are a datagram. Those stay where they are until the
  /// batch has been sent.
  void add(std::size_t bytes, byte_pieces apart = {});
  void clear() noexcept;
  [[nodiscard]] std::span<const std::uint32_t> lengths() const noexcept { return lengths_; }
  /// Where the bytes of the datagrams `first` to `first + count - 1` lie, in order.
  [[nodiscard]] std::span<const iovec> places(std::size_t first, std::size_t count) const noexcept;

 private:
  static constexpr std::size_t memory_bytes = 4 * std::size_t{65'536};

  std::unique_ptr<std::byte[]> memory_ = std::make_unique_for_overwrite<std::byte[]>(memory_bytes);
  std::size_t used_ = 0;   // of memory_
  std::size_t bytes_ = 0;  // of all datagrams
  std::vector<std::uint32_t> lengths_;
  std::vector<iovec> places_;
  std::vector<std::size_t> ends_;  // of the places of each datagram
};

/// A datagram that was received into memory of an incoming_batch, but for a part that lies elsewhere.
struct split_datagram {
  std::span<std::byte> head;  ///< in the batch
  std::size_t elsewhere = 0;  ///< bytes in the memory that the caller has given
  std::span<std::byte> tail;  ///< in the batch, with room for the others between head and behind
};

/// Memory for datagrams that arrive together. Several sockets may use it one after the other.
class incoming_batch {
 public:
  static constexpr std::size_t datagrams_max = 16;

  incoming_batch();
  incoming_batch(const incoming_batch&) = delete;
  incoming_batch& operator=(const incoming_batch&) = delete;

 private:
  friend class datagram_socket;
  static constexpr std::size_t slot_bytes = 65'536;
  using control = std::array<std::byte, 64>;

  std::unique_ptr<std::byte[]> memory_ = std::make_unique_for_overwrite<std::byte[]>(datagrams_max * slot_bytes);
  alignas(std::max_align_t) std::array<control, datagrams_max> controls_{};
  std::array<iovec, datagrams_max> places_{};
  std::array<mmsghdr, datagrams_max> headers_{};
};

/// A socket that is bound first and connected to its peer later. Does not block. One thread, but `descriptor` may be
/// polled by another.
class datagram_socket {
 public:
  /// A test's path: whether the next datagram is to be lost.
  using loss = std::function<bool()>;

  /// Binds a socket to `local`. Asks the kernel for a receive buffer of that size; the kernel may give less. Throws
  /// setup_error.
  datagram_socket(const net::address& local, std::size_t buffer_bytes);

  [[nodiscard]] net::address own_address() const { return net::address::of_own_end(socket_.get()); }
  /// The bytes of datagrams and bookkeeping that the kernel keeps for this socket.
  [[nodiscard]] std::uint32_t buffer_bytes() const noexcept;
  /// From now on datagrams go to `peer` and come from it. Throws setup_error.
  void connect(const net::address& peer);
  /// The longest datagram that the route to the peer carries in one packet; and in a packet of `mtu` bytes, if that is
  /// not 0.
  [[nodiscard]] std::uint32_t datagram_bytes(std::uint32_t mtu) const noexcept;
  /// Prepares for datagrams of that length: whether the kernel is to cut and to join them.
  void use_segmentation(std::uint32_t datagram_bytes) noexcept;
  /// Loses datagrams that are sent, as the network would. For tests.
  void lose(loss loss) { lose_ = std::move(loss); }

  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }

  /// Sends datagrams from the front of the batch, and returns the number of those that the kernel has taken, or that it
  /// will never take: the network loses those.
  [[nodiscard]] std::size_t send(const outgoing_batch& batch);
  /// Sends one datagram of a head and of at most datagram_pieces_max pieces. False: the kernel has no room for it now.
  [[nodiscard]] bool send(std::span<const std::byte> head, byte_pieces bytes) noexcept;

  /// Receives one datagram: `head_bytes` into the batch, those behind into `place`, and the rest into the batch again.
  /// Nothing: none is there. For sockets whose datagrams the kernel does not join.
  [[nodiscard]] std::optional<split_datagram> receive_split(incoming_batch& incoming_batch, std::size_t head_bytes,
                                                            std::span<std::byte> place) noexcept;
  /// Puts a datagram of receive_split together: copies the bytes that lie at `place` between the head and the rest.
  /// Returns the whole datagram.
  [[nodiscard]] static std::span<const std::byte> rejoin(const split_datagram& datagram,
                                                         std::span<const std::byte> place) noexcept;
  /// Whether receive_split may be called.
  [[nodiscard]] bool can_split() const noexcept { return !joins_; }

  /// Receives what has arrived, and calls on_datagram(bytes) for each datagram. Returns whether more may be there.
  template <class OnDatagram>
  bool receive(incoming_batch& incoming_batch, OnDatagram on_datagram) {
    const std::size_t count = receive_some(incoming_batch);
    for (std::size_t i = 0; i < count; ++i) {
      std::span<const std::byte> rest(static_cast<const std::byte*>(incoming_batch.places_[i].iov_base),
                                      incoming_batch.headers_[i].msg_len);
      const std::size_t each = joins_ ? segment_bytes(incoming_batch.headers_[i].msg_hdr, rest.size()) : rest.size();
      for (; rest.size() > each; rest = rest.subspan(each)) on_datagram(rest.first(each));
      on_datagram(rest);
    }
    return count == incoming_batch::datagrams_max;
  }

 private:
  struct system_call;

  [[nodiscard]] std::size_t receive_some(incoming_batch& incoming_batch) noexcept;
  [[nodiscard]] static std::size_t segment_bytes(const msghdr& header, std::size_t all) noexcept;
  [[nodiscard]] std::size_t group_from(std::span<const std::uint32_t> lengths) const noexcept;
  [[nodiscard]] std::size_t send_losing(const outgoing_batch& batch);
  [[nodiscard]] bool gives_up(std::size_t group) noexcept;

  net::unique_fd socket_;
  bool cuts_ = false;       // the kernel cuts one long buffer into datagrams (UDP_SEGMENT)
  bool joins_ = false;      // the kernel may join datagrams that arrive (UDP_GRO)
  bool many_ = false;       // several datagrams have come together
  bool has_found_ = false;  // the last call has found a datagram
  loss lose_;
};

}  // namespace nacre::transport::udp
