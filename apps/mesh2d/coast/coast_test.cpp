// SPDX-License-Identifier: Apache-2.0
// Coastlines: what files may say, crossings, faces, and areas that are known.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include <nacre/error.hpp>
#include <nacre/rng.hpp>

#include "coast/coastlines.hpp"
#include "coast/planar_map.hpp"
#include "kernel/domain.hpp"

namespace mesh2d {
namespace {

constexpr int closed = 4;
int embedded(int points, int level, int entry, int exit) { return points << 9 | level << 6 | entry << 3 | exit; }

/// Bins of 30 degrees. A closed island in the first one, and one that lies in two bins of the second row.
gshhg_arrays two_islands() {
  gshhg_arrays result{.bin_minutes = 1800, .columns = 12, .rows = 6};
  result.first_segment.assign(72, 0);
  result.segments.assign(72, 0);
  result.segments[0] = result.segments[12] = result.segments[13] = 1;
  result.first_segment[12] = 1;
  result.first_segment[13] = 2;
  result.embedded = {embedded(4, 1, closed, closed), embedded(4, 1, 1, 1), embedded(4, 1, 3, 3)};
  result.first_point = {0, 4, 8};
  result.polygon = {0, 1, 1};
  result.km2 = {10, 1000};
  result.x = {10000, 20000, 20000, 10000, 65535, 60000, 60000, 65535, 0, 5000, 5000, 0};
  result.y = {10000, 10000, 20000, 20000, 30000, 30000, 20000, 20000, 20000, 20000, 30000, 30000};
  return result;
}

bool refused(const std::function<void()>& act) {
  try {
    act();
  } catch (const nacre::setup_error& error) {
    EXPECT_NE(std::string(error.what()).find('('), std::string::npos) << error.what();
    return true;
  }
  return false;
}

TEST(Gshhg, arrays_become_closed_coasts) {
  const coast_map map = map_of(two_islands(), "file.nc");
  EXPECT_EQ(map.turn, 12 * 65535 * coast_step);
  ASSERT_EQ(map.lines.size(), 3u);
  EXPECT_EQ(map.lines[0].points.front(), (grid_point{10000 * coast_step, (5 * 65535 + 10000) * coast_step}));
  EXPECT_EQ(map.lines[0].points.front(), map.lines[0].points.back());
  EXPECT_EQ(map.lines[2].points.front(), map.lines[1].points.back());
  EXPECT_EQ(map.lines[1].km2, 1000);
}

TEST(Gshhg, the_grounding_line_of_antarctica_is_left_out) {
  gshhg_arrays arrays = two_islands();
  arrays.embedded[0] = embedded(4, 6, closed, closed);
  EXPECT_EQ(map_of(arrays, "file.nc").lines.size(), 2u);
}

TEST(Gshhg, numbers_that_contradict_each_other_are_refused) {
  const std::vector<std::function<void(gshhg_arrays&)>> lies{
      [](gshhg_arrays& a) { a.columns = 11; },
      [](gshhg_arrays& a) { a.columns = -12; },
      [](gshhg_arrays& a) { a.rows = 5; },
      [](gshhg_arrays& a) { a.segments.pop_back(); },
      [](gshhg_arrays& a) { a.segments[0] = 30000; },
      [](gshhg_arrays& a) { a.segments[13] = -1; },
      [](gshhg_arrays& a) { a.segments[13] = 0; },
      [](gshhg_arrays& a) { a.first_segment[13] = 3; },
      [](gshhg_arrays& a) { a.first_segment[13] = -1; },
      [](gshhg_arrays& a) { a.first_point[2] = 9; },
      [](gshhg_arrays& a) { a.first_point[2] = -1; },
      [](gshhg_arrays& a) { a.first_point[2] = 2147483647; },
      [](gshhg_arrays& a) { a.first_point.pop_back(); },
      [](gshhg_arrays& a) { a.embedded[1] = embedded(0, 1, 1, 1); },
      [](gshhg_arrays& a) { a.embedded[1] = -1; },
      [](gshhg_arrays& a) { a.embedded[1] = embedded(4, 0, 1, 1); },
      [](gshhg_arrays& a) { a.embedded[1] = embedded(4, 1, 1, closed); },
      [](gshhg_arrays& a) { a.embedded[2] = embedded(3, 1, 3, 3); },  // its end is missing
      [](gshhg_arrays& a) { a.polygon[0] = 2; },
      [](gshhg_arrays& a) { a.y.pop_back(); },
      [](gshhg_arrays& a) { a.x[4] = 65534; },  // the two bins no longer meet
  };
  for (std::size_t k = 0; k < lies.size(); ++k) {
    gshhg_arrays arrays = two_islands();
    lies[k](arrays);
    EXPECT_TRUE(refused([&] { static_cast<void>(map_of(arrays, "file.nc")); })) << "lie " << k;
  }
}

void add_polygon(planar_map& map, const std::vector<grid_point>& corners, edge_kind kind) {
  const auto first = static_cast<std::uint32_t>(map.vertices.size()),
             count = static_cast<std::uint32_t>(corners.size());
  map.vertices.insert(map.vertices.end(), corners.begin(), corners.end());
  for (std::uint32_t k = 0; k < count; ++k) map.edges.push_back({first + k, first + (k + 1) % count, kind});
}

void add_square(planar_map& map, std::int64_t x, std::int64_t y, std::int64_t size, bool is_land, edge_kind kind) {
  std::vector<grid_point> corners{{x, y}, {x + size, y}, {x + size, y + size}, {x, y + size}};
  if (!is_land) std::reverse(corners.begin(), corners.end());
  add_polygon(map, corners, kind);
}

TEST(PlanarMap, squares_within_squares_are_told_apart_where_their_corners_are_level) {
  planar_map map;
  add_square(map, -100, -100, 200, true, edge_kind::border);
  for (const std::int64_t x : {-90, -40, 10}) {
    for (const std::int64_t y : {-90, -40, 10}) {
      add_square(map, x, y, 40, true, edge_kind::coast);
      add_square(map, x + 4, y + 4, 16, false, edge_kind::coast);
      add_square(map, x + 22, y + 4, 14, false, edge_kind::coast);
      add_square(map, x + 6, y + 6, 4, true, edge_kind::coast);
      add_polygon(map, {{x + 20, y + 21}, {x + 15, y + 30}, {x + 25, y + 30}}, edge_kind::coast);  // clockwise: a lake
    }
  }
  EXPECT_EQ(make_planar(map, "squares"), 0u);
  const std::vector<planar_face> faces = faces_of(map);
  const auto land = std::count_if(faces.begin(), faces.end(), [](const auto& each) { return each.is_land; });
  EXPECT_EQ(land, 9 * 2);
  EXPECT_EQ(faces.size(), 9u * 5 + 1);
  for (const planar_face& each : faces) EXPECT_TRUE(each.is_known);
}

TEST(PlanarMap, crossings_are_mended) {
  planar_map map;
  add_square(map, -50, -50, 100, true, edge_kind::border);
  add_square(map, 0, 0, 20, true, edge_kind::coast);
  add_square(map, 11, 7, 20, true, edge_kind::coast);                              // two crossings
  add_polygon(map, {{-40, 0}, {-20, 0}, {-40, 11}, {-20, 11}}, edge_kind::coast);  // a bow tie
  add_square(map, -20, -40, 10, true, edge_kind::coast);
  add_square(map, -10, -37, 4, true, edge_kind::coast);  // touches the last one: one land
  EXPECT_GE(make_planar(map, "crossing"), 3u);
  EXPECT_EQ(make_planar(map, "crossing"), 0u);
  const std::vector<planar_face> faces = faces_of(map);
  const auto land = std::count_if(faces.begin(), faces.end(), [](const auto& each) { return each.is_land; });
  EXPECT_GE(land, 3);
  EXPECT_EQ(std::count_if(faces.begin(), faces.end(),
                          [](const auto& each) { return each.x < -5 && each.y < -20 && each.is_land; }),
            1);
}

TEST(PlanarMap, random_triangles_end_without_crossings) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    nacre::rng random(seed);
    planar_map map;
    const std::uint64_t size = seed % 2 == 0 ? 40 : 100'000'000;
    const auto coordinate = [&] { return static_cast<std::int64_t>(random.below(size)) + 1; };
    for (int k = 0; k < 25; ++k) {
      const grid_point a{coordinate(), coordinate()}, b{coordinate(), coordinate()}, c{coordinate(), coordinate()};
      add_polygon(map, {a, b, c}, edge_kind::coast);
    }
    add_square(map, 0, 0, static_cast<std::int64_t>(size) + 1, true, edge_kind::border);
    make_planar(map, "random");
    for (std::size_t e = 0; e < map.edges.size(); ++e) {
      for (std::size_t f = 0; f < e; ++f) {
        const grid_point a = map.vertices[map.edges[e].begin], b = map.vertices[map.edges[e].end];
        const grid_point c = map.vertices[map.edges[f].begin], d = map.vertices[map.edges[f].end];
        const auto sign = [](std::int64_t value) { return value > 0 ? 1 : value < 0 ? -1 : 0; };
        ASSERT_FALSE(sign(turn_of(a, b, c)) * sign(turn_of(a, b, d)) < 0 &&
                     sign(turn_of(c, d, a)) * sign(turn_of(c, d, b)) < 0)
            << "seed " << seed;
      }
    }
    EXPECT_FALSE(faces_of(map).empty());
  }
}

