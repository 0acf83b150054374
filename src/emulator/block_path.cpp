// SPDX-License-Identifier: Apache-2.0
// Steps back: to the sender of a handler's event, or to the handler that kept its thread busy.
#include "emulator/block_path.hpp"

#include <chrono>
#include <string>

#include "emulator/handler_tables.hpp"

namespace nacre::emulator {

path_end block_path::end() {
  path_end found;
  if (log_.overflowed()) return found;
  found.known = true;
  log_.sort();
  const auto last = log_.last([this](std::uint32_t node) { return number_of(node); });
  if (!last) return found;
  found.any = true;
  found.time = log_.at(*last).end;
  found.node = number_of(log_.at(*last).node);
  return found;
}

critical_step block_path::step_of(const path_record& of) const {
  critical_step step;
  step.at = brick_.at(of.node);
  step.thread = of.thread;
  step.handler = of.source < first_source ? "the start function" : std::string(handler_table()[of.handler]->name);
  step.start = std::chrono::nanoseconds(of.start);
  step.cost = std::chrono::nanoseconds(of.end - of.start);
  step.waited = of.start > of.arrival;
  return step;
}

path_piece block_path::walk(const path_cursor& from) const {
  path_piece piece{.part = {}, .next = from};
  path_cursor& at = piece.next;
  const auto place = [&] { return partition_.place_of(at.at); };
  auto found = at.at_end ? log_.last([this](std::uint32_t node) { return number_of(node); })
                         : log_.sender(place().node, at.number);
  at.at_end = false;
  while (found) {
    const path_record& record = log_.at(*found);
    if (at.pending) {
      at.after.before = std::chrono::nanoseconds(at.arrival - record.end);
      add_step(piece.part, at.after);
    }
    at.pending = true;
    at.after = step_of(record);
    at.arrival = record.arrival;
    if (record.source < first_source) break;
    if (record.start > record.arrival) {
      at.arrival = record.start;  // the thread was busy until then
      found = log_.before_on_thread(*found);
      continue;
    }
    at.at = partition_.at(record.source - first_source);
    at.number = record.number;
    if (place().block != block_) return piece;
    found = log_.sender(place().node, at.number);
  }
  at.ended = true;
  if (at.pending) add_step(piece.part, at.after);
  at.pending = false;
  return piece;
}

}  // namespace nacre::emulator
