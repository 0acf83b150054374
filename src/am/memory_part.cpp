// SPDX-License-Identifier: Apache-2.0
// The segments that this rank exposes, and the transfers that it begins: pieces, and their ends.
#include "am/memory_part.hpp"

#include <algorithm>

#include "base/marks.hpp"
#include "wire/job_secret.hpp"

namespace nacre {
memory_part::memory_part(node& messages, const settings& how)
    : messages_(messages),
      direct_(messages.direct()),
      direct_bytes_min_(how.direct_bytes_min),
      segments_(messages.rank()),
      transfers_(messages.by_pointer() ? memory_transfers::data_path::shared : memory_transfers::data_path::reply),
      key_source_(rng(how.seed).fork(0x6d656d6f72790000U + messages.rank().value())) {
  messages_.attach_module(*this);
}

memory_part::~memory_part() {
  transfers_.take_all_back();
  stop_copies(std::nullopt);
}

std::array<std::uint64_t, 2> memory_part::new_key() {
  std::array<std::uint64_t, 2> key{};
  if (messages_.deferred()) {
    const std::scoped_lock lock(mutex_);
    for (std::uint64_t& word : key) word = key_source_.next();
  } else {
    fill_random(std::as_writable_bytes(std::span(key)));
  }
  return key;
}

detail::memory_name memory_part::expose(std::span<std::byte> bytes, detail::memory_access access) {
  return segments_.expose(bytes, access, new_key());
}

void memory_part::withdraw(const detail::memory_name& name) {
  if (segments_.withdraw(name, [&] { stop_copies(name.segment); })) return;
  throw usage_error("withdraw of memory " + std::to_string(name.segment) + " of rank " + std::to_string(name.rank) +
                    " on rank " + std::to_string(messages_.rank().value()) +
                    ", which does not expose it (any more): withdraw once, on the rank that called expose");
}

void memory_part::begin(lane& on, memory_transfer& transfer) {
  if (transfer.name().segment == 0 || transfer.target().value() >= messages_.size()) {
    transfer.end(memory_status::never_exposed, on);
    return;
  }
  if (transfer.target() == messages_.rank() && !messages_.deferred()) {
    transfer.end(copy_here(transfer), on);
    return;
  }
  const bool direct =
      direct_ != nullptr && transfer.bytes() >= direct_bytes_min_ && direct_->reaches(transfer.target());
  {
    const std::scoped_lock lock(mutex_);
    transfers_.start(transfer, direct ? memory_transfers::direct_bytes_max : memory_transfers::piece_bytes_max);
  }
  pump(on, transfer.target());
}

/// Copies in pieces as well, so that a withdraw need not wait for more than one.
memory_status memory_part::copy_here(memory_transfer& transfer) {
  std::uint64_t at = 0;
  do {
    auto range = segments_.access(transfer.name(), transfer.offset(), transfer.bytes(), transfer.what());
    if (!range) return range.error();
    const std::uint64_t bytes = std::min(transfer.bytes() - at, memory_transfers::piece_bytes_max);
    std::byte* const there = range->bytes().data() + at;
    static_cast<void>(transfer.with_own_memory([&](std::byte* own) {
      transfer.what() == intent::write ? copy_bytes(there, own + at, bytes) : copy_bytes(own + at, there, bytes);
    }));
    at += bytes;
  } while (at != transfer.bytes());
  return memory_status::done;
}

void memory_part::pump(lane& by, rank_id to) {
  for (;;) {
    std::optional<memory_transfers::piece> leaving;
    std::vector<transfer_ref> dropped;
    {
      const std::scoped_lock lock(mutex_);
      leaving = transfers_.next(to);
      dropped = transfers_.take_dropped();
    }
    for (const transfer_ref& each : dropped) each->end(memory_status::done, by);
    if (!leaving) return;
    send(by, *leaving, way_out::any);
  }
}

void memory_part::send(lane& by, const memory_transfers::piece& leaving, way_out how) {
  memory_transfer& of = *leaving.transfer;
  const rank_id to = of.target();
  const memory_request asked{.name = of.name(),
                             .token = leaving.token,
                             .offset = of.offset(),
                             .length = of.bytes(),
                             .at = leaving.at,
                             .bytes = leaving.bytes};
  if (how == way_out::any && lend(by, leaving, asked)) return;
  const bool shared = messages_.by_pointer();
  if (of.what() == intent::read) {
    messages_.post_counted_to_module<&memory_part::on_get>(by, to, asked, shared ? memory_bytes(of) : memory_bytes());
    return;
  }
  if (shared) {
    messages_.post_bulk_to_module<&memory_part::on_put>(by, to, asked, memory_bytes(of));
    return;
  }
  // Packed inside the call, while the caller has not taken its memory back.
  const bool sent = of.with_own_memory([&](const std::byte* own) {
    messages_.post_bulk_to_module<&memory_part::on_put>(
        by, to, asked, memory_bytes(std::span<const std::byte>(own + leaving.at, leaving.bytes)));
  });
  if (sent) return;
  NACRE_MARK("a put is dropped before a piece of it is packed");
  std::optional<memory_transfers::piece> kept;
  {
    const std::scoped_lock lock(mutex_);
    kept = transfers_.take_reply(to, leaving.token, memory_status::done, 0);
  }
  if (kept) answer(by, *kept, memory_status::done);
}

/// Registers a piece, so that the target copies it by itself. False: it travels in messages.
bool memory_part::lend(lane& by, const memory_transfers::piece& leaving, const memory_request& asked) {
  if (direct_ == nullptr || leaving.bytes < direct_bytes_min_ || !direct_->reaches(leaving.transfer->target())) {
    return false;
  }
  const auto lent = leaving.transfer->lend(*direct_, leaving.at, leaving.bytes);
  if (!lent) return false;
  {
    const std::scoped_lock lock(mutex_);
    transfers_.note_lent(leaving, *lent);
  }
  messages_.post_counted_to_module<&memory_part::on_direct>(by, rank_id(asked.name.rank), asked, *lent,
                                                            leaving.transfer->what());
  return true;
}

/// A piece is in place, or has failed.
void memory_part::answer(lane& by, const memory_transfers::piece& answered, memory_status status) {
  std::optional<memory_status> over;
  {
    const std::scoped_lock lock(mutex_);
    over = transfers_.settle(answered, status);
  }
  if (over) answered.transfer->end(*over, by);
}

void memory_part::on_done(context& ctx, std::uint64_t token, memory_status status) {
  std::optional<memory_transfers::piece> answered;
  {
    const std::scoped_lock lock(mutex_);
    answered = transfers_.take_reply(ctx.source(), token, status, 0);
  }
  if (!answered) return refuse(ctx, "the end of a piece that nobody awaits");
  if (answered->lent) answered->transfer->take_back(*answered->lent);
  if (answered->lent && status == memory_status::unreachable) {  // the target could not, or the future was dropped
    NACRE_MARK("a piece that the target could not copy leaves in a message");
    memory_transfers::piece again = *answered;
    {
      const std::scoped_lock lock(mutex_);
      transfers_.resend(again);
    }
    send(ctx.current_lane(), again, way_out::message);
  } else {
    answer(ctx.current_lane(), *answered, status);
  }
  pump(ctx.current_lane(), ctx.source());
}

void memory_part::on_data(context& ctx, std::uint64_t token, memory_bytes data) {
  std::optional<memory_transfers::piece> answered;
  {
    const std::scoped_lock lock(mutex_);
    answered = transfers_.take_reply(ctx.source(), token, memory_status::done, data.bytes().size());
  }
  if (!answered) return refuse(ctx, "bytes of memory that nobody has asked for");
  const auto arrived = data.bytes();
  static_cast<void>(answered->transfer->with_own_memory(
      [&](std::byte* own) { copy_bytes(own + answered->at, arrived.data(), arrived.size()); }));
  answer(ctx.current_lane(), *answered, memory_status::done);
  pump(ctx.current_lane(), ctx.source());
}

}  // namespace nacre
