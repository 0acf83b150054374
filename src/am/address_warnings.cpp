// SPDX-License-Identifier: Apache-2.0
// The line.
#include "am/address_warnings.hpp"

#include <cstdio>
#include <string>

#include <fmt/format.h>

namespace nacre {

void address_warnings::print(rank_id source, std::string_view text, std::string_view name) const {
  const std::string line = fmt::format(
      "nacre: rank {}: {} {} has come from rank {} with a pointer among its members, copied as bytes: it points to "
      "nothing here; write a serialize that names what is to travel\n",
      rank_.value(), text, name, source.value());
  std::fputs(line.c_str(), stderr);
}

}  // namespace nacre
