// SPDX-License-Identifier: Apache-2.0
// The line, and what has been told.
#include "am/address_warnings.hpp"

#include <cstdio>

namespace nacre {

void address_warnings::note(rank_id source, std::string_view what) {
  if (!always_ && (source == own_ || by_pointer_)) return;
  const std::scoped_lock lock(mutex_);
  if (!told_.emplace(what).second) return;
  std::fprintf(
      stderr,
      "nacre: rank %u: %.*s has come from rank %u with a pointer among its members, copied as bytes: it points "
      "to nothing here; write a serialize that names what is to travel\n",
      own_.value(), static_cast<int>(what.size()), what.data(), source.value());
}

}  // namespace nacre
