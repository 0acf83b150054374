// SPDX-License-Identifier: Apache-2.0
// Distributes subdomains, waits until they are done, checks and gathers them.
#include "parallel/mesher.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mesh2d {
namespace {

using subdomains = nacre::array_ptr<subdomain>;

struct sum_of_counts {
  subdomain_counts operator()(const subdomain_counts& a, const subdomain_counts& b) const {
    return subdomain_counts::sum(a, b);
  }
};

struct sum_of_findings {
  findings operator()(findings a, const findings& b) const {
    a.merge(b);
    return a;
  }
};

/// The state that mains keep in an image, taken when all subdomains have done what they can without another round.
struct progress {
  subdomains all;
  std::uint32_t rounds = 0;  // that have begun, when splits are exchanged in rounds
  double started = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(all, rounds, started);
  }
};

/// Goes on with rounds until every subdomain is good.
void refine_in_rounds(nacre::runtime& rt, progress& now) {
  for (;;) {
    ++now.rounds;
    bool more = false;
    if (rt.rank().value() == 0) {
      more = rt.reduce<&subdomain::counts>(now.all, sum_of_counts{}).get().waiting;
      if (more) rt.send<&subdomain::end_round>(now.all);
    }
    if (!rt.broadcast(more, nacre::rank_id{0})) return;
    rt.wait_quiescence();  // a subdomain that began earlier would send splits of the next round into this one
    if (rt.rank().value() == 0) rt.send<&subdomain::next_round>(now.all);
    rt.wait_quiescence(now);
  }
}

/// Gives the field of the plan to all ranks.
void share_field(nacre::runtime& rt, const rank_objects& of_ranks, plan& plan) {
  const bool is_first = rt.rank().value() == 0;
  if (!rt.broadcast(plan.field != nullptr, nacre::rank_id{0})) return;
  size_description described = rt.broadcast(std::exchange(plan.size, {}), nacre::rank_id{0});
  const double expected = described.triangles_expected;
  rt.local(of_ranks.fields).set(is_first ? plan.field : make_field(std::move(described)), expected);
}

/// A line about a faulty field, on all ranks; empty if there is nothing wrong.
std::string problem_of_field(nacre::runtime& rt, const rank_objects& of_ranks, const std::string& size) {
  if (size.empty()) return {};
  const field_faults field_faults = rt.all_reduce(rt.local(of_ranks.fields).faults(), &field_faults::sum);
  return field_faults.count > 0 ? text_of(field_faults, size) : std::string();
}

void check_all(nacre::runtime& rt, const subdomains& all, const plan& plan, result& done) {
  const double started = rt.now();
  if (rt.rank().value() == 0) rt.send<&subdomain::check>(all);
  rt.wait_quiescence();
  if (rt.rank().value() == 0) {
    done.verdict = rt.reduce<&subdomain::found>(all, sum_of_findings{}).get();
    judge_whole(plan, done.verdict);
    done.checked = true;
  }
  done.check_seconds = rt.now() - started;
}

whole_mesh gather(nacre::runtime& rt, const subdomains& all, std::uint32_t count, const plan& plan) {
  std::vector<mesh_copy> parts;
  for (int k = 0; k < static_cast<int>(count); ++k) parts.push_back(rt.call<&subdomain::copy>(all[{k}]).get());
  whole_mesh whole = join(parts);
  whole.region_rules = plan.regions;
  return whole;
}

/// Some subdomains draw at the same time; a tile is dropped before the next one is asked for.
void draw_all(nacre::runtime& rt, const subdomains& all, std::uint32_t count, colouring colouring, picture& drawn) {
  const auto at_once = static_cast<std::size_t>(rt.size()) * rt.workers() + 1;
  std::deque<nacre::future<raster_tile>> under_way;
  for (std::uint32_t next = 0; next < count || !under_way.empty();) {
    if (next < count && under_way.size() < at_once) {
      under_way.push_back(rt.call<&subdomain::draw>(all[{next++}], drawn.frame(), colouring));
      continue;
    }
    drawn.add(under_way.front().get());
    under_way.pop_front();
  }
}

}  // namespace

