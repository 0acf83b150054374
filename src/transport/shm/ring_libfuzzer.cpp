// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: the bytes are slots, with stamps corrected so that the reader takes them; the rest is data.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "transport/shm/ring_test_kit.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nacre;
  using namespace nacre::transport::shm;
  ring_memory memory(geometry::data_bytes_min);
  const ring_view view = memory.view();
  const reader_limits limits = test_limits();
  ring_reader reader(view, limits);
  message_list arrived;
  for (std::uint64_t position = 0; size > 0; ++position) {
    slot next;
    const std::size_t bytes = std::min(size, sizeof next);
    std::memcpy(static_cast<void*>(&next), data, bytes);
    data += bytes;
    size -= bytes;
    next.stamp = make_stamp(position, static_cast<slot_kind>(next.stamp & 0xff));
    view.slots[position % view.slot_count] = next;
    reader.receive(arrived, arrived.size() + 64);
  }
  while (const message_ptr m = arrived.pop_front()) {
    if (m->header.payload_bytes > limits.payload_bytes_max || m->header.source >= limits.ranks ||
        m->header.channel != limits.ring_channel || m->header.kind > message_kind::reply) {
      std::abort();
    }
  }
  return 0;
}
