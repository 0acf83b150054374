// SPDX-License-Identifier: Apache-2.0
// Writes meshes.
#include "output/writers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <ios>
#include <limits>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "meshing/output_file.hpp"
#include "pictures/png_file.hpp"

namespace mesh2d {
namespace {

using meshing::colour_of;
using meshing::ends_with;
using meshing::write_file;

enum class format : std::uint8_t { vtu, svg, png, node_and_ele };

/// By the ending of the name.
format format_of(const std::string& out) {
  if (ends_with(out, ".vtu")) return format::vtu;
  if (ends_with(out, ".svg")) return format::svg;
  return ends_with(out, ".png") ? format::png : format::node_and_ele;
}

std::vector<double> attributes_of(const whole_mesh& mesh) {
  std::vector<double> attributes;
  for (const std::uint32_t region : mesh.regions) attributes.push_back(mesh.region_rules.at(region).attribute);
  return attributes;
}

struct frame {
  point low{std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
  point high{std::numeric_limits<double>::lowest(), std::numeric_limits<double>::lowest()};
};

frame frame_of(const whole_mesh& mesh) {
  frame all;
  for (const point& point : mesh.points) {
    all.low = {std::min(all.low.x, point.x), std::min(all.low.y, point.y)};
    all.high = {std::max(all.high.x, point.x), std::max(all.high.y, point.y)};
  }
  return all;
}

}  // namespace

void write_vtu(const whole_mesh& mesh, std::ostream& stream) {
  meshing::vtu_content content{.corners_a_cell = 3, .cell_type = 5};
  for (const point& point : mesh.points) content.points.insert(content.points.end(), {point.x, point.y, 0});
  for (const auto& each : mesh.triangles) {
    for (const std::uint32_t v : each) content.corners.push_back(static_cast<std::int32_t>(v));
  }
  content.point_data = content.arrays.declare("UInt8", "on_segment", 1, mesh.on_boundary);
  content.cell_data = content.arrays.declare("UInt32", "subdomain", 1, mesh.subdomains) +
                      content.arrays.declare("Float64", "region", 1, attributes_of(mesh));
  meshing::write_vtu(std::move(content), stream);
}

void write_svg(const whole_mesh& mesh, std::ostream& stream) {
  constexpr double width = 900;
  const frame all = frame_of(mesh);
  const double scale = width / std::max(all.high.x - all.low.x, 1e-300), height = (all.high.y - all.low.y) * scale;
  stream << fmt::format(
                R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="-5 -5 {:.0f} {:.0f}" stroke-linejoin="round">)",
                width + 10, height + 10)
         << '\n';
  std::size_t begin = 0;
  while (begin < mesh.triangles.size()) {
    const std::uint32_t subdomain = mesh.subdomains[begin];
    stream << fmt::format(R"(<path fill="{}" stroke="#333" stroke-width="0.3" d=")", colour_of(subdomain));
    for (; begin < mesh.triangles.size() && mesh.subdomains[begin] == subdomain; ++begin) {
      const char* command = "M";
      for (const std::uint32_t v : mesh.triangles[begin]) {
        stream << fmt::format("{}{:.2f} {:.2f}", std::exchange(command, "L"), (mesh.points[v].x - all.low.x) * scale,
                              (all.high.y - mesh.points[v].y) * scale);
      }
      stream << "Z";
    }
    stream << "\"/>\n";
  }
  stream << "</svg>\n";
}

void write_node(const whole_mesh& mesh, std::ostream& stream) {
  stream << fmt::format("{} 2 0 1\n", mesh.points.size());
  for (std::size_t v = 0; v < mesh.points.size(); ++v) {
    stream << fmt::format("{} {} {} {}\n", v + 1, mesh.points[v].x, mesh.points[v].y, mesh.on_boundary[v]);
  }
}

void write_ele(const whole_mesh& mesh, std::ostream& stream) {
  const std::vector<double> attributes = attributes_of(mesh);
  stream << fmt::format("{} 3 1\n", mesh.triangles.size());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto& [a, b, c] = mesh.triangles[t];
    stream << fmt::format("{} {} {} {} {}\n", t + 1, a + 1, b + 1, c + 1, attributes[t]);
  }
}

void write_png(const picture& drawn, const std::string& out) {
  const std::string bytes = pictures::png_bytes(drawn.rgb(), drawn.frame().width, drawn.frame().height);
  write_file(out,
             [&](std::ostream& stream) { stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size())); });
}

bool is_png(const std::string& out) { return format_of(out) == format::png; }

std::vector<std::string> files_of(const std::string& out) {
  if (out.empty()) return {};
  if (format_of(out) != format::node_and_ele) return {out};
  return {out + ".node", out + ".ele"};
}

void check_output_name(const std::string& out, const std::string& input) {
  for (const char* ending : {"", ".node", ".ele"}) {
    for (const std::string& read : {input, input.substr(0, input.rfind('.')) + ".node"}) {
      std::error_code no_such_file;
      if (!std::filesystem::equivalent(out + ending, read, no_such_file)) continue;
      throw nacre::setup_error({fmt::format("--out {} would write over {}, which is read", out, read),
                                "the points of the input would be lost", "give the mesh another name"});
    }
  }
  if (is_png(out) && !pictures::has_png()) {
    throw nacre::setup_error({fmt::format("--out {} is not possible", out), "this mesh2d was built without libpng",
                              "install libpng-dev and build again, or write an .svg file"});
  }
  const std::string name = out.substr(out.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || format_of(out) != format::node_and_ele) return;
  throw nacre::setup_error({fmt::format("--out {} has an unknown format", out),
                            "files end in .vtu, .svg or .png; a name without an ending means .node and .ele",
                            fmt::format("try --out {}.vtu", out.substr(0, out.size() - name.size() + dot))});
}

void write_mesh(const whole_mesh& mesh, const std::string& out) {
  const std::vector<std::string> files = files_of(out);
  switch (format_of(out)) {
    case format::vtu:
      return write_file(files[0], [&](std::ostream& stream) { write_vtu(mesh, stream); });
    case format::svg:
      return write_file(files[0], [&](std::ostream& stream) { write_svg(mesh, stream); });
    case format::node_and_ele:
      write_file(files[0], [&](std::ostream& stream) { write_node(mesh, stream); });
      return write_file(files[1], [&](std::ostream& stream) { write_ele(mesh, stream); });
    case format::png:  // which subdomains draw
      break;
  }
}

}  // namespace mesh2d
