// SPDX-License-Identifier: Apache-2.0
// Modules are code: they are looked for in absolute folders only, whatever the current folder holds.
#include "transport/module_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <nacre/error.hpp>

namespace nacre::transport {
namespace {

namespace fs = std::filesystem;

TEST(module_folders, stand_for_absolute_paths_or_for_nothing) {
  const std::vector<fs::path> expected{"/prog/lib", "/opt/x", "/prog/bin/y"};
  EXPECT_EQ(absolute_folders("$ORIGIN/../lib:lib::.:/opt/x:${ORIGIN}/y:$LIB/z:/a/$PLATFORM:$ORIGIN/$LIB", "/prog/bin"),
            expected);
  EXPECT_EQ(absolute_folders("$ORIGIN/../lib:lib:/opt/x", ""), std::vector<fs::path>{"/opt/x"});
  EXPECT_TRUE(absolute_folders("", "/prog/bin").empty());
}

TEST(module_folders, are_never_in_the_current_folder) {
  // This program is linked with the run path $ORIGIN/../run_path_of_tests.
  const fs::path previous = fs::current_path();
  const fs::path path = fs::path(testing::TempDir()) / ("nacre_module_" + std::to_string(::getpid()));
  const std::string name = "nacre_hostile.so";
  for (const char* folder : {"run_path_of_tests", "lib", "."}) {
    fs::create_directories(path / folder);
    std::ofstream(path / folder / name) << "hostile";
  }
  fs::current_path(path);
  const std::vector<fs::path> places = places_of_module(name, "");
  const fs::path* const file = find_module(places);
  EXPECT_EQ(file, nullptr) << file->string();
  fs::current_path(previous);
  fs::remove_all(path);

  const auto expected = fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "run_path_of_tests" / name;
  EXPECT_NE(std::find(places.begin(), places.end(), expected), places.end()) << list_places(places);
  for (const fs::path& each : places) EXPECT_TRUE(each.is_absolute()) << each;
}

TEST(module_folders, that_the_user_names_are_whole_paths) {
  EXPECT_EQ(places_of_module("a.so", "/nowhere"), std::vector<fs::path>{"/nowhere/a.so"});
  try {
    static_cast<void>(places_of_module("a.so", "lib"));
    FAIL() << "it depends on the current folder";
  } catch (const setup_error& error) {
    EXPECT_EQ(std::string(error.what()),
              "the folder lib of a.so is no whole path (what code is loaded must not depend on the current folder): "
              "write " +
                  (fs::current_path() / "lib").string());
  }
}

}  // namespace
}  // namespace nacre::transport
