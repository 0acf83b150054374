// SPDX-License-Identifier: Apache-2.0
// Sending and taking unreliable messages.
#include "am/unreliable_module.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <nacre/core.hpp>
#include <nacre/error.hpp>

namespace nacre {
namespace {

using parts_of_message = std::span<const std::span<const std::byte>>;

/// The next look at a network that had no room.
constexpr std::chrono::microseconds retry_after{50};

std::size_t bytes_in(parts_of_message parts) noexcept {
  std::size_t sum = 0;
  for (const std::span<const std::byte> part : parts) sum += part.size();
  return sum;
}

void run_by_worker(work& item, thread_context& thread) {
  thread.messages().run(thread, message_ptr(static_cast<message*>(&item)), nullptr);
}

fragment_head head_of(const message_header& header, std::uint64_t number, std::size_t bytes) noexcept {
  return {.number = number,
          .message_bytes = static_cast<std::uint32_t>(bytes),
          .handler = header.handler,
          .flags = static_cast<std::uint8_t>(header.flags & flag_communication)};
}

/// The message in one block.
message_ptr joined(message_ptr m, parts_of_message apart) {
  if (apart.empty()) return m;
  message_ptr whole = make_message(m->header.payload_bytes + bytes_in(apart));
  const std::uint32_t bytes = whole->header.payload_bytes;
  whole->header = m->header;
  whole->header.payload_bytes = bytes;
  std::byte* place = std::copy(m->payload().begin(), m->payload().end(), whole->body());
  for (const std::span<const std::byte> part : apart) place = std::copy(part.begin(), part.end(), place);
  return whole;
}

}  // namespace

unreliable_module::waiting_message::waiting_message(rank_id target_rank, message_ptr m, std::uint64_t number,
                                                    std::size_t datagram_bytes, std::uint32_t offset) noexcept
    : target(target_rank),
      content(std::move(m)),
      whole{content->payload()},
      fragments(head_of(content->header, number, content->header.payload_bytes), whole, datagram_bytes, offset) {}

void unreliable_module::arrived_bytes::release(message& m) noexcept {
  auto& self = const_cast<arrived_bytes&>(static_cast<const arrived_bytes&>(*m.ops));
  self.sum.fetch_sub(am_engine::size_of(m), std::memory_order_relaxed);  // a number alone
}

unreliable_module::unreliable_module(am_engine& messages, backplane& link, const settings& settings) noexcept
    : messages_(messages),
      link_(link),
      datagrams_(link.datagrams()),
      settings_(settings),
      incoming_(settings.arrived_bytes) {}

void unreliable_module::post(thread_context& thread, rank_id target, message_ptr m, parts_of_message apart) {
  const bool stays = target == messages_.rank() || messages_.by_pointer();
  if (!stays) m = packed_by_sender(std::move(m));
  check_payload(am_engine::size_of(*m) - sizeof *m + bytes_in(apart), unreliable_bytes_max);
  if (stays || !has_datagrams(target)) return post_message(thread, target, joined(std::move(m), apart));
  std::vector<std::span<const std::byte>> parts{m->payload()};
  parts.insert(parts.end(), apart.begin(), apart.end());
  post_datagrams(thread, target, std::move(m), parts);
}

/// A reliable message in the end, which is counted, but only while there is room for it.
void unreliable_module::post_message(thread_context& thread, rank_id target, message_ptr m) {
  const bool stays = target == messages_.rank() || messages_.by_pointer();
  if (!stays && link_.waiting_bytes() >= settings_.waiting_bytes) return;
  messages_.post(thread, target, std::move(m));
}

/// From the caller's memory, if this thread may use the network now; else in one block, by the poll loop.
void unreliable_module::post_datagrams(thread_context& thread, rank_id target, message_ptr m, parts_of_message parts) {
  const std::uint64_t number = next_number_.fetch_add(1, std::memory_order_relaxed);  // a number alone
  outgoing_fragments fragments(head_of(m->header, number, bytes_in(parts)), parts, datagrams_->bytes_max());
  thread_counters& counters = thread.counters();
  counters.messages_sent.add(1);
  counters.bytes_sent.add(sizeof(fragment_head) + bytes_in(parts));
  thread.record_send(target, sizeof(fragment_head) + bytes_in(parts));
  const bool has_left =
      !waits() && link_.run_inside(thread, [&] { static_cast<void>(send(target, fragments)); }) && fragments.is_done();
  if (has_left) return;
  if (waiting_bytes_.load(std::memory_order_relaxed) >= settings_.waiting_bytes) return;  // dropped; a hint
  keep(target, joined(std::move(m), parts.subspan(1)), number, fragments.offset());
}

/// Inside the poll loop. False: there is no room for the rest.
bool unreliable_module::send(rank_id target, outgoing_fragments& fragments) {
  while (!fragments.is_done()) {
    if (!datagrams_->send(target, label, fragments.pieces())) return false;
    fragments.advance();
  }
  return true;
}

void unreliable_module::keep(rank_id target, message_ptr m, std::uint64_t number, std::uint32_t offset) {
  {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t bytes = am_engine::size_of(*m);
    waiting_.emplace_back(target, std::move(m), number, datagrams_->bytes_max(), offset);
    waiting_bytes_.fetch_add(bytes, std::memory_order_relaxed);  // a number alone
  }
  if (!messages_.deferred()) messages_.wake_poll_loop();  // a simulated rank polls behind its handlers
}

/// A target without room delays no other: its messages are passed over until the next time.
std::chrono::nanoseconds unreliable_module::send_waiting(thread_context&) {
  std::list<waiting_message> taken;
  {
    const std::scoped_lock lock(mutex_);
    taken.swap(waiting_);
  }
  std::vector<rank_id> full;
  for (auto next = taken.begin(); next != taken.end();) {
    const bool is_full = std::find(full.begin(), full.end(), next->target) != full.end();
    if (is_full || !send(next->target, next->fragments)) {
      if (!is_full) full.push_back(next->target);
      ++next;
      continue;
    }
    waiting_bytes_.fetch_sub(am_engine::size_of(*next->content), std::memory_order_relaxed);  // a number alone
    next = taken.erase(next);
  }
  if (taken.empty()) return std::chrono::nanoseconds::max();
  const std::scoped_lock lock(mutex_);
  waiting_.splice(waiting_.begin(), taken);
  return link_.duties().now() + retry_after;
}

void unreliable_module::take(thread_context& thread, const transport::received_datagram& datagram) {
  auto [whole, is_malformed] = incoming_.take(datagram.source, datagram.bytes);
  if (is_malformed) {
    return messages_.fail("rank " + std::to_string(datagram.source.value()) +
                          " sent a fragment of a message that makes no sense");
  }
  has_come_.store(true, std::memory_order_relaxed);  // see is_used
  if (whole != nullptr) take_whole(thread, std::move(whole));
}

/// Either `close` sees that a message has been taken, or this sees that the rank has closed: both store first.
void unreliable_module::take_whole(thread_context& thread, message_ptr m) {
  has_taken_.store(true, std::memory_order_seq_cst);
  if (!is_open_.load(std::memory_order_seq_cst)) return;
  const std::uint64_t bytes = am_engine::size_of(*m);
  if (arrived_.sum.load(std::memory_order_relaxed) + bytes > settings_.arrived_bytes) return;  // a hint
  arrived_.sum.fetch_add(bytes, std::memory_order_relaxed);                                    // a number alone
  m->ops = &arrived_;
  thread.counters().created.add(1);
  if ((m->header.flags & flag_communication) != 0) return messages_.run(thread, std::move(m), nullptr);
  m->run_by(&run_by_worker);
  messages_.pool().make_ready(thread, *m.release());
}

}  // namespace nacre
