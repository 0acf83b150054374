// SPDX-License-Identifier: Apache-2.0
// A message to all elements: down the tree of ranks, and to the places of this one; a message to a section: one to each
// rank that is home of some of its places.
#include "mobile/elements/broadcasts.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include <nacre/assert.hpp>

namespace nacre {
namespace {

// A part runs handlers itself for that long, and longer while they are that short, before it leaves them to all
// workers.
constexpr double seconds_in_place = 10e-6, seconds_of_short = 250e-9;
constexpr const char* no_array = "the array has been destroyed";
constexpr std::size_t ahead_of_use = 8;     // places prefetched: entries, then their elements
constexpr std::size_t places_at_once = 64;  // of a section that the poll loop sends to; more are left to a worker
constexpr std::size_t shares_a_worker = 4;  // of a section, when its message is long

/// Whether a message for so many places is so long that it is copied for one place after the other, as handlers run.
bool is_long(const message& model, std::size_t places) noexcept {
  return std::uint64_t{model.header.payload_bytes} * places > copied_bytes_max;
}

}  // namespace

/// One message to all elements, as the parts of this rank share it.
struct broadcasts::broadcast {
  std::shared_ptr<array_home> array;
  broadcast_header head;
  message_ptr model;                   ///< the element's message but for target, number and reply
  std::shared_ptr<reduction> results;  ///< null: no caller waits
  broadcast_receipts::copies_share counted;

  /// The share of a part: the broadcast, and the slot of the part's result.
  struct share {
    std::shared_ptr<broadcast> sent;
    std::size_t slot;
    std::shared_ptr<array_part> part;
  };
  static share& of(message& m) noexcept { return *std::launder(reinterpret_cast<share*>(m.body())); }
  static void destroy(message& m) noexcept { std::destroy_at(&of(m)); }
  static constexpr body_ops ops{nullptr, nullptr, &destroy};
};

/// A request to places of this rank.
struct broadcasts::section_request {
  broadcasts* owner;
  broadcast_header head;
  std::shared_ptr<array_home> array;
  std::vector<std::uint64_t> numbers;
  message_ptr model;
  broadcast_receipts::copies_share counted;
  std::shared_ptr<reduction> results;  ///< a slot for each place; null: no caller waits
};

/// The share of a worker in a request.
struct broadcasts::section_share {
  std::shared_ptr<section_request> request;
  some_places places;
  static section_share& of(message& m) noexcept { return *std::launder(reinterpret_cast<section_share*>(m.body())); }
  static void destroy(message& m) noexcept { std::destroy_at(&of(m)); }
  static constexpr body_ops ops{nullptr, nullptr, &destroy};
};

broadcasts::broadcasts(am_engine& messages, const nacre::homes& homes, directory& entries, array_table& arrays,
                       const step_clock& clock, place_messages& places, delivery_errors& errors)
    : messages_(messages),
      homes_(homes),
      entries_(entries),
      arrays_(arrays),
      clock_(clock),
      places_(places),
      errors_(errors),
      receipts_(messages) {
  messages_.attach_module(*this);
  arrays.run_parts_by({&run_part_work, this});
}

void broadcasts::send(thread_context& thread, const detail::array_request& request, message_ptr m) {
  if (request.first == 0)
    throw usage_error("a message to an array_ptr that names no array (it was default-constructed)");
  const std::shared_ptr<array_home> array = arrays_.find(request.first);
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
    if (thread.window() != nullptr) {
      const std::uint64_t bytes = array->bytes_to_all(m != nullptr ? m->header.payload_bytes : 0);
      head.receipt = receipts_.take(thread, broadcast_receipts::target::array, request.first, bytes);
    }
    head.number = array->sent.fetch_add(1, std::memory_order_relaxed);  // only the number orders messages
    const std::span<const std::byte> arguments = m != nullptr ? m->payload() : std::span<const std::byte>();
    messages_.post_application_to_module<&broadcasts::on_call>(thread, rank_id(0), head, arguments);
  });
}

/// A message of this rank to an array that is no more.
void broadcasts::refuse_unknown(thread_context& thread, const detail::array_request& request, std::uint32_t handler) {
  if (request.done != nullptr) return request.done->complete_with_error(absent_error(no_array), thread);
  errors_.report_lost(thread, object_id(messages_.rank(), object_id::first_element + request.first), handler);
}

