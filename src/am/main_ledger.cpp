// SPDX-License-Identifier: Apache-2.0
// Holding messages, and their ends.
#include "am/main_ledger.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace nacre {
namespace {

std::uint64_t cost_within(const message& m) noexcept { return sizeof(message) + m.header.payload_bytes; }

}  // namespace

main_ledger::held_ops::held_ops(const body_ops* of, shared& in) noexcept
    : body_ops{[](const message& m) { return static_cast<const held_ops&>(*m.ops).inner->packed_size(m); },
               [](message& m, writer& out) { static_cast<const held_ops&>(*m.ops).inner->pack(m, out); }, &end_of,
               of == nullptr},
      inner(of),
      ledger(in) {}

main_ledger::main_ledger(std::uint64_t bytes_max, std::function<void()> wake)
    : bytes_max_(bytes_max), shared_(new shared), limit_(bytes_max) {
  shared_->wake = std::move(wake);
  shared_->wake_at.store(bytes_max / 2);
}

main_ledger::~main_ledger() {
  set_waiting(false);
  if (shared_->held.fetch_add(shared::closed, std::memory_order_acq_rel) == 0) delete shared_;  // pairs with end_of
}

void main_ledger::hold(message& m) {
  if (m.ops != nullptr) {
    // The handler moves the values out, so what they are worth is written down where packed ones have it.
    const std::size_t bytes = m.ops->packed_size(m);
    m.header.payload_bytes =
        static_cast<std::uint32_t>(std::min<std::size_t>(bytes, std::numeric_limits<std::uint32_t>::max()));
  }
  m.ops = &ops_for(m.ops);
  const std::uint64_t held = shared_->held.fetch_add(cost_within(m), std::memory_order_seq_cst) + cost_within(m);
  if (held > limit_.load(std::memory_order_relaxed)) over_.store(true, std::memory_order_relaxed);  // hints
}

const main_ledger::held_ops& main_ledger::ops_for(const body_ops* inner) {
  if (recent_ != nullptr && recent_->inner == inner) return *recent_;
  const auto known = std::find_if(shared_->known.begin(), shared_->known.end(),
                                  [&](const held_ops& each) { return each.inner == inner; });
  recent_ = known != shared_->known.end() ? &*known : &shared_->known.emplace_back(inner, *shared_);
  return *recent_;
}

void main_ledger::end_of(message& m) noexcept {
  const auto& ops = static_cast<const held_ops&>(*m.ops);
  shared& of = ops.ledger;
  const std::uint64_t cost = cost_within(m);
  if (ops.inner != nullptr) ops.inner->destroy(m);
  const std::uint64_t mark = of.wake_at.load(std::memory_order_relaxed);
  const std::uint64_t held = of.held.load(std::memory_order_relaxed);  // a wake that is missed costs `patience`
  std::uint64_t left = cost;
  if (held > mark && held < shared::closed && held - cost <= mark && of.waits.load(std::memory_order_seq_cst)) {
    left = 1;  // so that `of` lives until the wake is over
    of.held.fetch_sub(cost - left, std::memory_order_seq_cst);
    of.wake();
  }
  if (of.held.fetch_sub(left, std::memory_order_acq_rel) - left == shared::closed)
    delete &of;  // pairs with ~main_ledger
}

void main_ledger::look(std::chrono::nanoseconds now) {
  if (!over()) return;
  const std::uint64_t now_held = held();
  if (now_held <= bytes_max_ / 2) {
    limit_.store(bytes_max_, std::memory_order_relaxed);  // a hint for main
    over_.store(false, std::memory_order_relaxed);        // as above
    return;
  }
  if (now_held != seen_) {
    seen_ = now_held;
    changed_at_ = now;
  } else if (now - changed_at_ >= patience) {
    changed_at_ = now;
    limit_.store(now_held + bytes_max_ / 4, std::memory_order_relaxed);  // a hint for main
    over_.store(false, std::memory_order_relaxed);                       // as above
  }
}

}  // namespace nacre
