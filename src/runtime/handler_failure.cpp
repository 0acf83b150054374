// SPDX-License-Identifier: Apache-2.0
// The consequences when an exception leaves a handler: its caller gets it, or the job ends with a line about it.
#include <exception>
#include <string>
#include <typeinfo>

#include <nacre/nacre.hpp>

#include "base/exception_text.hpp"
#include "base/type_name.hpp"
#include "runtime/engine.hpp"
#include "runtime/object_ends.hpp"

namespace nacre::detail {
namespace {

/// The type of the exception that a catch clause is handling; empty if it is no std::exception.
std::string type_of_thrown() {
  try {
    throw;
  } catch (const call_error& thrown) {
    return thrown.type().empty() ? nacre::type_name(typeid(thrown)) : thrown.type();
  } catch (const std::exception& thrown) {
    return nacre::type_name(typeid(thrown));
  } catch (...) {
    return {};
  }
}

/// Whether the handler has given up because its object ends.
bool thrown_by_end() {
  try {
    throw;
  } catch (const object_ends&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

void handler_failed(engine& core, thread_context& thread, const message_header& request, handler_id handler,
                    handler_phase handler_phase) {
  const handler_info* row = core.messages().handlers().handler(handler.value());
  std::string line;  // names no module handler: its message names the user's code that it called
  if (request.kind != message_kind::module) {
    line = handler_phase == handler_phase::decoding ? "decoding the arguments of " : "the handler ";
    line += std::string(row->name) + " threw: ";
  }
  line = without_middle(line + text_of_thrown());
  if (request.object != 0) {
    line += " (" + core.objects().arrays().name_of(object_id::from_value(request.object)) + ")";
  }
  if (request.reply == 0 && thrown_by_end()) {
    core.objects().errors().report(thread, {object_id::from_value(request.object), row->name, line});
  } else if (request.reply != 0 && !is_forked_child()) {
    core.messages().post_failure(thread, request, line, type_of_thrown());
  } else {
    core.messages().fail(line);
  }
}

call_error error_of_thrown(engine& core, handler_id handler) {
  const handler_info* const row = core.messages().handlers().handler(handler.value());
  return call_error(without_middle("the handler " + std::string(row->name) + " threw: " + text_of_thrown()),
                    type_of_thrown());
}

std::exception_ptr error_of_call() {
  try {
    throw;
  } catch (const call_error&) {
    return std::current_exception();
  } catch (...) {
    return std::make_exception_ptr(call_error(text_of_thrown(), type_of_thrown()));
  }
}

}  // namespace nacre::detail