/// Answers or reports a message that comes after the array has gone.
void broadcasts::refuse_lost(thread_context& thread, rank_id source, const broadcast_header& head) {
  if (!head.counted) receipts_.send(thread, source, head.receipt);
  if (head.reply != 0) return answer(thread, head, am_engine::make_failure(no_array, am_engine::type_of_absence));
  const object_id name(messages_.rank(), object_id::first_element + std::min(head.first, extents::count_max));
  messages_.post_counted_to_module<&delivery_errors::on_undeliverable>(thread, source, name.value(), head.handler);
}

bool broadcasts::is_sound(const array_home& array, const broadcast_header& head) const {
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

void broadcasts::on_call(context& ctx, broadcast_header head, std::span<const std::byte> arguments) {
  thread_context& thread = detail::thread_of(ctx);
  const std::string sender = "rank " + std::to_string(ctx.source().value());
  if (messages_.rank().value() != 0 || head.answer_to != ctx.source().value()) {
    return messages_.fail(sender + " sent a message for all elements of an array in another's name");
  }
  const std::shared_ptr<array_home> array = arrays_.find(head.first);
  if (array == nullptr) return refuse_lost(thread, ctx.source(), head);
  if (!is_sound(*array, head)) return messages_.fail(sender + " sent a message that fits no elements of an array");
  const bool admitted = array->from_callers[head.answer_to].admit(
      head.number, {head, {arguments.begin(), arguments.end()}}, [&](early_broadcast next) {
        next.head.number = array->next_number++;
        begin(thread, array, next);
      });
  if (!admitted) messages_.fail(sender + " sent a message to all elements of an array twice");
}

void broadcasts::on_broadcast(context& ctx, broadcast_header head, std::span<const std::byte> arguments) {
  thread_context& thread = detail::thread_of(ctx);
  const std::string sender = "rank " + std::to_string(ctx.source().value());
  const std::shared_ptr<array_home> array = arrays_.find(head.first);
  if (array == nullptr) {
    receipts_.send(thread, ctx.source(), head.receipt);
    if (head.reply != 0) answer(thread, head, am_engine::make_failure(no_array, am_engine::type_of_absence));
    return;
  }
  if (head.answer_to != ctx.source().value() || head.answer_to >= messages_.rank().value() || !is_sound(*array, head)) {
    return messages_.fail(sender + " sent a message that fits no elements of an array");
  }
  const bool admitted = array->from_root.admit(head.number, {head, {arguments.begin(), arguments.end()}},
                                               [&](const early_broadcast& next) { begin(thread, array, next); });
  if (!admitted) messages_.fail(sender + " sent a message to all elements of an array twice");
}

void broadcasts::answer(thread_context& thread, const broadcast_header& head, message_ptr result) {
  message_header request;
  request.source = head.answer_to;
  request.reply = head.reply;
  messages_.post_reply(thread, request, std::move(result));
}

/// The ranks behind this one form adjacent runs, each headed by a child; so results come in the order of the ranks.
void broadcasts::begin(thread_context& thread, const std::shared_ptr<array_home>& array, const early_broadcast& order) {
  const broadcast_header& head = order.head;
  auto rule = std::make_shared<broadcast>();
  rule->array = array;
  rule->head = head;
  rule->model = model_of(head, order.arguments);

  std::vector<std::shared_ptr<array_part>> parts;
  {
    const std::scoped_lock lock(array->mutex);
    if (head.handler == 0) array->closing = true;
    parts.reserve(array->parts.size());
    for (const auto& [number, each] : array->parts) parts.push_back(each);
  }
  const std::size_t children = children_of({messages_.rank().value(), head.end}).size();
  if (head.receipt != 0) {
    rule->head.receipt =
        receipts_.open(rank_id(head.answer_to), head.receipt, static_cast<std::uint32_t>(children) + 1);
    rule->counted = receipts_.count_copies(rule->head.receipt);
  }
  if (head.reply != 0) {
    rule->results = std::make_shared<reduction>(
        messages_.calls(), parts.size() + children, combine_by(head.fold),
        [this, head](message_ptr result, thread_context& last) {
          if (messages_.rank().value() == 0 && reduction::is_none(*result)) {
            result = head.fold == 0 ? make_message(0) : am_engine::make_failure("the array has no element", {});
          }
          answer(last, head, std::move(result));
        });
  }
  pass_down(thread, {rule->head, order.arguments}, rule->results, parts.size());
  for (std::size_t slot = 0; slot < parts.size(); ++slot) {
    message_ptr m = make_message(sizeof(broadcast::share));
    ::new (static_cast<void*>(m->body())) broadcast::share{rule, slot, parts[slot]};
    m->ops = &broadcast::ops;
    thread.counters().created.add(1);
    if (parts[slot]->arrivals.push(m.release())) messages_.pool().make_ready(thread, *parts[slot]);
  }
  if (rule->results != nullptr) rule->results->count_down(thread);
}

void broadcasts::pass_down(thread_context& thread, const early_broadcast& order,
                           const std::shared_ptr<reduction>& results, std::size_t slot) {
  const std::uint32_t own_rank = messages_.rank().value();
  for (const rank_run& child : children_of({own_rank, order.head.end})) {
    broadcast_header below = order.head;
    below.answer_to = own_rank;
    below.end = child.end;
    below.reply = results != nullptr ? reduction::expect(results, slot++) : 0;
    messages_.post_application_to_module<&broadcasts::on_broadcast>(thread, rank_id(child.begin), below,
                                                                    std::span<const std::byte>(order.arguments));
  }
}

void broadcasts::run_part_work(work& item, thread_context& thread) {
  auto& part = static_cast<array_part&>(item);
  message_list taken;
  const bool claimed = part.arrivals.claim(taken);
  NACRE_ASSERT(claimed, "a part of an array was run twice");
  std::shared_ptr<array_part> keep;
  while (message_ptr m = taken.pop_front()) {
    const broadcast::share& share = broadcast::of(*m);
    keep = share.part;
    static_cast<broadcasts*>(part.owner)->run_broadcast(part, *share.sent, share.slot, thread);
    m.reset();
    thread.counters().done.add(1);
  }
  if (part.arrivals.finish() == inbox::finished::messages_came) {
    part.arrivals.requeue();
    thread.pool().make_ready(thread, part);
  } else if (part.ended.load(std::memory_order_acquire)) {  // pairs with array_home::retire_place
    retire(thread, std::move(keep));
  }
}

void broadcasts::retire(thread_context& thread, std::shared_ptr<array_part> part) {
  thread.reader().retire(new std::shared_ptr<array_part>(std::move(part)),
                         [](void* gone) { delete static_cast<std::shared_ptr<array_part>*>(gone); });
}

/// Combines results by a row of the handler table; null for row 0.
reduction::combine broadcasts::combine_by(std::uint32_t fold) {
  const detail::handler_info* const row = fold != 0 ? messages_.handlers().handler(fold) : nullptr;
  if (row == nullptr) return nullptr;
  return [this, row](std::vector<std::byte>& sum, std::span<const std::span<const std::byte>> next,
                     thread_context& thread) {
    detail::folding step{sum, next};
    message_ptr no_message;
    return row->invoke(messages_.core(), thread, no_message, &step, row->id) == detail::outcome::done;
  };
}

/// The message for an element, but for target, number and reply.
message_ptr broadcasts::model_of(const broadcast_header& head, std::span<const std::byte> arguments) {
  message_ptr m = make_message(arguments.size());
  if (!arguments.empty()) std::memcpy(m->body(), arguments.data(), arguments.size());
  m->header.kind = message_kind::everyone;
  m->header.handler = head.handler;
  m->header.flags = head.flags;
  m->header.channel = head.channel;
  return m;
}

/// A message for one more element.
message_ptr broadcasts::copy_of(const message& model) {
  message_ptr m = make_message(model.header.payload_bytes);
  m->header = model.header;
  if (model.header.payload_bytes != 0) std::memcpy(m->body(), model.body(), model.header.payload_bytes);
  return m;
}

/// The message's handler if it is plain: exclusive, no coroutine, of elements without a load of their own. Else null.
const detail::handler_info* broadcasts::plain_handler(const array_home& array, const message& model) const {
  const detail::object_type& type = *array.layout.type;
  if (model.header.handler == 0 || type.load != nullptr || type.may_migrate != nullptr) return nullptr;
  const detail::handler_info* const row = messages_.handlers().handler(model.header.handler);
  const bool plain =
      row != nullptr && row->target_key == type.key && !row->shared && !row->coroutine && row->tag == nullptr;
  return plain ? row : nullptr;
}

/// Runs handlers here, one after the other, while they are short; else posts the message to each remaining place.
void broadcasts::run_broadcast(array_part& part, const broadcast& broadcast, std::size_t slot, thread_context& thread) {
  std::vector<object_entry*> object_entries;
  object_entries.reserve(part.places.size());
  for (const std::atomic<object_entry*>& place : part.places) {
    // acquire: pairs with the store in note_place.
    if (object_entry* const touched = place.load(std::memory_order_acquire)) object_entries.push_back(touched);
  }
  std::shared_ptr<reduction> results;
  if (broadcast.results != nullptr) {
    results = std::make_shared<reduction>(messages_.calls(), object_entries.size(), combine_by(broadcast.head.fold),
                                          [whole = broadcast.results, slot](message_ptr result, thread_context& last) {
                                            whole->give(slot, std::move(result), last);
                                          });
  }
  const message& model = *broadcast.model;
  const std::uint64_t begin = messages_.pool().instant();
  const double a_second = 1 / messages_.pool().seconds_a_tick();
  const auto bound = static_cast<std::uint64_t>(seconds_in_place * a_second);
  const auto of_short = static_cast<std::uint64_t>(seconds_of_short * a_second);
  const detail::handler_info* const plain = plain_handler(*broadcast.array, model);
  const std::uint64_t timed_before = thread.counters().handler_ticks.read();
  bool in_place = true, is_short = true;
  message_ptr m;  // the next element's
  for (std::size_t each = 0; each < object_entries.size(); ++each) {
    if (each + ahead_of_use < object_entries.size()) {
      __builtin_prefetch(object_entries[each + ahead_of_use], 1);
      object_entries[each + ahead_of_use / 2]->prefetch_object();
    }
    if (m == nullptr) {
      m = copy_of(model);
      broadcast.counted.count(*m);
    }
    if (results != nullptr) m->header.reply = reduction::expect(results, each);
    if (!in_place || !places_.run_if_idle(thread, *object_entries[each], m, plain)) {
      places_.post(thread, *object_entries[each], std::move(m));
    }
    if (in_place && (each & (each + 1)) == 0) {  // at 1, 2, 4, 8, ...
      const std::uint64_t spent = messages_.pool().instant() - begin;
      is_short = spent < std::max<std::uint64_t>(bound, of_short * (each + 1));
    }
    in_place = in_place && !messages_.pool().ahead() && (is_short || is_long(model, object_entries.size() - each));
  }
  if (plain != nullptr && !clock_.times_each_step()) {  // handlers not timed singly are timed here, as a whole
    const std::uint64_t spent = messages_.pool().instant() - begin;
    const std::uint64_t timed = thread.counters().handler_ticks.read() - timed_before;
    thread.counters().handler_ticks.add(spent - std::min(spent, timed));
  }
  if (results != nullptr) results->count_down(thread);
}

/// Takes room in main's window for a message to places of one rank. Returns the receipt that it must ask for.
std::uint64_t broadcasts::take_for_section(const thread_context& thread, const detail::section_part& part,
                                           const message& m) {
  if (thread.window() == nullptr) return 0;
  constexpr std::uint64_t place_bytes = 128 + sizeof(std::uint64_t), request_bytes = 512;
  const std::uint64_t places = part.numbers.size(), arguments = m.header.payload_bytes;
  const std::uint64_t bytes =
      request_bytes + arguments + places * place_bytes + std::min(places * arguments, copied_bytes_max);
  return receipts_.take(thread, broadcast_receipts::target::sections_on_rank, part.rank, bytes);
}

void broadcasts::send_to_section(thread_context& thread, const detail::array_request& request,
                                 std::span<const detail::section_part> parts, message_ptr m) {
  if (request.first == 0) throw usage_error("a message to a nacre::section of no array (it was default-constructed)");
  const std::shared_ptr<array_home> array = arrays_.find(request.first);
  if (array == nullptr || array->first != request.first) return refuse_unknown(thread, request, m->header.handler);
  m = packed_by_sender(std::move(m));
  std::vector<detail::section_part> by_home;
  if (homes_.reckoned()) parts = by_home = arrays_.divided(*array, parts);
  for (const detail::section_part& each : parts) {
    if (each.rank >= messages_.size())
      throw usage_error("a nacre::section of a job with more ranks: make it in the job that uses it");
    check_payload(m->header.payload_bytes + each.numbers.size() * sizeof(std::uint64_t), enclosed_bytes_max);
  }
  messages_.commit(thread, [&] {
    std::shared_ptr<reduction> results;
    if (request.done != nullptr) {
      broadcast_header asked{.reply = messages_.calls().open(*request.done), .answer_to = messages_.rank().value()};
      results = std::make_shared<reduction>(
          messages_.calls(), parts.size(), combine_by(request.fold),
          [this, asked, folds = request.fold != 0](message_ptr result, thread_context& last) {
            if (reduction::is_none(*result))
              result = folds ? am_engine::make_failure("the section has no element", {}) : make_message(0);
            answer(last, asked, std::move(result));
          });
    }
    for (std::size_t slot = 0; slot < parts.size(); ++slot) {
      const broadcast_header head{.first = request.first,
                                  .reply = results != nullptr ? reduction::expect(results, slot) : 0,
                                  .answer_to = messages_.rank().value(),
                                  .receipt = take_for_section(thread, parts[slot], *m),
                                  .counted = thread.window() != nullptr,
                                  .end = parts[slot].rank + 1,
                                  .handler = m->header.handler,
                                  .fold = request.fold,
                                  .flags = m->header.flags,
                                  .channel = m->header.channel};
      messages_.post_application_to_module<&broadcasts::on_section>(thread, rank_id(parts[slot].rank), head,
                                                                    parts[slot].numbers, m->payload());
    }
    if (results != nullptr) results->count_down(thread);
  });
}

void broadcasts::on_section(context& ctx, broadcast_header head, std::vector<std::uint64_t> numbers,
                            std::span<const std::byte> arguments) {
  thread_context& thread = detail::thread_of(ctx);
  broadcast_receipts::copies_share counted;
  if (head.counted) counted = receipts_.count_section(ctx.source(), head.receipt);
  std::shared_ptr<array_home> array = arrays_.find(head.first);
  if (array == nullptr) return refuse_lost(thread, ctx.source(), head);
  bool fits = head.answer_to == ctx.source().value() && head.handler != 0 && is_sound(*array, head);
  for (const std::uint64_t number : numbers) fits = fits && arrays_.is_home_of(*array, number);
  if (!fits) {
    return messages_.fail("rank " + std::to_string(ctx.source().value()) +
                          " sent a message that fits no section of an array");
  }
  const std::size_t count = numbers.size();
  auto request = std::make_shared<section_request>(section_request{
      this, head, std::move(array), std::move(numbers), model_of(head, arguments), std::move(counted), nullptr});
  if (head.reply != 0) {
    request->results = std::make_shared<reduction>(
        messages_.calls(), count, combine_by(head.fold),
        [this, head](message_ptr result, thread_context& last) { answer(last, head, std::move(result)); });
  }
  const bool divides = is_long(*request->model, count) && !messages_.deferred();
  if (count <= places_at_once && !divides) {
    run_section(thread, *request, {0, count}, run_by::poll_loop);
  } else {
    const std::size_t shares = divides ? std::min<std::size_t>(count, shares_a_worker * messages_.pool().workers()) : 1;
    for (std::size_t each = 0; each < shares; ++each)
      leave_to_worker(thread, request, {count * each / shares, count * (each + 1) / shares});
  }
  if (request->results != nullptr) request->results->count_down(thread);
}

void broadcasts::leave_to_worker(thread_context& thread, const std::shared_ptr<section_request>& request,
                                 some_places places) {
  message_ptr m = make_message(sizeof(section_share));
  ::new (static_cast<void*>(m->body())) section_share{request, places};
  m->ops = &section_share::ops;
  m->run_by(&run_section_work);
  thread.counters().created.add(1);  // this message will be done before
  messages_.pool().make_ready(thread, *m.release());
}

void broadcasts::run_section_work(work& item, thread_context& thread) {
  const message_ptr m(static_cast<message*>(&item));
  const section_share& share = section_share::of(*m);
  share.request->owner->run_section(thread, *share.request, share.places, run_by::worker);
  thread.counters().done.add(1);
}

/// A worker runs handlers here, one after the other, while the message is so long that copies of it for all places that
/// are left would take much memory.
void broadcasts::run_section(thread_context& thread, const section_request& request, some_places places,
                             run_by caller) {
  const bool may_run = caller == run_by::worker && !messages_.deferred();
  for (std::size_t slot = places.begin; slot < places.end; ++slot) {
    object_entry* const entry = entries_.find(arrays_.name_at_home(*request.array, request.numbers[slot]));
    if (entry == nullptr) {
      if (request.results != nullptr) request.results->give(slot, reduction::none(), thread);
      continue;
    }
    message_ptr m = copy_of(*request.model);
    request.counted.count(*m);
    if (request.results != nullptr) m->header.reply = reduction::expect(request.results, slot);
    const bool in_place = may_run && is_long(*request.model, places.end - slot);
    if (!in_place || !places_.run_if_idle(thread, *entry, m, nullptr)) places_.post(thread, *entry, std::move(m));
  }
}

}  // namespace nacre
