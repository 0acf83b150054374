// SPDX-License-Identifier: Apache-2.0
// The handlers that make sections known to the homes of their places, and end them.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "am/rank_tree.hpp"
#include "base/exception_text.hpp"
#include "runtime/engine.hpp"

namespace nacre::detail {
namespace {

void add_section(context& ctx, section_on_rank rank) { ctx.core().objects().contributed().add_section(rank); }

/// The part of participant number `index`: the ranks that are home of places of the section form a tree among
/// themselves.
section_on_rank part_of(const std::vector<section_part>& parts, std::uint32_t index) {
  const tree_place tree = place_in_tree(index, static_cast<std::uint32_t>(parts.size()));
  section_on_rank rank{.parent = parts[tree.parent].rank};
  for (const rank_run& child : tree.children) rank.children.push_back(parts[child.begin].rank);
  return rank;
}

}  // namespace

task<section_ptr> open_section(context& ctx, std::uint64_t first, std::vector<section_part> parts) {
  if (parts.empty()) throw usage_error("create_section: the section has no places");
  if (object_space& objects = ctx.core().objects(); objects.homes().reckoned()) {
    const std::shared_ptr<array_home> array = objects.arrays().find(first);
    if (array == nullptr || array->first != first) throw usage_error("create_section: the array has been destroyed");
    parts = objects.arrays().divided(*array, parts);
  }
  const section_ptr result(first, ctx.core().objects().contributed().next_section(), rank_id(parts.front().rank));
  std::vector<future<void>> asked;
  asked.reserve(parts.size());
  for (std::uint32_t index = 0; index < parts.size(); ++index) {
    section_on_rank rank = part_of(parts, index);
    rank.first = first;
    rank.section = result.number();
    rank.root = result.root().value();
    rank.places = std::move(parts[index].numbers);
    asked.push_back(ctx.call<&add_section>(rank_id(parts[index].rank), std::move(rank)));
  }
  std::string failure;
  for (future<void>& each : asked) {
    try {
      co_await std::move(each);
    } catch (const call_error& refused) {
      failure = refused.what();
    }
  }
  if (failure.empty()) co_return result;
  try {
    co_await ctx.call<&close_section>(result.root(), first, result.number());
  } catch (const call_error&) {
    // the array has ended there, and the section with it
  }
  throw usage_error(failure);
}

/// Down the tree, so that the caller need not know the ranks.
task<void> close_section(context& ctx, std::uint64_t first, std::uint64_t section) {
  contributions& all = ctx.core().objects().contributed();
  const auto below = all.remove_section(thread_of(ctx), first, section);
  if (!below) throw usage_error("destroy_section: the section or its array has been destroyed already");
  std::vector<future<void>> asked;
  for (const rank_id each : *below) asked.push_back(ctx.call<&close_section>(each, first, section));
  for (future<void>& each : asked) co_await std::move(each);
}

}  // namespace nacre::detail
