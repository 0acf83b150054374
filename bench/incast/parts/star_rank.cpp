// SPDX-License-Identifier: Apache-2.0
// Control messages over datagrams, and the loop of a rank.
#include "star_rank.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace incast {
namespace {

constexpr std::uint64_t frame_bytes = 14 + 20 + 8;  // Ethernet, IP, UDP
constexpr std::uint16_t control_port = 7000, data_port = 7001;

[[nodiscard]] nacre::flow::link_settings settings_of(const plan& plan) {
  const double part = static_cast<double>(plan.bytes) / static_cast<double>(wire_bytes(plan.bytes));
  return {.bytes_per_second = plan.bits_per_second / 8 * part * nacre::flow::usable_part,
          .buffer_bytes = static_cast<std::uint64_t>(static_cast<double>(plan.buffer_bytes) * part),
          .early = nanoseconds(static_cast<std::int64_t>(plan.early_us * 1e3)),
          .patience = nanoseconds(static_cast<std::int64_t>(plan.patience_us * 1e3)),
          .small_bytes = small_bytes_of(plan)};
}

}  // namespace

std::uint64_t wire_bytes(std::uint64_t bytes) {
  const std::uint64_t packets = (bytes + packet_payload - 1) / packet_payload;
  return bytes + packets * (frame_bytes + sizeof(packet_head));
}

nanoseconds wire_time(const plan& plan) {
  return nanoseconds(
      static_cast<std::int64_t>(static_cast<double>(wire_bytes(plan.bytes)) * 8e9 / plan.bits_per_second));
}

star_rank::star_rank(const plan& plan, std::uint32_t self)
    : plan_(plan),
      control_(control_port, urgency::control),
      data_(data_port, urgency::data),
      flow_(nacre::rank_id(self), plan.senders + 1, settings_of(plan), *this),
      buffer_(65536) {}

void star_rank::send(nacre::rank_id target, const nacre::flow::message& message) {
  // One that finds no room is lost, as on the way.
  static_cast<void>(control_.send(target.value(), std::array{control_kind}, nacre::flow::encode(message)));
}

void star_rank::say_go(std::uint32_t host, std::uint32_t round) {
  static_cast<void>(control_.send(host, std::array{go_kind}, std::as_bytes(std::span(&round, 1))));
}

void star_rank::take_control() {
  while (const auto came = control_.receive(buffer_)) {
    const std::span<const std::byte> bytes(buffer_.data(), came->bytes);
    if (bytes.size() == 1 + sizeof(std::uint32_t) && bytes.front() == go_kind) {
      std::uint32_t round = 0;
      std::memcpy(&round, bytes.data() + 1, sizeof round);
      on_go(round);
    } else if (!bytes.empty() && bytes.front() == control_kind) {
      if (const auto message = nacre::flow::decode(bytes.subspan(1))) {
        flow_.receive(nacre::rank_id(came->source), *message, star_now());
      }
    }
  }
}

void star_rank::take_data() {
  while (const auto came = data_.receive(buffer_)) on_packet(came->source, {buffer_.data(), came->bytes});
}

void star_rank::work(nanoseconds until) {
  const nanoseconds wait = std::max(nanoseconds(0), std::min(until, flow_.due()) - star_now());
  std::array<pollfd, 2> both{
      pollfd{control_.descriptor(), POLLIN, 0},
      pollfd{data_.descriptor(), static_cast<short>(POLLIN | (waits_for_room() ? POLLOUT : 0)), 0}};
  const timespec limit{static_cast<time_t>(wait.count() / 1'000'000'000),
                       static_cast<long>(wait.count() % 1'000'000'000)};
  if (::ppoll(both.data(), both.size(), &limit, nullptr) > 0) {
    if (both[0].revents != 0) take_control();
    if ((both[1].revents & POLLIN) != 0) take_data();
  }
  flow_.tick(star_now());
}

}  // namespace incast
