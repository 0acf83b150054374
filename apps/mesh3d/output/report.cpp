// SPDX-License-Identifier: Apache-2.0
// Formats the result.
#include "output/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace mesh3d {
namespace {

double rate(const result& done) {
  return done.mesh_seconds > 0 ? static_cast<double>(done.counts.tetrahedra) / done.mesh_seconds : 0;
}

double bytes_a_tetrahedron(const result& done) {
  return static_cast<double>(done.counts.bytes) /
         static_cast<double>(std::max<std::uint64_t>(done.counts.tetrahedra, 1));
}

/// With a column of the numbers before slivers were split, if they were.
std::string histogram(const findings& findings) {
  constexpr std::size_t bars_max = 50;
  const std::uint64_t most =
      std::max<std::uint64_t>(1, *std::max_element(findings.dihedrals.begin(), findings.dihedrals.end()));
  const bool split = *std::max_element(findings.unsplit.begin(), findings.unsplit.end()) > 0;
  std::string text =
      fmt::format("dihedral angles, in degrees{}\n", split ? " (before slivers were split, and now)" : "");
  for (std::size_t k = 0; k < findings.dihedrals.size(); ++k) {
    const std::uint64_t count = findings.dihedrals[k];
    text += fmt::format("  {:3} to {:3} {}{:>12}  {}\n", 5 * k, 5 * k + 5,
                        split ? fmt::format("{:>12}", findings.unsplit[k]) : "", count,
                        std::string((count * bars_max + most - 1) / most, '#'));
  }
  return text;
}

/// Of a length, area or volume in the units of the surface's file.
double in_file(const result& done, double value, int dimension) {
  return value / std::pow(done.surface->of().place.scale, dimension);
}

double percent_off(const surface_findings& findings) {
  return findings.corners == 0
             ? 0
             : 100 * static_cast<double>(findings.corners_off) / static_cast<double>(findings.corners);
}

std::string surface_text(const result& done) {
  const placed_surface& surface = done.surface->of();
  std::string text =
      fmt::format("  surface of {} triangles, {} component{}: {} tetrahedra inside; the cube's side is {:.6g}\n",
                  surface.mesh.triangles.size(), surface.components, surface.components == 1 ? "" : "s",
                  done.counts.inner, in_file(done, 1, 1));
  for (const std::string& each : surface.notes) text += "  note: " + each + "\n";
  return text;
}

std::string deviation_text(const result& done, const deviation& measured, double bound, const char* way) {
  return fmt::format("  greatest distance from the {}: {:.3g}, by the length asked for {:.3f} (bound {})\n", way,
                     in_file(done, measured.distance, 1), measured.by_length, bound);
}

std::string surface_check_text(const result& done) {
  const surface_findings& findings = done.verdict.surface;
  const double wanted = done.surface->of().volume;
  const double inside = in_file(done, findings.inner_volume, 3), limit = in_file(done, wanted, 3);
  std::string text = fmt::format(
      "  boundary of {} triangles; {:.2f} % of the corners are off the surface; {} tetrahedra changed sides\n",
      findings.triangles, percent_off(findings), findings.turned);
  text += deviation_text(done, findings.to_surface, surface_findings::to_surface_bound, "boundary to the surface");
  text += deviation_text(done, findings.from_surface, surface_findings::from_surface_bound, "surface to the boundary");
  text += fmt::format("  Euler numbers of components {} (surface: {}); edges without two triangles {} (bound 0)\n",
                      list_of(findings.counts.euler_numbers), list_of(findings.wanted.euler_numbers),
                      findings.counts.edges_not_of_two);
  text += fmt::format("  volume {:.6g} inside, {:.6g} within the surface ({:+.2f} %, bound {:.2f} %)\n", inside, limit,
                      100 * (inside / limit - 1), 100 * findings.volume_tolerance / wanted);
  return text;
}

nlohmann::ordered_json deviation_json(const result& done, const deviation& measured, double bound) {
  const point place = done.surface->of().place.out_of_cube(measured.place);
  return {{"distance", in_file(done, measured.distance, 1)},
          {"by_length", measured.by_length},
          {"bound", bound},
          {"at", {place.x, place.y, place.z}}};
}

nlohmann::ordered_json surface_json(const options& asked, const result& done) {
  if (done.surface == nullptr) return nullptr;
  const placed_surface& surface = done.surface->of();
  nlohmann::ordered_json json{{"input", asked.input},
                              {"triangles", surface.mesh.triangles.size()},
                              {"components", surface.components},
                              {"area", in_file(done, surface.area, 2)},
                              {"volume", in_file(done, surface.volume, 3)},
                              {"cube_side", in_file(done, 1, 1)},
                              {"tetrahedra_inside", done.counts.inner},
                              {"notes", surface.notes}};
  if (!done.checked) return json;
  const surface_findings& findings = done.verdict.surface;
  json.update({{"mesh_triangles", findings.triangles},
               {"mesh_area", in_file(done, findings.area, 2)},
               {"mesh_volume", in_file(done, findings.inner_volume, 3)},
               {"volume_tolerance", in_file(done, findings.volume_tolerance, 3)},
               {"corners_off_percent", percent_off(findings)},
               {"tetrahedra_that_changed_sides", findings.turned},
               {"mesh_to_surface", deviation_json(done, findings.to_surface, surface_findings::to_surface_bound)},
               {"surface_to_mesh", deviation_json(done, findings.from_surface, surface_findings::from_surface_bound)},
               {"euler_numbers", findings.wanted.euler_numbers},
               {"mesh_euler_numbers", findings.counts.euler_numbers},
               {"mesh_edges_without_two_triangles", findings.counts.edges_not_of_two}});
  return json;
}

std::string check_text(const result& done) {
  const findings& findings = done.verdict;
  std::string text = fmt::format(
      "check: {} in {:.3f} s; dihedral angles {:.2f} to {:.2f} degrees; volume {:.15g}\n"
      "  radius of spheres by shortest edge {:.3f} at most, by the length asked for {:.3f}\n",
      findings.faults == 0 ? "passed" : "FAILED", done.check_seconds, findings.degrees_min, findings.degrees_max,
      findings.volume, findings.ratio_max, findings.radius_max);
  if (done.surface != nullptr) text += surface_check_text(done);
  for (const std::string& each : findings.fault_texts) text += "  fault: " + each + "\n";
  if (findings.faults > findings.fault_texts.size()) {
    text += fmt::format("  and {} more faults\n", findings.faults - findings.fault_texts.size());
  }
  if (findings.refused > 0) {
    text += fmt::format("  {} tetrahedra miss a bound, since a point would come too near to a face of a subdomain{}\n",
                        findings.refused, done.surface == nullptr ? "" : " or to the surface");
  }
  return text + histogram(findings);
}

nlohmann::ordered_json check_json(const result& done) {
  const findings& findings = done.verdict;
  return {{"passed", findings.faults == 0},
          {"faults", findings.faults},
          {"fault_texts", findings.fault_texts},
          {"refused", findings.refused},
          {"degrees_min", findings.degrees_min},
          {"degrees_max", findings.degrees_max},
          {"ratio_max", findings.ratio_max},
          {"radius_by_length_max", findings.radius_max},
          {"dihedrals", findings.dihedrals},
          {"dihedrals_before_slivers_were_split", findings.unsplit},
          {"volume", findings.volume},
          {"facets_between_subdomains", findings.facets_shared / 2},
          {"facets_of_domain", findings.facets_of_domain},
          {"seconds", done.check_seconds}};
}

}  // namespace

