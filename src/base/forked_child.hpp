// SPDX-License-Identifier: Apache-2.0
// Processes that a rank has forked: they share its sockets and its memory with other ranks, and must use neither.
#pragma once

namespace nacre {

namespace detail {
extern bool in_forked_child;  // written once, by the only thread that a fork leaves
}

/// True in a process that was forked, without exec, from one in which a job was running.
[[nodiscard]] inline bool is_forked_child() noexcept { return detail::in_forked_child; }
/// The handler of pthread_atfork says so, in the child.
void mark_forked_child() noexcept;

[[noreturn]] void throw_in_forked_child();
/// Throws usage_error in a forked child. Each call by which a program sends or waits makes this check first, and has no
/// effect then.
inline void must_not_be_forked_child() {
  if (is_forked_child()) [[unlikely]]
    throw_in_forked_child();
}

/// Ends a forked child: writes what it has printed and runs no exit handlers, as those of a transport would close what
/// the parent uses.
[[noreturn]] void end_forked_child(int code) noexcept;

}  // namespace nacre
