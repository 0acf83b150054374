// SPDX-License-Identifier: Apache-2.0
// Phases of programs.
#include <string_view>

#include <nacre/nacre.hpp>

#include "exec/thread_context.hpp"
#include "trace/phases.hpp"

namespace nacre {

phase::phase(context& ctx, std::string_view name) {
  if (trace::phase_stack* const stack = ctx.current_thread().phases; stack != nullptr) stack->begin(open_, &ctx, name);
}

phase::phase(runtime& rt, std::string_view name) {
  if (trace::phase_stack* const stack = rt.thread_->phases; stack != nullptr) stack->begin(open_, &rt, name);
}

void phase::end() noexcept { open_.stack->end(open_); }

}  // namespace nacre
