// SPDX-License-Identifier: Apache-2.0
// Runs a handler on all objects of a group: each rank of a tree asks two others, and its own object.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <nacre/group.hpp>
#include <nacre/runtime.hpp>
#include <nacre/task.hpp>

namespace nacre::detail {

inline engine& engine_of(const context& ctx) noexcept { return ctx.core(); }

template <auto F, class T, class Op, class... Values>
auto group_tree<F, T, Op, std::tuple<Values...>>::run(context& ctx, std::uint32_t group, rank_range ranks,
                                                      Values... args) -> task<result> {
  constexpr auto own = member_handler<F, T>{};
  const std::uint32_t middle = ranks.first + 1 + (ranks.last - ranks.first) / 2;  // the second half is the shorter one
  const auto ask = [&](std::uint32_t first, std::uint32_t last) {
    return ctx.call<&group_tree::run>(rank_id(first), group, rank_range{first, last}, args...);
  };
  std::optional<future<result>> before, behind;
  if (ranks.first + 1 < middle && ranks.first + 1 < ranks.last)
    before = ask(ranks.first + 1, std::min(middle, ranks.last));
  if (middle < ranks.last) behind = ask(middle, ranks.last);
  if constexpr (std::is_void_v<result>) {
    co_await ctx.call<own>(ctx.rank(), group, args...);
    if (before) co_await std::move(*before);
    if (behind) co_await std::move(*behind);
  } else {
    result combined = co_await ctx.call<own>(ctx.rank(), group, args...);
    if (before) combined = Op{}(std::move(combined), co_await std::move(*before));
    if (behind) combined = Op{}(std::move(combined), co_await std::move(*behind));
    co_return combined;
  }
}

}  // namespace nacre::detail
