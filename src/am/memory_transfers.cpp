// SPDX-License-Identifier: Apache-2.0
// Pieces, the window, and the end of a transfer.
#include "am/memory_transfers.hpp"

#include <algorithm>
#include <utility>

#include "base/marks.hpp"

namespace nacre {

void memory_transfer::end(memory_status status, thread_context& thread) {
  if (status == memory_status::done) {
    complete(thread);
    return;
  }
  const char* text = plan_.direction == intent::write ? "put of " : "get of ";
  complete_with_error(text + std::to_string(bytes()) + " bytes at byte " + std::to_string(offset()) + " of memory " +
                          std::to_string(name().segment) + " of rank " + std::to_string(name().rank) + " (" +
                          std::to_string(name().bytes) + " bytes) failed: " + describe(status),
                      thread);
}

std::optional<transport::registered_region> memory_transfer::register_region(transport::direct_memory& direct_memory,
                                                                             std::uint64_t index, std::uint64_t bytes) {
  const std::scoped_lock lock(guard_);
  if (!has_own_memory_) return std::nullopt;
  const auto way = what() == intent::write ? transport::copy_way::from_region : transport::copy_way::to_region;
  const auto region = direct_memory.register_region(target(), {local_memory_ + index, bytes}, way);
  if (!region) return std::nullopt;
  direct_ = &direct_memory;
  regions_.push_back(*region);
  return region;
}

void memory_transfer::deregister(const transport::registered_region& piece) {
  {
    const std::scoped_lock lock(guard_);
    if (std::erase(regions_, piece) == 0) return;  // the thread that drops the future does it
  }
  direct_->deregister(target(), piece);
}

void memory_transfer::deregister_all() noexcept {
  std::vector<transport::registered_region> pieces;
  {
    const std::scoped_lock lock(guard_);
    has_own_memory_ = false;
    pieces.swap(regions_);
  }
  if (!pieces.empty()) NACRE_MARK("a future is dropped while its memory is registered for the target");
  for (const transport::registered_region& each : pieces) direct_->deregister(target(), each);
}

void memory_transfers::start(memory_transfer& begun, std::uint64_t piece_bytes) {
  begun.piece_bytes_max_ = piece_bytes;
  open_.insert(&begun);
  targets_[begun.target().value()].queue.push_back(begun);
}

std::optional<memory_transfers::piece> memory_transfers::next(rank_id target) {
  const auto match = targets_.find(target.value());
  if (match == targets_.end()) return std::nullopt;
  path_to_rank& path = match->second;
  while (!path.queue.empty()) {
    memory_transfer& front = *path.queue.front();
    if (front.status_ != memory_status::done || !front.has_own_memory()) {
      path.queue.remove(front);
      front.queued_ = false;
      if (front.outstanding_ == 0) {
        NACRE_MARK("a transfer is dropped before its first piece");
        dropped_.emplace_back(&front);
        open_.erase(dropped_.back());
      }
      continue;
    }
    const std::uint64_t bytes = std::min(front.bytes() - front.sent_, front.piece_bytes_max_);
    if (path.cost + bytes + piece_cost > window_bytes) {
      NACRE_MARK("a piece waits for the window of its target");
      return std::nullopt;
    }
    path.cost += bytes + piece_cost;
    path.queue.remove(front);
    piece leaving{.token = 0, .transfer = &front, .offset = front.sent_, .bytes = bytes};
    leaving.token = waiting_.open(leaving);
    front.sent_ += bytes;
    ++front.outstanding_;
    front.queued_ = front.sent_ != front.bytes();
    if (front.queued_) path.queue.push_back(front);
    return leaving;
  }
  return std::nullopt;
}

void memory_transfers::note_region(const piece& leaving, const transport::registered_region& as) {
  if (piece* const waiting = waiting_.find(leaving.token)) waiting->region = as;
}

void memory_transfers::resend(piece& answered) {
  answered.region.reset();
  targets_[answered.transfer->target().value()].cost += answered.bytes + piece_cost;
  answered.token = waiting_.open(answered);
}

std::optional<memory_transfers::piece> memory_transfers::take_reply(rank_id source, std::uint64_t token,
                                                                    memory_status status, std::uint64_t data_bytes) {
  const piece* const match = waiting_.find(token);
  if (match == nullptr || match->transfer->target() != source) return std::nullopt;
  piece answered = *match;
  answered.token = token;
  const bool carries = status == memory_status::done && path_ == data_path::reply && !answered.region &&
                       answered.transfer->what() == memory_transfer::intent::read;
  if (data_bytes != (carries ? answered.bytes : 0)) return std::nullopt;
  waiting_.close(token);
  targets_[source.value()].cost -= answered.bytes + piece_cost;
  return answered;
}

std::optional<memory_status> memory_transfers::complete(const piece& answered, memory_status status) {
  memory_transfer& transfer = *answered.transfer;
  if (status != memory_status::done) transfer.status_ = status;
  --transfer.outstanding_;
  if (transfer.queued_ && transfer.status_ != memory_status::done) {
    targets_[transfer.target().value()].queue.remove(transfer);
    transfer.queued_ = false;
  }
  if (transfer.outstanding_ != 0 || transfer.queued_) return std::nullopt;
  open_.erase(answered.transfer);
  return transfer.status_;
}

}  // namespace nacre
