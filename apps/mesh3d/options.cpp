// SPDX-License-Identifier: Apache-2.0
// Declares the options.
#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <nacre/error.hpp>
#include <program_options.hpp>

#include "surface/shapes.hpp"

namespace mesh3d {
namespace {

constexpr const char* footer = R"(Examples:
  mesh3d --tetrahedra 1000000 --check
  mesh3d --size 0.05 --size-at 0.3,0.4,0.2,0.005,0.15 --subdomains 64 --out mesh.vtu                for ParaView
  mesh3d part.stl --tetrahedra 500000 --check --out part.vtu                  within a surface
  mesh3d torus --size 0.05 --keep both --out torus.svg
  mesh3d --size 0.08 --subdomains 30 --nacre.ranks=4 --out cut.svg
  mesh3d --tetrahedra 500000 --size-at 0.5,0.5,0.5,0.01 --weigh volume --nacre.ranks=2 --nacre.balancer=diffusion
  nacre run -n 2 mesh3d --tetrahedra 5000000 --check --json
  mesh3d --nacre.help                                                       options of the runtime

Exit code: 0 for a mesh, and for one that passes --check; 1 when the check finds a fault, or writing fails; 2 when the
options or the surface are wrong.)";

/// "X,Y,Z,LENGTH" or "X,Y,Z,LENGTH,GROWTH".
size_source read_source(const std::string& text) {
  std::array<double, 5> value{0, 0, 0, 0, 0.2};
  const bool complete = nacre::read_numbers(text, ',', value).value_or(0) >= 4;
  const bool bounded = std::all_of(value.begin(), value.end(), [](double each) { return std::abs(each) < 1e6; });
  if (complete && bounded && value[3] >= length_min && value[4] >= 0 && value[4] <= growth_max) {
    return {{value[0], value[1], value[2]}, value[3], value[4]};
  }
  throw nacre::setup_error({fmt::format("--size-at has no value '{}'", text),
                            fmt::format("it is X,Y,Z,LENGTH or X,Y,Z,LENGTH,GROWTH, with a length of at least {} and a "
                                        "growth of 0 to {}",
                                        length_min, growth_max),
                            "try --size-at 0.5,0.5,0.5,0.01,0.2"});
}

/// The surface, and what belongs to it.
void declare_surface(nacre::program_options& parser, options& asked) {
  parser
      .add(
          "input", asked.input,
          fmt::format("A closed surface: {}, or a file FILE.off, FILE.stl or FILE.obj. Without one, the cube is meshed",
                      shape_names))
      .called("SURFACE");
  parser.section("Surface");
  parser.add_choice("--keep", asked.keep,
                    {{"inside", sides::inside}, {"outside", sides::outside}, {"both", sides::both}},
                    "Which tetrahedra are kept: written, and counted by --tetrahedra");
  parser.add("--margin", asked.surface.margin, "Space between the surface and the cube around it, whose side is 1")
      .called("LENGTH")
      .between(0.01, 0.49);
  parser.add("--surface-size", asked.surface.length_max, "The greatest length of edges at the surface")
      .called("LENGTH")
      .between(length_min, 1)
      .otherwise("as elsewhere");
  parser
      .add("--curvature", asked.surface.edges_a_turn,
           "So many edges around a circle that curves like the surface; 0: curvature does not matter")
      .called("COUNT")
      .between(0, 1000);
  parser.add("--growth", asked.surface.growth, "How much longer edges are for each unit of distance from the surface")
      .called("GROWTH")
      .between(0, growth_max);
}

void declare(nacre::program_options& parser, options& asked, std::vector<std::string>& sources) {
  parser.section("Size of the tetrahedra");
  parser.add("--size", asked.size, "The greatest length that edges should have")
      .called("LENGTH")
      .between(length_min, 1)
      .otherwise("0.1, or by --tetrahedra");
  parser.add("--tetrahedra", asked.tetrahedra, "Choose lengths that give about so many; with a surface, that are kept")
      .called("COUNT")
      .between(1, 1e11)
      .otherwise("none");
  parser
      .add("--size-at", sources,
           "Edges of about LENGTH at (X, Y, Z), which is a place of the surface's file if there is one, and GROWTH "
           "longer (0.2) for each unit of distance; may be repeated")
      .called("X,Y,Z,LENGTH[,GROWTH]")
      .verbatim();
  parser.add("--ratio", asked.ratio_max, "The greatest ratio of the radius around a tetrahedron to its shortest edge")
      .called("RATIO")
      .between(1.2, 100);
  parser
      .add(
          "--slivers", asked.sliver_degrees,
          "In the end, split tetrahedra that have a dihedral angle below this, where fewer of them come of it; 0: none")
      .called("DEGREES")
      .between(0, 20);
  parser.section("How to run");
  parser.add("--subdomains", asked.subdomains, "Parts of the domain at least, which ranks and workers share")
      .called("COUNT")
      .between(1, 1u << 20)
      .otherwise("one for each 50,000 tetrahedra");
  parser.add_choice(
      "--weigh", asked.weigh, {{"work", weighing::work}, {"volume", weighing::volume}},
      "Which is alike in all subdomains: the expected number of tetrahedra, or the volume, for experiments "
      "with balancers");
  parser.section("Output");
  parser.add("--out", asked.out, "Write the mesh to FILE.vtu, or a picture of a cut through it to FILE.svg")
      .called("FILE");
  parser.add("--cut", asked.cut, "The picture shows the plane at this z").called("Z").between(0, 1);
  parser.add("--costs", asked.costs, "Write what each subdomain has cost, as JSON").called("FILE");
  parser.add("--check", asked.check, "Verify the mesh by exact arithmetic, in parallel");
  parser.add("--json", asked.json, "Print the result as one JSON object");
}

void demand_surface(const options& asked) {
  const options usual;
  const char* given = asked.keep != usual.keep                                   ? "--keep"
                      : asked.surface.margin != usual.surface.margin             ? "--margin"
                      : asked.surface.length_max != usual.surface.length_max     ? "--surface-size"
                      : asked.surface.edges_a_turn != usual.surface.edges_a_turn ? "--curvature"
                      : asked.surface.growth != usual.surface.growth             ? "--growth"
                                                                                 : nullptr;
  if (given == nullptr || !asked.input.empty()) return;
  throw nacre::setup_error({fmt::format("{} is given without a surface", given),
                            "all of the cube is meshed, which has none inside",
                            fmt::format("name a surface: {}, or a file", shape_names)});
}

}  // namespace

command_line parse_command_line(int argc, const char* const* argv) {
  nacre::program_options parser(
      "mesh3d",
      "Meshes of tetrahedra for the space within a closed surface, or for the unit cube, as "
      "fine as a size field asks for: Delaunay refinement of subdomains that share nothing but "
      "points.");
  parser.footer(footer);
  command_line result;
  std::vector<std::string> sources;
  declare_surface(parser, result.asked);
  declare(parser, result.asked, sources);
  result.exit_code = parser.parse(argc, argv);
  if (result.exit_code) return result;
  options& asked = result.asked;
  for (const std::string& each : sources) asked.sources.push_back(read_source(each));
  demand_surface(asked);
  return result;
}

}  // namespace mesh3d
