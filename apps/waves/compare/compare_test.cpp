// SPDX-License-Identifier: Apache-2.0
// Misfits, and files of references.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nacre/error.hpp>

#include "compare/reference.hpp"
#include "output/report.hpp"

namespace waves {
namespace {

TEST(misfit, is_none_where_nothing_is_compared) {
  const trace computed{0, 1, {0, 1, 2, 1}};
  EXPECT_DOUBLE_EQ(relative_misfit(computed, {0, 1, {0, 2, 4, 2}}).value(), 0.5);
  EXPECT_DOUBLE_EQ(greatest_misfit(computed, {0, 1, {0, 2, 4, 2}}).value(), 0.5);
  for (const trace& unknown : {trace{100, 1, {1, 2, 3, 4}}, trace{0, 1, {0, 0, 0, 0}}, trace{}}) {
    EXPECT_FALSE(relative_misfit(computed, unknown).has_value());
    EXPECT_FALSE(greatest_misfit(computed, unknown).has_value());
  }
}

TEST(report, says_what_was_not_compared) {
  report result;
  EXPECT_EQ(report_text(result).find("misfit"), std::string::npos);
  result.has_reference = true;
  result.misfit_radial = 0.125;
  const std::string text = report_text(result);
  EXPECT_NE(text.find("radial 12.50 %, transverse not compared, vertical not compared"), std::string::npos) << text;
  EXPECT_NE(report_json(result).find("\"misfit_vertical\": null"), std::string::npos);
}

/// The words that refuse a reference of these lines; empty where they do not.
std::string refusal_of_lines(const std::string& lines) {
  const std::string file = testing::TempDir() + "waves_reference." + std::to_string(::getpid());
  std::ofstream(file) << lines;
  std::string words;
  try {
    static_cast<void>(read_reference(file));
  } catch (const nacre::setup_error& error) {
    words = error.what();
  }
  std::filesystem::remove(file);
  return words;
}

TEST(reference, has_times_that_rise_by_the_same_step) {
  EXPECT_EQ(refusal_of_lines("0 1 1 1\n0.1 1 1 1\n0.2 1 1 1\n0.3 1 1 1\n"), "");
  for (const char* lines : {"0 1 1 1\n0.1 1 1 1\n0.25 1 1 1\n0.3 1 1 1\n", "0 1 1 1\n0.2 1 1 1\n0.1 1 1 1\n0.3 1 1 1\n",
                            "0 1 1 1\n0 1 1 1\n0 1 1 1\n0 1 1 1\n", "3 1 1 1\n2 1 1 1\n1 1 1 1\n0 1 1 1\n"}) {
    const std::string words = refusal_of_lines(lines);
    EXPECT_NE(words.find("rise by the same step"), std::string::npos) << lines << words;
  }
}

}  // namespace
}  // namespace waves
