// SPDX-License-Identifier: Apache-2.0
// Curves by size of message: uncoordinated, with a token, with one that is passed on early; the policies beside them.
#include "figures.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "figures_file.hpp"
#include "plot.hpp"

namespace incast {
namespace {

constexpr std::array<std::uint64_t, 8> star_sizes{64, 256, 512, 1024, 2048, 4096, 8192, 10240};
constexpr std::array<std::uint64_t, 12> sim_sizes{64, 128, 256, 384, 512, 600, 768, 1024, 2048, 4096, 8192, 10240};

[[nodiscard]] std::span<const std::uint64_t> sizes_of(network network) {
  if (network == network::sim) return sim_sizes;
  return star_sizes;
}

struct curve {
  std::string name;
  std::uint32_t senders;
  coordination scheme;
  double early_us;
  std::size_t colour;
  bool counts_on_buffer = true;  // of the simulated switch's port
  std::span<const std::uint64_t> sizes{};
  std::vector<measured> points{};  // of each size
};

struct figure {
  std::string title;
  std::vector<curve> curves;
};

void measure_curve(curve& curve, const plan& manner, network network, int runs) {
  curve.sizes = sizes_of(network);
  for (const std::uint64_t bytes : curve.sizes) {
    plan one = manner;
    one.senders = curve.senders;
    one.scheme = curve.scheme;
    one.bytes = bytes;
    one.early_us = curve.early_us;
    if (!curve.counts_on_buffer) one.flow_buffer_bytes = 0;
    const measured& got = curve.points.emplace_back(measure(one, network, runs));
    fmt::print("{:30} {:>6} B {:8.1f} % {:8.2f} Mbit/s {:10.0f} drops  fairness {:.3f}  token {:.1f} us\n", curve.name,
               bytes, 100 * got.goodput_fraction.median, got.megabits.median / 1e6, got.drops.median,
               got.fairness.median, got.token_us.median);
    std::fflush(stdout);
  }
}

[[nodiscard]] figure measure_figure(std::string title, std::vector<curve> curves, const plan& plan, network network,
                                    int runs) {
  fmt::print("\n{}\n", title);
  for (curve& each : curves) measure_curve(each, plan, network, runs);
  return {.title = std::move(title), .curves = std::move(curves)};
}

[[nodiscard]] std::vector<curve> by_senders(coordination coordination, double early_us) {
  std::vector<curve> curves;
  for (const std::uint32_t senders : {1U, 2U, 3U}) {
    curves.push_back({.name = fmt::format("{} sender{}", senders, senders == 1 ? "" : "s"),
                      .senders = senders,
                      .scheme = coordination,
                      .early_us = early_us,
                      .colour = senders,
                      .counts_on_buffer = false});
  }
  return curves;
}

[[nodiscard]] std::vector<figure> measure_figures(const plan& plan, network network, int runs) {
  std::vector<curve> policies{{"token", 3, coordination::token, plan.early_us, 1},
                              {"credit", 3, coordination::credit, 0, 2},
                              {"slot", 3, coordination::slot, 0, 3},
                              {"auto", 3, coordination::automatic, plan.early_us, 4},
                              {"none", 3, coordination::none, 0, 0}};
  if (network == network::star) policies.push_back({"TCP", 3, coordination::tcp, 0, 5});
  std::vector<curve> early{{"token", 2, coordination::token, 0, 1, false},
                           {"token, early", 2, coordination::token, plan.early_us, 2, false}};
  if (network == network::sim) {  // a star's token always counts on the buffers of its ports
    early.push_back({"the same, buffered", 2, coordination::token, plan.early_us, 3});
    early.push_back({"one sender", 1, coordination::token, plan.early_us, 0, false});
  }
  std::vector<figure> all;
  all.push_back(measure_figure("No coordination (figure 2)", by_senders(coordination::none, 0), plan, network, runs));
  all.push_back(measure_figure("Token, passed on at the end (figure 3)", by_senders(coordination::token, 0), plan,
                               network, runs));
  all.push_back(measure_figure("Two senders (figure 4)", std::move(early), plan, network, runs));
  all.push_back(measure_figure("Three senders, by policy", std::move(policies), plan, network, runs));
  return all;
}

/// A chart of one of the measured quantities, times `factor`.
[[nodiscard]] plot::chart chart_of(const figure& figure, std::string title, spread measured::*item, plot::axes kind,
                                   double factor = 1, std::string unit = {}) {
  plot::chart chart{
      .title = std::move(title), .x_label = "bytes of a message", .y_unit = std::move(unit), .kind = kind};
  for (const curve& each : figure.curves) {
    plot::line line{.name = each.name, .colour = each.colour, .dashed = each.scheme == coordination::tcp};
    for (std::size_t i = 0; i < each.points.size(); ++i) {
      const spread& subject = each.points[i].*item;
      line.points.push_back({.x = static_cast<double>(each.sizes[i]),
                             .y = subject.median * factor,
                             .least = subject.least * factor,
                             .most = subject.most * factor});
    }
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

void draw(const std::vector<figure>& all, const plan& plan, network network, const std::string& svg) {
  const auto goodput = [&](std::size_t index) {
    return chart_of(all[index], all[index].title, &measured::goodput_fraction, plot::axes::share);
  };
  plot::page page(network == network::star ? "Whole messages, of what the link can carry: star of network namespaces"
                                           : "Whole messages, of what the link can carry: simulated switch");
  page.add_row({goodput(0), goodput(1)});
  page.add_row({goodput(2)});
  page.add_row(
      {goodput(3), chart_of(all[3], "Three senders: fairness (Jain)", &measured::fairness, plot::axes::share)});
  page.add_row({chart_of(all[3], "Three senders: drops of the switch a second", &measured::drops,
                         plot::axes::logarithmic, 1 / plan.seconds),
                chart_of(all[3], "Three senders: from holder to holder of a token", &measured::token_us,
                         plot::axes::logarithmic, 1e-6, "s")});
  bench::write_file(svg, page.svg());
}

[[nodiscard]] nlohmann::ordered_json json_of(const curve& curve) {
  nlohmann::ordered_json points = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const measured& got = curve.points[i];
    points.push_back({{"bytes", curve.sizes[i]},
                      {"goodput_fraction", json_of(got.goodput_fraction)},
                      {"bits_per_second", json_of(got.megabits)},
                      {"drops", json_of(got.drops)},
                      {"fairness", json_of(got.fairness)},
                      {"token_us", json_of(got.token_us)}});
  }
  return {{"name", curve.name},
          {"senders", curve.senders},
          {"policy", name_of(curve.scheme)},
          {"early_us", curve.early_us},
          {"points", std::move(points)}};
}

}  // namespace

int draw_figures(const plan& plan, network network, int runs, const figure_files& figure_files) {
  const std::vector<figure> all = measure_figures(plan, network, runs);
  if (!figure_files.svg.empty()) draw(all, plan, network, figure_files.svg);
  nlohmann::ordered_json told{{"switch", network == network::sim ? "sim" : "star"},
                              {"runs", runs},
                              {"seconds", plan.seconds},
                              {"bits_per_second", plan.bits_per_second},
                              {"figures", nlohmann::ordered_json::array()}};
  for (const figure& each : all) {
    nlohmann::ordered_json curves = nlohmann::ordered_json::array();
    for (const curve& one : each.curves) curves.push_back(json_of(one));
    told["figures"].push_back({{"title", each.title}, {"curves", std::move(curves)}});
  }
  bench::write_json(figure_files.json, told);
  return 0;
}

}  // namespace incast
