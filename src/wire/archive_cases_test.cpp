// SPDX-License-Identifier: Apache-2.0
// The cases of the tests over all types.
#include "wire/archive_cases.hpp"

#include "wire/archive_cases_detail.hpp"

namespace nacre::test {

std::span<const type_case> rich_cases() { return cases_of(rich_types{}); }

}  // namespace nacre::test
