// SPDX-License-Identifier: Apache-2.0
// Steps back: to the sender of a handler's event, or to the handler that kept its thread busy.
#include "emulator/block_path.hpp"

#include <chrono>
#include <string>

#include "emulator/handler_tables.hpp"

namespace nacre::emulator {

path_end block_path::end() {
  path_end match;
  if (log_.overflowed()) return match;
  match.known = true;
  log_.sort();
  const auto last = log_.last([this](std::uint32_t node) { return number_of(node); });
  if (!last) return match;
  match.any = true;
  match.time = log_.at(*last).end;
  match.node = number_of(log_.at(*last).node);
  return match;
}

critical_step block_path::step_of(const path_record& record) const {
  critical_step step;
  step.at = brick_.at(record.node);
  step.thread = record.thread;
  step.handler =
      record.source < first_source ? "the start function" : std::string(handler_table()[record.handler]->name);
  step.start = std::chrono::nanoseconds(record.start);
  step.cost = std::chrono::nanoseconds(record.end - record.start);
  step.waited = record.start > record.arrival;
  return step;
}

path_piece block_path::walk(const path_cursor& source) const {
  path_piece piece{.part = {}, .next = source};
  path_cursor& position = piece.next;
  const auto place = [&] { return partition_.place_of(position.node); };
  auto index = position.at_end ? log_.last([this](std::uint32_t node) { return number_of(node); })
                               : log_.sender(place().node, position.number);
  position.at_end = false;
  while (index) {
    const path_record& record = log_.at(*index);
    if (position.pending) {
      position.after.before = std::chrono::nanoseconds(position.arrival - record.end);
      add_step(piece.part, position.after);
    }
    position.pending = true;
    position.after = step_of(record);
    position.arrival = record.arrival;
    if (record.source < first_source) break;
    if (record.start > record.arrival) {
      position.arrival = record.start;  // the thread was busy until then
      index = log_.before_on_thread(*index);
      continue;
    }
    position.node = partition_.at(record.source - first_source);
    position.number = record.number;
    if (place().block != block_) return piece;
    index = log_.sender(place().node, position.number);
  }
  position.ended = true;
  if (position.pending) add_step(piece.part, position.after);
  position.pending = false;
  return piece;
}

}  // namespace nacre::emulator
