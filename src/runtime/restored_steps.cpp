// SPDX-License-Identifier: Apache-2.0
// Making what lay elsewhere than at objects: open steps of contributions, and messages to be sent later.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "runtime/delayed_messages.hpp"
#include "runtime/engine.hpp"
#include "runtime/image_sections.hpp"
#include "runtime/rank_image.hpp"

namespace nacre {
namespace {

using step_name = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t>;
step_name name_of(const contribution_head& head) { return {head.first, head.section, head.step, head.handler}; }

/// A handler: places that have their home here.
void places_have_given(context& ctx, const std::vector<steps_image::step>& given) {
  for (const steps_image::step& each : given) {
    if (!ctx.core().objects().contributed().restore(ctx.current_thread(), each))
      ctx.core().messages().fail("the image has contributions to an array or a section that is not there");
  }
}

/// Numbers of the image become those of this program.
void resolve(std::vector<steps_image>& sets, const image_names& names, std::uint32_t ranks) {
  const auto find = [&](std::uint32_t& number) {
    const detail::handler_info* const row = names.handler(number);
    if (row == nullptr) throw image_misfit("the image has contributions to a handler that it does not name");
    number = row->id.value();
  };
  for (steps_image& set : sets) {
    for (steps_image::step& each : set.open) {
      find(each.head.handler);
      find(each.head.row);
      if (each.head.kind == static_cast<std::uint8_t>(detail::contribution_target::kind::rank))
        each.head.target %= ranks;  // in a larger job it may have been a rank that is none here
    }
    for (steps_image::ended& each : set.ended_steps) find(each.handler);
  }
}

bool is_over(const steps_image& set, const contribution_head& head) {
  const auto of_handler = std::ranges::find(set.ended_steps, head.handler, &steps_image::ended::handler);
  return of_handler != set.ended_steps.end() && std::ranges::any_of(of_handler->steps, [&](const auto& run) {
           return run.first <= head.step && head.step <= run.second;
         });
}

/// For a step that is open on some rank of the image: what the places of one rank have given, by their homes now.
std::map<std::uint32_t, steps_image::step> by_home(engine& core, const steps_image& set,
                                                   const contribution_head& head) {
  const std::shared_ptr<array_home> array = core.objects().arrays().find(set.first);
  if (array == nullptr) throw image_misfit("contributions of the image have no array");
  std::map<std::uint32_t, steps_image::step> all;
  const auto at_home = [&](std::uint64_t place) -> steps_image::step& {
    steps_image::step& one = all[core.objects().homes().home_of(array->name_of(place)).value()];
    one.head = head;
    return one;
  };
  const auto match = std::find_if(set.open.begin(), set.open.end(),
                                  [&](const auto& each) { return name_of(each.head) == name_of(head); });
  const bool open = match != set.open.end();
  if (open) {
    for (const steps_image::value& each : match->values) at_home(each.place).values.push_back(each);
    for (const std::uint64_t place : match->in_sum) at_home(place).in_sum.push_back(place);
  }
  if (open ? !match->own_complete : !is_over(set, head)) return all;
  for (const auto& [first, last] : set.places) {
    for (std::uint64_t place = first; place <= last; ++place) at_home(place).in_sum.push_back(place);
  }
  return all;
}

}  // namespace

void rank_restorer::install_steps() {
  std::vector<steps_image> steps_images;
  for (const images::sections& file : files_) {
    if (!file.contains(steps_section)) continue;
    auto names = read_section<image_names>(file, names_section, "names");
    names.resolve();
    auto sets = read_section<std::vector<steps_image>>(file, steps_section, "contributions");
    resolve(sets, names, core_.size());
    std::move(sets.begin(), sets.end(), std::back_inserter(steps_images));
  }
  std::vector<contribution_head> heads;
  for (const steps_image& set : steps_images) {
    for (const steps_image::step& each : set.open) heads.push_back(each.head);
  }
  runtime rt(core_, thread_);
  std::map<step_name, contribution_head> open;
  for (const auto& of_rank : rt.all_gather(heads)) {
    for (const contribution_head& each : of_rank) open.try_emplace(name_of(each), each);
  }
  if (open.empty()) return;
  contributions& contributions = core_.objects().contributed();
  contributions.begin_restore();
  rt.barrier();
  std::map<std::uint32_t, std::vector<steps_image::step>> told;
  for (const steps_image& set : steps_images) {
    for (const auto& [name, head] : open) {
      if (head.first != set.first || head.section != set.section) continue;
      for (auto& [home, each] : by_home(core_, set, head)) told[home].push_back(std::move(each));
    }
  }
  std::vector<future<void>> sent;
  for (auto& [home, each] : told) sent.push_back(rt.call<&places_have_given>(rank_id(home), std::move(each)));
  for (future<void>& each : sent) each.get();
  rt.barrier();  // all places have said what they have given
  contributions.end_restore(thread_);
}

void rank_restorer::install_delayed() {
  for (const images::sections& file : files_) {
    if (!file.contains(delayed_section)) continue;
    auto names = read_section<image_names>(file, names_section, "names");
    names.resolve();
    core_.images().delayed().install(
        read_section<std::vector<delayed_image>>(file, delayed_section, "messages to be sent later"), names);
  }
}

}  // namespace nacre
