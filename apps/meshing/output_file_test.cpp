// SPDX-License-Identifier: Apache-2.0
// Files that programs are about to write.
#include "meshing/output_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <nacre/error.hpp>

namespace meshing {
namespace {

TEST(OutputFile, that_is_checked_is_left_as_it_is) {
  const auto folder = std::filesystem::temp_directory_path() / ("nacre_output_file_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::string missing = folder / "missing.vtu", old = folder / "old.vtu";
  std::ofstream(old) << "of yesterday";
  check_output_file(missing);
  check_output_file(old);
  EXPECT_FALSE(std::filesystem::exists(missing)) << "the run may yet be refused";
  std::ifstream from(old);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(from), {}), "of yesterday");
  EXPECT_THROW(check_output_file(folder / "none" / "file.vtu"), nacre::setup_error);
  EXPECT_THROW(check_output_file(folder), nacre::setup_error);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace meshing
