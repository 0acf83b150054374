// SPDX-License-Identifier: Apache-2.0
// The list of all marks.
#include "base/marks.hpp"

namespace nacre {
namespace {

/// Marks link themselves in during static initialisation, which runs before main and in one thread.
mark*& first_mark() noexcept {
  static constinit mark* first = nullptr;
  return first;
}

}  // namespace

mark::mark(std::string_view name) noexcept : name_(name), next_(first_mark()) { first_mark() = this; }

std::vector<const mark*> mark::all() {
  std::vector<const mark*> marks;
  for (const mark* each = first_mark(); each != nullptr; each = each->next_) marks.push_back(each);
  return marks;
}

}  // namespace nacre
