// SPDX-License-Identifier: Apache-2.0
// Bundles of messages that have arrived at a rank.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "am/am_engine.hpp"
#include "am/bundle.hpp"
#include "base/marks.hpp"

namespace nacre {
namespace {

constexpr double slice_seconds = 20e-6;           // after which a worker leaves the rest behind other work
constexpr double long_seconds = 2e-6;             // of parts between two looks that are worth sharing one by one
constexpr std::uint32_t parts_between_looks = 8;  // at the clock and at idle workers, while parts are short
constexpr std::size_t bytes_worth_sharing = 512;  // while parts are short

/// The offset at which a worker goes on in a bundle; in a field of its header that has no other use in the scheduler.
std::uint32_t& cursor_of(message& m) noexcept { return m.header.epoch; }

}  // namespace

/// A uniform bundle becomes one item of work, one for objects goes to them, and any other is taken apart.
void am_engine::dispatch_bundle(thread_context& thread, message_ptr m) {
  if (m->header.object == bundle::uniform) {
    NACRE_MARK("a bundle for workers becomes one item");
    cursor_of(*m) = 0;
    return make_ready(thread, std::move(m));
  }
  if (m->header.object == bundle::objects) return objects_->accept_bundle(thread, std::move(m));
  NACRE_MARK("a bundle is taken apart");
  const std::span<const std::byte> bytes = m->payload();
  const bundle::limits limits{.sender = m->header.source, .ranks = size()};
  message_list parts;
  for (std::size_t offset = 0; offset < bytes.size();) {
    bundle::part part;
    const bool fits = bundle::read_part(bytes, offset, limits, part) &&
                      (part.header.kind != message_kind::module || part.header.channel == channel::application);
    if (!fits) return refuse(*m, "is a bundle of something else");
    message_ptr single = bundle::make_message_of(part);
    credit_account::hand_over(*m, *single);
    parts.push_back(std::move(single));
  }
  credit_account::let_go(*m);
  m.reset();
  objects_->prefetch(parts.front());
  while (message_ptr single = parts.pop_front()) dispatch(thread, std::move(single));
}

/// Runs the parts in order, as an item of bounded length. Parts that are left when the time is over wait behind other
/// work.
void am_engine::run_bundle(thread_context& thread, message_ptr m, ordered_messages& ordered_messages) {
  const std::uint64_t begin = pool_.instant();
  const auto slice = static_cast<std::uint64_t>(slice_seconds / pool_.seconds_a_tick());
  const std::span<const std::byte> bytes = m->payload();
  const bundle::limits limits{.sender = m->header.source, .ranks = size()};
  const auto long_ticks = static_cast<std::uint64_t>(long_seconds / pool_.seconds_a_tick());
  std::size_t offset = cursor_of(*m);
  NACRE_ASSERT(offset <= m->header.payload_bytes, "a worker goes on behind the end of a bundle");
  std::uint64_t looked_at = begin;
  std::uint32_t until_look = 1, looks_after = 1;
  bool is_over = false;
  bundle::part part;
  while (!is_over && offset < m->header.payload_bytes) {
    const bool fits = bundle::read_part(bytes, offset, limits, part) && bundle::is_uniform_part(part.header);
    if (!fits) return refuse(*m, "is a bundle of something else");
    run(thread, bundle::make_message_of(part), nullptr);
    if (--until_look != 0) continue;
    const std::uint64_t now = pool_.instant();
    const bool long_parts = now - looked_at > long_ticks;
    if (own_bundles_ != nullptr) own_bundles_->note_ticks(part.header.handler, (now - looked_at) / looks_after);
    until_look = looks_after = long_parts ? 1 : parts_between_looks;
    looked_at = now;
    is_over = now - begin > slice;
    if (pool_.hungry_beside(thread))
      share_bundle(thread, *m, offset, long_parts ? 0 : bytes_worth_sharing, ordered_messages);
  }
  thread.counters().handler_ticks.add(pool_.instant() - begin);
  if (offset >= m->header.payload_bytes) return;
  NACRE_MARK("a worker leaves the rest of a bundle behind other work");
  cursor_of(*m) = static_cast<std::uint32_t>(offset);
  ordered_messages.put_back(thread, std::move(m));
}

/// Makes the later half of the parts behind `offset` ready, for a worker that looks for work, if these parts have at
/// least so many bytes.
void am_engine::share_bundle(thread_context& thread, message& m, std::size_t offset, std::size_t bytes_min,
                             ordered_messages& ordered_messages) {
  const std::span<const std::byte> bytes = m.payload();
  if (bytes.size() - offset < bytes_min) return;
  const std::size_t middle = offset + (bytes.size() - offset) / 2;
  const bundle::limits limits{.sender = m.header.source, .ranks = size()};
  std::size_t cut = offset;
  bundle::part part;
  while (cut < middle) {
    if (!bundle::read_part(bytes, cut, limits, part)) return;  // run_bundle will come to it, and refuse it
  }
  if (cut == bytes.size()) return;
  message_ptr rest = make_message(bytes.size() - cut);
  const std::uint32_t rest_bytes = rest->header.payload_bytes;
  rest->header = m.header;
  rest->header.payload_bytes = rest_bytes;
  std::memcpy(rest->body(), bytes.data() + cut, rest_bytes);
  credit_account::hand_over(m, *rest);
  m.header.payload_bytes -= rest_bytes;
  cursor_of(*rest) = 0;
  ordered_messages.put_back(thread, std::move(rest));
}

}  // namespace nacre
