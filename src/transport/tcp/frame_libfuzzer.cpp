// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: the first byte selects the sizes of the reads and the channels that the stream may carry.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "transport/tcp/frame_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nacre;
  using namespace nacre::transport;
  using namespace nacre::transport::tcp;
  if (size == 0) return 0;
  const std::size_t piece = std::size_t{data[0]} * 16 + 1;
  std::span<const std::uint8_t> stream(data + 1, size - 1);
  // A connection of one channel, or of all.
  const std::uint32_t channels = data[0] >= 128 ? 1u << data[0] % channel_count : frame_limits{}.channels;
  const frame_limits limits{.ranks = 8, .payload_bytes_max = 1u << 20, .channels = channels};
  chunk_pool chunks;
  frame_reader reader(limits, chunks);
  message_list arrived;
  while (!stream.empty()) {
    const frame_reader::places places = reader.space();
    const std::size_t first = std::min({piece, places.first.size(), stream.size()});
    const std::size_t second = std::min({piece - first, places.second.size(), stream.size() - first});
    std::memcpy(places.first.data(), stream.data(), first);
    if (second > 0) std::memcpy(places.second.data(), stream.data() + first, second);
    stream = stream.subspan(first + second);
    if (reader.filled(first + second, arrived)) break;
  }
  std::size_t bytes = 0;
  while (const message_ptr m = arrived.pop_front()) {
    if (check_header(m->header, limits)) std::abort();
    bytes += frame_of(*m).size();
  }
  if (bytes > size) std::abort();  // no more bytes come out than went in
  return 0;
}
