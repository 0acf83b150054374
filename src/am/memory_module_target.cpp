// SPDX-License-Identifier: Apache-2.0
// Pieces that other ranks ask for: copies between their memory and the segments of this rank.
#include "am/memory_module.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/marks.hpp"

namespace nacre {
namespace {

using intent = memory_transfer::intent;

/// Pieces of one peer that may be pending here: as many as its window has.
constexpr std::size_t copies_max = memory_transfers::window_bytes / memory_transfers::piece_cost;

}  // namespace

bool memory_module::well_formed(context& ctx, const memory_request& asked) {
  const bool inside = asked.piece_offset <= asked.length && asked.bytes <= asked.length - asked.piece_offset &&
                      asked.bytes <= memory_transfers::direct_bytes_max && asked.name.rank == messages_.rank().value();
  if (!inside) refuse(ctx, "a piece of a transfer that cannot be one");
  return inside;
}

void memory_module::on_put(context& ctx, memory_request asked, memory_bytes data) {
  if (!well_formed(ctx, asked)) return;
  memory_transfer* const owner = data.transfer();
  if (owner == nullptr && data.bytes().size() != asked.bytes)
    return refuse(ctx, "a piece of another length than it says");
  memory_status status = memory_status::done;
  if (auto range = segments_.access(asked.name, asked.offset, asked.length, intent::write)) {
    std::byte* const remote = range->bytes().data() + asked.piece_offset;
    if (owner == nullptr) {
      copy_bytes(remote, data.bytes().data(), asked.bytes);
    } else {
      static_cast<void>(owner->with_own_memory(
          [&](const std::byte* own_bytes) { copy_bytes(remote, own_bytes + asked.piece_offset, asked.bytes); }));
    }
  } else {
    status = range.error();
  }
  messages_.post_counted_to_module<&memory_module::on_done>(ctx.current_thread(), ctx.source(), asked.token, status);
}

void memory_module::on_get(context& ctx, memory_request asked, memory_bytes data) {
  if (!well_formed(ctx, asked)) return;
  thread_context& thread = ctx.current_thread();
  auto range = segments_.access(asked.name, asked.offset, asked.length, intent::read);
  if (!range) {
    messages_.post_counted_to_module<&memory_module::on_done>(thread, ctx.source(), asked.token, range.error());
    return;
  }
  const std::span<const std::byte> remote = range->bytes().subspan(asked.piece_offset, asked.bytes);
  if (memory_transfer* const borrower = data.transfer()) {
    static_cast<void>(borrower->with_own_memory(
        [&](std::byte* own_bytes) { copy_bytes(own_bytes + asked.piece_offset, remote.data(), remote.size()); }));
    messages_.post_counted_to_module<&memory_module::on_done>(thread, ctx.source(), asked.token, memory_status::done);
    return;
  }
  messages_.post_bulk_to_module<&memory_module::on_data>(thread, ctx.source(), asked.token, memory_bytes(remote));
}

void memory_module::on_direct(context& ctx, memory_request asked, transport::registered_region region, intent intent) {
  if (!well_formed(ctx, asked)) return;
  if (direct_ == nullptr) return refuse(ctx, "memory where nobody registers any");
  thread_context& thread = ctx.current_thread();
  memory_status status = memory_status::done;
  {
    // Withdraw finds each copy that begins here, or the copy cannot begin: withdraw looks under this lock when no new
    // lease can be had.
    const std::scoped_lock lock(copies_mutex_);
    if (copies_.size() >= copies_max * messages_.size()) return refuse(ctx, "more pieces than it may at a time");
    auto range = segments_.access(asked.name, asked.offset, asked.length, intent);
    if (!range) {
      status = range.error();
    } else {
      const auto way = intent == intent::write ? transport::copy_way::from_region : transport::copy_way::to_region;
      const transport::direct_copy wanted{.peer = ctx.source(),
                                          .region = region,
                                          .way = way,
                                          .local_memory = range->bytes().subspan(asked.piece_offset, asked.bytes),
                                          .tag = ++last_tag_};
      const transport::copy_outcome outcome = direct_->copy(wanted);
      if (outcome == transport::copy_outcome::pending) {
        thread.counters().created.add(1);
        copies_.emplace(last_tag_, copy_under_way{ctx.source(), asked.token, std::move(*range)});
        return;
      }
      if (outcome == transport::copy_outcome::failed) status = memory_status::unreachable;
    }
  }
  messages_.post_counted_to_module<&memory_module::on_done>(thread, ctx.source(), asked.token, status);
}

void memory_module::end_copies(thread_context& thread) {
  while (const auto end = direct_->take_ended()) {
    const std::scoped_lock lock(copies_mutex_);
    const auto position = copies_.find(end->tag);
    const copy_under_way& copy = position->second;
    const memory_status status = end->well    ? memory_status::done
                                 : !copy.held ? memory_status::withdrawn
                                              : memory_status::unreachable;
    messages_.post_counted_to_module<&memory_module::on_done>(thread, copy.caller, copy.token, status);
    thread.counters().done.add(1);
    copies_.erase(position);
  }
}

/// Stops the copies of one segment, or all.
void memory_module::stop_copies(std::optional<std::uint32_t> segment) {
  std::vector<std::pair<std::uint64_t, memory_segments::lease>> held;  // until they are stopped
  {
    const std::scoped_lock lock(copies_mutex_);
    for (auto& [tag, each] : copies_) {
      if (!each.held || (segment && each.held->segment() != *segment)) continue;
      held.emplace_back(tag, std::move(*each.held));
      each.held.reset();
    }
  }
  if (!held.empty()) NACRE_MARK("memory is withdrawn while the transport copies it");
  for (const auto& each : held) direct_->stop(each.first);
}

void memory_module::refuse(context& ctx, const char* name) {
  messages_.fail("rank " + std::to_string(ctx.source().value()) + " sent " + name);
}

}  // namespace nacre
