// SPDX-License-Identifier: Apache-2.0
// Packing and measuring of the values of messages, with the names of their handlers.
#include "am/message_packing.hpp"

#include <string>
#include <utility>

#include <nacre/error.hpp>

#include "am/am_engine.hpp"
#include "am/handler_table.hpp"

namespace nacre {

std::string packing_of(const message_header& header) {
  if (header.kind == message_kind::reply) return "packing the result of a call";
  const detail::handler_info* const row = handler_table::get().handler(header.handler);
  return "packing the arguments of " + std::string(row != nullptr ? row->name : "an insertion");
}

message_ptr packed_by_sender(message_ptr m) {
  const message_header header = m->header;
  try {
    return packed_form(std::move(m));
  } catch (const detail::unpackable_value&) {
    detail::throw_named(packing_of(header));
  }
}

std::size_t size_or_least(const message& m) noexcept {
  try {
    return am_engine::size_of(m);
  } catch (...) {
    return sizeof m;
  }
}

}  // namespace nacre
