// SPDX-License-Identifier: Apache-2.0
// A handler more than the program has without this file: mentioning it is what puts it into the table.
#include <nacre/nacre.hpp>

void one_more(nacre::context&) {}

[[maybe_unused]] const auto* const mention_one_more = &nacre::detail::handler_of<&one_more>();
