// SPDX-License-Identifier: Apache-2.0
// Files of bodies: what is written is read again, and what is wrong is named.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "models/model.hpp"
#include "output/snapshot.hpp"

#ifdef NBODY_HAS_HDF5
#include <hdf5.h>
#endif

namespace nbody {
namespace {

std::string file_named(const std::string& name) { return testing::TempDir() + "nbody_snapshot_" + name; }

snapshot some() { return {2.5, bodies_of_model({.kind = model_kind::plummer, .bodies = 50, .seed = 1}, 0, 50)}; }

std::string problem_of(const std::string& name) {
  try {
    static_cast<void>(read_snapshot(name));
  } catch (const nacre::setup_error& error) {
    return error.what();
  }
  return "none";
}

void expect_same(const std::string& name) {
  const snapshot written = some();
  write_snapshot(name, written);
  const snapshot match = read_snapshot(name);
  ASSERT_EQ(match.bodies.size(), 50u);
  for (std::size_t k = 0; k < 50; ++k) {
    EXPECT_EQ(match.bodies[k].place, written.bodies[k].place);
    EXPECT_EQ(match.bodies[k].velocity, written.bodies[k].velocity);
    EXPECT_EQ(match.bodies[k].mass, written.bodies[k].mass);
  }
}

TEST(Snapshot, of_text_is_read_as_it_was_written) {
  expect_same(file_named("a.txt"));
  EXPECT_EQ(read_snapshot(file_named("a.txt")).time, 2.5);
}

TEST(Snapshot, of_hdf5_is_read_as_it_was_written) {
  if (!has_hdf5()) GTEST_SKIP() << "built without libhdf5";
  expect_same(file_named("a.hdf5"));
  EXPECT_EQ(read_snapshot(file_named("a.hdf5")).time, 2.5);
}

TEST(Snapshot, of_hdf5_keeps_the_names_of_bodies) {
  if (!has_hdf5()) GTEST_SKIP() << "built without libhdf5";
  const std::string name = file_named("ids.hdf5");
  for (const std::uint64_t first : {std::uint64_t{7}, std::uint64_t{1} << 40}) {
    snapshot written = some();
    for (std::uint64_t k = 0; k < 50; ++k) written.ids.push_back(first + (k * 7) % 50);
    std::swap(written.bodies[3], written.bodies[8]);
    write_snapshot(name, written);
    EXPECT_EQ(read_snapshot(name).ids, written.ids);
  }
  write_snapshot(name, some());
  EXPECT_TRUE(read_snapshot(name).ids.empty());
}

TEST(Snapshot, of_hdf5_keeps_its_units) {
  if (!has_hdf5()) GTEST_SKIP() << "built without libhdf5";
  const std::string name = file_named("units.hdf5");
  snapshot written = some();
  EXPECT_EQ(gravity_of(written.units), 0);
  written.units = {3.085678e21, 1.989e43, 1e5};  // kpc, 1e10 solar masses, km/s
  write_snapshot(name, written);
  EXPECT_NEAR(gravity_of(read_snapshot(name).units) / 43007.1, 1, 1e-3);
  write_snapshot(name, some());
  EXPECT_EQ(gravity_of(read_snapshot(name).units), 0);
}

#ifdef NBODY_HAS_HDF5
void set_header(const std::string& name, const char* title, double value) {
  const hid_t file = H5Fopen(name.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t header = H5Gopen(file, "Header", H5P_DEFAULT);
  const hid_t attribute = H5Aopen(header, title, H5P_DEFAULT);
  EXPECT_GE(H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value), 0) << title;
  H5Aclose(attribute);
  H5Gclose(header);
  H5Fclose(file);
}

TEST(Snapshot, of_hdf5_in_an_expanding_or_periodic_space_is_refused) {
  const std::string name = file_named("space.hdf5");
  using numbers = std::vector<std::pair<const char*, double>>;
  const auto problem_with = [&](const vector3& shift, const numbers& header) {
    snapshot content = some();
    for (body& each : content.bodies) each.place = each.place + shift;
    write_snapshot(name, content);
    for (const auto& [title, value] : header) set_header(name, title, value);
    return problem_of(name);
  };
  const vector3 corner{500, 500, 500}, none{};
  const std::string far = problem_with(none, {{"Redshift", 2}, {"Time", 1.0 / 3}});
  EXPECT_NE(far.find("an expanding universe: Header has Redshift 2"), std::string::npos) << far;
  const std::string today = problem_with(none, {{"Time", 1}, {"Omega0", 0.3}});
  EXPECT_NE(today.find("an expanding universe"), std::string::npos) << today;
  const std::string periodic = problem_with(corner, {{"BoxSize", 1000}});
  EXPECT_NE(periodic.find("Header/BoxSize is 1000, and all bodies are in it"), std::string::npos) << periodic;
  EXPECT_EQ(problem_with(none, {{"BoxSize", 1000}}), "none");  // bodies around 0 are in no box that begins there
  EXPECT_EQ(problem_with(corner, {{"Time", 1}}), "none");
  EXPECT_EQ(problem_with(corner, {{"Omega0", 0.3}}), "none");
}
#endif

TEST(Snapshot, names_the_body_that_gravity_cannot_handle) {
  const std::string name = file_named("wrong.txt");
  const auto problem_with = [&](auto change) {
    snapshot content = some();
    change(content.bodies);
    write_text(name, content);
    return problem_of(name);
  };
  using all = std::vector<body>;
  const auto at_one_place = problem_with([](all& bodies) { bodies[9].place = bodies[4].place; });
  EXPECT_NE(at_one_place.find("bodies 4 and 9 are both at ("), std::string::npos) << at_one_place;
  const auto without_mass = problem_with([](all& bodies) { bodies[3].mass = 0; });
  EXPECT_NE(without_mass.find("the mass of body 3 at ("), std::string::npos) << without_mass;
  const auto lost = problem_with([](all& bodies) { bodies[8].place[1] = std::numeric_limits<double>::quiet_NaN(); });
  EXPECT_NE(lost.find("the place of body 8 is ("), std::string::npos) << lost;
  const auto fast = problem_with([](all& bodies) { bodies[2].velocity[0] = std::numeric_limits<double>::infinity(); });
  EXPECT_NE(fast.find("the velocity of body 2 is (inf"), std::string::npos) << fast;
}

TEST(Snapshot, names_the_line_that_is_no_body) {
  const std::string name = file_named("line.txt");
  std::ofstream(name) << "# bodies\n0 0 0 0 0 0 1\n1 0 0 0 x 0 1\n";
  EXPECT_NE(problem_of(name).find(":3: 'x' is no number"), std::string::npos) << problem_of(name);
  std::ofstream(name) << "0 0 0 0 0 1\n";
  EXPECT_NE(problem_of(name).find(":1: 6 numbers"), std::string::npos) << problem_of(name);
  std::ofstream(name) << "0 0 0 0 0 0 1\n1 0 0 0 0 0 1 7 8\n";
  EXPECT_NE(problem_of(name).find(":2: 9 numbers"), std::string::npos) << problem_of(name);
}

TEST(Snapshot, that_is_truncated_is_refused) {
  if (!has_hdf5()) GTEST_SKIP() << "built without libhdf5";
  const std::string name = file_named("cut.hdf5");
  write_snapshot(name, some());
  const auto whole = std::filesystem::file_size(name);
  for (const auto size : {whole - 8, whole / 2, whole / 8}) {
    std::filesystem::resize_file(name, size);
    EXPECT_NE(problem_of(name).find("cut.hdf5 is no HDF5 file, or a truncated one"), std::string::npos)
        << size << ": " << problem_of(name);
  }
}

}  // namespace
}  // namespace nbody
