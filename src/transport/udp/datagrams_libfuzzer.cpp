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

void hold(bool condition) {
  if (!condition) std::abort();
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

datagram_key key_of(std::uint8_t number, tag_method method) {
  job_secret::proof bytes{};
  bytes.fill(static_cast<std::byte>(number));
  return {method, bytes};
}

struct play {
  explicit play(tag_method chosen_method)
      : method(chosen_method),
        sender({.frames = {.ranks = 2, .payload_bytes_max = 1u << 16, .peer = std::nullopt},
                .datagram_bytes = longest,
                .peer_buffer_bytes = 1u << 20},
               key_of(1, chosen_method), key_of(2, chosen_method)),
        receiver({.frames = {.ranks = 2, .payload_bytes_max = 1u << 16, .peer = std::nullopt},
                  .datagram_bytes = longest,
                  .peer_buffer_bytes = 1u << 20},
                 key_of(2, chosen_method), key_of(1, chosen_method)),
        far(longest, key_of(3, chosen_method), key_of(4, chosen_method)),
        near(longest, key_of(4, chosen_method), key_of(3, chosen_method)) {}

  /// Hands a datagram of the peer, or of a stranger, to the receiver.
  arrival arrive(std::span<const std::byte> datagram) {
    messages_by_channel came;
    const std::uint64_t previous_number = receiver.next_number();
    const time_point due = receiver.deadline();
    const arrival outcome = receive(datagram, came);
    if (outcome == arrival::no_datagram || outcome == arrival::replayed) {
      hold(receiver.next_number() == previous_number && receiver.deadline() == due);
      for (const message_list& each : came) hold(each.empty());
    }
    failed |= outcome == arrival::failed;
    for (std::size_t channel_index = 0; channel_index < channel_count; ++channel_index) {
      while (const message_ptr m = came[channel_index].pop_front()) {
        hold(m->header.payload_bytes <= 1u << 16);
        if (lied) continue;
        hold(m->header.sequence == delivered[channel_index]++);
        for (const std::byte each : m->payload()) hold(each == std::byte{0x5a});
      }
    }
    return outcome;
  }
  /// As a socket does: writes the datagram where the next one is expected, whatever it is.
  arrival receive(std::span<const std::byte> datagram, messages_by_channel& came) {
    const landing place = receiver.next_landing();
    if (place.place.empty()) return receiver.on_datagram(datagram, now, came);
    const std::size_t in_head = std::min(datagram.size(), place.head_bytes);
    const std::size_t written = std::min(datagram.size() - in_head, place.place.size());
    std::copy_n(datagram.begin() + static_cast<std::ptrdiff_t>(in_head), written, place.place.begin());
    const landed_datagram split{
        .head = datagram.first(in_head), .written = written, .tail = datagram.subspan(in_head + written)};
    if (!connection::fits(split, place)) return receiver.on_datagram(datagram, now, came);
    return receiver.on_landed(split, place, now, came);
  }
  void submit(channel stream_channel, std::uint32_t bytes) {
    message_list batch;
    batch.push_back(make_message(bytes));
    std::memset(batch.front()->body(), 0x5a, bytes);
    batch.front()->header.channel = stream_channel;
    batch.front()->header.sequence = submitted[static_cast<std::size_t>(stream_channel)]++;
    sender.submit(batch, ~std::uint64_t{0});
  }
  bytes_of next_of(connection& source) {
    bytes_of next(longest);
    next.resize(source.next_datagram(next, now));
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

void strangers_bytes(play& state, script& input) {
  const bytes_of datagram = input.bytes(longest);
  hold(state.arrive(datagram) == arrival::no_datagram);
  hold(!state.near.open(datagram));
}

void a_datagram(play& state, script& input) {
  bytes_of next = state.next_of(state.sender);
  if (next.empty()) return;
  const std::uint32_t place = input.word() % next.size();
  const auto change = static_cast<std::byte>(input.byte());
  if (change != std::byte{0}) {
    bytes_of harmed = next;
    harmed[place] ^= change;
    hold(state.arrive(harmed) == arrival::no_datagram);
    hold(state.arrive(std::span(next).first(place)) == arrival::no_datagram);
    hold(!state.near.open(next));
  }
  if (input.byte() % 4 == 0) return;  // lost
  const arrival outcome = state.arrive(next);
  hold(state.failed ? outcome != arrival::taken : state.lied || outcome == arrival::taken);
  if (outcome == arrival::taken) state.taken.push_back(std::move(next));
}

void a_liars_datagram(play& state, script& input) {
  bytes_of datagram(tag_bytes);
  const bytes_of said = input.bytes(longest - tag_bytes);
  datagram.insert(datagram.end(), said.begin(), said.end());
  if (datagram.size() < overhead_of(0)) datagram.resize(overhead_of(0));
  key_of(1, state.method).sign(datagram);
  state.lied = true;
  static_cast<void>(state.arrive(datagram));
}

void a_replay(play& state, script& input) {
  const std::uint32_t index = input.word();
  if (!state.taken.empty()) hold(state.arrive(state.taken[index % state.taken.size()]) != arrival::taken);
  if (!state.sealed.empty()) hold(!state.near.open(state.sealed[index % state.sealed.size()]));
}

void an_unreliable_one(play& state, script& input) {
  const std::uint32_t label = input.word();
  const bytes_of content = input.bytes(state.far.bytes_max());
  const std::span<const std::byte> whole(content);
  const unreliable_link::head head = state.far.seal(label, transport::byte_pieces(&whole, 1));
  bytes_of all(head.begin(), head.end());
  all.insert(all.end(), content.begin(), content.end());
  bytes_of harmed = all;
  harmed[input.word() % all.size()] ^= static_cast<std::byte>(input.byte() | 1);
  hold(!state.near.open(harmed) && !state.far.open(all));
  hold(!state.near.open(std::span(all).first(input.word() % all.size())));
  hold(state.arrive(all) == arrival::no_datagram);
  if (input.byte() % 4 == 0) return;  // lost
  const auto opened = state.near.open(all);
  hold(opened && opened->label == label && opened->bytes.size() == content.size());
  hold(std::equal(content.begin(), content.end(), opened->bytes.begin()));
  state.sealed.push_back(std::move(all));
}

void time_passes(play& state, script& input) {
  state.now += std::chrono::microseconds(input.word());
  for (connection* const each : {&state.sender, &state.receiver}) {
    if (each->deadline() <= state.now) each->on_deadline(state.now);
  }
  for (bytes_of answer = state.next_of(state.receiver); !answer.empty(); answer = state.next_of(state.receiver)) {
    messages_by_channel none;
    if (input.byte() % 4 != 0) hold(state.sender.on_datagram(answer, state.now, none) == arrival::taken || state.lied);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  script input(data, size);
  play state(input.byte() % 2 == 1 && has_aes() ? tag_method::aes : tag_method::siphash);
  while (!input.over()) {
    switch (input.byte() % 7) {
      case 0:
        strangers_bytes(state, input);
        break;
      case 1:
        a_datagram(state, input);
        break;
      case 2:
        a_liars_datagram(state, input);
        break;
      case 3:
        a_replay(state, input);
        break;
      case 4: {
        const auto channel_of = static_cast<channel>(input.byte() % channel_count);
        state.submit(channel_of, input.word() % 60'000);
        break;
      }
      case 5:
        an_unreliable_one(state, input);
        break;
      default:
        time_passes(state, input);
    }
  }
  return 0;
}
