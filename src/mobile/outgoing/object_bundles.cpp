// SPDX-License-Identifier: Apache-2.0
// Running bundles of messages to objects, one part after the other, for a bounded time.
#include "mobile/outgoing/object_bundles.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "base/marks.hpp"

namespace nacre {
namespace {

// Of a short handler: less than what its message costs otherwise, and, where other workers could run it meanwhile, not
// much more than what it costs to hand it to them.
constexpr double seconds_of_short = 250e-9, seconds_of_short_beside_others = 100e-9;
constexpr double seconds_of_slice = 20e-6;        // after which the rest waits behind other work
constexpr std::uint32_t parts_between_looks = 8;  // at the clock

double short_for(const worker_pool& pool) noexcept {
  return pool.workers() == 1 ? seconds_of_short : seconds_of_short_beside_others;
}

/// Where a worker goes on in a bundle; a field of its header that has no other use here.
std::uint32_t& cursor_of(message& m) noexcept { return m.header.epoch; }

/// How many bytes of a bundle have become messages of their own, which hold the credit of these bytes; another such
/// field.
std::uint64_t& handed_over(message& m) noexcept { return m.header.reply; }

/// A part as a message of its own, which takes over its share of the credit: as many bytes, at the price of the bundle.
message_ptr single_of(message& bundle, const bundle::part& part) {
  message_ptr single = bundle::make_message_of(part);
  credit_account::hand_over(bundle, *single);
  const std::size_t bytes = bundle::part_bytes(part.payload.size());
  NACRE_ASSERT(bytes_of(single->header) == bytes && bundle.header.object != bundle_stays_whole,
               "a part of a bundle costs more or less than the bundle has counted for it");
  handed_over(bundle) += bytes;
  return single;
}

/// Releases the credit of the parts up to `end` that have run in the bundle.
void end_bundle(message_ptr m, std::size_t end) noexcept {
  NACRE_ASSERT(handed_over(*m) <= end && end <= m->header.payload_bytes,
               "more bytes of a bundle have become messages of their own than it has");
  m->header.payload_bytes = static_cast<std::uint32_t>(end - handed_over(*m));
}

}  // namespace

/// The time that one activation of an item may take, and the block that its parts are copied to, one after the other.
struct object_bundles::slice {
  slice(const worker_pool& pool, std::uint64_t now, bool in_virtual_time) noexcept
      : fetches_groups(!in_virtual_time),
        short_ticks(static_cast<std::uint64_t>(short_for(pool) / pool.seconds_a_tick())),
        end(now + static_cast<std::uint64_t>(seconds_of_slice / pool.seconds_a_tick())),
        looked_at(now) {}

  const bool fetches_groups;
  const std::uint64_t short_ticks, end;
  std::uint64_t looked_at;
  std::uint32_t until_look = 1, looks_after = 1;
  bool is_over = false, found_long = false;
  message_ptr block;
  std::size_t room = 0;

  /// Looks at the clock after the first part, which may be very long, and after each few. Real time includes the waits
  /// for the memory of a whole group, so one short part may take as long as many.
  void look(const worker_pool& pool) noexcept {
    is_over = pool.ahead();
    if (--until_look != 0) return;
    const std::uint64_t now = pool.instant();
    const std::uint32_t parts = fetches_groups ? parts_between_looks : looks_after;
    found_long = now - looked_at > short_ticks * parts * 4;
    is_over = is_over || now > end;
    looked_at = now;
    until_look = looks_after = parts_between_looks;
  }
  /// A message with the header and the payload of the part, in the block of the part before if that is still there.
  message& fill(const bundle::part& part) {
    constexpr std::size_t room_min = 192;
    if (block == nullptr || room < part.payload.size()) {
      room = std::max(room_min, part.payload.size());
      block = make_message(room);
    }
    block->header = part.header;
    bundle::copy_payload(block->body(), part.payload);
    return *block;
  }
};

/// Parts that are looked up together, so that the waits for memory overlap.
struct object_bundles::group {
  static constexpr std::size_t size_max = 16;
  std::array<bundle::part, size_max> parts;
  std::array<std::size_t, size_max> end;  // offset behind each part
  std::size_t size = 0, ran = 0;
  message* bundle = nullptr;  // the bundle

