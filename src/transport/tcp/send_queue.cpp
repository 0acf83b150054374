// SPDX-License-Identifier: Apache-2.0
// The queue of bytes that wait to be written to one peer.
#include "transport/tcp/send_queue.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <nacre/assert.hpp>

#include "transport/tcp/frame_reader.hpp"

namespace nacre::transport::tcp {

void send_queue::push(message_ptr m, std::size_t written) {
  const std::span<const std::byte> frame = frame_of(*m).subspan(written);
  if (frame.size() <= copy_bytes_max) return push(frame);
  runs_.push_back({.data = frame.data(), .bytes = frame.size(), .owner = std::move(m)});
  bytes_ += frame.size();
}

void send_queue::push(std::span<const std::byte> bytes) {
  NACRE_EXPECT(bytes.size() <= copy_bytes_max, "copies are short");
  chunk& target = chunk_with_room(bytes.size());
  std::byte* const place = target.memory.get() + target.used;
  std::memcpy(place, bytes.data(), bytes.size());
  target.used += bytes.size();
  target.unwritten += bytes.size();
  bytes_ += bytes.size();
  const bool continues = place != target.memory.get() && !runs_.empty() && runs_.back().owner == nullptr;
  if (continues && runs_.back().data + runs_.back().bytes == place) {
    runs_.back().bytes += bytes.size();
  } else {
    runs_.push_back({.data = place, .bytes = bytes.size(), .owner = nullptr});
  }
}

send_queue::chunk& send_queue::chunk_with_room(std::size_t bytes) {
  if (chunks_.empty() || chunk_pool::chunk_bytes - chunks_.back().used < bytes) chunks_.emplace_back();
  chunk& newest = chunks_.back();
  if (newest.memory == nullptr) newest.memory = pool_.take();
  return newest;
}

std::size_t send_queue::front(std::span<iovec> buffers) const noexcept {
  const std::size_t count = std::min(buffers.size(), runs_.size());
  for (std::size_t i = 0; i < count; ++i) {
    buffers[i] = {.iov_base = const_cast<std::byte*>(runs_[i].data), .iov_len = runs_[i].bytes};
  }
  return count;
}

void send_queue::written(std::size_t count) noexcept {
  NACRE_EXPECT(count <= bytes_, "no more is written than there was");
  bytes_ -= count;
  while (count > 0) {
    run& first = runs_.front();
    const std::size_t part = std::min(count, first.bytes);
    first.data += part;
    first.bytes -= part;
    count -= part;
    if (first.owner == nullptr) written_of_chunk(part);
    if (first.bytes == 0) runs_.pop_front();
  }
}

void send_queue::written_of_chunk(std::size_t count) noexcept {
  chunk& oldest = chunks_.front();
  oldest.unwritten -= count;
  if (oldest.unwritten > 0) return;
  pool_.give_back(std::move(oldest.memory));
  if (chunks_.size() > 1) {
    chunks_.pop_front();
  } else {
    oldest.used = 0;
  }
}

void send_queue::clear() noexcept {
  runs_.clear();
  for (chunk& each : chunks_) {
    if (each.memory != nullptr) pool_.give_back(std::move(each.memory));
  }
  chunks_.clear();
  bytes_ = 0;
}

}  // namespace nacre::transport::tcp
