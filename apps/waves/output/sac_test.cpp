// SPDX-License-Identifier: Apache-2.0
// Headers of SAC files.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "output/files.hpp"

namespace waves {
namespace {

/// The number at a place of the header, in words of four bytes.
template <class Number>
Number word_at(const std::string& bytes, std::size_t place) {
  Number number{};
  std::memcpy(&number, bytes.data() + 4 * place, sizeof(number));
  return number;
}

TEST(sac, tells_where_source_and_receiver_are) {
  const trace values{0, 0.5, {0, 1, 2}};
  sac_channel channel{"town", "z", 0, 180, 25};
  const std::string alone = sac_bytes(values, channel);
  channel.event = sac_event{0.4, 2, 10, 230};
  const std::string file = sac_bytes(values, channel);
  EXPECT_EQ(word_at<float>(file, 34), 25);   // STDP
  EXPECT_EQ(word_at<float>(file, 7), 0.4f);  // O
  EXPECT_EQ(word_at<float>(file, 38), 2);    // EVDP
  EXPECT_EQ(word_at<float>(file, 50), 10);   // DIST
  EXPECT_EQ(word_at<float>(file, 51), 230);  // AZ
  EXPECT_EQ(word_at<float>(file, 52), 50);   // BAZ
  EXPECT_EQ(word_at<float>(alone, 50), -12345);
  EXPECT_EQ(word_at<std::int32_t>(file, 70 + 16), 6);  // IDEP: displacement
  EXPECT_EQ(word_at<std::int32_t>(file, 70 + 17), 9);  // IZTYPE: the begin
}

TEST(sac, has_names_of_stations_that_differ) {
  const std::vector<std::string> names{"valley_north", "valley_south", "valley_n", "town", "valley_northern"};
  EXPECT_EQ(station_codes(names), (std::vector<std::string>{"valley_2", "valley_s", "valley_n", "town", "valley_3"}));
}

}  // namespace
}  // namespace waves
