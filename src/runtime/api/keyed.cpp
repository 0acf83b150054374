// SPDX-License-Identifier: Apache-2.0
// The untyped functions behind keyed arrays.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <nacre/nacre.hpp>

#include "base/exception_text.hpp"
#include "mobile/directory/epoch_guard.hpp"
#include "runtime/engine.hpp"

namespace nacre::detail {
namespace {

constexpr std::size_t key_bytes_told = 80;  // of a key, in messages to people

/// "key 17 of array 2 (cell)".
std::string describe_key(engine& core, std::uint64_t first, const std::string& key) {
  const std::shared_ptr<array_home> array = core.objects().arrays().find(first);
  const std::string text = key.empty() ? "a key (whose class has no operator<<)" : "key " + key;
  if (array == nullptr) return text + " of an array that is being destroyed";
  return fmt::format("{} of array {} ({})", text, array->ordinal, array->layout.type->name);
}

/// A message to a key without an element, on its way to a worker.
struct refused_message {
  engine* core;
  std::string target;  ///< the key, for people
  message_ptr lost;
  static refused_message& of(message& m) noexcept {
    return *std::launder(reinterpret_cast<refused_message*>(m.body()));
  }
  static void destroy(message& m) noexcept { std::destroy_at(&of(m)); }
  static constexpr body_ops ops{nullptr, nullptr, &destroy};
};

void tell_sender(work& item, thread_context& thread) {
  const message_ptr m(static_cast<message*>(&item));
  const refused_message& refused = refused_message::of(*m);
  refused.core->objects().errors().report_absent(thread, *refused.lost, refused.target);
  thread.counters().done.add(1);
}

}  // namespace

message_ptr make_insertion(const object_type& type, void* object) { return place_rows::insertion(type, object); }

message_ptr make_erasure() { return place_rows::erasure(); }

void open_keyed_call(engine& core, message& m, future_state* result) noexcept {
  if (result != nullptr) m.header.reply = core.messages().calls().open(*result);
}

void post_keyed(engine& core, thread_context& thread, const object_pair& ends, message_ptr m) {
  core.expect_own_thread();
  core.objects().traffic().note(thread, ends, *m);
  core.objects().sender().post(thread, ends.target, std::move(m));
}

void refuse_keyed(engine& core, thread_context& thread, std::uint64_t array, std::string key, message_ptr m) {
  std::string target = m->header.reply == 0 ? describe_key(core, array, key) : std::string();
  am_engine::acquire_window(thread, *m);
  m->header.source = core.rank().value();
  message_ptr refused = make_message(sizeof(refused_message));
  ::new (static_cast<void*>(refused->body())) refused_message{&core, std::move(target), std::move(m)};
  refused->ops = &refused_message::ops;
  refused->run_by(&tell_sender);
  thread.counters().created.add(1);
  core.pool().make_ready(thread, *refused.release(), worker_pool::made_on(thread));
}

std::uint32_t sent_to(engine& core, thread_context& thread, object_id element) {
  const epoch_guard guard(thread);
  object_space& objects = core.objects();
  if (objects.homes().home_is_here(element)) {
    const object_entry* const entry = objects.entries().find(element);
    return entry != nullptr ? entry->next_sequence.load(std::memory_order_relaxed) : 0;
  }
  const remote_elements::place known = objects.numbers().remote().find(element);
  return known ? known.next_sequence().load(std::memory_order_relaxed) : 0;
}

bool is_empty_place(engine& core, thread_context& thread, object_id element) {
  const epoch_guard guard(thread);
  if (!core.objects().homes().home_is_here(element)) return false;
  const object_entry* const entry = core.objects().entries().find(element);
  return entry == nullptr || entry->location.read().gone;
}

bool retire_place(engine& core, thread_context& thread, object_id element, std::span<const sent_count> counts) {
  return core.objects().lifetime().retire_place(thread, element, counts);
}

bool has_retired_block(engine& core, object_id element) { return core.objects().arrays().has_retired_block(element); }

void forget_block(engine& core, thread_context& thread, object_id element) {
  core.objects().lifetime().forget_block(thread, element);
}

void name_keys(engine& core, std::uint64_t first, key_namer name) {
  core.objects().arrays().find(first)->name_keys(std::move(name));
}

void refuse_home(engine& core, std::uint64_t first, const std::string& key, std::int64_t named) {
  throw usage_error(fmt::format(
      "the home of {} is rank {} by the function of keyed_by, in a job with {} ranks: return a number below "
      "its second argument, the number of ranks",
      describe_key(core, first, key), named, core.size()));
}

void refuse_question(engine& core, std::uint64_t first, const std::string& key, rank_id asking, rank_id named) {
  throw usage_error(fmt::format(
      "the home of {} is rank {} by the function of keyed_by on rank {}, and rank {} by that on rank {}: the function "
      "must return the same on every rank, so it may look at the key and the number of ranks only",
      describe_key(core, first, key), core.rank().value(), asking.value(), named.value(), core.rank().value()));
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
