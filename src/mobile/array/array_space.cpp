// SPDX-License-Identifier: Apache-2.0
// The list of arrays, and calls to all elements of one.
#include "mobile/array/array_space.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/marks.hpp"
#include "mobile/array/reduction.hpp"
#include "mobile/array/remote_elements.hpp"
#include "mobile/object/object_functions.hpp"
#include "mobile/object_space.hpp"

namespace nacre {
namespace {

/// A small part leaves work for other workers; a large one costs less itself.
std::uint64_t places_a_part(const detail::array_layout& layout, const am_engine& messages) {
  const std::uint64_t own_index = layout.shape.count() / messages.size();
  return std::clamp<std::uint64_t>(own_index / (std::uint64_t{16} * messages.pool().workers()), 1,
                                   layout.dense ? 256 : 16);
}

}  // namespace

array_space::array_space(am_engine& messages, object_space& objects)
    : messages_(messages), objects_(objects), met_(messages.pool().thread_contexts().size()) {
  messages_.attach_module(*this);
}

std::uint64_t array_space::open(const detail::array_layout& layout) {
  const std::uint64_t count = layout.shape.count(), first = next_first_;
  if (first > extents::count_max || count > extents::count_max - first) {
    throw usage_error("there are too few names left for an array of " + std::to_string(count) +
                      " places: all arrays of a job together have at most " + std::to_string(extents::count_max));
  }
  constexpr std::uint64_t block = remote_elements::block_size;                     // which no two arrays share
  next_first_ += (std::max<std::uint64_t>(count, 1) + block - 1) / block * block;  // without places it has a name too
  reopen(layout, {first, ++last_number_});
  return first;
}

void array_space::reopen(const detail::array_layout& layout, const numbers& numbers) {
  auto rule = std::make_shared<array_home>(layout, numbers.first, numbers.ordinal, places_a_part(layout, messages_),
                                           messages_.rank().value(), messages_.size());
  const std::unique_lock lock(mutex_);
  arrays_.emplace(numbers.first, std::move(rule));
}

std::string array_space::describe(std::uint64_t first) const {
  const std::shared_ptr<array_home> array = find(first);
  if (array == nullptr) return "no array";
  const extents& shape = array->layout.shape;
  std::string text = "array " + std::to_string(array->ordinal) + ": ";
  for (std::size_t each = 0; each < shape.dimensions(); ++each) {
    text += (each == 0 ? "" : " x ") + std::to_string(shape[each]);
  }
  text += " of " + std::string(array->layout.type->name) + (array->layout.dense ? "" : ", sparse");
  if (array->layout.location == location_policy::of_program) return text;
  return text + ", location " + std::string(nacre::name_of(array->layout.location));
}

std::string array_space::name_of(object_id id) const {
  if (!id.is_element()) return name_of_object(nullptr, id);
  const std::shared_ptr<array_home> array = find(id);
  if (array == nullptr) return "an element of an array that has been destroyed";
  const std::string of_array = " of array " + std::to_string(array->ordinal);
  const std::optional<std::string> key = array->key_of(id);
  if (key && !key->empty()) return "key " + *key + of_array;
  const index index = array->layout.shape.place_of(number_of(id) - array->first);
  std::string text = "element [";
  for (std::size_t each = 0; each < index.dimensions(); ++each)
    text += (each == 0 ? "" : ", ") + std::to_string(index[each]);
  text += "]" + of_array;
  return key ? text + ", whose key this rank does not know or cannot print (operator<<)" : text;
}

std::shared_ptr<array_home> array_space::close(std::uint64_t first) {
  const std::unique_lock lock(mutex_);
  const auto match = arrays_.find(first);
  if (match == arrays_.end()) return nullptr;
  std::shared_ptr<array_home> closed = std::move(match->second);
  arrays_.erase(match);
  closed->forget_keys();
  return closed;
}

std::shared_ptr<array_home> array_space::find(std::uint64_t number) const {
  const std::shared_lock lock(mutex_);
  const auto next = arrays_.upper_bound(number);
  if (next == arrays_.begin()) return nullptr;
  const std::shared_ptr<array_home>& array = std::prev(next)->second;
  const std::uint64_t places = std::max<std::uint64_t>(array->layout.shape.count(), 1);
  return number - array->first < places ? array : nullptr;
}

std::optional<index> array_space::place_of(const thread_context& thread, object_id element) {
  if (!element.is_element()) return std::nullopt;
  const std::uint64_t number = number_of(element);
  met_array& met = met_[thread.id().value()];
  if (number < met.first || number - met.first >= met.shape.count()) {
    const std::shared_ptr<array_home> array = find(number);
    if (array == nullptr) return std::nullopt;
    met = {array->first, array->layout.shape};
  }
  return met.shape.place_of(number - met.first);
}

std::optional<array_space::element_numbers> array_space::numbers_of(object_id element) const noexcept {
  const std::shared_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !element.is_element()) return std::nullopt;
  const auto next = arrays_.upper_bound(number_of(element));
  if (next == arrays_.begin()) return std::nullopt;
  const array_home& array = *std::prev(next)->second;
  const std::uint64_t number = number_of(element) - array.first;
  if (number >= array.layout.shape.count()) return std::nullopt;
  return element_numbers{array.ordinal, array.layout.shape.place_of(number)};
}

