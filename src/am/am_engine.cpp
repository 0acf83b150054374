// SPDX-License-Identifier: Apache-2.0
// Sending and dispatching active messages.
#include "am/am_engine.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <nacre/assert.hpp>

#include "base/exception_text.hpp"

namespace nacre {
namespace {

/// A handler that takes less is short: such messages of main may share a bundle, though they then run one after the
/// other.
constexpr double short_seconds = 2e-6;

}  // namespace

am_engine::am_engine(engine& core, backplane& link, worker_pool& pool, packing values,
                     std::function<void(const std::string&)> fail)
    : core_(core),
      link_(link),
      pool_(pool),
      packs_all_(values == packing::always),
      fail_(std::move(fail)),
      table_(handler_table::get()),
      address_warnings_(link.rank(), by_pointer(), packs_all_, table_.handlers()),
      cancellations_(*this),
      taken_first_(pool.order().newest_first() ? ordered_messages::first::newest : ordered_messages::first::oldest) {
  link_.attach(*this);
  attach_module(cancellations_);
  for (const auto& each : pool_.thread_contexts()) each->attach(*this, nullptr);
}

void am_engine::aggregate(const aggregator::settings& settings) {
  for (const auto& each : pool_.thread_contexts()) {
    aggregators_.push_back(std::make_unique<aggregator>(*each, link_, settings));
    each->attach(*this, aggregators_.back().get());
  }
}

main_aggregator* am_engine::aggregate_own(const aggregator::settings& settings,
                                          std::function<work*(message_ptr)> to_objects) {
  if (packs_all_ || deferred()) return nullptr;
  own_bundles_ = std::make_unique<main_aggregator>(
      pool_.application(),
      main_aggregator::settings{.bytes_max = settings.bytes_max,
                                .bound_ticks = settings.bound_ticks,
                                .short_ticks = static_cast<std::uint64_t>(short_seconds / pool_.seconds_a_tick()),
                                .window = window_.get(),
                                .to_objects = std::move(to_objects)});
  pool_.application().attach_own(own_bundles_.get());
  return own_bundles_.get();
}

void am_engine::bound_main(std::uint64_t bytes_max) {
  window_ = std::make_unique<main_send_window>(bytes_max, [this] { link_.wake(); });
  pool_.application().set_window(window_.get());
}

std::uint64_t am_engine::flush_overdue(thread_context& thread) {
  std::uint64_t soonest = 0;
  const auto look = [&](auto& buffer) {
    const std::uint64_t ticks = buffer.flush_overdue(thread);
    if (ticks != 0 && (soonest == 0 || ticks < soonest)) soonest = ticks;
  };
  for (const auto& each : aggregators_) look(*each);
  if (own_bundles_ != nullptr) look(*own_bundles_);
  return soonest;
}

message_ptr am_engine::prepare(const thread_context& thread, bool stays, message_ptr m) {
  const bool of_program = m->header.kind != message_kind::module;
  if (stays || by_pointer()) {
    if (stays && of_program) m = as_received(std::move(m));
    if (of_program) acquire_window(thread, *m);
  } else if (!m->packed()) {
    if (m->ops->simple) {
      check_payload(m->ops->packed_size(*m));
    } else {
      m = packed_by_sender(std::move(m));
    }
  }
  return m;
}

message_ptr am_engine::packed_to_leave(message_ptr m) {
  if (m->packed()) return m;
  const auto name = [header = m->header] { return packing_of(header) + " for an object that leaves"; };
  return call_named(name, [&] { return packed_form(std::move(m)); });
}

void am_engine::post(thread_context& thread, rank_id target, message_ptr m, detail::future_state* result) {
  const bool stays = target == rank() && !deferred();
  const bool runs_here = stays && (m->header.flags & flag_communication) == 0 && m->header.kind == message_kind::rank;
  const bool to_own_workers = runs_here && own_bundles_ != nullptr && thread.role() == thread_role::application;
  if (runs_here && !packs_all_) {
    // All that prepare does for the commonest message. Measuring live values may throw, so it is done here for all of
    // them; packed messages for the own workers take room where they join others.
    if (!to_own_workers || m->ops != nullptr) acquire_window(thread, *m);
  } else {
    m = prepare(thread, stays, std::move(m));
  }
  commit(thread, [&] {
    m->header.source = rank().value();
    if (result != nullptr) m->header.reply = calls_.open(*result);
    if (m->counted()) thread.counters().created.add(1);
    if (target == rank() && m->header.kind == message_kind::rank) thread.counters().messages_local.add(1);
    if (!runs_here) return route(thread, target, std::move(m));
    if (to_own_workers) {
      if (own_bundles_->append(std::move(m)) == main_aggregator::opened::yes)
        link_.wake();  // so that the poll loop closes it
      return;
    }
    m->run_by(&run_rank_message);
    pool_.make_ready(thread, *m.release(), worker_pool::made_on(thread));
  });
}

void am_engine::route(thread_context& thread, rank_id target, message_ptr m, bundling bundling) {
  pool_.charge_own(target == rank() ? own_work::send_local : own_work::send);
  if (bundling == bundling::allowed && !aggregators_.empty() && target != rank()) {
    thread_counters& counters = thread.counters();
    counters.messages_sent.add(1);
    const std::uint64_t bytes =
        sizeof(message_header) + aggregators_[thread.id().value()]->append(target, std::move(m));
    counters.bytes_sent.add(bytes);
    thread.record_send(target, bytes);
    return;
  }
  if (m->header.kind == message_kind::rank && link_.declared().by_pointer) {
    m->header.sequence = thread.item();  // it has no other number; see ordered_messages
  }
  if (!by_pointer() && (target != rank() || deferred())) m = packed_form(std::move(m));
  thread_counters& counters = thread.counters();
  counters.messages_sent.add(1);
  const std::uint64_t bytes = sizeof(message_header) + m->header.payload_bytes;
  counters.bytes_sent.add(bytes);
  thread.record_send(target, bytes);
  link_.send(&thread, target, std::move(m));
}

void am_engine::post_module_message(thread_context& thread, rank_id target, message_ptr m, channel channel,
                                    std::uint8_t flags) {
  m->header.kind = message_kind::module;
  m->header.channel = channel;
  m->header.flags = static_cast<std::uint8_t>(flags | flag_communication);
  post(thread, target, std::move(m));
}

void am_engine::post_reply(thread_context& thread, const message_header& request, message_ptr reply) {
  reply->header.kind = message_kind::reply;
  reply->header.channel = request.channel;
  reply->header.reply = request.reply;
  reply->header.object = request.object;
  reply->header.flags |= flag_communication;
  const rank_id caller(request.source);
  if (caller == rank() && !deferred()) {
    dispatch_reply(thread, as_received(std::move(reply)));
    return;
  }
  post(thread, caller, std::move(reply));
}

message_ptr am_engine::make_failure(std::string_view name, std::string_view type) {
  message_ptr reply = make_message(type.size() + 1 + name.size());
  char* const text = reinterpret_cast<char*>(reply->body());
  *std::copy(type.begin(), type.end(), text) = '\0';
  std::copy(name.begin(), name.end(), text + type.size() + 1);
  reply->header.flags = flag_failed;
  return reply;
}

void am_engine::post_failure(thread_context& thread, const message_header& request, std::string_view name,
                             std::string_view type) {
  post_reply(thread, request, make_failure(name, type));
}

void am_engine::flush(thread_context& thread) {
  if (thread.idle() || thread.role() == thread_role::progress) thread.flush();
}

/// A simulation's want of memory is told where its ranks are known; see runtime/job.cpp.
void am_engine::escaped(thread_context&) {
  try {
    throw;
  } catch (const std::bad_alloc& thrown) {
    if (deferred()) throw;
    fail(thrown.what());
  } catch (...) {
    fail(text_of_thrown());
  }
}

void am_engine::peer_failed(const transport::failure& failure) {
  if (failure.peer) cancellations_.note_gone(*failure.peer);
  // The launcher, where there is one, prints the line for the whole job.
  fail(failure.announced ? std::string() : transport::describe(failure));
}

}  // namespace nacre
