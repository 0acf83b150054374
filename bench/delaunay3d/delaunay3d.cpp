// SPDX-License-Identifier: Apache-2.0
// The kernel of mesh3d beside TetGen: Delaunay triangulations of the same points in the same run, in alternation.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <fmt/os.h>
#include <nlohmann/json.hpp>
#include <program_options.hpp>

#include <nacre/rng.hpp>

#include "figures_file.hpp"
#include "jobs.hpp"
#include "kernel/delaunay.hpp"
#include "kernel/refiner.hpp"
#include "plan/hull_points.hpp"
#include "plan/plan.hpp"

namespace {

using mesh3d::point;

struct plan {
  std::vector<std::string> clouds{"random", "mesh"};
  std::uint64_t points = 300'000;
  int runs = 5;
  std::uint64_t seed = 1;
  std::string json{};
};

/// Seconds of processor time, by clock() as TetGen counts its own.
struct timing {
  std::vector<double> seconds{};
  std::size_t tetrahedra = 0;

  void add(double each, std::size_t count) {
    seconds.insert(std::upper_bound(seconds.begin(), seconds.end(), each), each);
    tetrahedra = count;
  }
  [[nodiscard]] double median() const { return seconds[seconds.size() / 2]; }
  [[nodiscard]] double rate() const { return static_cast<double>(tetrahedra) / median(); }
};

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::vector<point> random_points(const plan& plan) {
  nacre::rng random(plan.seed);
  std::vector<point> points(plan.points);
  for (point& p : points) p = {random.uniform(), random.uniform(), random.uniform()};
  return points;
}

/// The vertices of a mesh of the cube of about so many points, without the cube's corners, and in no order. `refining`
/// gets the time that the refinement of the cube took.
std::vector<point> points_of_mesh(const plan& plan, timing& refining) {
  constexpr std::uint64_t tetrahedra_a_point = 6;
  const mesh3d::plan result = mesh3d::make_plan({.tetrahedra = plan.points * tetrahedra_a_point, .subdomains = 1});
  const double started = processor_seconds();
  mesh3d::triangulation mesh =
      mesh3d::triangulate({0, 0, 0}, {1, 1, 1}, mesh3d::hull_points(result.leaves.front(), result.rule.size));
  mesh3d::refine_state state;
  mesh3d::refiner refiner(mesh, result.rule);
  while (!refiner.refine(state, 1'000'000)) {
  }
  refining.add(processor_seconds() - started, mesh.count());
  std::vector<point> points(mesh.vertices.begin() + 8, mesh.vertices.end());
  nacre::rng random(plan.seed);
  for (std::size_t k = points.size(); k > 1; --k) std::swap(points[k - 1], points[random.below(k)]);
  return points;
}

/// With the corners of the cube, which are in every triangulation of a box.
void write_points(const std::vector<point>& points, const std::string& path) {
  auto file = fmt::output_file(path);
  file.print("{} 3 0 0\n", points.size() + 8);
  for (int k = 0; k < 8; ++k) file.print("{} {} {} {}\n", k, k & 1, k >> 1 & 1, k >> 2 & 1);
  for (std::size_t k = 0; k < points.size(); ++k) {
    file.print("{} {:.17g} {:.17g} {:.17g}\n", k + 8, points[k].x, points[k].y, points[k].z);
  }
}

/// The number behind `title` in what TetGen has printed.
double printed(const bench::outcome& got, const std::string& title) {
  for (const std::string& line : got.lines) {
    const std::size_t index = line.find(title);
    if (index != std::string::npos) return std::stod(line.substr(index + title.size()));
  }
  throw std::runtime_error(fmt::format("tetgen ended with {} and did not print '{}'", got.exit_code, title));
}

/// Options: neither files nor faces and edges are wanted.
void run_tetgen(const std::string& file, timing& timing) {
  const bench::outcome got = bench::run_command({"tetgen", "-NEFB", file});
  timing.add(printed(got, "Delaunay seconds:"), static_cast<std::size_t>(printed(got, "Mesh tetrahedra:")));
}

void run_kernel(const std::vector<point>& points, timing& timing) {
  const double started = processor_seconds();
  const mesh3d::triangulation mesh = mesh3d::triangulate({0, 0, 0}, {1, 1, 1}, points);
  timing.add(processor_seconds() - started, mesh.count());
}

void print_row(const std::string& name, const timing& timing) {
  fmt::print("  {:20}{:>12}{:>10.3f}{:>10.3f}{:>10.3f}{:>10.2f}\n", name, timing.tetrahedra, timing.median(),
             timing.seconds.front(), timing.seconds.back(), timing.rate() / 1e6);
}

nlohmann::ordered_json json_of(const timing& timing) {
  return {{"tetrahedra", timing.tetrahedra}, {"seconds", timing.seconds}, {"tetrahedra_per_second", timing.rate()}};
}

/// False where both programs make different numbers of tetrahedra.
bool compare(const plan& plan, const std::string& cloud, bool with_tetgen, nlohmann::ordered_json& json) {
  timing refining, ours, theirs;
  const std::vector<point> points = cloud == "random" ? random_points(plan) : points_of_mesh(plan, refining);
  const std::string file =
      (std::filesystem::temp_directory_path() / fmt::format("delaunay3d.{}.node", getpid())).string();
  if (with_tetgen) write_points(points, file);
  for (int k = 0; k < plan.runs; ++k) {
    run_kernel(points, ours);
    if (with_tetgen) run_tetgen(file, theirs);
  }
  std::filesystem::remove(file);
  fmt::print("{}: {} points\n  {:20}{:>12}{:>10}{:>10}{:>10}{:>10}\n", cloud, points.size() + 8, "", "tetrahedra",
             "seconds", "least", "most", "million/s");
  print_row("mesh3d", ours);
  nlohmann::ordered_json row{{"cloud", cloud}, {"points", points.size() + 8}, {"mesh3d", json_of(ours)}};
  if (with_tetgen) {
    print_row("TetGen", theirs);
    fmt::print("  mesh3d makes {:.2f} times the tetrahedra/s of TetGen\n", ours.rate() / theirs.rate());
    row["tetgen"] = json_of(theirs);
  }
  if (!refining.seconds.empty()) {
    print_row("mesh3d, refining", refining);
    row["refining"] = json_of(refining);
  }
  json.push_back(std::move(row));
  if (!with_tetgen || ours.tetrahedra == theirs.tetrahedra) return true;
  fmt::print("  The triangulations differ: of these points there is one only\n");
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  plan plan;
  nacre::program_options options(
      "delaunay3d",
      "The kernel of mesh3d beside the program tetgen, in a process of its own: Delaunay triangulations of the same "
      "points. Exits with 1 if these differ.");
  options.add("--clouds", plan.clouds, "Points at random in the cube, or those of a mesh of it")
      .one_of({"random", "mesh"});
  options.add("--points", plan.points, "About so many").between(100, 50e6);
  options.add("--runs", plan.runs, "Of each program; the median counts").between(1, 1000);
  options.add("--seed", plan.seed, "Of random numbers");
  options.add("--json", plan.json, "Write all figures to this file").called("FILE");
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  try {
    const bool with_tetgen = bench::on_path("tetgen");
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    bool alike = true;
    for (const std::string& cloud : plan.clouds) alike = compare(plan, cloud, with_tetgen, json) && alike;
    if (!with_tetgen) fmt::print("TetGen was skipped: no tetgen on PATH (Debian and Ubuntu: apt-get install tetgen)\n");
    bench::write_json(plan.json, json);
    return alike ? 0 : 1;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "delaunay3d: {}\n", problem.what());
    return 1;
  }
}
