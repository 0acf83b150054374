// SPDX-License-Identifier: Apache-2.0
// Messages that take room in the window, and their ends.
#include "am/main_send_window.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include <nacre/error.hpp>

#include "am/message_packing.hpp"
#include "backplane/credit_window.hpp"

namespace nacre {
namespace {

/// The error of a value that cannot be packed names the handler.
std::size_t size_to_sender(const message& m) {
  try {
    return m.ops->packed_size(m);
  } catch (const detail::unpackable_value&) {
    detail::throw_named(packing_of(m.header));
  }
}

/// A bundle costs as much as its parts, so that it can be divided or taken apart.
std::uint64_t cost_within(const message& m) noexcept { return bytes_of(m.header); }

}  // namespace

main_send_window::windowed_ops::windowed_ops(const body_ops* subject, shared& in) noexcept
    : body_ops{[](const message& m) { return static_cast<const windowed_ops&>(*m.ops).inner->packed_size(m); },
               [](message& m, writer& out) { static_cast<const windowed_ops&>(*m.ops).inner->pack(m, out); }, &end_of,
               subject == nullptr},
      inner(subject),
      window(in) {}

main_send_window::main_send_window(std::uint64_t bytes_max, std::function<void()> wake)
    : bytes_max_(bytes_max), shared_(new shared), limit_(bytes_max) {
  shared_->wake = std::move(wake);
}

main_send_window::~main_send_window() {
  set_waiting(false);
  // One byte more than was sent. That byte is released here, so no other release gets there before.
  shared_->end_at.store(sent_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // by the release
  shared_->release(1);
}

void main_send_window::set_waiting(bool waits) noexcept {
  const std::uint64_t sent = sent_.load(std::memory_order_relaxed);  // written by this thread
  // A hint: a release that misses it costs `patience`.
  shared_->wake_at.store(waits ? sent - std::min(sent, bytes_max_ / 2) : shared::never, std::memory_order_relaxed);
}

void main_send_window::acquire(message& m) {
  if (m.ops != nullptr) {
    // The handler moves the values out, so their size is noted where packed messages have it.
    const std::size_t bytes = size_to_sender(m);
    m.header.payload_bytes =
        static_cast<std::uint32_t>(std::min<std::size_t>(bytes, std::numeric_limits<std::uint32_t>::max()));
  }
  m.ops = &ops_for(m.ops);
  grow(cost_within(m));
}

/// Looks at what the workers have released only when main seems to be over the limit, because a look takes their cache
/// line away from them.
void main_send_window::grow(std::uint64_t bytes) noexcept {
  const std::uint64_t sent = sent_.load(std::memory_order_relaxed) + bytes;  // written by this thread
  sent_.store(sent, std::memory_order_relaxed);  // the message's way to its end orders it before the release
  const std::uint64_t limit = limit_.load(std::memory_order_relaxed);  // a hint
  if (sent - released_seen_ <= limit) return;
  released_seen_ = shared_->released.load(std::memory_order_relaxed);               // too little at worst
  if (sent - released_seen_ > limit) over_.store(true, std::memory_order_relaxed);  // a hint
}

const main_send_window::windowed_ops& main_send_window::ops_for(const body_ops* inner) {
  if (recent_ != nullptr && recent_->inner == inner) return *recent_;
  const windowed_ops*& known = shared_->by_inner[inner];
  if (known == nullptr) known = &shared_->known.emplace_back(inner, *shared_);
  recent_ = known;
  return *known;
}

void main_send_window::end_of(message& m) noexcept {
  const auto& ops = static_cast<const windowed_ops&>(*m.ops);
  shared& shared = ops.window;
  const std::uint64_t cost = cost_within(m);
  if (ops.inner != nullptr) ops.inner->destroy(m);
  if (cost != 0) end(shared, cost);  // else a bundle of which all parts have become messages
}

void main_send_window::end(shared& shared, std::uint64_t cost) noexcept {
  const std::uint64_t previous =
      shared.released.load(std::memory_order_relaxed);  // a wake that is missed costs `patience`
  if (previous + cost < shared.wake_at.load(std::memory_order_relaxed)) return shared.release(cost);
  shared.release(cost - 1);  // the rest later, so that `shared` lives until the wake is over
  if (shared.wake_at.exchange(shared::never, std::memory_order_relaxed) != shared::never)
    shared.wake();  // once for each wait
  shared.release(1);
}

void main_send_window::shared::release(std::uint64_t bytes) noexcept {
  // acq_rel: the deleting thread comes after all others; and used() reads it
  const std::uint64_t now = released.fetch_add(bytes, std::memory_order_acq_rel) + bytes;
  if (now == end_at.load(std::memory_order_relaxed)) delete this;  // ordered by the byte that the destructor releases
}

void main_send_window::check(std::chrono::nanoseconds now, const std::function<workers()>& state_of_workers) {
  if (!over()) return;
  const std::uint64_t now_used = used();
  if (now_used <= bytes_max_ / 2) {
    limit_.store(bytes_max_, std::memory_order_relaxed);  // a hint for main
    over_.store(false, std::memory_order_relaxed);        // a hint for main
    return;
  }
  if (now_used != seen_) {
    seen_ = now_used;
    changed_at_ = now;
  } else if (now - changed_at_ >= patience) {
    const bool idle = state_of_workers() == workers::idle;
    if (!idle && now - changed_at_ < patience_of_busy) return;
    changed_at_ = now;
    const std::uint64_t more = (idle ? now_used : bytes_max_) / 4;
    limit_.store(now_used + more, std::memory_order_relaxed);  // a hint for main
    over_.store(false, std::memory_order_relaxed);             // a hint for main
  }
}

}  // namespace nacre
