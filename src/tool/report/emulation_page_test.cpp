// SPDX-License-Identifier: Apache-2.0
// The page of an emulation with known cells, compared number by number.
#include "tool/report/emulation_page.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include <nacre/error.hpp>
#include "tool/report/base64.hpp"
#include "tool/report/report.hpp"

namespace nacre::tool {
namespace {

/// 3 x 2 x 2 nodes of 4 threads, three bins of 8 ns, of which the last has 4.
class known_emulation : public testing::Test {
 protected:
  known_emulation() : path_(testing::TempDir() + "nacre_emulation_" + std::to_string(getpid())) {
    emulator::profile_head head;
    head.title = "known</script>";
    head.machine = {.grid = {3, 2, 2}, .threads = 4, .hop = std::chrono::nanoseconds(5)};
    head.counts.end = std::chrono::nanoseconds(20);
    head.counts.messages = 9;
    head.counts.by_hops = {2, 4, 0, 3};
    head.path.known = true;
    head.path.longest = {{.at = {2, 1, 0}, .thread = 3, .handler = "f<int>", .waited = true}};
    head.bin_ns = 8;
    head.bins = 3;
    std::vector<std::uint64_t> cells(12 * 3);
    cells[3 * at(2, 1, 1) + 0] = 8;   // a quarter
    cells[3 * at(2, 1, 1) + 2] = 16;  // all of the last, shorter bin
    cells[3 * at(0, 0, 0) + 1] = 1;
    std::vector<std::uint64_t> handlers(12);
    handlers[at(2, 1, 1)] = 7;
    handlers[at(0, 0, 0)] = 2;
    handlers[at(1, 0, 0)] = 3;  // which take no time
    emulator::profile_output(path_).write(head, {handlers, cells});
    profile_.emplace(path_);
  }
  ~known_emulation() override {
    for (const char* end : {"", ".html"}) std::filesystem::remove(path_ + end);
  }
  static std::size_t at(std::size_t x, std::size_t y, std::size_t z) { return x + 3 * (y + 2 * z); }
  [[nodiscard]] nlohmann::json page(const std::string& plane, const emulation_page_bounds& bounds = {}) const {
    return nlohmann::json::parse(
        emulation_page_data(*profile_, slice_of(plane, profile_->head().machine.grid), bounds));
  }

  std::string path_;
  std::optional<emulator::profile_input> profile_;
};

TEST_F(known_emulation, has_a_plane_whose_cells_are_parts_of_the_busiest) {
  const auto z1 = page("z=1")["plane"];
  EXPECT_EQ(z1["width"], 3);
  EXPECT_EQ(z1["height"], 2);
  std::string expected(3 * 6, '\0');
  expected[3 * 5 + 0] = 64;  // 255 / 4, rounded up
  expected[3 * 5 + 2] = '\xff';
  EXPECT_EQ(z1["cells"], base64(expected));
  EXPECT_EQ(page("")["plane"], z1) << "the middle";
  const auto x2 = page("x=2")["plane"];
  EXPECT_EQ(x2["width"], 2) << "y";
  expected.assign(3 * 4, '\0');
  expected[3 * 3 + 0] = 64;
  expected[3 * 3 + 2] = '\xff';
  EXPECT_EQ(x2["cells"], base64(expected));
  const auto y0 = page("y=0")["plane"];
  EXPECT_EQ(y0["height"], 2) << "z";
  expected.assign(3 * 6, '\0');
  expected[1] = 8;  // 1 of 32 thread-nanoseconds
  EXPECT_EQ(y0["cells"], base64(expected));
}

TEST_F(known_emulation, shares_squares_of_a_plane_that_is_too_large) {
  const auto shared = page("z=1", {.cells = 6})["plane"];
  EXPECT_EQ(shared["group"], 2);
  std::string expected(3 * 2, '\0');
  expected[3 * 1 + 0] = 32;  // one of two nodes at the edge
  expected[3 * 1 + 2] = '\x80';
  EXPECT_EQ(shared["cells"], base64(expected));
}

TEST_F(known_emulation, counts_all_nodes_by_how_busy_they_were) {
  const auto nodes = page("z=0")["nodes"];
  EXPECT_EQ(nodes["most_cell"], 1.0);
  EXPECT_EQ(nodes["most_node"], 24.0 / 80);
  std::vector<std::uint64_t> by_time(21 * 3), overall(21);
  by_time[0] = by_time[1] = by_time[2] = 11;
  by_time[6 * 3 + 0] = 1;   // a quarter is in the band above 5 of 20
  by_time[1 * 3 + 1] = 1;   // a little
  by_time[20 * 3 + 2] = 1;  // the busiest
  overall[0] = 10;
  overall[1] = 1;
  overall[20] = 1;
  EXPECT_EQ(nodes["by_time"], by_time);
  EXPECT_EQ(nodes["overall"], overall);
  EXPECT_EQ(page("z=0")["nodes_that_work"], 3);
  EXPECT_EQ(page("z=0")["most_handlers"], 7);
  EXPECT_EQ(page("z=0")["busy_ns"], 25);
}

TEST_F(known_emulation, has_bars_of_hops_and_the_critical_path) {
  EXPECT_EQ(page("")["hops"], nlohmann::json::parse(R"({"group":1,"packets":[2,4,0,3]})"));
  EXPECT_EQ(page("", {.hop_bars = 3})["hops"], nlohmann::json::parse(R"({"group":2,"packets":[6,3]})"));
  EXPECT_EQ(page("")["path"]["longest"], nlohmann::json::parse(R"x([[0,0,0,true,"(2, 1, 0)",3,"f<int>"]])x"));
}

TEST_F(known_emulation, as_text_tells_hops_and_the_critical_path) {
  const std::string text = emulation_text(*profile_);
  for (const char* words :
       {"0.020 us of virtual time on 3 x 2 x 2 nodes of 4 threads", "3 nodes of 12 ran handlers, one of them 7",
        "all threads were busy for 2.6042 % of the time", "f<int>", "waited for its thread"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << " in " << text;
  }
}

TEST_F(known_emulation, refuses_planes_that_are_none) {
  for (const char* wrong : {"z", "z=", "z=2", "z=-1", "w=0", "z=1x", "=1", "zz=1", "x=3", "z=99999999999"}) {
    EXPECT_THROW(static_cast<void>(slice_of(wrong, {3, 2, 2})), setup_error) << wrong;
  }
}

TEST_F(known_emulation, is_recognised_by_the_report_and_written_as_one_page) {
  EXPECT_EQ(write_report({.trace = path_, .slice = "y=1"}), 0);
  EXPECT_GT(std::filesystem::file_size(path_ + ".html"), 10'000U);
  EXPECT_THROW(write_report({.trace = path_, .format = "perfetto"}), setup_error);
  EXPECT_THROW(write_report({.trace = path_, .slice = "y=2"}), setup_error);
  EXPECT_THROW(write_report({.trace = path_ + ".html", .slice = "y=1"}), setup_error) << "a trace has no planes";
}

}  // namespace
}  // namespace nacre::tool