result make_mesh(nacre::runtime& rt, const options& asked, plan&& plan, whole_mesh* whole, picture* drawn) {
  result done;
  done.ranks = rt.size();
  done.workers = rt.workers();
  done.area_max = plan.area_max;
  done.notes = plan.notes;
  const exchange exchange = asked.deterministic ? exchange::in_rounds : exchange::at_once;
  const rank_objects of_ranks{rt.create_group<meshing::rank_clock>(), rt.create_group<rank_field>()};
  share_field(rt, of_ranks, plan);
  auto now = rt.restored<progress>().value_or(progress{});
  const std::uint64_t moved_before = rt.counters().migrations_in;
  if (!now.all) {
    const auto count = rt.broadcast(static_cast<std::uint32_t>(plan.parts.size()), nacre::rank_id{0});
    now.all = rt.create_array<subdomain>(nacre::extents{static_cast<int>(count)});
    rt.barrier();
    now.started = rt.now();
    if (rt.rank().value() == 0) {
      for (std::size_t k = 0; k < plan.parts.size(); ++k) {
        rt.send<&subdomain::begin>(now.all[{static_cast<int>(k)}], now.all, of_ranks, std::move(plan.parts[k]),
                                   plan.rule, plan.expected[k], exchange);
      }
    }
    rt.wait_quiescence(now);
  }
  const subdomains all = now.all;
  done.subdomains = static_cast<std::uint32_t>(all.shape().count());
  if (exchange == exchange::in_rounds) refine_in_rounds(rt, now);
  done.rounds = now.rounds;
  done.mesh_seconds = rt.now() - now.started;
  done.moves = rt.all_reduce(rt.counters().migrations_in - moved_before, std::plus<>{});
  done.busiest_rank_seconds =
      rt.all_reduce(rt.local(of_ranks.clocks).seconds(), [](double a, double b) { return std::max(a, b); });
  done.problem = problem_of_field(rt, of_ranks, asked.size);
  if (!done.problem.empty()) return done;
  if (asked.check) check_all(rt, all, plan, done);
  if (rt.rank().value() != 0) return done;
  done.counts = rt.reduce<&subdomain::counts>(all, sum_of_counts{}).get();
  if (drawn != nullptr) draw_all(rt, all, done.subdomains, asked.colours, *drawn);
  if (whole != nullptr) *whole = gather(rt, all, done.subdomains, plan);
  return done;
}

whole_mesh join(const std::vector<mesh_copy>& parts) {
  whole_mesh whole;
  std::unordered_map<std::uint64_t, std::uint32_t> known;
  for (std::uint32_t number = 0; number < parts.size(); ++number) {
    const mesh_copy& part = parts[number];
    std::vector<std::uint32_t> new_point(part.points.size());
    for (std::size_t v = 0; v < part.points.size(); ++v) {
      const auto fresh = static_cast<std::uint32_t>(whole.points.size());
      new_point[v] =
          part.names[v] == mesh_copy::unshared ? fresh : known.try_emplace(part.names[v], fresh).first->second;
      if (new_point[v] != fresh) {
        whole.on_boundary[new_point[v]] |= part.on_boundary[v];
        continue;
      }
      whole.points.push_back(part.points[v]);
      whole.on_boundary.push_back(part.on_boundary[v]);
    }
    for (std::size_t t = 0; t < part.triangles.size(); ++t) {
      const auto& [a, b, c] = part.triangles[t];
      whole.triangles.push_back({new_point[a], new_point[b], new_point[c]});
      whole.regions.push_back(part.regions[t]);
      whole.subdomains.push_back(number);
    }
  }
  return whole;
}

}  // namespace mesh2d
