// SPDX-License-Identifier: Apache-2.0
// The receiving end of one ring: turns slots into messages and checks every one of them.
#include "transport/shm/ring_reader.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "transport/shm/process_memory.hpp"
#include "wire/header_check.hpp"

namespace nacre::transport::shm {
namespace {

/// A copy that the writer cannot change any more.
slot copy_of(slot& next) noexcept {
  std::array<std::uint64_t, slot_words> words;
  auto* const source = reinterpret_cast<std::uint64_t*>(&next);
  // relaxed: follows the load in `ready` that has seen the stamp; every other word is checked
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = shared(source[i]).load(std::memory_order_relaxed);
  return std::bit_cast<slot>(words);
}

std::optional<std::string_view> trouble_with(const message_header& header, const reader_limits& limits) noexcept {
  if (header.payload_bytes > limits.payload_bytes_max) return "sent a message that is larger than allowed";
  if (header.kind > message_kind::reply) return "sent a message of an unknown kind";
  if (header.channel != limits.ring_channel) return "sent a message on another channel than its own";
  if ((header.flags & ~message_flags_known) != 0) return "sent a message with unknown flags";
  if (header.source >= limits.ranks) return "sent a message from a rank that does not exist";
  if (limits.peer && !may_name_its_source(header, limits.peer->value())) {
    return "sent a message in the name of another rank";
  }
  return std::nullopt;
}

/// The fault of the writer; empty when the kernel has refused the access.
std::string_view fetch_trouble(int error) noexcept {
  if (error == ESRCH) return "ended before a message of its could be fetched";
  return error == EFAULT ? "left a message where it cannot be fetched" : "";
}

}  // namespace

bool ring_reader::receive_some(message_list& arrived, std::size_t enough) {
  fetched_bytes_ = 0;
  if (fetching_) fetch(arrived);
  while (!error_ && !fetching_ && fetched_bytes_ < fetch_bytes_delivered && arrived.size() < enough && ready()) {
    const std::uint64_t position = position_.load(std::memory_order_relaxed);  // own
    take(copy_of(ring_.slots[position & (ring_.slot_count - 1)]), arrived);
    position_.store(position + 1, std::memory_order_relaxed);  // see ready
    announce_when_due();
    if (fetching_ && !error_) fetch(arrived);
  }
  return true;
}

void ring_reader::take(const slot& next, message_list& arrived) {
  const auto kind = static_cast<slot_kind>(next.stamp & 0xff);
  if (partial_ != nullptr) {
    if (kind != slot_kind::fragment) return fail("sent a message in the middle of another one");
    return take_fragment(next, arrived);
  }
  if (kind == slot_kind::again) return take_again();
  if (is_over_) return fail("sent something after its shutdown");
  switch (kind) {
    case slot_kind::whole_inline:
    case slot_kind::whole:
    case slot_kind::fetch:
    case slot_kind::begin:
      return take_message(kind, next, arrived);
    case slot_kind::shutdown:
      is_over_ = true;
      return;
    case slot_kind::fragment:
      return fail("sent a fragment of a message that it has not begun");
    case slot_kind::again:
      break;  // above
  }
  fail("wrote a slot of an unknown kind");
}

void ring_reader::take_message(slot_kind kind, const slot& next, message_list& arrived) {
  if (const auto trouble = trouble_with(next.header, limits_)) return fail(*trouble);
  const std::uint32_t bytes = next.header.payload_bytes;
  if (kind == slot_kind::whole_inline && bytes > inline_bytes_max) return fail("wrote a slot that is too long");
  if (kind == slot_kind::whole && bytes > ring_.fragment_bytes_max()) return fail("wrote a slot that is too long");
  if (kind == slot_kind::begin && bytes == 0) return fail("began a message that has no fragments");
  if (kind == slot_kind::fetch && limits_.writer == 0) return fail("left a message where nobody can fetch it");
  if (kind == slot_kind::fetch && refused_) return held_.push_back({.header = next.header, .m = nullptr});
  message_ptr m = make_message(bytes);
  m->header = next.header;
  if (kind == slot_kind::begin || kind == slot_kind::fetch) {
    partial_ = std::move(m);
    partial_bytes_ = 0;
    fetching_ = kind == slot_kind::fetch;
    fetch_from_ = next.extra[0];
    return;
  }
  if (kind == slot_kind::whole) {
    copy_data(m->body(), bytes);
  } else {
    std::memcpy(m->body(), next.extra, bytes);
  }
  complete(std::move(m), arrived);
}

void ring_reader::take_again() {
  if (held_.empty()) return fail("sent a message again that has arrived");
  const message_header& header = held_.front().header;
  partial_ = make_message(header.payload_bytes);
  partial_->header = header;
  partial_bytes_ = 0;
  again_ = true;
}

void ring_reader::take_fragment(const slot& next, message_list& arrived) {
  const std::size_t bytes = next.header.payload_bytes;
  const std::size_t missing = partial_->header.payload_bytes - partial_bytes_;
  if (bytes == 0 || bytes > missing || bytes > ring_.fragment_bytes_max())
    return fail("wrote a fragment of a wrong length");
  copy_data(partial_->body() + partial_bytes_, bytes);
  partial_bytes_ += bytes;
  if (bytes == missing) complete(std::exchange(partial_, nullptr), arrived);
}

/// Delivers a complete message, or holds it while a message before it awaits its payload.
void ring_reader::complete(message_ptr m, message_list& arrived) {
  if (std::exchange(again_, false)) {
    held_.front().m = std::move(m);
    auto next = held_.begin();
    for (; next != held_.end() && next->m != nullptr; ++next) arrived.push_back(std::move(next->m));
    held_.erase(held_.begin(), next);
  } else if (held_.empty()) {
    arrived.push_back(std::move(m));
  } else {
    const message_header header = m->header;
    held_.push_back({.header = header, .m = std::move(m)});
  }
}

void ring_reader::fetch(message_list& arrived) {
  const std::size_t missing = partial_->header.payload_bytes - partial_bytes_;
  const std::size_t bytes = missing <= fetch_bytes_a_call / 4 * 5 ? missing : fetch_bytes_a_call;
  if (!read_memory(limits_.writer, fetch_from_ + partial_bytes_, partial_->body() + partial_bytes_, bytes)) {
    const int error = errno;
    const std::string_view trouble = fetch_trouble(error);
    return trouble.empty() ? give_up_fetching(error) : fail(trouble);
  }
  // Asked behind the reading: the number of a writer that has ended may be another process's.
  if (limits_.handle != nullptr && !limits_.handle->exists()) return fail(fetch_trouble(ESRCH));
  partial_bytes_ += bytes;
  fetched_bytes_ += bytes;
  if (bytes != missing) return;
  fetching_ = false;
  if (shared(ring_.writer->revoked).load() != 0) return fail("took a message back before it was fetched");
  arrived.push_back(std::exchange(partial_, nullptr));
  shared(ring_.reader->fetched).store(++fetches_);  // pairs with the loads in ring_writer
  announced_ = true;
}

/// Also announces the payloads that were fetched before, so that the writer knows the rest.
void ring_reader::give_up_fetching(int error) {
  held_.push_back({.header = partial_->header, .m = nullptr});
  partial_.reset();
  fetching_ = false;
  refused_ = true;
  refusal_ = error;
  tell_fetching(fetching::refused);
  announced_ = true;
}

void ring_reader::copy_data(std::byte* target, std::size_t bytes) {
  const std::uint64_t index = data_position_ & (ring_.data_bytes - 1);
  const std::size_t first = std::min<std::size_t>(bytes, ring_.data_bytes - index);
  std::memcpy(target, ring_.data + index, first);
  std::memcpy(target + first, ring_.data, bytes - first);
  data_position_ += rounded(bytes);
}

void ring_reader::announce_when_due() {
  const std::uint64_t position = position_.load(std::memory_order_relaxed);  // own
  // Both stores pair with the loads in ring_writer, which reuses the room that is announced here.
  if (position - position_announced_ >= ring_.slot_count / 4) {
    shared(ring_.reader->slots_consumed).store(position_announced_ = position);
    announced_ = true;
  }
  if (data_position_ - data_announced_ >= ring_.data_bytes / 4) {
    shared(ring_.reader->data_consumed).store(data_announced_ = data_position_);
    announced_ = true;
  }
}

bool ring_reader::take_wakeup_request() noexcept {
  if (!std::exchange(announced_, false)) return false;
  // seq_cst, like the stores above: this sees the writer's request, or the writer sees the announcement
  return shared(ring_.writer->waits).load() != 0 && shared(ring_.writer->waits).exchange(0) != 0;
}

}  // namespace nacre::transport::shm
