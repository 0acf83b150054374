// SPDX-License-Identifier: Apache-2.0
// The consequences when an exception leaves a handler: its caller gets it, or the job ends with a line about it.
#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <typeinfo>

#include <nacre/nacre.hpp>

#include "base/exception_text.hpp"
#include "runtime/engine.hpp"

namespace nacre::detail {
namespace {

/// The type of the exception that a catch clause is handling; empty if it is no std::exception.
std::string type_of_thrown() {
  const char* name = nullptr;
  try {
    throw;
  } catch (const call_error& thrown) {
    if (!thrown.type().empty()) return thrown.type();
    name = typeid(thrown).name();
  } catch (const std::exception& thrown) {
    name = typeid(thrown).name();
  } catch (...) {
    return {};
  }
  const std::unique_ptr<char, decltype(&std::free)> spelt(abi::__cxa_demangle(name, nullptr, nullptr, nullptr),
                                                          &std::free);
  return spelt ? spelt.get() : name;
}

}  // namespace

void handler_failed(engine& core, thread_context& on, const message_header& request, handler_id handler,
                    handler_phase when) {
  const handler_info* row = core.messages().handlers().handler(handler.value());
  std::string line;  // names no module handler: its message names the user's code that it called
  if (request.kind != message_kind::module) {
    line = when == handler_phase::decoding ? "decoding the arguments of " : "the handler ";
    line += std::string(row->name) + " threw: ";
  }
  line += text_of_thrown();
  if (request.object != 0) {
    line += " (" + core.objects().arrays().name_of(object_id::from_value(request.object)) + ")";
  }
  if (request.reply != 0) {
    core.messages().post_failure(on, request, line, type_of_thrown());
  } else {
    core.messages().fail(line);
  }
}

}  // namespace nacre::detail
