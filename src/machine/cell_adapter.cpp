// SPDX-License-Identifier: Apache-2.0
// Cells on the line, and preparations that wait for them.
#include "machine/cell_adapter.hpp"

#include <algorithm>
#include <cmath>

#include <nacre/assert.hpp>

namespace nacre::machine {

namespace {

using std::chrono::nanoseconds;

constexpr std::int64_t line_ps_per_ns = 1000;

[[nodiscard]] nanoseconds rounded_up(std::int64_t picoseconds) {
  return nanoseconds((picoseconds + line_ps_per_ns - 1) / line_ps_per_ns);
}

}  // namespace

cell_adapter::cell_adapter(double bytes_per_second)
    : cell_ps_(std::llround(static_cast<double>(atm_cell_bytes) * 1e12 / bytes_per_second)) {
  NACRE_EXPECT(bytes_per_second >= 1e3, "an adapter sends at least a kilobyte a second");
}

void cell_adapter::send(const packet& packet, nanoseconds now) {
  NACRE_EXPECT(packet.cells >= 1, "a packet has a cell");
  queue_of(packet.urgency).push_back({.whole = packet});
  if (!line_) begin_cell(now.count() * line_ps_per_ns);
}

void cell_adapter::begin_cell(std::int64_t begin_ps) {
  line_ = control_.empty() ? cell_urgency::message : cell_urgency::control;
  if (preparation_ && line_ == cell_urgency::message) {
    const std::int64_t done_ps = std::max<std::int64_t>(0, begin_ps - preparation_->since_ps);
    preparation_->lacks_ps = std::max<std::int64_t>(0, preparation_->lacks_ps - done_ps);
    preparation_->since_ps = begin_ps + cell_ps_;
  }
  line_free_ps_ = begin_ps + cell_ps_;
}

nanoseconds cell_adapter::due() const noexcept { return line_ ? rounded_up(line_free_ps_) : nanoseconds::max(); }

cell_adapter::sent_cell cell_adapter::take() {
  NACRE_EXPECT(line_.has_value(), "a cell is on the line");
  const cell_urgency urgency = *line_;
  std::deque<outgoing>& queue = queue_of(urgency);
  outgoing& first = queue.front();
  const sent_cell sent{.cell = {.circuit = first.whole.circuit,
                                .packet = first.whole.number,
                                .place = first.left,
                                .length = first.whole.cells},
                       .urgency = urgency};
  first.left += 1;
  if (sent.cell.is_last()) queue.pop_front();
  line_.reset();
  if (!control_.empty() || !messages_.empty()) begin_cell(line_free_ps_);
  return sent;
}

void cell_adapter::prepare(nanoseconds work, nanoseconds now) {
  NACRE_EXPECT(!preparation_, "the processor prepares one message at a time");
  const std::int64_t now_ps = now.count() * line_ps_per_ns;
  preparation_ =
      preparation{.lacks_ps = work.count() * line_ps_per_ns, .since_ps = is_sending() ? line_free_ps_ : now_ps};
}

nanoseconds cell_adapter::prepared_at() const noexcept {
  if (!preparation_ || is_sending()) return nanoseconds::max();
  return rounded_up(preparation_->since_ps + preparation_->lacks_ps);
}

void cell_adapter::finish_preparation() {
  NACRE_EXPECT(preparation_ && !is_sending(), "a message is prepared while no other is being sent");
  preparation_.reset();
}

}  // namespace nacre::machine
