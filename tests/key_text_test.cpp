// SPDX-License-Identifier: Apache-2.0
// How messages show the keys of elements.
#include <gtest/gtest.h>

#include <string>

#include <nacre/nacre.hpp>

namespace nacre {
namespace {

TEST(key_text, shows_eighty_bytes_and_whether_there_are_more) {
  const std::string whole(80, 'k');
  EXPECT_EQ(detail::text_of_key(whole), '"' + whole + '"');
  EXPECT_EQ(detail::text_of_key(whole + 'k'), '"' + whole + "...\"");
}

}  // namespace
}  // namespace nacre
