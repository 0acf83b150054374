// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: the bytes are a script of what happens between two ranks that talk by datagrams. Strangers' bytes,
// harmed, cut, replayed and swapped datagrams must change nothing; what a liar signs must at most end the connection.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "transport/udp/connection.hpp"
#include "transport/udp/unreliable_link.hpp"

namespace {

using namespace nacre;
using namespace nacre::transport::udp;
using bytes_of = std::vector<std::byte>;

constexpr std::uint32_t longest = 1232;

void hold(bool what) {
  if (!what) std::abort();
}

/// The bytes of the input, from front to back; zeros behind them.
class script {
 public:
  script(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}
  [[nodiscard]] bool over() const { return rest_.empty(); }
  std::uint8_t byte() {
    if (over()) return 0;
    const std::uint8_t first = rest_.front();
    rest_ = rest_.subspan(1);
    return first;
  }
  std::uint32_t word() { return byte() | byte() << 8; }
  bytes_of bytes(std::size_t most) {
    const std::size_t asked = std::size_t{byte()} * 6;
    const auto taken = rest_.first(std::min({rest_.size(), most, asked}));
    rest_ = rest_.subspan(taken.size());
    bytes_of result(taken.size());
    if (!taken.empty()) std::memcpy(result.data(), taken.data(), taken.size());
    return result;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

datagram_key key_of(std::uint8_t number, tag_method by) {
  job_secret::proof bytes{};
  bytes.fill(static_cast<std::byte>(number));
  return {by, bytes};
}

struct play {
  explicit play(tag_method by)
      : method(by),
        sender({.frames = {.ranks = 2, .payload_bytes_max = 1u << 16, .peer = std::nullopt},
                .datagram_bytes = longest,
                .peer_buffer_bytes = 1u << 20},
               key_of(1, by), key_of(2, by)),
        receiver({.frames = {.ranks = 2, .payload_bytes_max = 1u << 16, .peer = std::nullopt},
                  .datagram_bytes = longest,
                  .peer_buffer_bytes = 1u << 20},
                 key_of(2, by), key_of(1, by)),
        far(longest, key_of(3, by), key_of(4, by)),
        near(longest, key_of(4, by), key_of(3, by)) {}

  /// Hands a datagram of the peer, or of a stranger, to the receiver.
  arrival arrive(std::span<const std::byte> what) {
    messages_by_channel came;
    const std::uint64_t before = receiver.next_number();
    const time_point due = receiver.deadline();
    const arrival how = receive(what, came);
    if (how == arrival::no_datagram || how == arrival::replayed) {
      hold(receiver.next_number() == before && receiver.deadline() == due);
      for (const message_list& each : came) hold(each.empty());
    }
    failed |= how == arrival::failed;
    for (std::size_t on = 0; on < channel_count; ++on) {
      while (const message_ptr m = came[on].pop_front()) {
        hold(m->header.payload_bytes <= 1u << 16);
        if (lied) continue;
        hold(m->header.sequence == delivered[on]++);
        for (const std::byte each : m->payload()) hold(each == std::byte{0x5a});
      }
    }
    return how;
  }
  /// As a socket does: writes the datagram where the next one is expected, whatever it is.
  arrival receive(std::span<const std::byte> what, messages_by_channel& came) {
    const landing where = receiver.next_landing();
    if (where.place.empty()) return receiver.on_datagram(what, now, came);
    const std::size_t in_head = std::min(what.size(), where.head_bytes);
    const std::size_t written = std::min(what.size() - in_head, where.place.size());
    std::copy_n(what.begin() + static_cast<std::ptrdiff_t>(in_head), written, where.place.begin());
    const landed_datagram split{
        .head = what.first(in_head), .written = written, .behind = what.subspan(in_head + written)};
    if (!connection::fits(split, where)) return receiver.on_datagram(what, now, came);
    return receiver.on_landed(split, where, now, came);
  }
  void submit(channel on, std::uint32_t bytes) {
    message_list batch;
    batch.push_back(make_message(bytes));
    std::memset(batch.front()->body(), 0x5a, bytes);
    batch.front()->header.channel = on;
    batch.front()->header.sequence = submitted[static_cast<std::size_t>(on)]++;
    sender.submit(batch, ~std::uint64_t{0});
  }
  bytes_of next_of(connection& from) {
    bytes_of next(longest);
    next.resize(from.next_datagram(next, now));
    return next;
  }

  tag_method method;
  connection sender, receiver;
  unreliable_link far, near;
  time_point now = time_point{} + std::chrono::hours(1);
  std::vector<bytes_of> taken, sealed;  // those that were accepted
  std::uint32_t submitted[channel_count]{}, delivered[channel_count]{};
  bool lied = false, failed = false;
};

void strangers_bytes(play& on, script& from) {
  const bytes_of what = from.bytes(longest);
  hold(on.arrive(what) == arrival::no_datagram);
  hold(!on.near.open(what));
}

void a_datagram(play& on, script& from) {
  bytes_of next = on.next_of(on.sender);
  if (next.empty()) return;
  const std::uint32_t place = from.word() % next.size();
  const auto change = static_cast<std::byte>(from.byte());
  if (change != std::byte{0}) {
    bytes_of harmed = next;
    harmed[place] ^= change;
    hold(on.arrive(harmed) == arrival::no_datagram);
    hold(on.arrive(std::span(next).first(place)) == arrival::no_datagram);
    hold(!on.near.open(next));
  }
  if (from.byte() % 4 == 0) return;  // lost
  const arrival how = on.arrive(next);
  hold(on.failed ? how != arrival::taken : on.lied || how == arrival::taken);
  if (how == arrival::taken) on.taken.push_back(std::move(next));
}

void a_liars_datagram(play& on, script& from) {
  bytes_of what(tag_bytes);
  const bytes_of said = from.bytes(longest - tag_bytes);
  what.insert(what.end(), said.begin(), said.end());
  if (what.size() < overhead_of(0)) what.resize(overhead_of(0));
  key_of(1, on.method).sign(what);
  on.lied = true;
  static_cast<void>(on.arrive(what));
}

void a_replay(play& on, script& from) {
  const std::uint32_t which = from.word();
  if (!on.taken.empty()) hold(on.arrive(on.taken[which % on.taken.size()]) != arrival::taken);
  if (!on.sealed.empty()) hold(!on.near.open(on.sealed[which % on.sealed.size()]));
}

void an_unreliable_one(play& on, script& from) {
  const std::uint32_t label = from.word();
  const bytes_of content = from.bytes(on.far.bytes_max());
  const unreliable_link::head head = on.far.seal(label, content);
  bytes_of all(head.begin(), head.end());
  all.insert(all.end(), content.begin(), content.end());
  bytes_of harmed = all;
  harmed[from.word() % all.size()] ^= static_cast<std::byte>(from.byte() | 1);
  hold(!on.near.open(harmed) && !on.far.open(all));
  hold(!on.near.open(std::span(all).first(from.word() % all.size())));
  hold(on.arrive(all) == arrival::no_datagram);
  if (from.byte() % 4 == 0) return;  // lost
  const auto opened = on.near.open(all);
  hold(opened && opened->label == label && opened->bytes.size() == content.size());
  hold(std::equal(content.begin(), content.end(), opened->bytes.begin()));
  on.sealed.push_back(std::move(all));
}

void time_passes(play& on, script& from) {
  on.now += std::chrono::microseconds(from.word());
  for (connection* const each : {&on.sender, &on.receiver}) {
    if (each->deadline() <= on.now) each->on_deadline(on.now);
  }
  for (bytes_of answer = on.next_of(on.receiver); !answer.empty(); answer = on.next_of(on.receiver)) {
    messages_by_channel none;
    if (from.byte() % 4 != 0) hold(on.sender.on_datagram(answer, on.now, none) == arrival::taken || on.lied);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  script from(data, size);
  play on(from.byte() % 2 == 1 && has_aes() ? tag_method::aes : tag_method::siphash);
  while (!from.over()) {
    switch (from.byte() % 7) {
      case 0:
        strangers_bytes(on, from);
        break;
      case 1:
        a_datagram(on, from);
        break;
      case 2:
        a_liars_datagram(on, from);
        break;
      case 3:
        a_replay(on, from);
        break;
      case 4: {
        const auto channel_of = static_cast<channel>(from.byte() % channel_count);
        on.submit(channel_of, from.word() % 60'000);
        break;
      }
      case 5:
        an_unreliable_one(on, from);
        break;
      default:
        time_passes(on, from);
    }
  }
  return 0;
}
