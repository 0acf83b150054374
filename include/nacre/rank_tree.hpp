// SPDX-License-Identifier: Apache-2.0
// The handlers behind calls to all ranks, which spread over a binary tree of ranks, and behind sends after a delay.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <nacre/group.hpp>
#include <nacre/runtime.hpp>
#include <nacre/target.hpp>
#include <nacre/task.hpp>

namespace nacre::detail {

inline engine& engine_of(const context& ctx) noexcept { return ctx.core(); }

/// A value for one of several messages: itself, or where it cannot be copied, a copy of its packed form.
template <class T>
requires std::is_copy_constructible_v<T>
const T& to_several(const T& value) { return value; }
template <class T>
requires(!std::is_copy_constructible_v<T>) T to_several(const T& value) { return std::move(*unpack<T>(pack(value))); }

template <auto F, class Op, class... Values>
auto rank_tree<F, Op, std::tuple<Values...>>::run(context& ctx, rank_range ranks, Values... arguments) -> task<result> {
  const std::uint32_t middle = ranks.first + 1 + (ranks.last - ranks.first) / 2;  // the second half is the shorter one
  const auto ask = [&](std::uint32_t first, std::uint32_t last) {
    return ctx.call<&rank_tree::run>(with{.channel = ranks.channel}, rank_id(first),
                                     rank_range{first, last, ranks.category, ranks.channel}, to_several(arguments)...);
  };
  const auto ask_this_rank = [&] {
    return ctx.call<F>(with{.category = ranks.category, .channel = ranks.channel}, ctx.rank(),
                       to_several(arguments)...);
  };
  std::optional<future<result>> previous, rest;
  if (ranks.first + 1 < middle && ranks.first + 1 < ranks.last)
    previous = ask(ranks.first + 1, std::min(middle, ranks.last));
  if (middle < ranks.last) rest = ask(middle, ranks.last);
  // All are awaited, also where one has failed: the caller's future is ready when every handler has run.
  std::exception_ptr failure;
  const auto note_failure = [&failure] {
    if (!failure) failure = std::current_exception();
  };
  std::conditional_t<std::is_void_v<result>, std::monostate, std::optional<result>> combined;
  try {
    if constexpr (std::is_void_v<result>) {
      co_await ask_this_rank();
    } else {
      combined.emplace(co_await ask_this_rank());
    }
  } catch (...) {
    note_failure();
  }
  for (std::optional<future<result>>* const half : {&previous, &rest}) {
    if (!*half) continue;
    try {
      if constexpr (std::is_void_v<result>) {
        co_await std::move(**half);
      } else {
        result value = co_await std::move(**half);
        if (!failure) combined.emplace(Op{}(std::move(*combined), std::move(value)));
      }
    } catch (...) {
      note_failure();
    }
  }
  if (failure) std::rethrow_exception(failure);
  if constexpr (!std::is_void_v<result>) co_return std::move(*combined);
}

template <auto F, class Named, class... Values>
void deferred_send<F, Named, std::tuple<Values...>>::run(context& ctx, nacre::category category, nacre::channel channel,
                                                         Named target, Values... arguments) {
  ctx.send<F>(with{.category = category, .channel = channel}, target, std::move(arguments)...);
}

}  // namespace nacre::detail
