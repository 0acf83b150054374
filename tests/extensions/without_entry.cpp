// SPDX-License-Identifier: Apache-2.0
// Says that it is a module, but lacks the one function that is called.
#include <nacre/extension.hpp>

#include "proof_of_code.hpp"

extern "C" __attribute__((section(".note.nacre"), used, aligned(4),
                          visibility("hidden"))) constinit const nacre::detail::extension_note nacre_extension_note =
    nacre::detail::make_extension_note("without_entry");
