// SPDX-License-Identifier: Apache-2.0
// Goodput by size of message: uncoordinated, with a token, with one that is passed on early; the policies beside them.
#include "figures.hpp"

#include <array>
#include <cstdio>
#include <vector>

#include <fmt/format.h>

#include "output_file.hpp"
#include "plot.hpp"

namespace incast {
namespace {

constexpr std::array<std::uint64_t, 8> sizes{64, 256, 512, 1024, 2048, 4096, 8192, 10240};
constexpr int runs = 3;

struct curve {
  std::string name;
  std::uint32_t senders;
  coordination by;
  double early_us;
  std::size_t colour;
};

[[nodiscard]] plot::line measure_curve(const curve& what, const plan& how, network over) {
  plot::line line{.name = what.name, .colour = what.colour, .dashed = what.by == coordination::tcp};
  for (const std::uint64_t bytes : sizes) {
    plan one = how;
    one.senders = what.senders;
    one.by = what.by;
    one.bytes = bytes;
    one.early_us = what.early_us;
    const measured got = measure(one, over, runs);
    line.points.push_back({.x = static_cast<double>(bytes),
                           .y = got.goodput_fraction.median,
                           .least = got.goodput_fraction.least,
                           .most = got.goodput_fraction.most});
    fmt::print("{:30} {:>6} B {:8.1f} % {:8.2f} Mbit/s {:10.0f} drops  fairness {:.3f}  token {:.1f} us\n", what.name,
               bytes, 100 * got.goodput_fraction.median, got.megabits.median / 1e6, got.drops.median,
               got.fairness.median, got.token_us.median);
    std::fflush(stdout);
  }
  return line;
}

[[nodiscard]] plot::chart measure_chart(const std::string& title, const std::vector<curve>& curves, const plan& how,
                                        network over) {
  fmt::print("\n{}\n", title);
  plot::chart chart{.title = title, .x_label = "bytes of a message", .kind = plot::axes::share};
  for (const curve& each : curves) chart.lines.push_back(measure_curve(each, how, over));
  return chart;
}

[[nodiscard]] std::vector<curve> by_senders(coordination by, double early_us) {
  std::vector<curve> curves;
  for (const std::uint32_t senders : {1U, 2U, 3U}) {
    curves.push_back({fmt::format("{} sender{}", senders, senders == 1 ? "" : "s"), senders, by, early_us, senders});
  }
  return curves;
}

}  // namespace

int draw_figures(const plan& how, network over, const std::string& svg) {
  const bool star = over == network::star;
  std::vector<curve> policies{{"token", 3, coordination::token, how.early_us, 1},
                              {"credit", 3, coordination::credit, 0, 2},
                              {"slot", 3, coordination::slot, 0, 3},
                              {"auto", 3, coordination::automatic, how.early_us, 4},
                              {"none", 3, coordination::none, 0, 0}};
  if (star) policies.push_back({"TCP", 3, coordination::tcp, 0, 5});
  const plot::chart uncoordinated =
      measure_chart("No coordination (figure 2)", by_senders(coordination::none, 0), how, over);
  const plot::chart token =
      measure_chart("Token, passed on at the end (figure 3)", by_senders(coordination::token, 0), how, over);
  const plot::chart early = measure_chart(
      "Two senders (figure 4)",
      {{"token", 2, coordination::token, 0, 1}, {"token, early", 2, coordination::token, how.early_us, 2}}, how, over);
  const plot::chart others = measure_chart("Three senders, by policy", policies, how, over);
  if (svg.empty()) return 0;
  plot::page page(star ? "Whole messages, of what the link can carry: star of network namespaces"
                       : "Whole messages, of what the link can carry: simulated switch");
  page.add_row({uncoordinated, token});
  page.add_row({early});
  page.add_row({others});
  bench::write_file(svg, page.svg());
  return 0;
}

}  // namespace incast
