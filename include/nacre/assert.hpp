// SPDX-License-Identifier: Apache-2.0
// Checks of invariants that stay on in release builds, and the label under which a thread reports a broken one.
#pragma once

#include <string_view>

namespace nacre {

/// Names the calling thread in diagnostics, for example "rank 1 worker 0". At most 63 bytes are kept. The label is for
/// messages to people; no code may depend on it.
void set_thread_label(std::string_view label) noexcept;

/// The label of the calling thread; empty before set_thread_label. The view is valid until the thread sets another.
[[nodiscard]] std::string_view thread_label() noexcept;

namespace detail {

/// Where a check stands in the source. Stands in for std::source_location, which clang 14 lacks.
struct source_place {
  const char* file;
  unsigned line;
  const char* function;
};

/// Prints one block (kind, expression, message, place, thread label) to standard error and aborts the process.
[[noreturn, gnu::cold, gnu::noinline]] void assertion_failed(std::string_view kind, std::string_view expression,
                                                             std::string_view message, source_place place);

}  // namespace detail
}  // namespace nacre

/// The check behind the macros. `message` is evaluated only when the check fails, so it may build a std::string that
/// shows the values involved.
#define NACRE_DETAIL_CHECK(kind, condition, message)                          \
  ((condition) ? static_cast<void>(0)                                         \
               : ::nacre::detail::assertion_failed(kind, #condition, message, \
                                                   {__FILE__, static_cast<unsigned>(__LINE__), __func__}))

/// A precondition: the caller's duty, checked on entry.
#define NACRE_EXPECT(condition, message) NACRE_DETAIL_CHECK("expectation", condition, message)
/// An invariant that must hold in the middle of a function.
#define NACRE_ASSERT(condition, message) NACRE_DETAIL_CHECK("assertion", condition, message)
/// A postcondition: the function's duty, checked on exit.
#define NACRE_ENSURE(condition, message) NACRE_DETAIL_CHECK("guarantee", condition, message)

/// A check that is too slow for release builds. It is evaluated only where NACRE_SLOW_ASSERTS is defined, as the
/// presets debug, asan and tsan do. Every build compiles the condition, so that it stays valid code.
#ifdef NACRE_SLOW_ASSERTS
#define NACRE_ASSERT_SLOW(condition, message) NACRE_ASSERT(condition, message)
#else
#define NACRE_ASSERT_SLOW(condition, message) static_cast<void>(sizeof((condition) ? 1 : 0))
#endif
