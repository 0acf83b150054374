// SPDX-License-Identifier: Apache-2.0
// Every kind of damage to a mesh is found.
#include "kernel/check.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "geometry/predicates.hpp"
#include "input/shapes.hpp"
#include "kernel/mesh_for_tests.hpp"

namespace mesh2d {
namespace {

/// An inner side that can be flipped.
side flippable(const triangulation& mesh) {
  for (index t = 0; t < mesh.triangles.size(); ++t) {
    const side s = side_of(t, 0), other = mesh.twin(s);
    if (other == none || mesh.constrained(s)) continue;
    const point &a = mesh.at(mesh.origin(s)), &b = mesh.at(mesh.target(s)), &c = mesh.at(mesh.apex(s));
    const point& d = mesh.at(mesh.apex(other));
    if (orient(d, c, a) > 0 && orient(d, c, b) < 0 && in_circle(a, b, c, d) < 0) return s;
  }
  return none;
}

side constrained_side(const triangulation& mesh) {
  for (index t = 0; t < mesh.triangles.size(); ++t) {
    for (unsigned k = 0; k < 3; ++k) {
      if (mesh.constrained(side_of(t, k))) return side_of(t, k);
    }
  }
  return none;
}

index free_vertex(const triangulation& mesh) {
  for (index v = 0; v < mesh.vertices.size(); ++v) {
    if (!mesh.vertices[v].on_piece() && mesh.vertices[v].corner == none) return v;
  }
  return none;
}

class fine_left_field final : public size_field {
 public:
  [[nodiscard]] double length(const point& point) const noexcept override { return point.x < 0.1 ? 0.01 : 1; }
  [[nodiscard]] field_faults faults() const override { return {}; }
};
const fine_left_field fine_at_left;

struct damage {
  const char* expected;  // a part of the first complaint that names it
  std::function<void(meshed&)> harm;
};

TEST(Check, finds_each_kind_of_damage) {
  const meshed sound = mesh_alone(make_shape("key", 1), 25, 0.01);
  ASSERT_EQ(sound.checked().faults, 0u);
  const std::vector<damage> kinds{
      {"not Delaunay", [](meshed& m) { m.work.mesh.flip(flippable(m.work.mesh)); }},
      {"flat or inside out", [](meshed& m) { m.work.mesh.vertices[free_vertex(m.work.mesh)].position.x += 1; }},
      {"not constrained", [](meshed& m) { m.work.mesh.release(constrained_side(m.work.mesh)); }},
      {"does not know it", [](meshed& m) { m.work.mesh.triangles[7].twin[0] = side_of(0, 0); }},
      {"belongs to nothing", [](meshed& m) { m.work.mesh.constrain(flippable(m.work.mesh)); }},
      {"not there, or has gaps", [](meshed& m) { m.work.pieces[3].to_at.x += 1e-16; }},
      {"not there, or has gaps",
       [](meshed& m) {
         m.work.pieces.push_back(m.work.pieces.front());
         m.work.pieces.back().name = 1'000'000;
       }},
      {"two vertices at", [](meshed& m) { m.work.mesh.add_vertex(m.work.mesh.at(free_vertex(m.work.mesh))); }},
      {"degrees and the area", [](meshed& m) { m.rule = size_rule(40, 0, m.input.regions, {}); }},
      {"degrees and the area", [](meshed& m) { m.rule = size_rule(25, 0.001, m.input.regions, {}); }},
      {"degrees and the area", [](meshed& m) { m.rule.attach(&fine_at_left); }},
      {"has no vertex", [](meshed& m) { m.work.mesh.triangles[5].corner[1] = 1'000'000; }},
  };
  for (const damage& each : kinds) {
    meshed harmed = sound;
    each.harm(harmed);
    const findings findings = harmed.checked();
    bool named = false;
    for (const std::string& text : findings.fault_texts) named = named || text.find(each.expected) != std::string::npos;
    EXPECT_GT(findings.faults, 0u) << each.expected;
    EXPECT_TRUE(named) << each.expected << ", but "
                       << (findings.fault_texts.empty() ? "" : findings.fault_texts.front());
  }
}

TEST(Check, an_exemption_needs_a_small_angle) {
  const meshed thin = mesh_alone({.source = "thin",
                                  .points = {{.position = {0, 0}}, {.position = {4, 0}}, {.position = {4, 0.5}}},
                                  .segments = {{.begin = 0, .end = 1}, {.begin = 1, .end = 2}, {.begin = 2, .end = 0}}},
                                 20.7, 0);
  const findings findings = thin.checked();
  EXPECT_EQ(findings.faults, 0u);
  EXPECT_GT(findings.exempt, 0u);
  ASSERT_FALSE(findings.exemptions.empty());
  EXPECT_LT(findings.exemptions.front().degrees, 20.7);
  EXPECT_FALSE(findings.exemptions.front().by_precision);
  meshed harmed = thin;  // without the shields nothing excuses these triangles
  for (piece& each : harmed.work.pieces) each.shielded = none;
  for (vertex& each : harmed.work.mesh.vertices) {
    if (!each.on_piece()) each.fraction = none;
  }
  EXPECT_EQ(harmed.checked().faults, findings.exempt);
}

}  // namespace
}  // namespace mesh2d