  /// Reads parts from `offset` on. False: the bytes there are no part of such a bundle.
  [[nodiscard]] bool read(std::span<const std::byte> bytes, std::size_t offset, const bundle::limits& limits) noexcept {
    size = ran = 0;
    while (size < size_max && offset < bytes.size()) {
      const bool fits = bundle::read_part(bytes, offset, limits, parts[size]) &&
                        bundle::form_of_part(parts[size].header) == bundle::objects;
      if (!fits) return false;
      end[size++] = offset;
    }
    return true;
  }
};

object_bundles::object_bundles(am_engine& messages, directory& entries, step_clock& clock, entry_access& access,
                               object_activation& activation, incoming& arrivals)
    : messages_(messages),
      entries_(entries),
      clock_(clock),
      access_(access),
      activation_(activation),
      incoming_(arrivals),
      main_bundles_(*this, messages.rank().value()) {}

void object_bundles::accept(thread_context& thread, message_ptr m) {
  arrived& source = arrived_.of(m->header.source, [&] { return std::make_unique<arrived>(*this, m->header.source); });
  handed_over(*m) = 0;
  if (!source.waits() && begins_long(*m)) return take_apart(thread, std::move(m), 0);
  NACRE_MARK("a bundle for objects becomes one item");
  cursor_of(*m) = 0;
  if (source.arrivals.push(m.release())) messages_.pool().make_ready(thread, source);
}

bool object_bundles::enqueue_behind(thread_context& thread, message_ptr& m) {
  const message_header& header = m->header;
  if (!in_stream(header.kind) || header.hops != 0 || (header.flags & flag_returned) != 0) return false;
  arrived* const arrived = arrived_.find(header.source);
  if (arrived == nullptr || !arrived->waits()) return false;
  NACRE_MARK("a message to an object comes behind bundles");
  if (arrived->arrivals.push(m.release())) messages_.pool().make_ready(thread, *arrived);
  return true;
}

/// Accepts each part from that offset on as a message; the parts before have run.
void object_bundles::take_apart(thread_context& thread, message_ptr m, std::size_t offset) {
  const bundle::limits limits{.sender = m->header.source, .ranks = messages_.size()};
  message_list parts;
  while (offset < m->header.payload_bytes) {
    bundle::part part;
    const bool fits =
        bundle::read_part(m->payload(), offset, limits, part) && bundle::form_of_part(part.header) == bundle::objects;
    if (!fits) return messages_.refuse(*m, "is a bundle of something else");
    parts.push_back(single_of(*m, part));
  }
  end_bundle(std::move(m), offset);
  incoming_.prefetch(parts.front());
  worker_pool& pool = messages_.pool();
  while (message_ptr single = parts.pop_front()) {
    if (pool.charges_own()) pool.charge_own(own_work::receive);
    incoming_.accept(thread, std::move(single));
  }
}

bool object_bundles::may_join_own(const message& m) const noexcept {
  const bool simple = m.packed() || m.ops->simple;
  return simple && m.header.channel == channel::application && bundle::form_of_part(m.header) == bundle::objects &&
         !is_long(m.header.handler);
}

work* object_bundles::enqueue_main_bundle(message_ptr m) noexcept {
  handed_over(*m) = 0;
  cursor_of(*m) = 0;
  return main_bundles_.arrivals.push(m.release()) ? &main_bundles_ : nullptr;
}

bool object_bundles::enqueue_main_behind(thread_context& main, message_ptr& m) {
  if (!main_bundles_.waits()) return false;
  if (main_bundles_.arrivals.push(m.release())) messages_.pool().make_ready(main, main_bundles_);
  return true;
}

/// Whether a handler may be long. In virtual time those that have charged nothing are not.
bool object_bundles::is_long(std::uint32_t handler) const noexcept {
  const double seconds = clock_.costs().of(handler);
  return seconds > short_for(messages_.pool()) || (seconds == 0 && !messages_.deferred());
}

/// By the first part.
bool object_bundles::begins_long(const message& bundle) const noexcept {
  if (bundle.header.payload_bytes < sizeof(message_header)) return true;  // and refused
  message_header first;
  std::memcpy(&first, bundle.body(), sizeof first);
  return is_long(first.handler);
}

void object_bundles::run_arrived(work& item, thread_context& thread) {
  auto& source = static_cast<arrived&>(item);
  object_bundles& self = source.bundles;
  worker_pool& pool = thread.pool();
  message_list taken;
  const bool claimed = source.arrivals.claim(taken);
  NACRE_ASSERT(claimed, "the bundles of a rank were run by two workers");
  source.rest.append(taken);
  slice time(pool, pool.instant(), self.messages_.deferred());
  while (!time.is_over && !source.rest.empty()) self.run_first(thread, source.rest, time);
  if (source.rest.empty() && source.arrivals.finish() == inbox::finished::yes) return;
  source.arrivals.requeue();
  pool.make_ready(thread, source);
}

/// Runs the first bundle of `rest`, or as much of it as there is time for.
void object_bundles::run_first(thread_context& thread, message_list& rest, slice& time) {
  if (rest.front()->header.kind != message_kind::bundle) {
    incoming_.accept(thread, rest.pop_front());
    return time.look(messages_.pool());
  }
  const std::size_t begin = cursor_of(*rest.front());
  NACRE_ASSERT(begin <= rest.front()->header.payload_bytes, "a worker goes on behind the end of a bundle");
  time.found_long = false;
  if (begin == 0 && begins_long(*rest.front())) {
    NACRE_MARK("a bundle for objects is taken apart by a worker");
    take_apart(thread, rest.pop_front(), 0);
    return time.look(messages_.pool());
  }
  const bundle::limits limits{.sender = rest.front()->header.source, .ranks = messages_.size()};
  group parts;
  for (std::size_t offset = begin; offset < rest.front()->header.payload_bytes;) {
    parts.bundle = rest.front();
    if (!parts.read(rest.front()->payload(), offset, limits)) {
      return messages_.refuse(*rest.pop_front(), "is a bundle of something else");
    }
    run_group(thread, parts, time);
    offset = parts.end[parts.ran - 1];
    if (offset == rest.front()->header.payload_bytes) break;
    if (std::exchange(time.found_long, false) && (messages_.deferred() || !thread.preemption.lost_processor())) {
      NACRE_MARK("a bundle for objects turns out to be long");
      return take_apart(thread, rest.pop_front(), offset);
    }
    cursor_of(*rest.front()) = static_cast<std::uint32_t>(offset);
    if (time.is_over) return;
  }
  const std::size_t all = rest.front()->header.payload_bytes;
  end_bundle(rest.pop_front(), all);
}

/// Runs at least one part, and the others if there is time.
void object_bundles::run_group(thread_context& thread, group& parts, slice& time) {
  const auto id_of = [&](std::size_t each) { return object_id::from_value(parts.parts[each].header.object); };
  for (std::size_t each = 0; each < parts.size; ++each) entries_.prefetch_place(id_of(each));
  for (std::size_t each = 0; each < parts.size; ++each) entries_.prefetch_entry(id_of(each));
  std::array<object_entry*, group::size_max> object_entries;
  for (std::size_t each = 0; each < parts.size; ++each) {
    object_entries[each] = entries_.find(id_of(each));
    if (object_entries[each] != nullptr) object_entries[each]->prefetch_object();
  }
  while (parts.ran < parts.size) {
    run_part(thread, object_entries[parts.ran], *parts.bundle, parts.parts[parts.ran], time);
    ++parts.ran;
    time.look(messages_.pool());
    if (time.is_over || time.found_long) return;
  }
}

void object_bundles::run_part(thread_context& thread, object_entry* entry, message& bundle, const bundle::part& part,
                              slice& time) {
  if (messages_.pool().charges_own()) messages_.pool().charge_own(own_work::receive);
  if (entry == nullptr || entry->object() == nullptr || !entry->arrivals.begin_idle()) {
    return incoming_.accept(thread, single_of(bundle, part));
  }
  if (const detail::handler_info* const row = plain_handler(*entry, part.header)) {
    return run_here(thread, *entry, *row, part, time);
  }
  message_list single;
  single.push_back(single_of(bundle, part));
  activation_.run_step(*entry, thread, single, may_run::yes);
}

/// The handler of a message to an idle object, if it may run at once and nothing else is to be done: then the message
/// has been admitted. Else null.
const detail::handler_info* object_bundles::plain_handler(object_entry& entry, const message_header& header) const {
  const void* const object = entry.object();
  if (object == nullptr) return nullptr;
  const detail::object_type& type = *messages_.handlers().type(entry.type);
  const detail::handler_info* const row = messages_.handlers().handler(header.handler);
  const bool plain = row != nullptr && row->target_key == type.key && !row->shared && !row->coroutine &&
                     row->tag == nullptr && !declares(type) && entry.gate.idle() && !messages_.held.on();
  if (!plain) return nullptr;
  object_entry_extra* const extra = entry.extra();
  if (extra == nullptr) return entry.order.admit(header) ? row : nullptr;
  if (!extra->only_has_streams()) return nullptr;
  const bool next = extra->order.empty() ? entry.order.admit(header) : extra->order.admit_next(header);
  if (next) ++extra->ran;
  return next ? row : nullptr;
}

/// The bundle holds the credit of the part until all of it has run.
void object_bundles::run_here(thread_context& thread, object_entry& entry, const detail::handler_info& row,
                              const bundle::part& part, slice& time) {
  message& m = time.fill(part);
  const bool counted = m.counted();
  const step_clock::step_time step = clock_.begin(thread, &m);
  thread.record_item();
  if (messages_.run_and_leave(thread, row, time.block, entry.object()) && counted) thread.counters().done.add(1);
  access_.check_serialization(entry);
  clock_.end(entry, thread, step, {.run = 1, .ours = true});
  if (messages_.pool().ahead()) return access_.end_when_spent(entry, thread, entry_access::kind::exclusive);
  activation_.finish_step(entry, thread, may_run::yes);
}

}  // namespace nacre
