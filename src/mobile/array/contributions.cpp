// SPDX-License-Identifier: Apache-2.0
// Contributions: from elements to homes, and what follows when a part of a step is complete.
#include "mobile/array/contributions.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "base/exception_text.hpp"
#include "mobile/directory/epoch_guard.hpp"
#include "mobile/object_space.hpp"

namespace nacre {
namespace {

constexpr std::size_t combined_in_place_max = 64;  // values; more are left to a worker

}  // namespace

/// The values of this rank for one step, on their way to a worker that combines them.
struct contributions::own_part {
  array_ptr array;
  set_ptr set;
  steps::own_values own;
  static own_part& of(message& m) noexcept { return *std::launder(reinterpret_cast<own_part*>(m.body())); }
  static void destroy(message& m) noexcept { std::destroy_at(&of(m)); }
  static constexpr body_ops ops{nullptr, nullptr, &destroy};
};

contributions::contributions(object_space& space, am_engine& messages) : space_(space), messages_(messages) {
  messages_.attach_module(*this);
  messages_.held.add(*this);
}

void contributions::contribute(thread_context& thread, object_id element, std::span<const std::byte> value,
                               contribution_head head) {
  const array_ptr array = element.is_element() ? space_.arrays().find(element) : nullptr;
  if (array == nullptr) throw usage_error("contribute in a handler that runs on no element of an array");
  check_payload(value.size(), enclosed_bytes_max);
  const std::uint64_t number = array_space::number_of(element) - array->first;
  if (head.section != 0 && head.first != array->first) throw usage_error(outside_text(*array, number));
  head.first = array->first;
  if (space_.is_home_of(element) && !messages_.deferred()) {
    steps::effects then;
    set_ptr set;
    {
      const std::unique_lock lock(array->steps_mutex);
      set = array->sets.find(head.section);
      if (set != nullptr) {
        if (!array->sets.has(*set, number)) throw usage_error(outside_text(*array, number));
        if (const auto refusal = set->steps.give(array->sets.contributor_of(number), head, value, then);
            refusal != steps::refusal::none)
          throw usage_error(text_of(refusal, *array, *set, number, head));
        thread.counters().created.add(then.opened);
      }
    }
    if (set == nullptr) return report_lost(thread, array.get(), head, number);  // as for elements elsewhere
    return messages_.commit(thread, [&] { apply(thread, array, set, std::move(then)); });
  }
  const epoch_guard guard(thread);
  object_entry* const entry = space_.entries().find(element);
  NACRE_EXPECT(entry != nullptr, "an element contributes that is not here");
  object_entry_extra& extra = entry->need_extra();
  messages_.commit(thread, [&] {
    extra.contributed.fetch_add(1, std::memory_order_relaxed);  // read when no handler runs
    messages_.post_application_to_module<&contributions::on_value>(thread, space_.homes().home_of(element), head,
                                                                   number, entry->location.read().epoch, value);
  });
}

void contributions::element_came(array_home& array, std::uint64_t number) {
  const std::scoped_lock lock(array.steps_mutex);
  array.sets.element_came(number);
}

void contributions::element_ended(thread_context& thread, object_id place, std::uint32_t sent, std::uint32_t epoch) {
  const array_ptr array = space_.arrays().find(place);
  if (array == nullptr) return;
  // Steps that lack values when the array ends are dropped; they do not end because their elements do.
  if (array->is_closing()) return;
  std::vector<contributing_sets::consequence> all;
  {
    const std::scoped_lock lock(array->steps_mutex);
    all = array->sets.element_ended(array_space::number_of(place) - array->first, sent, epoch);
  }
  apply(thread, array, std::move(all));
}

void contributions::begin(thread_context& thread, std::uint64_t first) {
  const array_ptr array = space_.arrays().find(first);
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
  const array_ptr array = space_.arrays().find(rank.first);
  if (array == nullptr || array->first != rank.first) throw usage_error("create_section: the array has been destroyed");
  for (const std::uint64_t place : rank.places) {
    if (!space_.arrays().is_home_of(*array, place))
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
  const array_ptr array = space_.arrays().find(first);
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
  space_.errors().report(
      thread, {object_id(birth, object_id::first_element + number), row != nullptr ? row->name : "contribution",
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
    ::new (static_cast<void*>(m->body())) own_part{array, set, std::move(own_values)};
    m->ops = &own_part::ops;
    m->run_by(&combine_work);
    messages_.pool().make_ready(thread, *m.release());
  }
}

void contributions::combine_work(work& item, thread_context& thread) {
  const message_ptr m(static_cast<message*>(&item));
  own_part& part = own_part::of(*m);
  object_space::on_thread(thread).contributed().combine_own(thread, part.array, part.set, part.own);
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
      return space_.sender().post(thread, object_id::from_value(head.target), std::move(m));
    case kind::rank:
      return messages_.post(thread, rank_id(static_cast<std::uint32_t>(head.target)), std::move(m));
    case kind::array:
      return space_.arrays().send(thread, {.first = head.target}, std::move(m));
  }
}

void contributions::name_incomplete(report_lines& report) const {
  space_.arrays().for_each([&](array_home& array) {
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

}  // namespace nacre
