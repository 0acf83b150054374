// SPDX-License-Identifier: Apache-2.0
// The untyped functions behind keyed arrays.
#include <string>
#include <utility>

#include <nacre/nacre.hpp>

#include "base/exception_text.hpp"
#include "runtime/engine.hpp"

namespace nacre::detail {

message_ptr make_insertion(const object_type& type, void* object) { return array_places::insertion(type, object); }

message_ptr make_erasure() { return array_places::erasure(); }

void open_keyed_call(engine& core, message& m, future_state* result) noexcept {
  if (result != nullptr) m.header.reply = core.messages().calls().open(*result);
}

void post_keyed(engine& core, thread_context& on, const object_pair& ends, message_ptr m) {
  core.objects().traffic().note(on, ends, *m);
  core.objects().sender().post(on, ends.to, std::move(m));
}

void fail_for_key(engine& core) {
  core.messages().fail("a key of a keyed array cannot be sent to its home: " + text_of_thrown());
}

}  // namespace nacre::detail
