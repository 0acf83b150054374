// SPDX-License-Identifier: Apache-2.0
// Formats the result.
#include "output/report.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace mesh2d {
namespace {

double rate(const result& done) {
  return done.mesh_seconds > 0 ? static_cast<double>(done.counts.triangles) / done.mesh_seconds : 0;
}

double bytes_a_triangle(const result& done) {
  return static_cast<double>(done.counts.bytes) /
         static_cast<double>(std::max<std::uint64_t>(done.counts.triangles, 1));
}

std::string check_text(const result& done) {
  const findings& findings = done.verdict;
  std::string text = fmt::format("check: {} in {:.3f} s; least angle {:.2f} degrees; area {:.12g}\n",
                                 findings.faults == 0 ? "passed" : "FAILED", done.check_seconds, findings.degrees_min,
                                 findings.twice_area.value() / 2);
  for (const std::string& each : findings.fault_texts) text += "  fault: " + each + "\n";
  if (findings.faults > findings.fault_texts.size()) {
    text += fmt::format("  and {} more faults\n", findings.faults - findings.fault_texts.size());
  }
  if (findings.exempt == 0) return text;
  text += fmt::format("  {} triangles miss a bound where the input forbids it\n", findings.exempt);
  for (const exemption& each : findings.exemptions) {
    text += fmt::format("    at ({:.9g}, {:.9g}): {:.3f} degrees, {}\n", each.centroid.x, each.centroid.y, each.degrees,
                        each.by_precision ? "too near to the limits of doubles" : "at a small angle of the input");
  }
  if (findings.exempt > findings.exemptions.size()) {
    text += fmt::format("    and {} more\n", findings.exempt - findings.exemptions.size());
  }
  return text;
}

nlohmann::ordered_json check_json(const result& done) {
  const findings& findings = done.verdict;
  nlohmann::ordered_json exemptions = nlohmann::ordered_json::array();
  for (const exemption& each : findings.exemptions) {
    exemptions.push_back({{"x", each.centroid.x},
                          {"y", each.centroid.y},
                          {"degrees", each.degrees},
                          {"reason", each.by_precision ? "precision" : "small angle"}});
  }
  return {{"passed", findings.faults == 0},
          {"faults", findings.faults},
          {"fault_texts", findings.fault_texts},
          {"exempt", findings.exempt},
          {"exemptions", exemptions},
          {"degrees_min", findings.degrees_min},
          {"area", findings.twice_area.value() / 2},
          {"area_error_max", findings.area_error_max / 2},
          {"constrained_sides", findings.sides_constrained},
          {"seconds", done.check_seconds}};
}

}  // namespace

std::string result_text(const options& asked, const result& done) {
  std::string text =
      fmt::format("{}: {} triangles in {} subdomains, {:.3f} {}s ({:.2f} million/s); planned in {:.3f} s\n",
                  asked.input, done.counts.triangles, done.subdomains, done.mesh_seconds,
                  done.simulated ? "virtual " : "", rate(done) / 1e6, done.plan_seconds);
  text +=
      fmt::format("  {} bytes a triangle; {} splits of interfaces in {} messages; {} moves; busiest rank {:.3f} s\n",
                  static_cast<int>(bytes_a_triangle(done) + 0.5), done.counts.splits_sent, done.counts.messages,
                  done.moves, done.busiest_rank_seconds);
  for (const std::string& each : done.notes) text += "  note: " + each + "\n";
  if (done.checked) text += check_text(done);
  return text;
}

std::string result_json(const options& asked, const result& done, const std::string& balancer,
                        const std::string& transport) {
  nlohmann::ordered_json json{{"input", asked.input},
                              {"triangles", done.counts.triangles},
                              {"vertices_of_subdomains", done.counts.vertices},
                              {"subdomains", done.subdomains},
                              {"ranks", done.ranks},
                              {"workers", done.workers},
                              {"transport", transport},
                              {"simulated", done.simulated},
                              {"balancer", balancer},
                              {"deterministic", asked.deterministic},
                              {"angle", asked.degrees},
                              {"area_max", done.area_max > 0 ? nlohmann::ordered_json(done.area_max) : nullptr},
                              {"plan_seconds", done.plan_seconds},
                              {"mesh_seconds", done.mesh_seconds},
                              {"write_seconds", done.write_seconds},
                              {"triangles_per_second", rate(done)},
                              {"bytes_per_triangle", bytes_a_triangle(done)},
                              {"splits_sent", done.counts.splits_sent},
                              {"split_messages", done.counts.messages},
                              {"rounds", done.rounds},
                              {"moves", done.moves},
                              {"busiest_rank_seconds", done.busiest_rank_seconds},
                              {"notes", done.notes}};
  json["check"] = done.checked ? check_json(done) : nlohmann::ordered_json(nullptr);
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace mesh2d
