// SPDX-License-Identifier: Apache-2.0
// Writes meshes.
#include "output/writers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <nacre/error.hpp>
#include <nlohmann/json.hpp>

#include "meshing/output_file.hpp"

namespace mesh3d {
namespace {

struct spot {
  double x, y;
};

/// The polygon that a plane cuts from a tetrahedron: of three or four corners, in order around it.
std::vector<spot> section(const std::array<point, 4>& corner, double z) {
  const auto below = [z](const point& p) { return z > 0 ? p.z < z : p.z <= z; };  // at 0 the cube's bottom is shown
  std::vector<spot> spots;
  spot middle{0, 0};
  for (unsigned i = 0; i < 4; ++i) {
    for (unsigned j = 0; j < i; ++j) {
      const point &a = corner[i], &b = corner[j];
      if (below(a) == below(b)) continue;
      const double t = (z - a.z) / (b.z - a.z);
      spots.push_back({a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t});
      middle = {middle.x + spots.back().x, middle.y + spots.back().y};
    }
  }
  const auto count = static_cast<double>(spots.size());
  const auto angle = [&](const spot& s) { return std::atan2(s.y - middle.y / count, s.x - middle.x / count); };
  std::sort(spots.begin(), spots.end(), [&](const spot& a, const spot& b) { return angle(a) < angle(b); });
  return spots;
}

}  // namespace

void write_vtu(const whole_mesh& mesh, std::ostream& stream) {
  meshing::vtu_content content{.corners_a_cell = 4, .cell_type = 10};
  for (const point& in_cube : mesh.points) {
    const point position = mesh.has_surface ? mesh.place.out_of_cube(in_cube) : in_cube;
    content.points.insert(content.points.end(), {position.x, position.y, position.z});
  }
  for (const auto& each : mesh.tetrahedra) {
    for (const std::uint32_t v : each) content.corners.push_back(static_cast<std::int32_t>(v));
  }
  content.cell_data = content.arrays.declare("UInt32", "subdomain", 1, mesh.subdomains) +
                      content.arrays.declare("UInt32", "rank", 1, mesh.ranks);
  content.cell_data += content.arrays.declare("UInt8", "side", 1, mesh.inner);
  meshing::write_vtu(std::move(content), stream);
}

void write_svg(const whole_mesh& mesh, double z, std::ostream& stream) {
  constexpr double width = 900;
  const bool by_rank = std::any_of(mesh.ranks.begin(), mesh.ranks.end(), [&](auto r) { return r != mesh.ranks[0]; });
  const std::vector<std::uint32_t>& colours = by_rank ? mesh.ranks : mesh.subdomains;
  std::map<std::pair<std::uint32_t, bool>, std::string> paths;
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) {
    const auto& [a, b, c, d] = mesh.tetrahedra[t];
    const auto spots = section({mesh.points[a], mesh.points[b], mesh.points[c], mesh.points[d]}, z);
    if (spots.size() < 3) continue;
    std::string& path = paths[{colours[t], mesh.has_surface && mesh.inner[t] == 0}];
    const char* command = "M";
    for (const spot& each : spots) {
      path += fmt::format("{}{:.2f} {:.2f}", std::exchange(command, "L"), each.x * width, (1 - each.y) * width);
    }
    path += "Z";
  }
  stream << R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="-5 -5 910 910" stroke-linejoin="round">)" << '\n';
  for (const auto& [colour, path] : paths) {
    stream << fmt::format("<path fill=\"{}\"{} stroke=\"#333\" stroke-width=\"0.3\" d=\"{}\"/>\n",
                          meshing::colour_of(colour.first), colour.second ? " opacity=\"0.25\"" : "", path);
  }
  stream << "</svg>\n";
}

void write_costs(const std::vector<subdomain_cost>& costs, const std::string& name) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const subdomain_cost& each : costs) {
    all.push_back({{"seconds", each.seconds}, {"tetrahedra", each.tetrahedra}, {"bytes", each.bytes}});
  }
  meshing::write_file(name, [&](std::ostream& stream) {
    stream << all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  });
}

void check_output_name(const std::string& out) {
  if (meshing::ends_with(out, ".vtu") || meshing::ends_with(out, ".svg")) return;
  throw nacre::setup_error(
      {fmt::format("--out {} has an unknown format", out), "files end in .vtu or .svg",
       fmt::format("try --out {}", std::filesystem::path(out).replace_extension(".vtu").string())});
}

void write_mesh(const whole_mesh& mesh, const options& asked) {
  meshing::write_file(asked.out, [&](std::ostream& stream) {
    if (meshing::ends_with(asked.out, ".vtu")) return write_vtu(mesh, stream);
    write_svg(mesh, asked.cut, stream);
  });
}

}  // namespace mesh3d