double area_of(const pslg& input) { return make_domain(input).twice_area.value() / 2; }

/// Areas of land, sea and all.
std::array<double, 3> areas(const std::function<pslg(kept_side)>& read) {
  return {area_of(read(kept_side::land)), area_of(read(kept_side::sea)), area_of(read(kept_side::both))};
}

TEST(Coast, areas_on_the_map_are_those_on_the_earth) {
  // One island from 40 to 42 degrees of latitude and of longitude, in a region of 4 degrees.
  constexpr std::int64_t turn = std::int64_t{36} * 65535 * coast_step;
  coast_line island{.km2 = 1};
  const auto units = [](std::int64_t degrees) { return turn / coast_step * degrees / 360 * coast_step; };
  const auto place = [&](std::int64_t x, std::int64_t y) { island.points.push_back({units(x), units(y + 90)}); };
  place(40, 40);
  place(42, 40);
  place(42, 42);
  place(40, 42);
  place(40, 40);
  const coast_map map{.turn = turn, .lines = {island}};
  const auto on_sphere = [](double degrees, double south, double north) {
    constexpr double radian = std::numbers::pi / 180;
    return 6371.007 * 6371.007 * degrees * radian * (std::sin(north * radian) - std::sin(south * radian));
  };
  for (const auto kind : {projection_kind::mercator, projection_kind::stereographic, projection_kind::laea,
                          projection_kind::cea, projection_kind::equirectangular}) {
    const auto [land, sea, both] = areas([&](kept_side keep) {
      return coast_of(map, {.projected = kind, .keep = keep}, {39, 43, 39, 43}, "island");
    });
    EXPECT_NEAR((land + sea) / both, 1, 1e-12);
    const bool keeps_areas = kind == projection_kind::laea || kind == projection_kind::cea;
    const double error = keeps_areas ? 1e-3 : 1e-2;  // sides of two degrees are straight on the map
    EXPECT_NEAR(land / on_sphere(2, 40, 42), 1, error) << static_cast<int>(kind);
    EXPECT_NEAR(both / on_sphere(4, 39, 43), 1, error) << static_cast<int>(kind);
  }
  // The region cuts the island; it may be named on the other side of Greenwich.
  const auto [land, sea, both] = areas([&](kept_side keep) {
    return coast_of(map, {.projected = projection_kind::cea, .keep = keep}, {-319, -317, 40.5, 43}, "half");
  });
  EXPECT_NEAR(land / on_sphere(1, 40.5, 42), 1, 1e-4);
  EXPECT_NEAR((land + sea) / both, 1, 1e-12);
  EXPECT_TRUE(refused([&] { static_cast<void>(coast_of(map, {}, {0, 10, 0, 10}, "no coast")); }));
  EXPECT_TRUE(refused([&] { static_cast<void>(coast_of(map, {.km2_min = 2}, {39, 43, 39, 43}, "too small")); }));
  EXPECT_TRUE(refused([&] {
    static_cast<void>(coast_of(map, {.projected = projection_kind::mercator}, {0, 100, -90, 90}, "poles"));
  }));
  EXPECT_TRUE(refused([&] {
    static_cast<void>(coast_of(map, {.projected = projection_kind::laea}, {-180, 180, -80, 80}, "azimuthal"));
  }));
}

