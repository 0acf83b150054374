// SPDX-License-Identifier: Apache-2.0
// The segments that this rank exposes, and the transfers that it begins: pieces, and their ends.
#include "am/memory_module.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/marks.hpp"
#include "wire/job_secret.hpp"

namespace nacre {
memory_module::memory_module(am_engine& messages, const settings& settings)
    : messages_(messages),
      direct_(messages.direct()),
      direct_bytes_min_(settings.direct_bytes_min),
      segments_(messages.rank()),
      transfers_(messages.by_pointer() ? memory_transfers::data_path::shared : memory_transfers::data_path::reply),
      key_source_(rng(settings.seed).fork(0x6d656d6f72790000U + messages.rank().value())) {
  messages_.attach_module(*this);
}

memory_module::~memory_module() {
  transfers_.deregister_all();
  stop_copies(std::nullopt);
}

std::array<std::uint64_t, 2> memory_module::new_key() {
  std::array<std::uint64_t, 2> key{};
  if (messages_.deferred()) {
    const std::scoped_lock lock(mutex_);
    for (std::uint64_t& word : key) word = key_source_.next();
  } else {
    fill_random(std::as_writable_bytes(std::span(key)));
  }
  return key;
}

detail::memory_name memory_module::expose(std::span<std::byte> bytes, detail::memory_access access) {
  return segments_.expose(bytes, access, new_key());
}

void memory_module::withdraw(const detail::memory_name& name) {
  if (segments_.withdraw(name, [&] { stop_copies(name.segment); })) return;
  throw usage_error("withdraw of memory " + std::to_string(name.segment) + " of rank " + std::to_string(name.rank) +
                    " on rank " + std::to_string(messages_.rank().value()) +
                    ", which does not expose it (any more): withdraw once, on the rank that called expose");
}

void memory_module::begin(thread_context& thread, memory_transfer& transfer) {
  if (transfer.name().segment == 0 || transfer.target().value() >= messages_.size()) {
    transfer.end(memory_status::never_exposed, thread);
    return;
  }
  if (transfer.target() == messages_.rank() && !messages_.deferred()) {
    transfer.end(copy_here(transfer), thread);
    return;
  }
  const bool direct =
      direct_ != nullptr && transfer.bytes() >= direct_bytes_min_ && direct_->reaches(transfer.target());
  {
    const std::scoped_lock lock(mutex_);
    transfers_.start(transfer, direct ? memory_transfers::direct_bytes_max : memory_transfers::piece_bytes_max);
  }
  pump(thread, transfer.target());
}

/// Copies in pieces as well, so that a withdraw need not wait for more than one.
memory_status memory_module::copy_here(memory_transfer& transfer) {
  std::uint64_t index = 0;
  do {
    auto range = segments_.access(transfer.name(), transfer.offset(), transfer.bytes(), transfer.what());
    if (!range) return range.error();
    const std::uint64_t bytes = std::min(transfer.bytes() - index, memory_transfers::piece_bytes_max);
    std::byte* const remote = range->bytes().data() + index;
    static_cast<void>(transfer.with_own_memory([&](std::byte* own_bytes) {
      transfer.what() == intent::write ? copy_bytes(remote, own_bytes + index, bytes)
                                       : copy_bytes(own_bytes + index, remote, bytes);
    }));
    index += bytes;
  } while (index != transfer.bytes());
  return memory_status::done;
}

void memory_module::pump(thread_context& thread, rank_id target) {
  for (;;) {
    std::optional<memory_transfers::piece> leaving;
    std::vector<transfer_ref> dropped;
    {
      const std::scoped_lock lock(mutex_);
      leaving = transfers_.next(target);
      dropped = transfers_.take_dropped();
    }
    for (const transfer_ref& each : dropped) each->end(memory_status::done, thread);
    if (!leaving) return;
    send(thread, *leaving, send_mode::any);
  }
}

void memory_module::send(thread_context& thread, const memory_transfers::piece& leaving, send_mode mode) {
  memory_transfer& transfer = *leaving.transfer;
  const rank_id target = transfer.target();
  const memory_request asked{.name = transfer.name(),
                             .token = leaving.token,
                             .offset = transfer.offset(),
                             .length = transfer.bytes(),
                             .piece_offset = leaving.offset,
                             .bytes = leaving.bytes};
  if (mode == send_mode::any && register_region(thread, leaving, asked)) return;
  const bool shared = messages_.by_pointer();
  if (transfer.what() == intent::read) {
    messages_.post_counted_to_module<&memory_module::on_get>(thread, target, asked,
                                                             shared ? memory_bytes(transfer) : memory_bytes());
    return;
  }
  if (shared) {
    messages_.post_bulk_to_module<&memory_module::on_put>(thread, target, asked, memory_bytes(transfer));
    return;
  }
  // Packed inside the call, while the caller has not taken its memory back.
  const bool sent = transfer.with_own_memory([&](const std::byte* own_bytes) {
    messages_.post_bulk_to_module<&memory_module::on_put>(
        thread, target, asked, memory_bytes(std::span<const std::byte>(own_bytes + leaving.offset, leaving.bytes)));
  });
  if (sent) return;
  NACRE_MARK("a put is dropped before a piece of it is packed");
  std::optional<memory_transfers::piece> kept;
  {
    const std::scoped_lock lock(mutex_);
    kept = transfers_.take_reply(target, leaving.token, memory_status::done, 0);
  }
  if (kept) answer(thread, *kept, memory_status::done);
}

/// Registers a piece, so that the target copies it by itself. False: it travels in messages.
bool memory_module::register_region(thread_context& thread, const memory_transfers::piece& leaving,
                                    const memory_request& asked) {
  if (direct_ == nullptr || leaving.bytes < direct_bytes_min_ || !direct_->reaches(leaving.transfer->target())) {
    return false;
  }
  const auto region = leaving.transfer->register_region(*direct_, leaving.offset, leaving.bytes);
  if (!region) return false;
  {
    const std::scoped_lock lock(mutex_);
    transfers_.note_region(leaving, *region);
  }
  messages_.post_counted_to_module<&memory_module::on_direct>(thread, rank_id(asked.name.rank), asked, *region,
                                                              leaving.transfer->what());
  return true;
}

/// A piece is in place, or has failed.
void memory_module::answer(thread_context& thread, const memory_transfers::piece& answered, memory_status status) {
  std::optional<memory_status> final_status;
  {
    const std::scoped_lock lock(mutex_);
    final_status = transfers_.complete(answered, status);
  }
  if (final_status) answered.transfer->end(*final_status, thread);
}

void memory_module::on_done(context& ctx, std::uint64_t token, memory_status status) {
  std::optional<memory_transfers::piece> answered;
  {
    const std::scoped_lock lock(mutex_);
    answered = transfers_.take_reply(ctx.source(), token, status, 0);
  }
  if (!answered) return refuse(ctx, "the end of a piece that nobody awaits");
  if (answered->region) answered->transfer->deregister(*answered->region);
  if (answered->region && status == memory_status::unreachable) {  // the target could not, or the future was dropped
    NACRE_MARK("a piece that the target could not copy leaves in a message");
    memory_transfers::piece again = *answered;
    {
      const std::scoped_lock lock(mutex_);
      transfers_.resend(again);
    }
    send(ctx.current_thread(), again, send_mode::message);
  } else {
    answer(ctx.current_thread(), *answered, status);
  }
  pump(ctx.current_thread(), ctx.source());
}

void memory_module::on_data(context& ctx, std::uint64_t token, memory_bytes data) {
  std::optional<memory_transfers::piece> answered;
  {
    const std::scoped_lock lock(mutex_);
    answered = transfers_.take_reply(ctx.source(), token, memory_status::done, data.bytes().size());
  }
  if (!answered) return refuse(ctx, "bytes of memory that nobody has asked for");
  const auto arrived = data.bytes();
  static_cast<void>(answered->transfer->with_own_memory(
      [&](std::byte* own_bytes) { copy_bytes(own_bytes + answered->offset, arrived.data(), arrived.size()); }));
  answer(ctx.current_thread(), *answered, memory_status::done);
  pump(ctx.current_thread(), ctx.source());
}

}  // namespace nacre
