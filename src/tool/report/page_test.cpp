// SPDX-License-Identifier: Apache-2.0
// The data of a report's page for a trace with known events, compared number by number.
#include "tool/report/page_data.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tool/report/report.hpp"
#include "tool/report/report_test_kit.hpp"
#include "tool/report/survey.hpp"

namespace nacre::tool {
namespace {

class known_page : public known {
 protected:
  static std::string bytes_of(std::string_view text) {
    static constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    std::uint32_t held = 0;
    int bits = 0;
    for (const char each : text) {
      const std::size_t value = letters.find(each);
      if (value == std::string_view::npos) break;
      held = held << 6 | static_cast<std::uint32_t>(value);
      bits += 6;
      if (bits >= 8) out += static_cast<char>(held >> (bits -= 8) & 0xff);
    }
    return out;
  }
  [[nodiscard]] nlohmann::json page(const page_bounds& bounds = {}) const {
    return nlohmann::json::parse(page_data(*log_, take_survey(*log_), bounds));
  }
  /// The spans of each row: begin, length, code.
  static std::vector<std::vector<std::array<std::uint64_t, 3>>> spans_of(const nlohmann::json& page) {
    const std::string bytes = bytes_of(page["spans"]["bytes"].get<std::string>());
    std::vector<std::vector<std::array<std::uint64_t, 3>>> all;
    std::size_t index = 0;
    const auto number = [&] {
      std::uint64_t value = 0;
      for (int shift = 0;; shift += 7) {
        const auto byte = static_cast<unsigned char>(bytes.at(index++));
        value |= std::uint64_t{byte & 0x7fU} << shift;
        if (byte < 0x80) return value;
      }
    };
    for (const auto& end : page["spans"]["ends"]) {
      auto& row = all.emplace_back();
      for (std::uint64_t last = 0; index < end.get<std::size_t>();) {
        const std::uint64_t begin = last + number(), length = number(), code = number();
        row.push_back({begin, length, code});
        last = begin + length;
      }
    }
    return all;
  }
};

TEST_F(known_page, for_a_page) {
  const auto data = page();
  EXPECT_EQ(data["end_ns"], 10'000'000);
  EXPECT_EQ(data["rows"],
            nlohmann::json::parse("[[0,0,0,0,1,2000000,0,1500000,2000000,2,0],[0,1,0,0,1,3900000,0,100000,2000000,1,2],"
                                  "[0,2,1,0,1,0,900000,0,0,0,0],[1,0,0,1,1,6000000,0,1000000,2500000,1,0],"
                                  "[1,1,0,1,1,0,0,0,0,0,0]]"));
  EXPECT_EQ(data["handlers"],
            nlohmann::json::parse(R"([["one",1,8000000,6000000,false],["two",1,3900000,3900000,false],)"
                                  R"(["three",2,700000,500000,true]])"));
  EXPECT_EQ(data["messages"],
            nlohmann::json::parse(R"({"sides":2,"group":1,"count":[0,1,2,0],"bytes":[0,200,110,0]})"));
  EXPECT_EQ(data["migrations"], nlohmann::json::parse(R"({"count":1,"list":[1500000,1100000,0,3]})"));
  EXPECT_EQ(data["steals"], nlohmann::json::parse(R"({"count":1,"list":[2000000,0,0,1]})"));
  EXPECT_EQ(std::make_tuple(data["created"], data["departures"], data["waves"]), std::make_tuple(1, 1, 1));
  enum : std::uint64_t { idle, runtime, main, one, two, three };
  const std::vector<std::vector<std::array<std::uint64_t, 3>>> spans{
      {{0, 1'000'000, idle},
       {1'000'000, 2'000'000, one},
       {3'000'000, 1'000'000, runtime},
       {4'000'000, 1'000'000, idle},
       {5'000'000, 500'000, three}},
      {{0, 2'000'000, idle}, {2'000'000, 100'000, runtime}, {2'100'000, 3'900'000, two}},
      {{0, 900'000, main}},
      {{0, 2'500'000, idle}, {2'500'000, 200'000, three}, {2'700'000, 800'000, runtime}, {3'500'000, 6'000'000, one}},
      {}};
  EXPECT_EQ(spans_of(data), spans);
}

TEST_F(known_page, for_a_page_has_cells_that_say_what_was_done_when) {
  const auto data = page();
  const std::string cells = bytes_of(data["bins"]["cells"].get<std::string>());
  const auto bins = data["bins"]["count"].get<std::size_t>();
  ASSERT_EQ(cells.size(), 4 * 5 * bins);
  const auto cell = [&](std::size_t row, std::size_t us) {
    const std::size_t position = 4 * (row * bins + us * bins / 10'000);
    std::array<int, 4> four{};
    for (std::size_t index = 0; index < 4; ++index) four[index] = static_cast<unsigned char>(cells[position + index]);
    return four;
  };
  using four = std::array<int, 4>;
  EXPECT_EQ(cell(0, 500), (four{0, 0, 255, 0}));
  EXPECT_EQ(cell(0, 2000), (four{255, 0, 0, 1}));
  EXPECT_EQ(cell(0, 3500), (four{0, 255, 0, 0}));
  EXPECT_EQ(cell(0, 7000), (four{0, 0, 0, 0})) << "it has come to rest";
  EXPECT_EQ(cell(1, 4000), (four{255, 0, 0, 2}));
  EXPECT_EQ(cell(2, 400), (four{255, 0, 0, 255})) << "the main";
  EXPECT_EQ(cell(3, 6000), (four{255, 0, 0, 1}));
}

TEST_F(known_page, for_a_small_page_keeps_the_longest) {
  page_bounds small;
  small.spans = 2;
  const auto spans = spans_of(page(small));
  ASSERT_EQ(spans.size(), 5U);
  using list = std::vector<std::array<std::uint64_t, 3>>;
  EXPECT_EQ(spans[1], (list{{2'100'000, 3'900'000, 4}}));
  EXPECT_EQ(spans[3], (list{{3'500'000, 6'000'000, 3}}));
  EXPECT_TRUE(spans[0].empty() && spans[2].empty() && spans[4].empty());
  page_bounds rows;
  rows.rows = 2;
  rows.matrix_sides = 1;
  const auto two = page(rows);
  EXPECT_EQ(two["rows"], nlohmann::json::parse("[[0,0,0,0,3,5900000,900000,1600000,4000000,3,2],"
                                               "[1,0,0,1,2,6000000,0,1000000,2500000,1,0]]"));
  EXPECT_EQ(two["messages"], nlohmann::json::parse(R"({"sides":1,"group":2,"count":[3],"bytes":[310]})"));
  EXPECT_EQ(two["migrations"]["list"], nlohmann::json::parse("[1500000,1100000,0,1]"));
  EXPECT_EQ(two["spans"]["ends"].size(), 0U) << "rows of several tracks have none";
}

TEST_F(known_page, as_a_page_is_not_ended_by_a_name_in_it) {
  {
    trace::file_writer file(path_);
    trace::job_description job;
    job.program = "a</script>b";
    tell_job(file, job);
  }
  write_html(trace::trace_log(path_), path_ + ".json");
  const std::string page = text_of(path_ + ".json");
  EXPECT_EQ(page.find("a</script>b"), std::string::npos);
  EXPECT_NE(page.find("a<\\/script>b"), std::string::npos);
}

}  // namespace
}  // namespace nacre::tool
