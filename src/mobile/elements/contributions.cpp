// SPDX-License-Identifier: Apache-2.0
// Contributions: from elements to homes, what follows when a part of a step is complete, what other ranks say, and open
// steps in images.
#include "mobile/elements/contributions.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/exception_text.hpp"
#include "mobile/directory/epoch_guard.hpp"
#include "mobile/entry/image_errors.hpp"

namespace nacre {
namespace {

constexpr std::size_t combined_in_place_max = 64;  // values; more are left to a worker

}  // namespace

/// The values of this rank for one step, on their way to a worker that combines them.
struct contributions::own_part {
  contributions* owner;
  array_ptr array;
  set_ptr set;
  steps::own_values own_values;
  static own_part& of(message& m) noexcept { return *std::launder(reinterpret_cast<own_part*>(m.body())); }
  static void destroy(message& m) noexcept { std::destroy_at(&of(m)); }
  static constexpr body_ops ops{nullptr, nullptr, &destroy};
};

contributions::contributions(am_engine& messages, const nacre::homes& homes, directory& entries,
                             const array_table& arrays, broadcasts& all, object_sender& sender, delivery_errors& errors)
    : messages_(messages),
      homes_(homes),
      entries_(entries),
      arrays_(arrays),
      broadcasts_(all),
      sender_(sender),
      errors_(errors) {
  messages_.attach_module(*this);
  messages_.held.add(*this);
}

void contributions::contribute(thread_context& thread, object_id element, std::span<const std::byte> value,
                               contribution_head head) {
  const array_ptr array = element.is_element() ? arrays_.find(element) : nullptr;
  if (array == nullptr) throw usage_error("contribute in a handler that runs on no element of an array");
  check_payload(value.size(), enclosed_bytes_max);
  const std::uint64_t number = array_table::number_of(element) - array->first;
  if (head.section != 0 && head.first != array->first) throw usage_error(outside_text(*array, number));
  head.first = array->first;
  if (homes_.home_is_here(element) && !messages_.deferred()) {
    steps::effects then;
    set_ptr set;
    given result;
    {
      const std::scoped_lock lock(array->steps_mutex);
      set = array->sets.find(head.section);
      if (set != nullptr) result = give(*array, *set, number, head, value, then);
      thread.counters().created.add(then.opened);
    }
    if (const std::string refused = text_of(result, *array, number, head); !refused.empty()) throw usage_error(refused);
    if (set == nullptr) return report_lost(thread, array.get(), head, number);  // as for elements elsewhere
    return messages_.commit(thread, [&] { apply(thread, array, set, std::move(then)); });
  }
  const epoch_guard guard(thread);
  object_entry* const entry = entries_.find(element);
  NACRE_EXPECT(entry != nullptr, "an element contributes that is not here");
  object_entry_extra& extra = entry->need_extra();
  messages_.commit(thread, [&] {
    extra.contributed.fetch_add(1, std::memory_order_relaxed);  // read when no handler runs
    messages_.post_application_to_module<&contributions::on_value>(thread, homes_.home_of(element), head, number,
                                                                   entry->location.read().epoch, value);
  });
}

/// Under the lock of the steps: a value of the place.
contributions::given contributions::give(array_home& array, contributing_set& set, std::uint64_t number,
                                         const contribution_head& head, std::span<const std::byte> value,
                                         steps::effects& then) {
  if (!array.sets.has(set, number)) return {.is_outside = true};
  given result{.refusal = set.steps.give(array.sets.contributor_of(number), head, value, then)};
  const contribution_head* const first = set.steps.head_of(head);
  if (result.refusal != steps::refusal::none && first != nullptr) result.first_row = first->row;
  return result;
}

void contributions::element_came(array_home& array, std::uint64_t number) {
  const std::scoped_lock lock(array.steps_mutex);
  array.sets.element_came(number);
}

void contributions::element_ended(thread_context& thread, object_id place, std::uint32_t sent, std::uint32_t epoch) {
  const array_ptr array = arrays_.find(place);
  if (array == nullptr) return;
  // Steps that lack values when the array ends are dropped; they do not end because their elements do.
  if (array->is_closing()) return;
  std::vector<contributing_sets::consequence> all;
  {
    const std::scoped_lock lock(array->steps_mutex);
    all = array->sets.element_ended(array_table::number_of(place) - array->first, sent, epoch);
  }
  apply(thread, array, std::move(all));
}

void contributions::begin(thread_context& thread, std::uint64_t first) {
  const array_ptr array = arrays_.find(first);
  steps::effects then;
  {
    const std::scoped_lock lock(array->steps_mutex);
    array->sets.whole()->steps.begin(then);
  }
  apply(thread, array, array->sets.whole(), std::move(then));
}

void contributions::drop(thread_context& thread, array_home& array) {
  std::vector<steps::dropped_step> dropped;
  {
    const std::scoped_lock lock(array.steps_mutex);
    array.sets.for_each([&](const set_ptr& each) {
      for (const steps::dropped_step& step : each->steps.drop_all()) dropped.push_back(step);
    });
  }
  report_dropped(thread, array, dropped);
}

void contributions::add_section(const detail::section_on_rank& rank) {
  const array_ptr array = arrays_.find(rank.first);
  if (array == nullptr || array->first != rank.first) throw usage_error("create_section: the array has been destroyed");
  for (const std::uint64_t place : rank.places) {
    if (!arrays_.is_home_of(*array, place))
      throw usage_error("create_section: a place of the section has its home on another rank");
  }
  tree_place in_tree{.parent = rank.parent};
  for (const std::uint32_t child : rank.children) in_tree.children.push_back({child, child + 1});
  const auto set = std::make_shared<contributing_set>(rank.section, rank.parent == messages_.rank().value(),
                                                      std::move(in_tree), true, rank.root);
  const std::scoped_lock lock(array->steps_mutex);
  if (rank.section == 0 || !array->sets.add(set, rank.places))
    throw usage_error("create_section: there is a section of this number already");
}

std::optional<std::vector<rank_id>> contributions::remove_section(thread_context& thread, std::uint64_t first,
                                                                  std::uint64_t section) {
  const array_ptr array = arrays_.find(first);
  if (array == nullptr || array->first != first) return std::nullopt;
  std::vector<rank_id> below;
  std::vector<steps::dropped_step> dropped;
  {
    const std::scoped_lock lock(array->steps_mutex);
    const set_ptr gone = array->sets.remove(section);
    if (gone == nullptr) return std::nullopt;
    dropped = gone->steps.drop_all();
    for (const rank_run& child : gone->tree.children) below.emplace_back(child.begin);
  }
  report_dropped(thread, *array, dropped);
  return below;
}

void contributions::report_dropped(thread_context& thread, const array_home& array,
                                   const std::vector<steps::dropped_step>& dropped) {
  for (const steps::dropped_step& each : dropped) {
    report_lost(thread, &array, each.head, each.first_place);
    thread.counters().done.add(1);
  }
}

/// Reports the value of a place, or a sum of values in the name of the first of their places; nothing for no_place.
/// `array`: null if this rank does not have it any more.
void contributions::report_lost(thread_context& thread, const array_home* array, const contribution_head& head,
                                std::uint64_t place) {
  if (place == steps::no_place) return;
  const rank_id birth = array != nullptr ? array->birth_of(place) : messages_.rank();  // it cannot be told any more
  const std::uint64_t number = std::min(std::min(head.first, extents::count_max) + std::min(place, extents::count_max),
                                        extents::count_max);  // of a peer
  const detail::handler_info* const row = messages_.handlers().handler(head.row);
  errors_.report(thread,
                 {object_id(birth, object_id::first_element + number), row != nullptr ? row->name : "contribution",
                  head.section == 0 ? "the array has been destroyed before a step of contributions was complete"
                                    : "the section has been destroyed before a step of contributions was complete"});
}

void contributions::apply(thread_context& thread, const array_ptr& array,
                          std::vector<contributing_sets::consequence> all) {
  for (contributing_sets::consequence& each : all) apply(thread, array, each.set, std::move(each.then));
}

/// Steps that have begun have been counted as created, under the lock: another thread may end them at any moment.
void contributions::apply(thread_context& thread, const array_ptr& array, const set_ptr& set, steps::effects then) {
  for (const auto& [child, head] : then.to_ask) {
    messages_.post_application_to_module<&contributions::on_ask>(thread, rank_id(set->tree.children[child].begin),
                                                                 head);
  }
  if (then.wants && !set->root) {
    messages_.post_application_to_module<&contributions::on_wanting>(thread, rank_id(set->tree.parent), array->first,
                                                                     set->section);
  }
  for (const steps::finished_step& each : then.finished) finish(thread, *set, each);
  for (steps::own_values& own_values : then.to_combine) {
    if (own_values.given.size() <= combined_in_place_max) {
      combine_own(thread, array, set, own_values);
      continue;
    }
    message_ptr m = make_message(sizeof(own_part));
    ::new (static_cast<void*>(m->body())) own_part{this, array, set, std::move(own_values)};
    m->ops = &own_part::ops;
    m->run_by(&combine_work);
    messages_.pool().make_ready(thread, *m.release());
  }
}

void contributions::combine_work(work& item, thread_context& thread) {
  const message_ptr m(static_cast<message*>(&item));
  own_part& part = own_part::of(*m);
  part.owner->combine_own(thread, part.array, part.set, part.own_values);
}

void contributions::combine_own(thread_context& thread, const array_ptr& array, const set_ptr& set,
                                const steps::own_values& own_values) {
  const std::vector<std::span<const std::byte>> packed = own_values.in_order();
  detail::contribution_values values{.step = own_values.head.step, .packed = packed};
  if (!combine(thread, own_values.head, values)) return;
  steps::effects then;
  {
    const std::scoped_lock lock(array->steps_mutex);
    set->steps.combined(own_values.head, std::move(values.sum), then);
  }
  apply(thread, array, set, std::move(then));
}

/// False: the job has failed.
bool contributions::combine(thread_context& thread, const contribution_head& head,
                            detail::contribution_values& values) {
  const detail::handler_info* const row = messages_.handlers().handler(head.row);
  message_ptr none;
  try {
    if (row->invoke(messages_.core(), thread, none, &values, row->id) == detail::outcome::done) return true;
    messages_.fail("a value that an element contributed does not decode as the type of its step");
  } catch (...) {
    messages_.fail("combining the values of step " + std::to_string(head.step) +
                   " that elements of an array contributed threw: " + text_of_thrown());
  }
  return false;
}

void contributions::finish(thread_context& thread, const contributing_set& set, const steps::finished_step& step) {
  try {
    pass_on(thread, set, step);
  } catch (...) {
    messages_.fail("the result of step " + std::to_string(step.head.step) +
                   " of contributions cannot be sent: " + text_of_thrown());
  }
}

/// Throws what packing and sending throw, such as for a result that is longer than a message.
void contributions::pass_on(thread_context& thread, const contributing_set& set, const steps::finished_step& step) {
  const contribution_head& head = step.head;
  const bool root = set.root;
  const std::vector<std::span<const std::byte>> packed(step.values.begin(), step.values.end());
  detail::contribution_values values{.step = head.step, .packed = packed, .ends = root};
  const bool forwards = !root && packed.size() == 1;
  if (!packed.empty() && !forwards && !combine(thread, head, values)) return;
  if (root) {
    if (values.message != nullptr) deliver(thread, head, std::move(values.message));
  } else {
    const std::span<const std::byte> sum = forwards ? packed.front() : std::span<const std::byte>(values.sum);
    messages_.post_application_to_module<&contributions::on_part>(thread, rank_id(set.tree.parent), head,
                                                                  step.first_place, sum);
  }
  thread.counters().done.add(1);
}

void contributions::deliver(thread_context& thread, const contribution_head& head, message_ptr m) {
  using kind = detail::contribution_target::kind;
  switch (static_cast<kind>(head.kind)) {
    case kind::object:
      return sender_.post(thread, object_id::from_value(head.target), std::move(m));
    case kind::rank:
      return messages_.post(thread, rank_id(static_cast<std::uint32_t>(head.target)), std::move(m));
    case kind::array:
      return broadcasts_.send(thread, {.first = head.target}, std::move(m));
  }
}

void contributions::name_incomplete(report_lines& report) const {
  arrays_.for_each([&](array_home& array) {
    const std::scoped_lock lock(array.steps_mutex);
    array.sets.for_each([&](const set_ptr& set) {
      set->steps.for_each_incomplete([&](const contribution_head& head, std::uint64_t missing, std::uint64_t all) {
        report.add(report_lines::urgency::numbered, head.step, [&] {
          return step_text(array, head) + " lacks " + std::to_string(missing) + " of " + std::to_string(all) +
                 " contributions of rank " + std::to_string(messages_.rank().value());
        });
      });
    });
  });
}

// Messages of other ranks, and what is said of those that do not fit.

/// Such as "step 7 of array 2: 64 x 64 of cell".
std::string contributions::step_text(const array_home& array, const contribution_head& head) const {
  return "step " + std::to_string(head.step) + (head.section != 0 ? " of a section of " : " of ") +
         arrays_.describe(array.first);
}

std::string contributions::outside_text(const array_home& array, std::uint64_t place) const {
  const object_id element(rank_id(0), object_id::first_element + array.first + place);
  return arrays_.name_of(element) +
         " contributes to a section that does not have its place: send what contributes to the section only "
         "(rt.send<F>(section)), or make the section with this place, too";
}

/// Empty: the value was taken. Without the lock of the steps, as the text of a key is code of the program.
std::string contributions::text_of(const given& result, const array_home& array, std::uint64_t place,
                                   const contribution_head& head) const {
  if (result.is_outside) return outside_text(array, place);
  if (result.refusal == steps::refusal::none) return {};
  const object_id id(rank_id(0), object_id::first_element + array.first + place);
  const std::string element = arrays_.name_of(id) + " (" + std::string(array.layout.type->name) + ")";
  const std::string step = " step " + std::to_string(head.step) + (head.section != 0 ? " of a section" : "");
  if (result.refusal == steps::refusal::twice) {
    return element + " contributes twice to" + step + ": give one value for each step, and number steps 0, 1, 2, ...";
  }
  if (result.refusal == steps::refusal::ended) {
    return element + " contributes to" + step +
           ", which has ended: use each number for one step, and let an element that is inserted begin with a step " +
           "that no other element has begun";
  }
  const auto name = [&](std::uint32_t row) { return std::string(messages_.handlers().handler(row)->name); };
  const bool same = result.first_row == 0 || result.first_row == head.row;
  return element + " contributes to" + step + " otherwise than others do (" +
         (same ? "to another target" : name(head.row) + " instead of " + name(result.first_row)) +
         "): write one handler, one operation and one target in all contributions to a step";
}

/// The array and the set of a message of a peer.
contributions::receiver contributions::receiver_of(context& ctx, const contribution_head& head, std::uint64_t place) {
  using kind = detail::contribution_target::kind;
  const std::string sender = "rank " + std::to_string(ctx.source().value());
  const detail::handler_info* const row = messages_.handlers().handler(head.row);
  const bool named = row != nullptr && row->target_key == detail::key_of<detail::contribution_values>();
  bool sound = named && messages_.handlers().handler(head.handler) != nullptr &&
               head.kind <= static_cast<std::uint8_t>(kind::array);
  if (sound && static_cast<kind>(head.kind) == kind::rank) sound = head.target < messages_.size();
  if (sound && static_cast<kind>(head.kind) == kind::array) sound = head.target != 0;
  if (sound && static_cast<kind>(head.kind) == kind::object) sound = homes_.knows(object_id::from_value(head.target));
  array_ptr array = sound ? arrays_.find(head.first) : nullptr;
  if (array != nullptr && place != steps::no_place) sound = place < array->layout.shape.count();
  if (!sound || (array != nullptr && array->first != head.first)) {
    messages_.fail(sender + " sent a contribution that makes no sense");
    return {};
  }
  set_ptr set;
  if (array != nullptr) {
    const std::scoped_lock lock(array->steps_mutex);
    set = array->sets.find(head.section);
  }
  if (set == nullptr) report_lost(detail::thread_of(ctx), array.get(), head, place);
  return {std::move(array), std::move(set)};
}

void contributions::on_value(context& ctx, contribution_head head, std::uint64_t number, std::uint32_t epoch,
                             std::span<const std::byte> value) {
  const auto [array, set] = receiver_of(ctx, head, number);
  if (array == nullptr) return;
  thread_context& thread = detail::thread_of(ctx);
  if (!arrays_.is_home_of(*array, number)) {
    return messages_.fail("rank " + std::to_string(ctx.source().value()) +
                          " sent a contribution to a rank that is not the home of its element");
  }
  steps::effects then;
  std::vector<contributing_sets::consequence> settled;
  given result;
  bool is_lost = false;
  {
    const std::scoped_lock lock(array->steps_mutex);
    is_lost = set != nullptr && set->steps.dropped();
    if (set != nullptr && !is_lost) result = give(*array, *set, number, head, value, then);
    settled = array->sets.message_came(number, epoch);  // also of a value that nobody waits for any more
    thread.counters().created.add(then.opened);
  }
  if (const std::string refused = text_of(result, *array, number, head); !refused.empty())
    return messages_.fail(refused);
  if (is_lost) report_lost(thread, array.get(), head, number);
  if (set != nullptr) apply(thread, array, set, std::move(then));
  apply(thread, array, std::move(settled));
}

/// The number of the child that has sent the message, or the number of children if no child has.
std::size_t contributions::child_of(context& ctx, const contributing_set& set) {
  const std::vector<rank_run>& children = set.tree.children;
  std::size_t child = 0;
  while (child < children.size() && children[child].begin != ctx.source().value()) ++child;
  if (child == children.size()) {
    messages_.fail("rank " + std::to_string(ctx.source().value()) +
                   " sent a contribution to a rank that is not above it");
  }
  return child;
}

void contributions::on_part(context& ctx, contribution_head head, std::uint64_t first_place,
                            std::span<const std::byte> value) {
  const auto [array, set] = receiver_of(ctx, head, first_place);
  if (set == nullptr) return;
  const std::size_t child = child_of(ctx, *set);
  if (child == set->tree.children.size()) return;
  steps::effects then;
  std::optional<packed_value> part;
  if (first_place != steps::no_place) part.emplace(value.begin(), value.end());
  steps::refusal refusal{};
  bool is_lost = false;
  {
    const std::scoped_lock lock(array->steps_mutex);
    is_lost = set->steps.dropped();
    if (!is_lost) refusal = set->steps.take_part(child, head, std::move(part), then, first_place);
    detail::thread_of(ctx).counters().created.add(then.opened);
  }
  if (is_lost) return report_lost(detail::thread_of(ctx), array.get(), head, first_place);
  if (refusal != steps::refusal::none) return refuse_part(*array, head, refusal);
  apply(detail::thread_of(ctx), array, set, std::move(then));
}

void contributions::refuse_part(const array_home& array, const contribution_head& head, steps::refusal refusal) {
  const std::string name = step_text(array, head);
  messages_.fail(
      refusal == steps::refusal::other_head
          ? "the elements contribute to " + name +
                " in different ways: write one handler, one operation and one target in all contributions to "
                "a step; the one here is " +
                std::string(messages_.handlers().handler(head.row)->name)
          : name + " has been completed twice: use each number for one step");
}

void contributions::on_ask(context& ctx, contribution_head head) {
  const auto [array, set] = receiver_of(ctx, head, steps::no_place);
  if (set == nullptr) return;
  if (set->root || ctx.source().value() != set->tree.parent)
    return messages_.fail("rank " + std::to_string(ctx.source().value()) + " asks for a step of contributions");
  steps::effects then;
  steps::refusal refusal{};
  {
    const std::scoped_lock lock(array->steps_mutex);
    if (set->steps.dropped()) return;  // no value is lost here
    refusal = set->steps.ask(head, then);
    detail::thread_of(ctx).counters().created.add(then.opened);
  }
  if (refusal != steps::refusal::none) return refuse_part(*array, head, refusal);
  apply(detail::thread_of(ctx), array, set, std::move(then));
}

void contributions::on_wanting(context& ctx, std::uint64_t first, std::uint64_t section) {
  const array_ptr array = arrays_.find(first);
  if (array == nullptr) return;  // it has ended, and its steps with it
  set_ptr set;
  {
    const std::scoped_lock lock(array->steps_mutex);
    set = array->sets.find(section);
  }
  if (set == nullptr) return;
  const std::size_t child = child_of(ctx, *set);
  if (child == set->tree.children.size()) return;
  steps::effects then;
  {
    const std::scoped_lock lock(array->steps_mutex);
    set->steps.child_wants(child, then);
  }
  apply(detail::thread_of(ctx), array, set, std::move(then));
}

// Images.

std::uint64_t contributions::lying() {
  std::uint64_t sum = 0;
  arrays_.for_each([&](array_home& array) {
    const std::scoped_lock lock(array.steps_mutex);
    array.sets.for_each([&](const set_ptr& set) { sum += set->steps.waiting(); });
  });
  return sum;
}

std::vector<steps_image> contributions::save() const {
  std::vector<steps_image> all;
  arrays_.for_each([&](array_home& array) {
    const std::scoped_lock lock(array.steps_mutex);
    array.sets.for_each([&](const set_ptr& set) {
      // Places whose values are in sums that have gone up would be waited for again.
      if (set->steps.waiting() != 0 && set->steps.has_forgotten())
        throw image_obstacle("an array whose open steps of contributions lie among more than 1,024 gaps");
      steps_image one;
      set->steps.save(one);
      if (one.open.empty() && one.ended_steps.empty()) return;
      one.first = array.first;
      one.section = set->section;
      one.places = array.sets.places_of(*set);
      all.push_back(std::move(one));
    });
  });
  return all;
}

void contributions::begin_restore() {
  arrays_.for_each([](array_home& array) {
    const std::scoped_lock lock(array.steps_mutex);
    array.sets.for_each([](const set_ptr& set) { set->steps.add_unsettled(1); });
  });
}

void contributions::end_restore(thread_context& thread) {
  std::vector<std::uint64_t> arrays;
  arrays_.for_each([&](const array_home& array) { arrays.push_back(array.first); });
  for (const std::uint64_t first : arrays) {
    const array_ptr array = arrays_.find(first);
    std::vector<contributing_sets::consequence> all;
    {
      const std::scoped_lock lock(array->steps_mutex);
      array->sets.for_each(
          [&](const set_ptr& set) { set->steps.settled(all.emplace_back(set, steps::effects()).then); });
    }
    apply(thread, array, std::move(all));
  }
}

bool contributions::restore(thread_context& thread, const steps_image::step& given) {
  const array_ptr array = arrays_.find(given.head.first);
  if (array == nullptr || array->first != given.head.first) return false;
  set_ptr set;
  steps::effects then;
  {
    const std::scoped_lock lock(array->steps_mutex);
    set = array->sets.find(given.head.section);
    if (set == nullptr) return false;
    for (const steps_image::value& each : given.values)
      set->steps.restore(array->sets.contributor_of(each.place), given.head, std::span(each.bytes), then);
    for (const std::uint64_t place : given.in_sum)
      set->steps.restore(array->sets.contributor_of(place), given.head, std::nullopt, then);
    thread.counters().created.add(then.opened);
  }
  apply(thread, array, set, std::move(then));
  return true;
}

}  // namespace nacre
