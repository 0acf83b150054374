// SPDX-License-Identifier: Apache-2.0
// Tells the linker, by the name of a function, in which mode of the standard library this library was compiled.
#include <nacre/library_mode.hpp>

#ifdef _GLIBCXX_DEBUG
void nacre::detail::library_built_with_glibcxx_debug() noexcept {}
#else
void nacre::detail::library_built_without_glibcxx_debug() noexcept {}
#endif
