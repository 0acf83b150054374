// SPDX-License-Identifier: Apache-2.0
// Files hold the mesh, as a reader of their format sees it.
#include "output/writers.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <nacre/error.hpp>

namespace mesh2d {
namespace {

whole_mesh two_triangles() {
  return {.points = {{0, 0}, {1, 0}, {1, 0.1}, {0, 1}},
          .on_boundary = {1, 1, 0, 1},
          .triangles = {{0, 1, 2}, {0, 2, 3}},
          .regions = {0, 1},
          .subdomains = {0, 5},
          .region_rules = {{}, {.attribute = 2.5}}};
}

TEST(Writers, node_and_ele_are_those_of_triangle) {
  std::ostringstream node, ele;
  write_node(two_triangles(), node);
  write_ele(two_triangles(), ele);
  EXPECT_EQ(node.str(), "4 2 0 1\n1 0 0 1\n2 1 0 1\n3 1 0.1 0\n4 0 1 1\n");
  EXPECT_EQ(ele.str(), "2 3 1\n1 1 2 3 0\n2 1 3 4 2.5\n");
}

/// The array of that name, by the offset that the text of the file gives.
template <class T>
std::vector<T> array_of(const std::string& file, const std::string& name) {
  std::smatch match;
  if (!std::regex_search(file, match, std::regex("Name=\"" + name + "\"[^>]*offset=\"([0-9]+)\""))) return {};
  const std::size_t begin = file.find("<AppendedData encoding=\"raw\">\n_") + 31 + std::stoul(match[1]);
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, file.data() + begin, sizeof(bytes));
  std::vector<T> values(bytes / sizeof(T));
  std::memcpy(values.data(), file.data() + begin + sizeof(bytes), bytes);
  return values;
}

TEST(Writers, vtu_has_every_array_where_its_text_says) {
  std::ostringstream output;
  write_vtu(two_triangles(), output);
  const std::string file = output.str();
  EXPECT_NE(file.find("NumberOfPoints=\"4\" NumberOfCells=\"2\""), std::string::npos);
  EXPECT_EQ(array_of<double>(file, "Points"), (std::vector<double>{0, 0, 0, 1, 0, 0, 1, 0.1, 0, 0, 1, 0}));
  EXPECT_EQ(array_of<std::int32_t>(file, "connectivity"), (std::vector<std::int32_t>{0, 1, 2, 0, 2, 3}));
  EXPECT_EQ(array_of<std::int64_t>(file, "offsets"), (std::vector<std::int64_t>{3, 6}));
  EXPECT_EQ(array_of<std::uint8_t>(file, "types"), (std::vector<std::uint8_t>{5, 5}));
  EXPECT_EQ(array_of<std::uint8_t>(file, "on_segment"), (std::vector<std::uint8_t>{1, 1, 0, 1}));
  EXPECT_EQ(array_of<std::uint32_t>(file, "subdomain"), (std::vector<std::uint32_t>{0, 5}));
  EXPECT_EQ(array_of<double>(file, "region"), (std::vector<double>{0, 2.5}));
}

TEST(Writers, svg_has_a_path_for_each_subdomain_with_y_upwards) {
  std::ostringstream output;
  write_svg(two_triangles(), output);
  const std::string file = output.str();
  EXPECT_NE(file.find("d=\"M0.00 900.00L900.00 900.00L900.00 810.00Z\"/>"), std::string::npos) << file;
  EXPECT_NE(file.find("d=\"M0.00 900.00L900.00 810.00L0.00 0.00Z\"/>"), std::string::npos) << file;
}

TEST(Writers, write_over_nothing_that_is_read) {
  const std::string stem = testing::TempDir() + "mesh2d_read_" + std::to_string(getpid());
  std::ofstream(stem + ".poly") << "0 2 0 0";
  std::ofstream(stem + ".node") << "1 2 0 0";
  EXPECT_THROW(check_output_name(stem, stem + ".poly"), nacre::setup_error);
  EXPECT_NO_THROW(check_output_name(stem + "_of_it", stem + ".poly"));
  for (const char* ending : {".poly", ".node"}) std::filesystem::remove(stem + ending);
}

TEST(Writers, refuse_unknown_formats_and_places) {
  EXPECT_THROW(check_output_name("mesh.obj", "pipe"), nacre::setup_error);
  for (const char* name : {"mesh.vtu", "mesh.svg", "mesh", "some.folder/mesh"})
    EXPECT_NO_THROW(check_output_name(name, "pipe"));
  EXPECT_THROW(write_mesh(two_triangles(), "no_such_folder/mesh.vtu"), std::runtime_error);
}

}  // namespace
}  // namespace mesh2d