TEST(Coast, regions_are_read) {
  const geographic_region read = read_region("170/-150.5/-10/20");
  EXPECT_EQ(read.east, 209.5);
  EXPECT_EQ(read.south, -10);
  for (const char* bad :
       {"", "1/2/3", "1/2/3/4/", "1/2/4/3", "0/400/0/1", "a/2/3/4", "0/1/0/91", "1/1/0/1", "0/nan/0/1"}) {
    EXPECT_TRUE(refused([&] { static_cast<void>(read_region(bad)); })) << bad;
  }
}

constexpr const char* real_file = "/usr/share/gmt-gshhg/binned_GSHHS_l.nc";

TEST(Coast, land_and_sea_of_real_coasts_fill_the_region) {
  if (!std::filesystem::exists(real_file)) GTEST_SKIP() << "no " << real_file << " (gmt-gshhg-low)";
  const auto greek = areas([](kept_side keep) { return read_coast("greece", {.keep = keep}); });
  EXPECT_NEAR((greek[0] + greek[1]) / greek[2], 1, 1e-12);
  const auto of_world = areas([](kept_side keep) {
    return read_coast("world", {.projected = projection_kind::cea, .km2_min = 100, .keep = keep});
  });
  EXPECT_NEAR((of_world[0] + of_world[1]) / of_world[2], 1, 1e-12);
  EXPECT_NEAR(of_world[0] / 147e6, 1, 0.02);  // km2 of land, without lakes
  const std::size_t all = read_coast("norway", {}).holes.size(),
                    large = read_coast("norway", {.km2_min = 50}).holes.size();
  EXPECT_GT(all, 5 * large);
  EXPECT_GT(large, 10u);
}

TEST(Coast, broken_files_are_refused) {
  const std::string path = testing::TempDir() + "mesh2d_coast_" + std::to_string(getpid()) + ".nc";
  const auto complaint = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    return refused([&] { static_cast<void>(read_coast(path, {})); });
  };
  EXPECT_TRUE(refused([&] { static_cast<void>(read_coast("no_such_file.nc", {})); }));
  EXPECT_TRUE(complaint(""));
  EXPECT_TRUE(complaint("not a netCDF file"));
  if (std::filesystem::exists(real_file)) {
    std::ifstream file(real_file, std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(file), {}};
    for (const std::size_t part : {3, 10, 50, 90, 99})
      EXPECT_TRUE(complaint(whole.substr(0, whole.size() * part / 100))) << part;
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace mesh2d
