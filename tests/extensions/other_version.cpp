// SPDX-License-Identifier: Apache-2.0
// Built for another version of the interface of extension modules.
#include <nacre/extension.hpp>

#include "proof_of_code.hpp"

namespace {

constexpr nacre::detail::extension_note make_note() noexcept {
  nacre::detail::extension_note note = nacre::detail::make_extension_note("other_version");
  note.version = 99;
  return note;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) nacre::extension* nacre_make_extension(const nacre::config&) {
  return nullptr;
}

extern "C" __attribute__((section(".note.nacre"), used, aligned(4),
                          visibility("hidden"))) constinit const nacre::detail::extension_note nacre_extension_note =
    make_note();
