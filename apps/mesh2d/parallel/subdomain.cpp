// SPDX-License-Identifier: Apache-2.0
// The handlers of a subdomain.
#include "parallel/subdomain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "kernel/refiner.hpp"
#include "picture/draw_part.hpp"

namespace mesh2d {
namespace {

/// Triangles that a handler makes: some 10 ms, in which nobody else gets the worker, and the object stays. With fewer,
/// more objects wait half refined, when they are large to move; with more, the last ones cannot be shared out.
constexpr std::size_t triangles_a_slice = 50'000;
/// What is left to refine at least, however wrong the number of triangles was that was expected.
constexpr double triangles_left_min = 1'000;
/// The cost that a simulation charges.
constexpr double seconds_a_triangle = 3e-7;

std::uint64_t shared_name(const part& part, const vertex& v) {
  if (!v.on_piece()) return v.corner == none ? mesh_copy::unshared : v.corner;
  const piece& piece = part.pieces[v.place];
  if (piece.neighbour == none) return mesh_copy::unshared;
  return (std::uint64_t{1} << 63) | (std::uint64_t{piece.name} << 31) | v.fraction;
}

}  // namespace

subdomain_counts subdomain_counts::sum(const subdomain_counts& a, const subdomain_counts& b) {
  return {a.triangles + b.triangles,     a.vertices + b.vertices, a.bytes + b.bytes,
          a.splits_sent + b.splits_sent, a.messages + b.messages, a.waiting || b.waiting};
}

void subdomain::begin(nacre::context& ctx, const array& all, const rank_objects& of_ranks, part work,
                      const size_rule& rule, double expected, exchange exchange) {
  all_ = all;
  of_ranks_ = of_ranks;
  work_ = std::move(work);
  rule_ = rule;
  expected_ = expected;
  exchange_ = exchange;
  begun_ = true;
  if (exchange_ == exchange::at_once) apply(ctx, waiting_);  // a neighbour may have been earlier
  schedule(ctx);
}

void subdomain::schedule(nacre::context& ctx) {
  refined_ = false;
  if (scheduled_) return;
  scheduled_ = true;
  ctx.send<&subdomain::go_on>(ctx.self<subdomain>());
}

void subdomain::reserve() {
  const auto triangles = static_cast<std::size_t>(std::min(expected_, 1e9) * 1.04);
  if (work_.mesh.triangles.capacity() >= triangles) return;
  work_.mesh.triangles.reserve(triangles);
  work_.mesh.vertices.reserve(triangles / 2 + triangles / 32);
}

void subdomain::go_on(nacre::context& ctx) {
  scheduled_ = false;
  reserve();
  const double started = ctx.now();
  const std::size_t previous = work_.mesh.triangles.size();
  refined_ = refiner(work_, rule(ctx)).refine(triangles_a_slice);
  ctx.charge(static_cast<double>(work_.mesh.triangles.size() - previous) * seconds_a_triangle);
  ctx.local(of_ranks_.clocks).add(ctx.now() - started);
  if (has_faulty_field(ctx)) return void(refined_ = true);
  tell_neighbours(ctx);
  if (!refined_) schedule(ctx);
}

void subdomain::tell_neighbours(nacre::context& ctx) {
  auto& to_tell = work_.state.to_tell;
  std::stable_sort(to_tell.begin(), to_tell.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto begin = to_tell.begin(); begin != to_tell.end();) {
    const std::uint32_t neighbour = begin->first;
    std::vector<piece_split> splits;
    for (; begin != to_tell.end() && begin->first == neighbour; ++begin) splits.push_back(begin->second);
    splits_sent_ += splits.size();
    ++messages_;
    ctx.send<&subdomain::take_splits>(all_[{neighbour}], std::move(splits));
  }
  to_tell.clear();
}

void subdomain::take_splits(nacre::context& ctx, const std::vector<piece_split>& splits) {
  waiting_.insert(waiting_.end(), splits.begin(), splits.end());
  if (!begun_ || exchange_ == exchange::in_rounds) return;
  apply(ctx, waiting_);
  schedule(ctx);
}

const size_rule& subdomain::rule(nacre::context& ctx) {
  rule_.attach(ctx.local(of_ranks_.fields).get());
  return rule_;
}

bool subdomain::has_faulty_field(nacre::context& ctx) const {
  rank_field& field = ctx.local(of_ranks_.fields);
  if (field.get() == nullptr) return false;
  const triangulation& mesh = work_.mesh;
  if (const std::size_t count = mesh.triangles.size(); count > field.triangles_max()) {
    field.outgrown(count, mesh.at(mesh.triangles.back().corner[0]));
  }
  return field.faults().count > 0;
}

void subdomain::apply(nacre::context& ctx, std::vector<piece_split>& splits) {
  std::sort(splits.begin(), splits.end());
  refiner refiner(work_, rule(ctx));
  for (const piece_split& each : splits) refiner.apply(each);
  splits.clear();
}

void subdomain::end_round() { of_last_round_.swap(waiting_); }

void subdomain::next_round(nacre::context& ctx) {
  if (of_last_round_.empty()) return;
  apply(ctx, of_last_round_);
  schedule(ctx);
}

void subdomain::check(nacre::context& ctx) {
  findings_.merge(check_part(work_, rule(ctx)));  // a neighbour may have compared first
  std::map<std::uint32_t, std::vector<interface_record>> records;
  for (const piece& each : work_.pieces) {
    if (each.neighbour != none) records[each.neighbour];  // also for those that are not there
  }
  for (interface_record& each : interfaces_of(work_)) records[each.neighbour].push_back(std::move(each));
  const auto number = static_cast<std::uint32_t>(ctx.index()[0]);
  for (const auto& [neighbour, mine] : records) ctx.send<&subdomain::compare>(all_[{neighbour}], number, mine);
}

void subdomain::compare(std::uint32_t neighbour, const std::vector<interface_record>& theirs) {
  std::map<std::uint32_t, std::vector<index>> expected;
  for (interface_record& each : interfaces_of(work_)) {
    if (each.neighbour == neighbour) expected[each.piece] = std::move(each.fractions);
  }
  for (const interface_record& each : theirs) {
    const auto mine = expected.find(each.piece);
    if (mine == expected.end() || mine->second != each.fractions) {
      findings_.fault(fmt::format("an interface of subdomain {} does not match (piece {})", neighbour, each.piece));
    }
    if (mine != expected.end()) expected.erase(mine);
  }
  for (const auto& [name, fractions] : expected) {
    findings_.fault(fmt::format("subdomain {} lacks an interface (piece {})", neighbour, name));
  }
}

subdomain_counts subdomain::counts() const {
  const auto bytes = work_.mesh.triangles.size() * sizeof(triangle) + work_.mesh.vertices.size() * sizeof(vertex) +
                     work_.pieces.size() * sizeof(piece);
  return {.triangles = work_.mesh.triangles.size(),
          .vertices = work_.mesh.vertices.size(),
          .bytes = bytes,
          .splits_sent = splits_sent_,
          .messages = messages_,
          .waiting = !waiting_.empty()};
}

mesh_copy subdomain::copy() const {
  mesh_copy copy;
  const triangulation& mesh = work_.mesh;
  for (const vertex& each : mesh.vertices) {
    copy.points.push_back(each.position);
    copy.names.push_back(shared_name(work_, each));
  }
  copy.on_boundary.resize(mesh.vertices.size());
  for (index t = 0; t < mesh.triangles.size(); ++t) {
    copy.triangles.push_back(mesh.triangles[t].corner);
    copy.regions.push_back(mesh.triangles[t].region);
    for (unsigned k = 0; k < 3; ++k) {
      const side s = side_of(t, k);
      if (!mesh.constrained(s) || work_.pieces[work_.piece_of(s)].segment == none) continue;
      copy.on_boundary[mesh.origin(s)] = copy.on_boundary[mesh.target(s)] = 1;
    }
  }
  return copy;
}

raster_tile subdomain::draw(nacre::context& ctx, const raster_frame& frame, colouring colouring) const {
  const auto number = colouring == colouring::rank ? ctx.rank().value() : static_cast<std::uint32_t>(ctx.index()[0]);
  return draw_part(work_, frame, colouring, number);
}

double subdomain::load() const {
  if (!begun_) return 0;
  const auto local_value = static_cast<double>(work_.mesh.triangles.size());
  if (refined_) return 0;
  return std::max(expected_ - local_value, triangles_left_min);
}

}  // namespace mesh2d
