// SPDX-License-Identifier: Apache-2.0
// Control messages as bytes, and the names of the policies.
#include "backplane/flow/flow_message.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include <nacre/assert.hpp>

namespace nacre {
namespace {

constexpr std::array<std::string_view, 5> names{"none", "token", "credit", "slot", "auto"};

}  // namespace

std::string_view name_of(flow_policy policy) noexcept { return names[static_cast<std::size_t>(policy)]; }

std::optional<flow_policy> flow_policy_of(std::string_view name) noexcept {
  const auto match = std::find(names.begin(), names.end(), name);
  if (match == names.end()) return std::nullopt;
  return static_cast<flow_policy>(match - names.begin());
}

namespace flow {
namespace {

/// The fields in front of the list, as they travel: no padding.
struct head {
  std::uint64_t pass = 0, used = 0;
  std::int64_t delay_ns = 0, sent_ns = 0;
  std::uint32_t link = 0, subject = 0, epoch = 0, number = 0, room = 0;
  std::uint8_t kind = 0, permit = 0;
  std::uint16_t count = 0;
};
static_assert(sizeof(head) == 56);

constexpr std::int64_t delay_ns_max = std::int64_t{24} * 3600 * 1'000'000'000;

}  // namespace

std::vector<std::byte> encode(const message& message) {
  NACRE_EXPECT(message.list.size() <= list_max, "a control message is short");
  const head front{.pass = message.stamp.pass,
                   .used = message.stamp.used,
                   .delay_ns = message.delay.count(),
                   .sent_ns = message.sent.count(),
                   .link = message.link.value(),
                   .subject = message.subject.value(),
                   .epoch = message.stamp.epoch,
                   .number = message.number,
                   .room = message.room,
                   .kind = static_cast<std::uint8_t>(message.kind),
                   .permit = message.stamp.permit,
                   .count = static_cast<std::uint16_t>(message.list.size())};
  const std::size_t list_bytes = message.list.size() * sizeof(std::uint32_t);
  std::vector<std::byte> bytes(sizeof front + list_bytes);
  std::memcpy(bytes.data(), &front, sizeof front);
  if (list_bytes != 0) std::memcpy(bytes.data() + sizeof front, message.list.data(), list_bytes);
  return bytes;
}

std::optional<message> decode(std::span<const std::byte> bytes) {
  head front;
  if (bytes.size() < sizeof front) return std::nullopt;
  std::memcpy(&front, bytes.data(), sizeof front);
  const std::size_t list_bytes = front.count * sizeof(std::uint32_t);
  const bool sound = front.count <= list_max && bytes.size() == sizeof front + list_bytes && front.delay_ns >= 0 &&
                     front.delay_ns <= delay_ns_max && front.sent_ns >= 0 &&
                     front.kind <= static_cast<std::uint8_t>(message_kind::arrived);
  if (!sound) return std::nullopt;
  message packet{.kind = static_cast<message_kind>(front.kind),
                 .link = rank_id(front.link),
                 .subject = rank_id(front.subject),
                 .stamp = {front.epoch, front.pass, front.permit, front.used},
                 .number = front.number,
                 .delay = nanoseconds(front.delay_ns),
                 .sent = nanoseconds(front.sent_ns),
                 .list = std::vector<std::uint32_t>(front.count),
                 .room = front.room};
  if (list_bytes != 0) std::memcpy(packet.list.data(), bytes.data() + sizeof front, list_bytes);
  return packet;
}

}  // namespace flow
}  // namespace nacre
