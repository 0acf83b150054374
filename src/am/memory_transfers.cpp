// SPDX-License-Identifier: Apache-2.0
// Pieces, the window, and the end of a transfer.
#include "am/memory_transfers.hpp"

#include <algorithm>
#include <utility>

#include "base/marks.hpp"

namespace nacre {

void memory_transfer::end(memory_status status, lane& by) {
  if (status == memory_status::done) {
    complete(by);
    return;
  }
  const char* what = plan_.what == intent::write ? "put of " : "get of ";
  complete_with_error(what + std::to_string(bytes()) + " bytes at byte " + std::to_string(offset()) + " of memory " +
                          std::to_string(name().segment) + " of rank " + std::to_string(name().rank) + " (" +
                          std::to_string(name().bytes) + " bytes) failed: " + describe(status),
                      by);
}

std::optional<transport::lent_memory> memory_transfer::lend(transport::direct_memory& by, std::uint64_t at,
                                                            std::uint64_t bytes) {
  const std::scoped_lock lock(guard_);
  if (!lent_) return std::nullopt;
  const auto way = what() == intent::write ? transport::copy_way::from_lent : transport::copy_way::to_lent;
  const auto made = by.lend(target(), {own_ + at, bytes}, way);
  if (!made) return std::nullopt;
  lender_ = &by;
  pieces_lent_.push_back(*made);
  return made;
}

void memory_transfer::take_back(const transport::lent_memory& piece) {
  {
    const std::scoped_lock lock(guard_);
    if (std::erase(pieces_lent_, piece) == 0) return;  // the thread that drops the future does it
  }
  lender_->recall(target(), piece);
}

void memory_transfer::take_all_back() noexcept {
  std::vector<transport::lent_memory> pieces;
  {
    const std::scoped_lock lock(guard_);
    lent_ = false;
    pieces.swap(pieces_lent_);
  }
  if (!pieces.empty()) NACRE_MARK("a future is dropped while its memory is lent to the target");
  for (const transport::lent_memory& each : pieces) lender_->recall(target(), each);
}

void memory_transfers::start(memory_transfer& begun, std::uint64_t piece_bytes) {
  begun.piece_bytes_max_ = piece_bytes;
  open_.insert(&begun);
  targets_[begun.target().value()].queue.push_back(&begun);
}

std::uint64_t memory_transfers::open_slot(const piece& leaving) {
  std::uint32_t index = 0;
  if (free_.empty()) {
    index = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  slot& at = slots_[index];
  at.waiting = leaving;
  at.waiting.token = (std::uint64_t{at.generation} << 32) | index;
  return at.waiting.token;
}

std::optional<memory_transfers::piece> memory_transfers::next(rank_id to) {
  const auto found = targets_.find(to.value());
  if (found == targets_.end()) return std::nullopt;
  path_to_rank& path = found->second;
  while (!path.queue.empty()) {
    memory_transfer& turn = *path.queue.front();
    if (turn.status_ != memory_status::done || !turn.lent()) {
      path.queue.pop_front();
      turn.queued_ = false;
      if (turn.outstanding_ == 0) {
        NACRE_MARK("a transfer is dropped before its first piece");
        dropped_.emplace_back(&turn);
        open_.erase(dropped_.back());
      }
      continue;
    }
    const std::uint64_t bytes = std::min(turn.bytes() - turn.sent_, turn.piece_bytes_max_);
    if (path.cost + bytes + piece_cost > window_bytes) {
      NACRE_MARK("a piece waits for the window of its target");
      return std::nullopt;
    }
    path.cost += bytes + piece_cost;
    path.queue.pop_front();
    piece leaving{.token = 0, .transfer = &turn, .at = turn.sent_, .bytes = bytes};
    leaving.token = open_slot(leaving);
    turn.sent_ += bytes;
    ++turn.outstanding_;
    turn.queued_ = turn.sent_ != turn.bytes();
    if (turn.queued_) path.queue.push_back(&turn);
    return leaving;
  }
  return std::nullopt;
}

void memory_transfers::note_lent(const piece& leaving, const transport::lent_memory& as) {
  piece& waiting = slots_[static_cast<std::uint32_t>(leaving.token)].waiting;
  if (waiting.token == leaving.token) waiting.lent = as;
}

void memory_transfers::resend(piece& answered) {
  answered.lent.reset();
  targets_[answered.transfer->target().value()].cost += answered.bytes + piece_cost;
  answered.token = open_slot(answered);
}

std::optional<memory_transfers::piece> memory_transfers::take_reply(rank_id from, std::uint64_t token,
                                                                    memory_status status, std::uint64_t data_bytes) {
  const auto index = static_cast<std::uint32_t>(token);
  const auto generation = static_cast<std::uint32_t>(token >> 32);
  if (index >= slots_.size() || slots_[index].generation != generation) return std::nullopt;
  slot& at = slots_[index];
  piece answered = at.waiting;
  if (answered.transfer == nullptr || answered.transfer->target() != from) return std::nullopt;
  const bool carries = status == memory_status::done && path_ == data_path::reply && !answered.lent &&
                       answered.transfer->what() == memory_transfer::intent::read;
  if (data_bytes != (carries ? answered.bytes : 0)) return std::nullopt;
  at.waiting = {};
  if (++at.generation == 0) at.generation = 1;
  free_.push_back(index);
  targets_[from.value()].cost -= answered.bytes + piece_cost;
  return answered;
}

std::optional<memory_status> memory_transfers::settle(const piece& answered, memory_status status) {
  memory_transfer& of = *answered.transfer;
  if (status != memory_status::done) of.status_ = status;
  --of.outstanding_;
  if (of.queued_ && of.status_ != memory_status::done) {
    auto& queue = targets_[of.target().value()].queue;
    queue.erase(std::find(queue.begin(), queue.end(), &of));
    of.queued_ = false;
  }
  if (of.outstanding_ != 0 || of.queued_) return std::nullopt;
  open_.erase(answered.transfer);
  return of.status_;
}

}  // namespace nacre
