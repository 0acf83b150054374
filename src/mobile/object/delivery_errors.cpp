// SPDX-License-Identifier: Apache-2.0
// Messages that cannot be delivered, and the reports of them.
#include "mobile/object/delivery_errors.hpp"

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "base/exception_text.hpp"
#include "base/marks.hpp"
#include "mobile/directory/epoch_guard.hpp"

namespace nacre {
namespace {

constexpr const char* no_element = "the array has no element there";

}  // namespace

delivery_errors::delivery_errors(am_engine& messages, const nacre::homes& homes, directory& entries,
                                 const array_table& arrays, const message_table& table, object_activation& activation)
    : messages_(messages),
      homes_(homes),
      entries_(entries),
      arrays_(arrays),
      table_(table),
      activation_(activation),
      report_(new error_handler([this](const delivery_error& error) { print(error); })) {
  messages_.attach_module(*this);
}

void delivery_errors::print(const delivery_error& error) const {
  const std::string line = "nacre: rank " + std::to_string(messages_.rank().value()) + ": a message (" +
                           std::string(error.handler) + ")" +
                           (error.object.valid() ? " to " + arrays_.name_of(error.object) : std::string()) +
                           " was not delivered: " + std::string(error.why) + "\n";
  std::fputs(line.c_str(), stderr);
}

void delivery_errors::on_delivery_error(thread_context& thread, std::function<void(const delivery_error&)> handler) {
  auto result = std::make_unique<error_handler>(std::move(handler));
  const epoch_guard guard(thread);
  // release: publishes the handler to the load in report.
  const error_handler* const previous = report_.exchange(result.release(), std::memory_order_acq_rel);
  thread.reader().retire(const_cast<error_handler*>(previous),
                         [](void* gone) { delete static_cast<error_handler*>(gone); });
}

void delivery_errors::report_absent(thread_context& thread, const message& m, const std::string& key) {
  if (m.header.reply != 0) return messages_.post_failure(thread, m.header, no_element, am_engine::type_of_absence);
  const detail::handler_info* const row = messages_.handlers().handler(m.header.handler);
  const std::string why = key + " has no element";
  report(thread, {object_id(), row != nullptr ? row->name : "destroy", why});
}

/// Calls the user's handler, between the loss of a message and its count as done. An exception from it has no receiver,
/// so it fails the job.
void delivery_errors::report(thread_context& thread, const delivery_error& error) {
  const epoch_guard guard(thread);
  try {
    (*report_.load(std::memory_order_acquire))(error);  // pairs with the exchange in on_delivery_error
  } catch (...) {
    messages_.fail("the handler given to on_delivery_error threw: " + text_of_thrown());
  }
}

void delivery_errors::undeliverable(thread_context& thread, message_ptr m) {
  const message_header& header = m->header;
  if (const auto& lost = table_.lost(header.kind); lost && lost(thread, *m)) return;
  const bool counted = m->counted();
  if (header.reply != 0) {
    const bool of_array = object_id::from_value(header.object).is_element();
    messages_.post_failure(thread, header, of_array ? no_element : "the object has been destroyed",
                           am_engine::type_of_absence);
    if (!of_array && header.source != messages_.rank().value()) {
      messages_.post_to_module<&delivery_errors::on_gone>(thread, rank_id(header.source), header.object);
    }
  } else if (header.source == messages_.rank().value()) {
    report_lost(thread, object_id::from_value(header.object), header.handler);
  } else {
    NACRE_MARK("a message to a destroyed object is reported to the rank that sent it");
    messages_.post_counted_to_module<&delivery_errors::on_undeliverable>(thread, rank_id(header.source), header.object,
                                                                         header.handler);
  }
  if (counted) thread.counters().done.add(1);
}

void delivery_errors::note_remote_end(context& ctx, object_id id) {
  object_entry* const entry = entries_.find(id);
  if (entry == nullptr || homes_.home_is_here(id)) return;
  if (id.is_element() && arrays_.find(id) != nullptr) return;  // its streams continue with the next element
  NACRE_MARK("a rank forgets where an object was that has been destroyed elsewhere");
  activation_.push_notice(*entry, detail::thread_of(ctx), news_of_end, ctx.source());
}

void delivery_errors::on_gone(context& ctx, std::uint64_t object) {
  if (object_entry* const entry = entries_.find(object_id::from_value(object))) {
    activation_.push_notice(*entry, detail::thread_of(ctx), news_of_end, ctx.source());
  }
}

void delivery_errors::on_undeliverable(context& ctx, std::uint64_t object, std::uint32_t handler) {
  const object_id id = object_id::from_value(object);
  note_remote_end(ctx, id);
  report_lost(detail::thread_of(ctx), id, handler);
}

void delivery_errors::report_lost(thread_context& thread, object_id object, std::uint32_t handler) {
  const detail::handler_info* row = messages_.handlers().handler(handler);
  delivery_error error{object, row != nullptr ? row->name : "destroy"};
  if (object.is_element()) error.why = no_element;
  report(thread, error);
}
}  // namespace nacre