std::string result_text(const result& done) {
  std::string text = fmt::format("{} tetrahedra in {} subdomains, {:.3f} {}s ({:.2f} million/s); planned in {:.3f} s\n",
                                 done.counts.tetrahedra, done.subdomains, done.mesh_seconds,
                                 done.simulated ? "virtual " : "", rate(done) / 1e6, done.plan_seconds);
  text += fmt::format("  {} bytes a tetrahedron; {} moves; busiest rank {:.3f} s\n",
                      static_cast<int>(bytes_a_tetrahedron(done) + 0.5), done.moves, done.busiest_rank_seconds);
  if (done.surface != nullptr) text += surface_text(done);
  if (done.checked) text += check_text(done);
  return text;
}

std::string result_json(const options& asked, const result& done, const std::string& balancer,
                        const std::string& transport) {
  nlohmann::ordered_json json{{"tetrahedra", done.counts.tetrahedra},
                              {"vertices_of_subdomains", done.counts.vertices},
                              {"subdomains", done.subdomains},
                              {"ranks", done.ranks},
                              {"workers", done.workers},
                              {"transport", transport},
                              {"simulated", done.simulated},
                              {"balancer", balancer},
                              {"ratio_bound", asked.ratio_max},
                              {"sliver_degrees", asked.sliver_degrees},
                              {"plan_seconds", done.plan_seconds},
                              {"mesh_seconds", done.mesh_seconds},
                              {"write_seconds", done.write_seconds},
                              {"tetrahedra_per_second", rate(done)},
                              {"bytes_per_tetrahedron", bytes_a_tetrahedron(done)},
                              {"moves", done.moves},
                              {"busiest_rank_seconds", done.busiest_rank_seconds}};
  json["surface"] = surface_json(asked, done);
  json["check"] = done.checked ? check_json(done) : nlohmann::ordered_json(nullptr);
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace mesh3d
