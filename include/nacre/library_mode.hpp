// SPDX-License-Identifier: Apache-2.0
// Keeps a program from being linked with a library whose standard containers have another layout.
#pragma once

namespace nacre::detail {

// The debug mode of libstdc++ changes containers, which both sides hand to each other. The library defines one of the
// two functions.
#ifdef _GLIBCXX_DEBUG
void library_built_with_glibcxx_debug() noexcept;
[[gnu::used]] inline void (*const library_mode)() noexcept = &library_built_with_glibcxx_debug;
#else
void library_built_without_glibcxx_debug() noexcept;
[[gnu::used]] inline void (*const library_mode)() noexcept = &library_built_without_glibcxx_debug;
#endif

}  // namespace nacre::detail