bool array_space::is_home_of(const array_home& array, std::uint64_t number) const {
  if (number >= array.layout.shape.count()) return false;
  const rank_id birth = array.birth_of(number);
  return birth.value() < array.layout.ranks && objects_.is_home_of(array.name_of(number, birth));
}

object_id array_space::name_at_home(const array_home& array, std::uint64_t number) const {
  return array.name_of(number, objects_.homes().reckoned() ? array.birth_of(number) : messages_.rank());
}

void array_space::send(thread_context& thread, const detail::array_request& request, message_ptr m) {
  if (request.first == 0)
    throw usage_error("a message to an array_ptr that names no array (it was default-constructed)");
  const std::shared_ptr<array_home> array = find(request.first);
  const std::uint32_t handler = m != nullptr ? m->header.handler : 0;
  if (array == nullptr || array->first != request.first) {
    return refuse_unknown(thread, request, handler);
  }
  broadcast_header head{.first = request.first,
                        .answer_to = messages_.rank().value(),
                        .end = messages_.size(),
                        .handler = handler,
                        .fold = request.fold};
  if (m != nullptr) {
    m = packed_by_sender(std::move(m));
    check_payload(m->header.payload_bytes, enclosed_bytes_max);
    head.flags = m->header.flags;
    head.channel = m->header.channel;
  }
  messages_.commit(thread, [&] {
    if (request.done != nullptr) head.reply = messages_.calls().open(*request.done);
    head.number = array->sent.fetch_add(1, std::memory_order_relaxed);  // only the number orders messages
    const std::span<const std::byte> arguments = m != nullptr ? m->payload() : std::span<const std::byte>();
    messages_.post_application_to_module<&array_space::on_call>(thread, rank_id(0), head, arguments);
  });
}

/// A message of this rank to an array that is no more.
void array_space::refuse_unknown(thread_context& thread, const detail::array_request& request, std::uint32_t handler) {
  if (request.done != nullptr) return request.done->complete_with_error("the array has been destroyed", thread);
  objects_.errors().report_lost(thread, object_id(messages_.rank(), object_id::first_element + request.first), handler);
}

/// Answers or reports a message that comes after the array has gone.
void array_space::refuse_lost(thread_context& thread, rank_id source, const broadcast_header& head) {
  if (head.reply != 0) return answer(thread, head, am_engine::make_failure("the array has been destroyed", {}));
  const object_id name(messages_.rank(), object_id::first_element + std::min(head.first, extents::count_max));
  messages_.post_counted_to_module<&delivery_errors::on_undeliverable>(thread, source, name.value(), head.handler);
}

bool array_space::sound(const array_home& array, const broadcast_header& head) const {
  const handler_table& table = messages_.handlers();
  if (array.first != head.first || head.answer_to >= messages_.size()) return false;
  if (head.end <= messages_.rank().value() || head.end > messages_.size()) return false;
  if ((head.flags & ~flag_communication) != 0 || static_cast<std::size_t>(head.channel) >= channel_count) return false;
  if (head.fold != 0) {
    const detail::handler_info* fold = table.handler(head.fold);
    if (fold == nullptr || fold->target_key != detail::key_of<detail::folding>()) return false;
  }
  if (head.handler == 0) return true;
  const detail::handler_info* row = table.handler(head.handler);
  return row != nullptr && row->target_key == array.layout.type->key;
}

void array_space::on_call(context& ctx, broadcast_header head, std::span<const std::byte> arguments) {
  thread_context& thread = detail::thread_of(ctx);
  const std::string sender = "rank " + std::to_string(ctx.source().value());
  if (messages_.rank().value() != 0 || head.answer_to != ctx.source().value()) {
    return messages_.fail(sender + " sent a message for all elements of an array in another's name");
  }
  const std::shared_ptr<array_home> array = find(head.first);
  if (array == nullptr) return refuse_lost(thread, ctx.source(), head);
  if (!sound(*array, head)) return messages_.fail(sender + " sent a message that fits no elements of an array");
  const bool admitted = array->from_callers[head.answer_to].admit(
      head.number, {head, {arguments.begin(), arguments.end()}}, [&](early_broadcast next) {
        next.head.number = array->next_number++;
        begin(thread, array, next);
      });
  if (!admitted) messages_.fail(sender + " sent a message to all elements of an array twice");
}

void array_space::on_broadcast(context& ctx, broadcast_header head, std::span<const std::byte> arguments) {
  thread_context& thread = detail::thread_of(ctx);
  const std::string sender = "rank " + std::to_string(ctx.source().value());
  const std::shared_ptr<array_home> array = find(head.first);
  if (array == nullptr) {
    if (head.reply != 0) answer(thread, head, am_engine::make_failure("the array has been destroyed", {}));
    return;
  }
  if (head.answer_to != ctx.source().value() || head.answer_to >= messages_.rank().value() || !sound(*array, head)) {
    return messages_.fail(sender + " sent a message that fits no elements of an array");
  }
  const bool admitted = array->from_root.admit(head.number, {head, {arguments.begin(), arguments.end()}},
                                               [&](const early_broadcast& next) { begin(thread, array, next); });
  if (!admitted) messages_.fail(sender + " sent a message to all elements of an array twice");
}

void array_space::answer(thread_context& thread, const broadcast_header& head, message_ptr result) {
  message_header request;
  request.source = head.answer_to;
  request.reply = head.reply;
  messages_.post_reply(thread, request, std::move(result));
}

}  // namespace nacre
