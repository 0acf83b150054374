// SPDX-License-Identifier: Apache-2.0
// Programs are traced and the command `nacre report` shows what they did, in every format.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sanitized.hpp"
#include "launched.hpp"

namespace {

using namespace nacre::tests;

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The numbers at the beginning of a line's words.
std::vector<double> numbers_of(const std::string& line) {
  std::istringstream words(line);
  std::vector<double> numbers;
  for (double each = 0; words >> each;) numbers.push_back(each);
  return numbers;
}

class report : public testing::Test {
 protected:
  report() : folder_(testing::TempDir() + "nacre_report_XXXXXX") {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
    trace_ = folder_ + "/run.trace";
  }
  ~report() override { std::filesystem::remove_all(folder_); }

  /// A simulated job whose objects migrate.
  void simulate(const std::string& ranks = "6") const {
    const outcome got = launched({NACRE_BIN_DIR "/uts", "--type=geometric", "--shape=fixed", "--depth=9", "--seed=19",
                                  "--quiet", "--nacre.transport=sim", "--nacre.ranks=" + ranks, "--nacre.workers=2",
                                  "--nacre.trace=" + trace_, "--nacre.summary_json=" + folder_ + "/summary"})
                            .end();
    ASSERT_EQ(code_of(got), 0) << got.errors;
  }
  outcome report_as(const std::string& format) const {
    const outcome got = nacre_command({"report", trace_, "--format", format});
    EXPECT_EQ(code_of(got), 0) << got.errors;
    return got;
  }
  std::string folder_;
  std::string trace_;
};

TEST_F(report, as_text_of_a_job_of_processes_adds_up_what_all_ranks_did) {
  const outcome ran =
      launched({NACRE_BIN_DIR "/nacre", "run", "-n", "3", NACRE_BIN_DIR "/uts", "--tree=T1", "--quiet",
                "--nacre.workers=2", "--nacre.trace=" + trace_, "--nacre.summary_json=" + folder_ + "/s"})
          .end();
  ASSERT_EQ(code_of(ran), 0) << ran.errors;
  const auto told = nlohmann::json::parse(text_of(folder_ + "/s"));
  const outcome got = report_as("text");
  EXPECT_EQ(got.errors, "");
  std::map<std::pair<int, int>, std::vector<double>> tracks;
  for (const std::string& line : lines_of(got.output)) {
    const auto numbers = numbers_of(line);
    if (numbers.size() == 8) tracks[{static_cast<int>(numbers[0]), static_cast<int>(numbers[1])}] = numbers;
  }
  ASSERT_EQ(tracks.size(), 6U) << got.output;
  const double seconds = std::strtod(got.output.c_str() + std::string("uts: ").size(), nullptr);
  EXPECT_NEAR(seconds, told["seconds"].get<double>(), 0.1 * seconds + 0.05);
  double work = 0;
  for (const auto& row : told["workers"]) {
    const auto& value = tracks.at({row["rank"], row["worker"]});
    work += value[2];
    EXPECT_NEAR(value[2] + value[4] + value[5], seconds, 0.01 * seconds)
        << "a worker always works, idles or is at the runtime's";
    EXPECT_GE(value[6], row["handlers"].get<double>()) << "threads go on after the summary's counters have been read";
  }
  EXPECT_GT(work, 0);
  std::uint64_t moved = 0;
  for (const auto& row : told["ranks"]) moved += row["migrations_out"].get<std::uint64_t>();
  EXPECT_NE(got.output.find(", " + std::to_string(moved) + " migrations,"), std::string::npos) << got.output;
}

TEST_F(report, of_a_part_that_is_missing_says_so) {
  const outcome ran = launched({NACRE_BIN_DIR "/nacre", "run", "-n", "2", NACRE_BIN_DIR "/uts", "--depth=5", "--quiet",
                                "--nacre.workers=1", "--nacre.trace=" + trace_})
                          .end();
  ASSERT_EQ(code_of(ran), 0) << ran.errors;
  std::filesystem::remove(trace_ + ".1");
  const std::string said = "There is no file " + trace_ + ".1: rank 1 is missing.\n";
  EXPECT_EQ(report_as("html").errors, "nacre: " + said);
  const outcome text = report_as("text");
  EXPECT_EQ(text.errors, "") << "once is enough";
  EXPECT_TRUE(text.output.starts_with("note: " + said)) << text.output;
}

TEST_F(report, takes_the_file_of_any_rank_alone) {
  const outcome ran = launched({NACRE_BIN_DIR "/nacre", "run", "-n", "2", NACRE_BIN_DIR "/uts", "--depth=5", "--quiet",
                                "--nacre.workers=1", "--nacre.trace=" + trace_})
                          .end();
  ASSERT_EQ(code_of(ran), 0) << ran.errors;
  for (const int rank : {0, 1}) {
    const outcome got = nacre_command({"report", trace_ + "." + std::to_string(rank), "--format", "text"});
    EXPECT_EQ(code_of(got), 0) << got.errors;
    EXPECT_TRUE(got.output.starts_with("note: There is nothing of rank " + std::to_string(1 - rank) + " in it.\nuts: "))
        << got.output;
  }
  std::filesystem::remove(trace_ + ".0");
  const outcome got = nacre_command({"report", trace_});
  EXPECT_EQ(code_of(got), 2);
  EXPECT_NE(got.errors.find("the file of rank 0 is missing beside '" + trace_ + ".1'"), std::string::npos)
      << got.errors;
}

TEST_F(report, of_a_trace_that_could_not_grow_says_so) {
  const outcome ran = launched({"/bin/sh", "-c",
                                "trap '' XFSZ; ulimit -f 8; exec " NACRE_BIN_DIR
                                "/uts --type=geometric --shape=fixed --depth=9 --seed=19 --quiet --nacre.transport=sim "
                                "--nacre.ranks=6 --nacre.trace=" +
                                    trace_})
                          .end();
  EXPECT_EQ(code_of(ran), 1) << ran.errors;
  ASSERT_NE(ran.errors.find("ends here: File too large"), std::string::npos) << ran.errors;
  const std::string output = report_as("text").output;
  EXPECT_TRUE(output.starts_with("note: There is no end of what ranks ")) << output;
  EXPECT_NE(output.find(" and 5 wrote: the job was killed, the file could not grow,"), std::string::npos) << output;
}

TEST_F(report, of_no_trace_or_in_no_format_is_refused) {
  const outcome none = nacre_command({"report", trace_});
  EXPECT_EQ(code_of(none), 2);
  EXPECT_EQ(none.errors, "nacre: there is no trace '" + trace_ + "', nor '" + trace_ +
                             ".0' (a report shows what a traced run has written): run the program with --nacre.trace=" +
                             trace_ + "\n");
  const outcome odd = nacre_command({"report", trace_, "--format", "perfeto"});
  EXPECT_EQ(code_of(odd), 2);
  EXPECT_NE(odd.errors.find("there is no format 'perfeto' (--format says what is written): did you mean perfetto?"),
            std::string::npos);
}

TEST_F(report, for_perfetto_has_all_that_the_trace_has) {
  simulate();
  report_as("perfetto");
  const auto read = nlohmann::json::parse(text_of(trace_ + ".json"));
  const auto told = nlohmann::json::parse(text_of(folder_ + "/summary"));
  std::map<std::string, int> phases;
  std::map<std::pair<int, int>, double> last;
  int moves = 0;
  for (const auto& each : read["traceEvents"]) {
    const std::string phase = each["ph"];
    ++phases[phase];
    moves += phase == "f" && each["name"] == "migration" ? 1 : 0;
    if (phase != "X") continue;
    double& end = last[{each["pid"], each["tid"]}];
    EXPECT_GE(each["ts"].get<double>(), end - 1e-3) << "slices of a thread context do not overlap";
    end = each["ts"].get<double>() + each["dur"].get<double>();
    EXPECT_LE(end, told["seconds"].get<double>() * 1e6 + 1);
  }
  int moved = 0;
  for (const auto& row : told["ranks"]) moved += row["migrations_in"].get<int>();
  EXPECT_GT(moves, 0);
  EXPECT_EQ(moves, moved);
  EXPECT_EQ(phases["s"], phases["f"]);
  EXPECT_GT(phases["X"], 100);
}

TEST_F(report, for_paraver_is_in_order_and_within_its_header) {
  simulate();
  report_as("paraver");
  const std::vector<std::string> lines = lines_of(text_of(trace_ + ".prv"));
  const std::string& head = lines.front();
  ASSERT_TRUE(head.starts_with("#Paraver (01/01/00 at 00:00):")) << head;
  const double end = std::strtod(head.c_str() + head.find("):") + 2, nullptr);
  const std::vector<std::string> rows = lines_of(text_of(trace_ + ".row"));
  const int tracks = std::atoi(rows.front().c_str() + std::string("LEVEL CPU SIZE ").size());
  EXPECT_GE(tracks, 12);
  double last = 0;
  std::map<char, int> kinds;
  for (std::size_t index = 1; index < lines.size(); ++index) {
    std::string words = lines[index];
    std::replace(words.begin(), words.end(), ':', ' ');
    const auto numbers = numbers_of(words);
    ++kinds[lines[index].front()];
    ASSERT_EQ(numbers.size(), lines[index].front() == '3' ? 15U : 8U) << lines[index];
    EXPECT_LE(numbers[1], tracks);
    EXPECT_GE(numbers[5], last);
    last = numbers[5];
    EXPECT_LE(last, end);
  }
  EXPECT_GT(kinds['1'], 100);
  EXPECT_GT(kinds['2'], 50);
  EXPECT_GT(kinds['3'], 0);
  EXPECT_NE(text_of(trace_ + ".pcf").find("part::go_on"), std::string::npos);
}

TEST_F(report, for_vampir_is_read_back_by_otf2_print) {
  const std::string formats = nacre_command({"report", "--help"}).output;
  if (formats.find("otf2") == std::string::npos) GTEST_SKIP() << "built without OTF2 (libopen-trace-format2-dev)";
  if (std::system("command -v otf2-print >/dev/null") != 0) GTEST_SKIP() << "there is no otf2-print (otf2-tools)";
  simulate();
  report_as("otf2");
  const outcome read = launched({"otf2-print", trace_ + ".otf2/traces.otf2"}).end();
  EXPECT_EQ(code_of(read), 0) << read.errors;
  const auto count = [&](std::string_view word) {
    int found_count = 0;
    for (const std::string& line : lines_of(read.output)) found_count += line.starts_with(word) ? 1 : 0;
    return found_count;
  };
  int moved = 0;
  const auto told = nlohmann::json::parse(text_of(folder_ + "/summary"));
  for (const auto& row : told["ranks"]) moved += row["migrations_in"].get<int>();
  EXPECT_GT(count("ENTER"), 100);
  EXPECT_EQ(count("ENTER"), count("LEAVE"));
  EXPECT_EQ(count("MPI_SEND"), moved);
  EXPECT_EQ(count("MPI_RECV"), moved);
}

TEST_F(report, for_vampir_where_there_is_no_room_is_refused_and_leaves_nothing) {
  const std::string formats = nacre_command({"report", "--help"}).output;
  if (formats.find("otf2") == std::string::npos) GTEST_SKIP() << "built without OTF2 (libopen-trace-format2-dev)";
  simulate();
  // Blocks of 512 bytes: the first write fails, or one in the middle, which the library hides, or at the end.
  for (const int blocks : {0, 1, 8, 16, 64}) {
    const outcome got = launched({"/bin/sh", "-c",
                                  "trap '' XFSZ; ulimit -f " + std::to_string(blocks) +
                                      "; exec " NACRE_BIN_DIR "/nacre report " + trace_ + " --format otf2"})
                            .end();
    if (code_of(got) == 0) {
      EXPECT_GT(blocks, 1) << "it has room in so little";
      EXPECT_EQ(got.errors, "");
      std::filesystem::remove_all(trace_ + ".otf2");
      continue;
    }
    EXPECT_EQ(code_of(got), 2) << blocks << " blocks: " << got.errors;
    EXPECT_TRUE(got.errors.starts_with("nacre: the archive cannot be written: ")) << got.errors;
    EXPECT_EQ(lines_of(got.errors).size(), 1U) << got.errors;
    EXPECT_FALSE(std::filesystem::exists(trace_ + ".otf2"));
  }
}

/// The page as a browser has made it; nothing where there is none.
std::optional<outcome> browse(const std::string& page, const std::string& folder) {
  if (std::system("command -v chromium >/dev/null") != 0) return std::nullopt;
  return launched({"chromium", "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                   "--user-data-dir=" + folder + "/browser", "--dump-dom", "file://" + page})
      .end();
}

/// A page shows what it has without a network.
void expect_self_contained(const std::string& page) {
  for (const char* mark : {"src=", "href=", "@import", "@data@", "@style@", "@script@"}) {
    EXPECT_EQ(page.find(mark), std::string::npos) << mark;
  }
}

TEST_F(report, as_a_page_shows_some_migrations_as_lines_and_thousands_as_a_density_and_a_small_matrix_small) {
  if (sanitized) GTEST_SKIP() << "the page is the same";
  const auto page_of = [&](const std::string& balancer, const std::string& values) -> std::optional<std::string> {
    const outcome ran = launched({NACRE_BIN_DIR "/netsort", "--values=" + values, "--nacre.transport=sim",
                                  "--nacre.ranks=2", "--nacre.balancer=" + balancer, "--nacre.trace=" + trace_})
                            .end();
    EXPECT_EQ(code_of(ran), 0) << ran.errors;
    report_as("html");
    const auto seen = browse(trace_ + ".html", folder_);
    if (!seen) return std::nullopt;
    EXPECT_EQ(seen->errors.find("CONSOLE"), std::string::npos) << seen->errors;
    return seen->output;
  };
  const auto few = page_of("none", "16");
  if (!few) GTEST_SKIP() << "no chromium here: the page was not opened";
  EXPECT_NE(few->find("data-drawn=\"0 lines, 0 bands\""), std::string::npos);
  EXPECT_NE(few->find("data-matrix=\"88\""), std::string::npos) << "two cells of 44 pixels";
  const auto many = page_of("random", "1024");
  EXPECT_NE(many->find("data-drawn=\"0 lines, 1 bands\""), std::string::npos);
}

TEST_F(report, as_a_page_needs_no_network_and_shows_every_worker) {
  simulate();
  report_as("html");
  const std::string page = text_of(trace_ + ".html");
  EXPECT_LT(page.size(), std::size_t{20} << 20);
  expect_self_contained(page);
  if (sanitized) return;
  const auto seen = browse(trace_ + ".html", folder_);
  if (!seen) GTEST_SKIP() << "no chromium here: the page was not opened";
  EXPECT_EQ(seen->errors.find("CONSOLE"), std::string::npos) << seen->errors;
  EXPECT_NE(seen->output.find("data-shown=\"1"), std::string::npos) << seen->errors;
  EXPECT_NE(seen->output.find("part::go_on"), std::string::npos);
}

TEST_F(report, of_an_emulation_is_a_page_of_its_own) {
  const outcome ran = launched({NACRE_BIN_DIR "/emulate", "--program=octree", "--grid=9x8x7", "--critical-path",
                                "--quiet", "--profile=" + trace_, "--nacre.ranks=2", "--nacre.workers=1"})
                          .end();
  ASSERT_EQ(code_of(ran), 0) << ran.errors;
  const outcome got = nacre_command({"report", trace_, "--slice", "x=4"});
  EXPECT_EQ(code_of(got), 0) << got.errors;
  expect_self_contained(text_of(trace_ + ".html"));
  if (sanitized) return;
  const auto seen = browse(trace_ + ".html", folder_);
  if (!seen) GTEST_SKIP() << "no chromium here: the page was not opened";
  EXPECT_EQ(seen->errors.find("CONSOLE"), std::string::npos) << seen->errors;
  EXPECT_NE(seen->output.find("data-drawn=\"56 lines, "), std::string::npos) << seen->output;
  EXPECT_NE(seen->output.find("receive_box"), std::string::npos);
}

}  // namespace
