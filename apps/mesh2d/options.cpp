// SPDX-License-Identifier: Apache-2.0
// Declares the options.
#include "options.hpp"

#include <fmt/format.h>

#include <array>

#include <nacre/error.hpp>
#include <program_options.hpp>

#include "output/writers.hpp"

namespace mesh2d {
namespace {

constexpr const char* footer = R"(Examples:
  mesh2d pipe --triangles 1000000 --check
  mesh2d outline.poly --angle 28 --out mesh.vtu                                 for ParaView
  mesh2d key --area 0.01 --subdomains 8 --out key.svg
  mesh2d norway --triangles 500000 --keep sea --min-area 20 --check --out norway.png
  mesh2d pipe --triangles 35000000 --width 2400 --colour angle --out pipe.png
  mesh2d square --size '0.004 + 0.1*abs(y - 0.5 - 0.2*sin(6*x))' --out waves.png
  mesh2d square --triangles 100000 --size-at 0,0,0.001,0.05 --nacre.balancer=diffusion
  nacre run -n 2 mesh2d pipe --triangles 5000000 --subdomains 64 --check --json
  mesh2d --nacre.help                                                           options of the runtime

Exit code: 0 for a mesh, and for one that passes --check; 1 when the check finds a fault, or writing fails; 2 when the
options or the input are wrong.)";

/// "X,Y,LENGTH" or "X,Y,LENGTH,GROWTH".
size_source read_source(const std::string& text) {
  std::array<double, 4> value{0, 0, 0, 0.1};
  if (nacre::read_numbers(text, ',', value).value_or(0) >= 3 && value[2] > 0 && value[3] >= 0) {
    return {{value[0], value[1]}, value[2], value[3]};
  }
  throw nacre::setup_error({fmt::format("--size-at has no value '{}'", text),
                            "it is X,Y,LENGTH or X,Y,LENGTH,GROWTH, with a positive length and no negative growth",
                            "try --size-at 0,0,0.01,0.1"});
}

void declare_coast(nacre::program_options& parser, options& asked, std::string& region) {
  parser.section("Coastlines; lengths are kilometres");
  parser.add("--region", region, "A part of the earth in degrees; W may be above E, across the date line")
      .called("W/E/S/N")
      .otherwise("that of the name, or the whole earth");
  parser.add_choice("--projection", asked.coast.projected,
                    {{"auto", projection_kind::automatic},
                     {"mercator", projection_kind::mercator},
                     {"stereographic", projection_kind::stereographic},
                     {"laea", projection_kind::laea},
                     {"cea", projection_kind::cea},
                     {"equirectangular", projection_kind::equirectangular}},
                    "auto: stereographic, or equirectangular for more than 120 degrees of longitude; laea and cea keep "
                    "areas");
  parser.add("--min-area", asked.coast.km2_min, "Leave out islands and lakes that are smaller")
      .called("KM2")
      .between(0, 1e10);
  parser.add_choice("--keep", asked.coast.keep,
                    {{"sea", kept_side::sea}, {"land", kept_side::land}, {"both", kept_side::both}},
                    "Which side of the coasts is meshed; with both, land has the attribute 1. Lakes are sea");
}

void declare_output(nacre::program_options& parser, options& asked) {
  parser.section("Output");
  parser.add("--out", asked.out, "Write the mesh: FILE.vtu, FILE.svg, FILE.png, or FILE for FILE.node and FILE.ele")
      .called("FILE");
  parser.add("--write-poly", asked.write_poly, "Write the input as a .poly file, also one that has no mesh")
      .called("FILE");
  parser.add("--width", asked.width, "The width of FILE.png in pixels").called("PIXELS").between(16, 32768);
  parser.add_choice("--colour", asked.colours,
                    {{"subdomain", colouring::subdomain}, {"rank", colouring::rank}, {"angle", colouring::angle}},
                    "The colours of FILE.png: by subdomain, by the rank that has it, or by the least angle");
  parser.add("--check", asked.check, "Verify the mesh by exact arithmetic, in parallel");
  parser.add("--json", asked.json, "Print the result as one JSON object");
}

void declare(nacre::program_options& parser, options& asked, std::vector<std::string>& sources, std::string& region) {
  parser
      .add("input", asked.input,
           "pipe, square, key, comb, random; norway, greece, world; a .poly file (Triangle's format), or a binned .nc "
           "file of "
           "GSHHG (coastlines)")
      .called("INPUT")
      .required();
  parser.add("--seed", asked.seed, "Which random polygon").called("NUMBER");
  declare_coast(parser, asked, region);
  parser.section("Size of the triangles");
  parser.add("--angle", asked.degrees, "The least angle, in degrees").called("DEGREES").between(0, 30);
  parser.add("--area", asked.area_max, "The greatest area of a triangle")
      .called("AREA")
      .between(0, 1e100)
      .otherwise("none");
  parser.add("--triangles", asked.triangles, "Choose the area bound that gives about so many")
      .called("COUNT")
      .between(1, 1e11)
      .otherwise("none");
  parser
      .add("--size-at", sources,
           "Sides of about LENGTH at (X, Y), and GROWTH longer (0.1) for each unit of distance; may be repeated")
      .called("X,Y,LENGTH[,GROWTH]")
      .verbatim();
  parser
      .add(
          "--size", asked.size,
          "Sides of about the length that an expression has at each place, as '0.01+0.1*sqrt(x^2+y^2)'; or a raster of "
          "lengths: an ESRI ASCII grid (.asc), a netCDF grid (FILE.nc or FILE.nc?VARIABLE), or a picture in grey with "
          "the "
          "lengths of black and white (FILE.pgm?BLACK,WHITE) over the box around the input")
      .called("EXPRESSION or FILE")
      .verbatim();
  parser.add("--no-refine", asked.no_refine,
             "No new points: the constrained Delaunay triangulation of the input's points and segments");
  parser.section("How to run");
  parser.add("--subdomains", asked.subdomains, "Parts of the domain, which ranks and workers share")
      .called("COUNT")
      .between(1, 1u << 16)
      .otherwise("one for each 50,000 triangles");
  parser.add_choice("--weigh", asked.weigh, {{"work", weighing::work}, {"area", weighing::area}},
                    "Which is alike in all subdomains: the expected number of triangles, or the area, for experiments "
                    "with balancers");
  parser.add("--deterministic", asked.deterministic,
             "One mesh for any number of ranks and workers: splits of interfaces are exchanged in rounds");
  declare_output(parser, asked);
}

void demand_coast(const options& asked) {
  const coast_options usual;
  const char* given = asked.coast.region                         ? "--region"
                      : asked.coast.projected != usual.projected ? "--projection"
                      : asked.coast.km2_min != usual.km2_min     ? "--min-area"
                      : asked.coast.keep != usual.keep           ? "--keep"
                                                                 : nullptr;
  if (given == nullptr || is_coast(asked.input)) return;
  throw nacre::setup_error({fmt::format("{} is given with the input {}", given, asked.input),
                            "only coastlines have places on the earth", "name norway, greece, world or a .nc file"});
}

void demand_picture(const options& asked) {
  const options usual;
  const char* given = asked.width != usual.width ? "--width" : asked.colours != usual.colours ? "--colour" : nullptr;
  if (given == nullptr || is_png(asked.out)) return;
  throw nacre::setup_error({fmt::format("{} is given without a picture", given), "it says how one is drawn",
                            "leave it out, or name a picture by --out FILE.png"});
}

void demand_no_bounds(const options& asked) {
  const bool bounds = asked.triangles > 0 || asked.area_max > 0 || !asked.sources.empty() || !asked.size.empty();
  if (!asked.no_refine || !bounds) return;
  throw nacre::setup_error({"--no-refine is given with a bound for the size of triangles",
                            "without refinement there are no points to make them smaller", "leave one out"});
}

}  // namespace

command_line parse_command_line(int argc, const char* const* argv) {
  nacre::program_options parser("mesh2d",
                                "Meshes of triangles for polygons with holes: constrained Delaunay refinement.");
  parser.footer(footer);
  command_line result;
  std::vector<std::string> sources;
  std::string region;
  declare(parser, result.asked, sources, region);
  result.exit_code = parser.parse(argc, argv);
  if (result.exit_code) return result;
  for (const std::string& each : sources) result.asked.sources.push_back(read_source(each));
  if (!region.empty()) result.asked.coast.region = read_region(region);
  demand_coast(result.asked);
  demand_picture(result.asked);
  demand_no_bounds(result.asked);
  if (result.asked.triangles > 0 && result.asked.area_max > 0) {
    throw nacre::setup_error(
        {"--triangles and --area are both given", "each of them sets the area bound", "leave one out"});
  }
  return result;
}

}  // namespace mesh2d
