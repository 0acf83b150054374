// SPDX-License-Identifier: Apache-2.0
// The mark of the runtime's threads.
#include "exec/own_thread.hpp"

namespace nacre {

[[gnu::tls_model("initial-exec")]] constinit thread_local const void* pool_of_this_thread = nullptr;
[[gnu::tls_model("initial-exec")]] constinit thread_local std::atomic<const thread_context*> context_of_this_thread{
    nullptr};

}  // namespace nacre
