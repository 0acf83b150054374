// SPDX-License-Identifier: Apache-2.0
// Sending to objects, and the reports of other ranks about them.
#include "mobile/mobile.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include <nacre/assert.hpp>

#include "base/marks.hpp"
#include "mobile/directory/epoch_guard.hpp"

namespace nacre {
namespace {

/// Bytes copied out of an arrival in about 10 us.
constexpr std::uint32_t unpacked_at_once_max = 64 * 1024;
/// The longest time that location news waits to be sent in bulk.
constexpr double news_bound_seconds = 100e-6;
constexpr const char* no_element = "the array has no element there";

void print_delivery_error(rank_id rank, const delivery_error& what) {
  const std::string line = "nacre: rank " + std::to_string(rank.value()) + ": a message (" + std::string(what.handler) +
                           ") to object " + std::to_string(what.object.home().value()) + ":" +
                           std::to_string(what.object.index()) + " was not delivered: " + std::string(what.why) + "\n";
  std::fputs(line.c_str(), stderr);
}

}  // namespace

object_space::object_space(am_engine& messages, const options& limits)
    : messages_(messages),
      limits_(limits),
      rules_(limits.location),
      forwarding_(limits.forwarding_max),
      told_in_bulk_(messages.pool().thread_contexts().size(),
                    static_cast<std::uint64_t>(news_bound_seconds / messages.pool().seconds_a_tick())),
      entries_(messages.pool().readers()),
      arrays_(messages, *this) {
  report_ =
      new error_handler([rank = messages_.rank()](const delivery_error& what) { print_delivery_error(rank, what); });
  messages_.attach_objects(*this);
  messages_.attach_module(*this);
}

/// Nothing runs any more. References that wait for readers end before the directory deletes the remaining entries.
object_space::~object_space() {
  for (const auto& each : messages_.pool().thread_contexts()) each->reader().collect();
  delete report_.load();
}

void object_space::on_delivery_error(thread_context& on, std::function<void(const delivery_error&)> handler) {
  auto made = std::make_unique<error_handler>(std::move(handler));
  const epoch_guard guard(on);
  // release: publishes the handler to the load in report.
  const error_handler* const before = report_.exchange(made.release(), std::memory_order_acq_rel);
  on.reader().retire(const_cast<error_handler*>(before), [](void* gone) { delete static_cast<error_handler*>(gone); });
}

/// Calls the user's handler, between the loss of a message and its count as done. An exception from it has no receiver,
/// so it fails the job.
void object_space::report(thread_context& on, const delivery_error& what) {
  const epoch_guard guard(on);
  try {
    (*report_.load(std::memory_order_acquire))(what);  // pairs with the exchange in on_delivery_error
  } catch (...) {
    messages_.fail("the handler given to on_delivery_error threw: " + text_of_thrown());
  }
}

object_id object_space::adopt(thread_context& on, const detail::object_type& type, void* object,
                              location_policy wanted) {
  object_state state;
  state.object = object;
  state.type = &type;
  state.policy = rules_.meant(wanted == location_policy::of_program ? type.location : wanted);
  const epoch_guard guard(on);
  const std::uint64_t index = last_index_.fetch_add(1, std::memory_order_relaxed) + 1;  // only uniqueness matters
  const object_id id(messages_.rank(), index);
  NACRE_ASSERT(!id.is_element(), "a rank has made more objects than it has names for");
  install_new(on, id, std::move(state));
  return id;
}

/// Calls the functions of the class first: as long as they may throw, no other thread knows the object. Holds the
/// activation until the object is complete: a balancer that finds the object earlier could take it away.
object_entry& object_space::install_new(thread_context& on, object_id id, object_state state) {
  const detail::object_type& type = *state.type;
  check_object(type, id, state.object);
  const object_declaration said = declared_by(type, state.object, id);
  object_entry& at = entries_.add(id, {messages_.rank(), 1, state.policy}, &activate_work, inbox::first::running);
  at.put_state(state);
  messages_.pool().charge_own(own_work::create);
  on.record(trace::event_kind::create, id.value());
  if (declares(type)) publish(at, said);
  give_back(at, on, false);
  return at;
}

/// The entry by which this rank sends to an object, for as long as the object may live. A new entry refers to the
/// object's home. Null when this rank is the home and has no entry: the object has been destroyed.
object_entry* object_space::entry_to_send_by(thread_context& on, object_id id) {
  for (;;) {
    object_entry* known = entries_.find(id);
    if (known == nullptr && id.is_element() && id.home() == messages_.rank()) known = place_at_home(id);
    if (known == nullptr) {
      if (id.home() == messages_.rank() || id.home().value() >= messages_.size()) return nullptr;
      if (id.is_element() && arrays_.find(id) == nullptr) return nullptr;
      known = &entries_.find_or_add(id, {id.home(), 0}, &activate_work);
    }
    if (known->location.keep()) return known;
    forget(*known, on);  // it is being collected: the first thread takes it out
  }
}

void object_space::push(object_entry& at, thread_context& on, message_ptr m, bool by_handler) {
  using origin = worker_pool::origin;
  const bool first = m->header.kind == message_kind::object && m->header.sequence == 0 && !at.id.is_element() &&
                     at.id.home() == messages_.rank();
  const origin from = !by_handler ? origin::elsewhere : first ? origin::birth : origin::handler;
  if (at.arrivals.push(m.release())) messages_.pool().make_ready(on, at, from);
}

/// Reads whether the object is here before it numbers the message: if the object leaves in between, the message is
/// forwarded.
void object_space::post(thread_context& on, object_id to, message_ptr m, detail::future_state* result) {
  if (!to.valid()) throw usage_error("a message to a mobile_ptr that names no object (it was default-constructed)");
  const epoch_guard guard(on);
  object_entry* const at = entry_to_send_by(on, to);
  const known_location location = at != nullptr ? at->location.read() : known_location{};
  const bool stays = at != nullptr && location.rank == messages_.rank() && !messages_.deferred();
  if (at != nullptr) m = messages_.prepare(on, stays, std::move(m));
  messages_.commit(on, [&] {
    m->header.object = to.value();
    m->header.source = messages_.rank().value();
    if (result != nullptr) m->header.reply = messages_.calls().open(*result);
    if (m->counted()) on.counters().created.add(1);
    if (at == nullptr) return undeliverable(on, std::move(m));
    m->header.sequence = at->next_sequence.fetch_add(1, std::memory_order_relaxed);  // only the number orders messages
    if ((location.backlog || waiting_.any()) &&
        keep_at_source(on, *at, m, location.backlog, stays || messages_.by_pointer())) {
      return;
    }
    const rank_id next = next_rank(*at, location, m->header);
    if (stays) {
      if (on.backpressure()) return push_under_backpressure(*at, on, std::move(m));
      if (push_behind_backpressure(*at, m)) return;
      return push(*at, on, std::move(m), on.in_item());
    }
    if (next == messages_.rank() && messages_.deferred() && on.in_item()) return accept_when_spent(on, std::move(m));
    if (next != messages_.rank()) on.counters().hops.add(1);
    messages_.route(on, next, std::move(m));
  });
}

void object_space::post_migrate(thread_context& on, object_id object, rank_id to, detail::future_state& done) {
  if (to.value() >= messages_.size()) {
    throw usage_error("migrate to rank " + std::to_string(to.value()) + " of a job with " +
                      std::to_string(messages_.size()) + " ranks");
  }
  message_ptr m = make_message(sizeof(std::uint32_t));
  const std::uint32_t rank = to.value();
  std::memcpy(m->body(), &rank, sizeof rank);
  m->header.kind = message_kind::migrate;
  post(on, object, std::move(m), &done);
}

void object_space::post_destroy(thread_context& on, object_id object) {
  message_ptr m = make_message(0);
  m->header.kind = message_kind::destroy;
  post(on, object, std::move(m));
}

bool object_space::is_local(thread_context& on, object_id object) noexcept {
  const epoch_guard guard(on);
  const object_entry* at = entries_.find(object);
  if (at == nullptr) return false;
  const known_location location = at->location.read();
  return location.rank == messages_.rank() && !location.gone;
}

void object_space::accept(thread_context& by, message_ptr m) { accept(by, std::move(m), false); }

void object_space::accept(thread_context& by, message_ptr m, bool by_handler) {
  const object_id id = object_id::from_value(m->header.object);
  if (m->header.kind == message_kind::arrival) {
    const bool no_place = id.is_element() && arrays_.find(id) == nullptr;
    if (id.home().value() >= messages_.size() || id.index() == 0 || no_place) {
      return messages_.fail("rank " + std::to_string(m->header.source) + " sent an object that has no name");
    }
    object_entry& at = entries_.find_or_add(id, {id.home(), 0}, &activate_work);
    // A large arrival would hold up the poll loop, so an idle worker unpacks it. If no worker is idle the poll loop
    // unpacks it too, because no worker would see the object meanwhile.
    const bool large =
        m->packed() && m->header.payload_bytes > unpacked_at_once_max && messages_.pool().idle_workers() > 0;
    if (large || !at.arrivals.begin_idle()) return push(at, by, std::move(m));
    message_list taken;
    taken.push_back(std::move(m));
    return run_claimed(at, by, taken, false);
  }
  if ((m->header.flags & flag_returned) != 0) return take_back(by, std::move(m));
  object_entry* at = entries_.find(id);
  if (at == nullptr && id.is_element() && id.home() == messages_.rank()) at = place_at_home(id);
  if (at == nullptr) return refer_to_home(id, by, std::move(m));
  if (at->location.read().rank != messages_.rank()) return forward(*at, by, std::move(m));
  if (by_handler && !by.in_item() && end_idle(*at, by, m)) return;
  push(*at, by, std::move(m), by_handler);
}

void object_space::undeliverable(thread_context& on, message_ptr m) {
  const message_header& header = m->header;
  const bool counted = m->counted();
  if (header.kind == message_kind::claim) return;  // the join reports it
  if (header.kind == message_kind::request_to_send) return refuse_request(on, header);
  if (header.kind == message_kind::join) {
    tell_initiator(on, {header.source, header.reply},
                   {.object = object_id::from_value(header.object), .step = colocate_step::gone});
  } else if (header.reply != 0) {
    const bool of_array = object_id::from_value(header.object).is_element();
    messages_.post_failure(on, header, of_array ? no_element : "the object has been destroyed");
    if (!of_array && header.source != messages_.rank().value()) {
      messages_.post_to_module<&object_space::on_gone>(on, rank_id(header.source), header.object);
    }
  } else if (header.source == messages_.rank().value()) {
    report_lost(on, object_id::from_value(header.object), header.handler);
  } else {
    NACRE_MARK("a message to a destroyed object is reported to the rank that sent it");
    messages_.post_counted_to_module<&object_space::on_undeliverable>(on, rank_id(header.source), header.object,
                                                                      header.handler);
  }
  if (counted) on.counters().done.add(1);
}

void object_space::on_undeliverable(context& ctx, std::uint64_t object, std::uint32_t handler) {
  const object_id id = object_id::from_value(object);
  learn_of_late_end(ctx, id);
  report_lost(detail::thread_of(ctx), id, handler);
}

void object_space::report_lost(thread_context& on, object_id object, std::uint32_t handler) {
  const detail::handler_info* row = messages_.handlers().handler(handler);
  delivery_error what{object, row != nullptr ? row->name : "destroy"};
  if (object.is_element()) what.why = no_element;
  report(on, what);
}

/// Handles the report that an object to which this rank has sent is gone.
void object_space::learn_of_late_end(context& ctx, object_id id) {
  object_entry* const at = entries_.find(id);
  if (at == nullptr || id.home() == messages_.rank()) return;
  if (id.is_element() && arrays_.find(id) != nullptr) return;  // its streams continue with the next element
  NACRE_MARK("a rank forgets where an object was that has been destroyed elsewhere");
  push_end(*at, ctx.source(), detail::thread_of(ctx));
}

void object_space::on_gone(context& ctx, std::uint64_t object) {
  if (object_entry* const at = entries_.find(object_id::from_value(object))) {
    push_end(*at, ctx.source(), detail::thread_of(ctx));
  }
}

/// Pushes the news that an object has been destroyed elsewhere, or a place with its array; the entry's activation
/// decides whether that can be true.
void object_space::push_end(object_entry& at, rank_id source, thread_context& by) { push(at, by, news_of(source, by)); }

/// Delivers that news at once, without the scheduler, unless the activation is taken. Poll loop.
void object_space::end_at_once(object_entry& at, rank_id source, thread_context& by) {
  if (!at.arrivals.begin_idle()) return push_end(at, source, by);
  message_list taken;
  taken.push_back(news_of(source, by));
  run_claimed(at, by, taken, false);
}

message_ptr object_space::news_of(rank_id source, thread_context& by) {
  message_ptr m = make_message(0);
  m->header.kind = news_of_end;
  m->header.source = source.value();
  by.counters().created.add(1);
  return m;
}

/// Takes an entry out of the directory, unless that has been done; it is deleted once no thread can still hold it.
void object_space::forget(object_entry& at, thread_context& on) {
  if (!entries_.remove(at)) return;
  if (waiting_.any()) drop_waiting(on, at.id);
  on.reader().retire(&at, [](void* gone) {
    auto& orphan = *static_cast<object_entry*>(gone);
    if (orphan.arrivals.orphan()) orphan.release_reference();
  });
}

double object_space::migration_seconds() const noexcept {
  constexpr std::uint64_t few = 4;
  std::uint64_t migrations = 0;
  for (const auto& each : messages_.pool().thread_contexts()) migrations += each->counters().migrations_out.read();
  return migrations < few ? 0 : migration_seconds_.load(std::memory_order_relaxed);
}

double object_space::priority_of(const work& item, rank_id here) noexcept {
  if (!item.runs_by(&activate_work)) return 0;
  const auto& at = static_cast<const object_entry&>(item);
  if (at.location.read().rank != here) return std::numeric_limits<double>::infinity();
  const object_entry_extra* const extra = at.extra();
  return extra != nullptr ? extra->priority.load(std::memory_order_relaxed) : 0;  // an estimate
}

}  // namespace nacre
