// SPDX-License-Identifier: Apache-2.0
// Messages to some places of an array: one to each rank that is home of some of them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mobile/array/array_space.hpp"
#include "mobile/array/reduction.hpp"
#include "mobile/object_space.hpp"

namespace nacre {
namespace {

constexpr std::size_t places_at_once = 64;  // that the poll loop sends to; more are left to a worker

}  // namespace

/// A request to places of this rank.
struct array_space::section_request {
  broadcast_header head;
  std::shared_ptr<array_home> array;
  std::vector<std::uint64_t> numbers;
  message_ptr model;
  static section_request& of(message& m) noexcept {
    return *std::launder(reinterpret_cast<section_request*>(m.body()));
  }
  static void destroy(message& m) noexcept { std::destroy_at(&of(m)); }
  static constexpr body_ops ops{nullptr, nullptr, &destroy};
};

std::vector<detail::section_part> array_space::divided(const array_home& array,
                                                       std::span<const detail::section_part> parts) const {
  std::map<std::uint32_t, std::vector<std::uint64_t>> by_home;
  for (const detail::section_part& part : parts) {
    for (const std::uint64_t number : part.numbers) {
      if (part.rank >= array.layout.ranks || number >= array.layout.shape.count())
        throw usage_error("a nacre::section of another array, or of a job with more ranks");
      by_home[objects_.homes().home_of(array.name_of(number, rank_id(part.rank))).value()].push_back(number);
    }
  }
  std::vector<detail::section_part> all;
  for (auto& [home, numbers] : by_home) {
    std::sort(numbers.begin(), numbers.end());
    all.push_back({home, std::move(numbers)});
  }
  return all;
}

void array_space::send_to_section(thread_context& thread, const detail::array_request& request,
                                  std::span<const detail::section_part> parts, message_ptr m) {
  if (request.first == 0) throw usage_error("a message to a nacre::section of no array (it was default-constructed)");
  const std::shared_ptr<array_home> array = find(request.first);
  if (array == nullptr || array->first != request.first) return refuse_unknown(thread, request, m->header.handler);
  m = packed_by_sender(std::move(m));
  std::vector<detail::section_part> by_home;
  if (objects_.homes().reckoned()) parts = by_home = divided(*array, parts);
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
                                  .end = parts[slot].rank + 1,
                                  .handler = m->header.handler,
                                  .fold = request.fold,
                                  .flags = m->header.flags,
                                  .channel = m->header.channel};
      messages_.post_application_to_module<&array_space::on_section>(thread, rank_id(parts[slot].rank), head,
                                                                     parts[slot].numbers, m->payload());
    }
    if (results != nullptr) results->count_down(thread);
  });
}

void array_space::on_section(context& ctx, broadcast_header head, std::vector<std::uint64_t> numbers,
                             std::span<const std::byte> arguments) {
  thread_context& thread = detail::thread_of(ctx);
  std::shared_ptr<array_home> array = find(head.first);
  if (array == nullptr) return refuse_lost(thread, ctx.source(), head);
  bool fits = head.answer_to == ctx.source().value() && head.handler != 0 && sound(*array, head);
  for (const std::uint64_t number : numbers) fits = fits && is_home_of(*array, number);
  if (!fits) {
    return messages_.fail("rank " + std::to_string(ctx.source().value()) +
                          " sent a message that fits no section of an array");
  }
  section_request request{head, std::move(array), std::move(numbers), model_of(head, arguments)};
  if (request.numbers.size() <= places_at_once) return run_section(thread, request);
  message_ptr m = make_message(sizeof(section_request));
  ::new (static_cast<void*>(m->body())) section_request(std::move(request));
  m->ops = &section_request::ops;
  m->run_by(&run_section_work);
  thread.counters().created.add(1);  // this message will be done before
  messages_.pool().make_ready(thread, *m.release());
}

void array_space::run_section_work(work& item, thread_context& thread) {
  const message_ptr m(static_cast<message*>(&item));
  object_space::on_thread(thread).arrays().run_section(thread, section_request::of(*m));
  thread.counters().done.add(1);
}

void array_space::run_section(thread_context& thread, const section_request& request) {
  const broadcast_header& head = request.head;
  std::vector<object_entry*> places;
  for (const std::uint64_t number : request.numbers) {
    object_entry* const entry = objects_.entries().find(name_at_home(*request.array, number));
    if (entry != nullptr) places.push_back(entry);
  }
  std::shared_ptr<reduction> results;
  if (head.reply != 0) {
    results = std::make_shared<reduction>(
        messages_.calls(), places.size(), combine_by(head.fold),
        [this, head](message_ptr result, thread_context& last) { answer(last, head, std::move(result)); });
  }
  for (std::size_t slot = 0; slot < places.size(); ++slot) {
    message_ptr m = copy_of(*request.model);
    if (results != nullptr) m->header.reply = reduction::expect(results, slot);
    objects_.places().post_to_place(thread, *places[slot], std::move(m));
  }
  if (results != nullptr) results->count_down(thread);
}

}  // namespace nacre
