// SPDX-License-Identifier: Apache-2.0
// A UDP socket to one peer, which moves many datagrams with one system call.
#include "transport/udp/datagram_socket.hpp"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <nacre/assert.hpp>
#include <nacre/error.hpp>

#include "base/sanitized.hpp"

namespace nacre::transport::udp {
namespace {

constexpr std::size_t segments_max = 64;                    // UDP_MAX_SEGMENTS of older kernels
constexpr std::uint32_t segmented_bytes_max = 32'000;       // longer datagrams do not fit twice into one buffer
constexpr std::size_t bytes_max = 4 * std::size_t{65'536};  // of a batch: they are in the cache when the kernel copies
constexpr int refusals_max = 3;
constexpr std::uint32_t headers_of_ipv4 = 20 + 8;
constexpr std::uint32_t headers_of_ipv6 = 40 + 8;

[[noreturn]] void throw_no_socket(const char* name) {
  if (errno == EADDRINUSE) {  // the address has no port left: that of the socket is chosen by the kernel
    throw setup_error({.problem = std::string(name) + ": this host has no UDP port left",
                       .why =
                           "the transport udp has a socket for each peer, and each rank of a host needs as many ports "
                           "as it has peers",
                       .remedy = "allow more of them (sysctl net.ipv4.ip_local_port_range=\"1024 65535\"), run fewer "
                                 "ranks on each host, or use --transport tcp"});
  }
  throw setup_error({.problem = std::string(name) + ": " + net::error_text(errno),
                     .why = "the transport udp has a socket for each peer",
                     .remedy = "raise the limit of open files (ulimit -n), or use --transport tcp"});
}

void set(int socket, int level, int name, int value) noexcept {
  ::setsockopt(socket, level, name, &value, sizeof value);  // without it the socket works, too
}

// The functions of the C library are points at which a thread may be cancelled, which takes 20 ns of each call. The
// thread sanitizer sees only those.
ssize_t send_one(int socket, const iovec& buffer) noexcept {
#if NACRE_UNDER_TSAN
  return ::send(socket, buffer.iov_base, buffer.iov_len, MSG_DONTWAIT | MSG_NOSIGNAL);
#else
  return ::syscall(SYS_sendto, socket, buffer.iov_base, buffer.iov_len, MSG_DONTWAIT | MSG_NOSIGNAL, nullptr, 0);
#endif
}

ssize_t receive_one(int socket, const iovec& buffer) noexcept {
#if NACRE_UNDER_TSAN
  return ::recv(socket, buffer.iov_base, buffer.iov_len, MSG_DONTWAIT);
#else
  return ::syscall(SYS_recvfrom, socket, buffer.iov_base, buffer.iov_len, MSG_DONTWAIT, nullptr, nullptr);
#endif
}

msghdr header_of(std::span<const iovec> places) noexcept {
  msghdr header{};
  header.msg_iov = const_cast<iovec*>(places.data());  // the kernel reads them only
  header.msg_iovlen = places.size();
  return header;
}

int value_of(int socket, int level, int name, int otherwise) noexcept {
  int value = 0;
  socklen_t bytes = sizeof value;
  return ::getsockopt(socket, level, name, &value, &bytes) == 0 ? value : otherwise;
}

}  // namespace

std::span<std::byte> outgoing_batch::space() noexcept {
  if (lengths_.size() == datagrams_max || memory_bytes - used_ < datagram_bytes_max || bytes_ >= bytes_max) return {};
  return {memory_.get() + used_, datagram_bytes_max};
}

void outgoing_batch::add(std::size_t bytes, byte_pieces apart) {
  places_.push_back({.iov_base = memory_.get() + used_, .iov_len = bytes});
  used_ += bytes;
  std::size_t all = bytes;
  for (const std::span<const std::byte> piece : apart) {
    places_.push_back({.iov_base = const_cast<std::byte*>(piece.data()), .iov_len = piece.size()});
    all += piece.size();
  }
  bytes_ += all;
  lengths_.push_back(static_cast<std::uint32_t>(all));
  ends_.push_back(places_.size());
}

void outgoing_batch::clear() noexcept {
  lengths_.clear();
  places_.clear();
  ends_.clear();
  used_ = bytes_ = 0;
}

std::span<const iovec> outgoing_batch::places(std::size_t first, std::size_t count) const noexcept {
  const std::size_t begin = first == 0 ? 0 : ends_[first - 1];
  return std::span(places_).subspan(begin, ends_[first + count - 1] - begin);
}

incoming_batch::incoming_batch() {
  for (std::size_t i = 0; i < datagrams_max; ++i) {
    places_[i] = {.iov_base = memory_.get() + i * slot_bytes, .iov_len = slot_bytes};
    headers_[i].msg_hdr.msg_iov = &places_[i];
    headers_[i].msg_hdr.msg_iovlen = 1;
  }
}

datagram_socket::datagram_socket(const net::address& local, std::size_t buffer_bytes)
    : socket_(::socket(local.family(), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  if (!socket_ || ::bind(socket_.get(), local.data(), local.bytes()) != 0) throw_no_socket("no socket for datagrams");
  const int wanted = static_cast<int>(buffer_bytes / 2);  // the kernel doubles it, for its bookkeeping
  // A privileged process may exceed what net.core.rmem_max and wmem_max permit.
  set(socket_.get(), SOL_SOCKET, SO_RCVBUF, wanted);
  if (this->buffer_bytes() < buffer_bytes) set(socket_.get(), SOL_SOCKET, SO_RCVBUFFORCE, wanted);
  set(socket_.get(), SOL_SOCKET, SO_SNDBUF, wanted);
  if (value_of(socket_.get(), SOL_SOCKET, SO_SNDBUF, 0) < 2 * wanted)
    set(socket_.get(), SOL_SOCKET, SO_SNDBUFFORCE, wanted);
  // The kernel learns what the route carries, and cuts longer packets itself.
  const bool four = local.family() == AF_INET;
  set(socket_.get(), four ? IPPROTO_IP : IPPROTO_IPV6, four ? IP_MTU_DISCOVER : IPV6_MTU_DISCOVER,
      four ? IP_PMTUDISC_WANT : IPV6_PMTUDISC_WANT);
}

std::uint32_t datagram_socket::buffer_bytes() const noexcept {
  return static_cast<std::uint32_t>(value_of(socket_.get(), SOL_SOCKET, SO_RCVBUF, 1 << 16));
}

void datagram_socket::connect(const net::address& peer) {
  if (::connect(socket_.get(), peer.data(), peer.bytes()) != 0) throw_no_socket("no route for datagrams to a peer");
}

std::uint32_t datagram_socket::datagram_bytes(std::uint32_t mtu) const noexcept {
  const bool four = value_of(socket_.get(), SOL_SOCKET, SO_DOMAIN, AF_INET) == AF_INET;
  const std::uint32_t headers = four ? headers_of_ipv4 : headers_of_ipv6;
  const int route = value_of(socket_.get(), four ? IPPROTO_IP : IPPROTO_IPV6, four ? IP_MTU : IPV6_MTU, 1280);
  std::uint32_t packet = static_cast<std::uint32_t>(std::max(route, 1280));
  if (mtu != 0) packet = std::min(packet, mtu);
  return std::min<std::uint32_t>(packet - headers, datagram_bytes_max);
}

void datagram_socket::use_segmentation(std::uint32_t datagram_bytes) noexcept {
  if (datagram_bytes > segmented_bytes_max) return;
  const int index = 1;
  cuts_ = value_of(socket_.get(), IPPROTO_UDP, UDP_SEGMENT, -1) >= 0;                     // Linux 4.18
  joins_ = ::setsockopt(socket_.get(), IPPROTO_UDP, UDP_GRO, &index, sizeof index) == 0;  // Linux 5.0
}

/// The number of datagrams at the front that the kernel can cut out of one buffer: all as long as the first one, but
/// for the last one, which may be shorter.
std::size_t datagram_socket::group_from(std::span<const std::uint32_t> lengths) const noexcept {
  if (!cuts_) return 1;
  std::size_t count = 1;
  std::size_t bytes = lengths[0];
  while (count < std::min(lengths.size(), segments_max) && lengths[count] <= lengths[0] &&
         bytes + lengths[count] <= datagram_bytes_max) {
    bytes += lengths[count++];
    if (lengths[count - 1] < lengths[0]) break;
  }
  return count;
}

std::size_t datagram_socket::send_losing(const outgoing_batch& batch) {
  std::size_t taken = 0;
  for (; taken < batch.lengths().size(); ++taken) {
    if (lose_()) continue;
    const msghdr header = header_of(batch.places(taken, 1));
    if (::sendmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno == EAGAIN) break;
  }
  return taken;
}

/// After an error: whether the first group will never leave, so that the network is to lose it.
bool datagram_socket::gives_up(std::size_t group) noexcept {
  if (errno == ECONNREFUSED) return false;  // a report about an earlier datagram
  const bool refuses_groups = errno == EINVAL || errno == EIO || errno == EMSGSIZE || errno == EOPNOTSUPP;
  if (group == 1 || !refuses_groups) return true;
  cuts_ = false;  // each datagram leaves by itself
  return false;
}

/// Datagrams as the kernel takes them: each message is one datagram, or several to be cut.
struct datagram_socket::system_call {
  static constexpr std::size_t messages_max = 16;
  using control = std::array<std::byte, CMSG_SPACE(sizeof(std::uint16_t))>;

  alignas(cmsghdr) std::array<control, messages_max> controls;
  std::array<mmsghdr, messages_max> headers;
  std::array<std::size_t, messages_max> datagrams;  // in each
  std::size_t count = 0;

  /// Adds consecutive datagrams, which lie at those places.
  void add(std::span<const iovec> places, std::span<const std::uint32_t> lengths) noexcept {
    datagrams[count] = lengths.size();
    headers[count] = {};
    msghdr& header = headers[count].msg_hdr = header_of(places);
    if (lengths.size() > 1) {
      header.msg_control = controls[count].data();
      header.msg_controllen = controls[count].size();
      cmsghdr* const note = CMSG_FIRSTHDR(&header);
      note->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
      note->cmsg_level = IPPROTO_UDP;
      note->cmsg_type = UDP_SEGMENT;
      const auto segment = static_cast<std::uint16_t>(lengths[0]);
      std::memcpy(CMSG_DATA(note), &segment, sizeof segment);
    }
    ++count;
  }
};

std::size_t datagram_socket::send(const outgoing_batch& batch) {
  if (lose_) return send_losing(batch);
  if (batch.lengths().size() == 1) {  // for one, sendmsg takes half of the time of sendmmsg
    const std::span<const iovec> places = batch.places(0, 1);
    const msghdr header = header_of(places);
    const ssize_t sent = places.size() == 1 ? send_one(socket_.get(), places[0])
                                            : ::sendmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) return 1;
  }
  std::size_t taken = 0;
  int refusals = 0;
  while (taken < batch.lengths().size()) {
    system_call call;
    for (std::size_t next = taken; next < batch.lengths().size() && call.count < system_call::messages_max;) {
      const auto rest = batch.lengths().subspan(next);
      const std::size_t group = group_from(rest);
      call.add(batch.places(next, group), rest.first(group));
      next += group;
    }
    const int sent =
        ::sendmmsg(socket_.get(), call.headers.data(), static_cast<unsigned>(call.count), MSG_DONTWAIT | MSG_NOSIGNAL);
    std::size_t done = static_cast<std::size_t>(std::max(sent, 0));
    if (sent < 0) {
      if (errno == EAGAIN || errno == ENOBUFS) break;
      done = gives_up(call.datagrams[0]) || ++refusals > refusals_max ? 1 : 0;
    }
    for (std::size_t i = 0; i < done; ++i) taken += call.datagrams[i];
  }
  return taken;
}

bool datagram_socket::send(std::span<const std::byte> head, byte_pieces bytes) noexcept {
  if (lose_ && lose_()) return true;
  std::array<iovec, datagram_pieces_max + 1> places;
  std::size_t count = 0;
  const auto add = [&](std::span<const std::byte> piece) {
    places[count++] = {.iov_base = const_cast<std::byte*>(piece.data()), .iov_len = piece.size()};
  };
  add(head);
  for (const std::span<const std::byte> piece : bytes) add(piece);
  const msghdr header = header_of(std::span(places).first(count));
  for (int refusals = 0; refusals < refusals_max; ++refusals) {
    if (::sendmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return true;
    if (errno == EAGAIN || errno == ENOBUFS) return false;
    if (errno != ECONNREFUSED) break;  // that one reports about an earlier datagram
  }
  return true;  // the network loses it
}

std::size_t datagram_socket::receive_some(incoming_batch& incoming_batch) noexcept {
  if (joins_) {
    for (std::size_t i = 0; i < incoming_batch::datagrams_max; ++i) {
      incoming_batch.headers_[i].msg_hdr.msg_control = incoming_batch.controls_[i].data();
      incoming_batch.headers_[i].msg_hdr.msg_controllen = incoming_batch.controls_[i].size();
    }
  }
  if (!many_ && !joins_) {  // half of the time of recvmmsg
    const ssize_t bytes = receive_one(socket_.get(), incoming_batch.places_[0]);
    many_ = bytes >= 0 && has_found_;  // two in a row: more may wait
    has_found_ = bytes >= 0;
    if (bytes < 0) return 0;
    incoming_batch.headers_[0].msg_len = static_cast<unsigned>(bytes);
    return 1;
  }
  const int got =
      ::recvmmsg(socket_.get(), incoming_batch.headers_.data(), incoming_batch::datagrams_max, MSG_DONTWAIT, nullptr);
  many_ = got > 1;
  has_found_ = false;
  return static_cast<std::size_t>(std::max(got, 0));  // an error is a report about an earlier datagram
}

std::optional<split_datagram> datagram_socket::receive_split(incoming_batch& incoming_batch, std::size_t head_bytes,
                                                             std::span<std::byte> place) noexcept {
  const std::span<std::byte> slot(incoming_batch.memory_.get(), incoming_batch::slot_bytes);
  const std::size_t gap = std::min(place.size(), slot.size() - head_bytes);
  const std::span<std::byte> rest = slot.subspan(head_bytes + gap);
  std::array<iovec, 3> places{{{.iov_base = slot.data(), .iov_len = head_bytes},
                               {.iov_base = place.data(), .iov_len = gap},
                               {.iov_base = rest.data(), .iov_len = rest.size()}}};
  msghdr header = header_of(places);
  const ssize_t got = ::recvmsg(socket_.get(), &header, MSG_DONTWAIT);
  if (got < 0) return std::nullopt;  // an error is a report about an earlier datagram
  const auto bytes = static_cast<std::size_t>(got);
  const std::size_t in_head = std::min(bytes, head_bytes);
  const std::size_t elsewhere = std::min(bytes - in_head, gap);
  return split_datagram{
      .head = slot.first(in_head), .elsewhere = elsewhere, .tail = rest.first(bytes - in_head - elsewhere)};
}

std::span<const std::byte> datagram_socket::rejoin(const split_datagram& datagram,
                                                   std::span<const std::byte> place) noexcept {
  std::byte* const begin = datagram.head.data();
  if (datagram.elsewhere != 0) std::memcpy(begin + datagram.head.size(), place.data(), datagram.elsewhere);
  return {begin, datagram.head.size() + datagram.elsewhere + datagram.tail.size()};
}

std::size_t datagram_socket::segment_bytes(const msghdr& header, std::size_t all) noexcept {
  for (const cmsghdr* note = CMSG_FIRSTHDR(&header); note != nullptr;
       note = CMSG_NXTHDR(const_cast<msghdr*>(&header), const_cast<cmsghdr*>(note))) {
    if (note->cmsg_level != IPPROTO_UDP || note->cmsg_type != UDP_GRO) continue;
    int segment = 0;
    std::memcpy(&segment, CMSG_DATA(note), sizeof segment);
    if (segment > 0) return static_cast<std::size_t>(segment);
  }
  return std::max<std::size_t>(all, 1);
}

}  // namespace nacre::transport::udp
