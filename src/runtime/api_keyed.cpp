// SPDX-License-Identifier: Apache-2.0
// The untyped functions behind keyed arrays.
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <nacre/nacre.hpp>

#include "base/exception_text.hpp"
#include "runtime/engine.hpp"

namespace nacre::detail {
namespace {

constexpr std::size_t key_bytes_told = 80;  // of a key, in messages to people

}  // namespace

message_ptr make_insertion(const object_type& type, void* object) { return array_places::insertion(type, object); }

message_ptr make_erasure() { return array_places::erasure(); }

void open_keyed_call(engine& core, message& m, future_state* result) noexcept {
  if (result != nullptr) m.header.reply = core.messages().calls().open(*result);
}

void post_keyed(engine& core, thread_context& on, const object_pair& ends, message_ptr m) {
  core.objects().traffic().note(on, ends, *m);
  core.objects().sender().post(on, ends.to, std::move(m));
}

void name_keys(engine& core, std::uint64_t first, key_namer name) {
  core.objects().arrays().find(first)->name_keys(std::move(name));
}

std::string quoted_key(std::string_view text) {
  std::string quoted = "\"";
  for (const char each : text.substr(0, key_bytes_told)) {
    const bool printed = static_cast<unsigned char>(each) >= 0x20 && each != 0x7f;
    if (each == '"' || each == '\\') quoted += '\\';
    quoted += printed ? std::string(1, each) : fmt::format("\\x{:02x}", static_cast<unsigned char>(each));
  }
  return quoted + (text.size() > key_bytes_told ? "...\"" : "\"");
}

std::string written_key(const void* key, void (*write)(std::ostream& out, const void* key)) {
  try {
    std::ostringstream out;
    write(out, key);
    const std::string text = out.str();
    return text.size() > key_bytes_told ? text.substr(0, key_bytes_told) + "..." : text;
  } catch (...) {  // an error is being reported, which must not be lost
    return {};
  }
}

void fail_for_key(engine& core) {
  core.messages().fail("a key of a keyed array cannot be sent to its home: " + text_of_thrown());
}

}  // namespace nacre::detail
