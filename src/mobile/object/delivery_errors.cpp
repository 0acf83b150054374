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
#include "mobile/object_space.hpp"

namespace nacre {
namespace {

constexpr const char* no_element = "the array has no element there";

void print_delivery_error(object_space& space, const delivery_error& what) {
  const std::string line = "nacre: rank " + std::to_string(space.messages().rank().value()) + ": a message (" +
                           std::string(what.handler) + ") to " + space.arrays().name_of(what.object) +
                           " was not delivered: " + std::string(what.why) + "\n";
  std::fputs(line.c_str(), stderr);
}

}  // namespace

delivery_errors::delivery_errors(object_space& space, am_engine& messages) : space_(space), messages_(messages) {
  report_ = new error_handler([&space](const delivery_error& what) { print_delivery_error(space, what); });
  messages_.attach_module(*this);
}

void delivery_errors::on_delivery_error(thread_context& on, std::function<void(const delivery_error&)> handler) {
  auto made = std::make_unique<error_handler>(std::move(handler));
  const epoch_guard guard(on);
  // release: publishes the handler to the load in report.
  const error_handler* const before = report_.exchange(made.release(), std::memory_order_acq_rel);
  on.reader().retire(const_cast<error_handler*>(before), [](void* gone) { delete static_cast<error_handler*>(gone); });
}

/// Calls the user's handler, between the loss of a message and its count as done. An exception from it has no receiver,
/// so it fails the job.
void delivery_errors::report(thread_context& on, const delivery_error& what) {
  const epoch_guard guard(on);
  try {
    (*report_.load(std::memory_order_acquire))(what);  // pairs with the exchange in on_delivery_error
  } catch (...) {
    messages_.fail("the handler given to on_delivery_error threw: " + text_of_thrown());
  }
}

void delivery_errors::undeliverable(thread_context& on, message_ptr m) {
  const message_header& header = m->header;
  const bool counted = m->counted();
  if (header.kind == message_kind::claim) return;  // the join reports it
  if (header.kind == message_kind::request_to_send) return space_.backlog().refuse_request(on, header);
  if (header.kind == message_kind::everyone && space_.arrays().find(object_id::from_value(header.object)) != nullptr)
    return space_.places().pass_over(on, *m);  // the place has been retired
  if (header.kind == message_kind::join) {
    space_.colocations().tell_initiator(on, {header.source, header.reply},
                                        {.object = object_id::from_value(header.object), .step = colocate_step::gone});
  } else if (header.reply != 0) {
    const bool of_array = object_id::from_value(header.object).is_element();
    messages_.post_failure(on, header, of_array ? no_element : "the object has been destroyed");
    if (!of_array && header.source != messages_.rank().value()) {
      messages_.post_to_module<&object_ends::on_gone>(on, rank_id(header.source), header.object);
    }
  } else if (header.source == messages_.rank().value()) {
    report_lost(on, object_id::from_value(header.object), header.handler);
  } else {
    NACRE_MARK("a message to a destroyed object is reported to the rank that sent it");
    messages_.post_counted_to_module<&delivery_errors::on_undeliverable>(on, rank_id(header.source), header.object,
                                                                         header.handler);
  }
  if (counted) on.counters().done.add(1);
}

void delivery_errors::on_undeliverable(context& ctx, std::uint64_t object, std::uint32_t handler) {
  const object_id id = object_id::from_value(object);
  space_.ends().learn_of_late_end(ctx, id);
  report_lost(detail::thread_of(ctx), id, handler);
}

void delivery_errors::report_lost(thread_context& on, object_id object, std::uint32_t handler) {
  const detail::handler_info* row = messages_.handlers().handler(handler);
  delivery_error what{object, row != nullptr ? row->name : "destroy"};
  if (object.is_element()) what.why = no_element;
  report(on, what);
}
}  // namespace nacre
