// SPDX-License-Identifier: Apache-2.0
// Plots as plain SVG: axes, ticks, lines and legends.
#include "plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <string_view>

namespace plot {
namespace {

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else
      result += c;
  }
  return result;
}

/// 1000 with the unit "B/s" is "1 kB/s"; 1e-7 with "s" is "100 ns".
std::string with_prefix(double value, const std::string& unit) {
  static constexpr std::array<std::string_view, 9> prefixes{"p", "n", "\xC2\xB5", "m", "", "k", "M", "G", "T"};
  if (value == 0) return "0";
  const int power = std::clamp(static_cast<int>(std::floor(std::log10(value) / 3 + 1e-9)), -4, 4);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g ", value / std::pow(1000.0, power));
  return text.data() + std::string(prefixes[static_cast<std::size_t>(power + 4)]) + unit;
}

std::string size_text(double bytes) {
  static constexpr std::array<std::string_view, 4> units{" B", " KiB", " MiB", " GiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", bytes);
  return text.data() + std::string(units[unit]);
}

/// An axis from `least` to `most` over pixels.
struct axis {
  double least = 1, most = 10;
  double begin = 0, end = 1;
  axes kind = axes::logarithmic;
  [[nodiscard]] double at(double value) const {
    if (kind == axes::linear) return begin + (end - begin) * (value - least) / (most - least);
    return begin + (end - begin) * std::log(value / least) / std::log(most / least);
  }
  [[nodiscard]] bool shows(double value) const { return kind == axes::linear || value > 0; }
};

/// Between ticks of a linear axis: 1, 2 or 5 times a power of ten, so that there are at most eight; 1 at least where
/// only whole numbers make sense.
double tick_step(double most, bool whole) {
  double step = std::pow(10, std::floor(std::log10(most / 8)));
  if (whole) step = std::max(step, 1.0);
  for (const double factor : {2.0, 2.5, 2.0}) step *= most / step > 8 ? factor : 1;
  return step;
}

std::string text(double x, double y, std::string_view kind, std::string_view anchor, std::string_view words) {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" class=\"" + std::string(kind) + "\" text-anchor=\"" +
         std::string(anchor) + "\">" + escaped(words) + "</text>\n";
}

std::string stroke(double x1, double y1, double x2, double y2, std::string_view kind) {
  return "<path class=\"" + std::string(kind) + "\" d=\"M" + number(x1) + " " + number(y1) + "L" + number(x2) + " " +
         number(y2) + "\"/>\n";
}

/// A mark whose shape tells lines apart where colours do not.
std::string mark(double x, double y, std::size_t kind) {
  const std::string colour = "<path class=\"m" + std::to_string(kind % 8) + "\" d=\"M";
  const auto path = [&](std::initializer_list<std::array<double, 2>> corners) {
    std::string d;
    for (const auto& [dx, dy] : corners) d += (d.empty() ? "" : "L") + number(x + dx) + " " + number(y + dy);
    return colour + d + "Z\"/>\n";
  };
  switch (kind % 4) {
    case 0:
      return path({{-3, -3}, {3, -3}, {3, 3}, {-3, 3}});
    case 1:
      return path({{0, -4.2}, {4.2, 0}, {0, 4.2}, {-4.2, 0}});
    case 2:
      return path({{0, -4}, {3.8, 3}, {-3.8, 3}});
    default:
      return path({{-3.8, -3}, {3.8, -3}, {0, 4}});
  }
}

std::string style() {
  static constexpr std::array<std::array<std::string_view, 2>, 8> colours{{{"#57606a", "#9aa4af"},
                                                                           {"#0068b4", "#58b0f2"},
                                                                           {"#cc4b00", "#ff9250"},
                                                                           {"#00845c", "#3ccf9e"},
                                                                           {"#a8408a", "#ee93d2"},
                                                                           {"#8a6a00", "#e6c03c"},
                                                                           {"#6440c8", "#b39cff"},
                                                                           {"#a01828", "#ff7f8a"}}};
  const auto sheet = [](std::size_t dark) {
    static constexpr std::array<std::array<std::string_view, 2>, 4> grey{
        {{"#ffffff", "#14181d"}, {"#24292f", "#dde3ea"}, {"#e4e8ec", "#2a3138"}, {"#8c959f", "#6b7580"}}};
    std::string css = ".page{fill:" + std::string(grey[0][dark]) + "}text{fill:" + std::string(grey[1][dark]) +
                      "}.grid{stroke:" + std::string(grey[2][dark]) + "}.frame{stroke:" + std::string(grey[3][dark]) +
                      "}";
    for (std::size_t i = 0; i < colours.size(); ++i) {
      const std::string colour(colours[i][dark]);
      css += ".l" + std::to_string(i) + "{stroke:" + colour + "}.m" + std::to_string(i) + "{fill:" + colour + "}";
    }
    return css;
  };
  return "<style>text{font-family:system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif;font-size:11px}"
         ".head{font-size:17px;font-weight:600}.title{font-size:13px;font-weight:600}"
         ".grid,.frame{fill:none;stroke-width:1}.line{fill:none;stroke-width:1.8;stroke-linejoin:round}"
         ".dashed{stroke-dasharray:6 4}.range{fill:none;stroke-width:1;opacity:.55}" +
         sheet(0) + "@media (prefers-color-scheme:dark){" + sheet(1) + "}</style>\n";
}

/// What the points need, rounded outwards to powers of `base`; on a linear axis from 0 to a little more than the most.
void fit(axis& along, double least, double most, double base) {
  if (along.kind == axes::linear) {
    along = {0, most > 0 ? most * 1.06 : 1, along.begin, along.end, along.kind};
    return;
  }
  if (!(least <= most)) return;
  along.least = std::pow(base, std::floor(std::log(least) / std::log(base) + 1e-9));
  along.most = std::pow(base, std::ceil(std::log(most) / std::log(base) - 1e-9));
  if (along.most <= along.least) along.most = along.least * base;
}

constexpr double width = 480, height = 300, left = 68, right = 14, top = 26, bottom = 44;

std::string x_tick(double time, const axis& y, const std::string& words) {
  return stroke(time, y.begin, time, y.end, "grid") + text(time, y.begin + 15, "tick", "middle", words);
}
std::string y_tick(double time, const axis& x, const std::string& words) {
  return stroke(x.begin, time, x.end, time, "grid") + text(x.begin - 7, time + 4, "tick", "end", words);
}

std::string linear_x_ticks(const axis& x, const axis& y) {
  std::string out;
  const double step = tick_step(x.most, true);
  for (double value = 0; value <= x.most; value += step) out += x_tick(x.at(value), y, with_prefix(value, ""));
  return out;
}

std::string linear_y_ticks(const chart& chart, const axis& x, const axis& y) {
  std::string out;
  const double step = chart.kind == axes::share ? 0.1 : tick_step(y.most, chart.y_unit.empty());
  const double end = chart.kind == axes::share ? 1 + step / 2 : y.most;
  for (int tick = 0; tick * step <= end; ++tick) {
    const std::string words = chart.kind == axes::share ? number(tick * step) : with_prefix(tick * step, chart.y_unit);
    out += y_tick(y.at(tick * step), x, words);
  }
  return out;
}

std::string logarithmic_x_ticks(const chart& chart, const axis& x, const axis& y) {
  std::string out;
  const double octaves = std::log2(x.most / x.least);
  const double step = octaves > 12 ? 8 : octaves > 6 ? 4 : 2;
  for (double value = x.least; value <= x.most * 1.001; value *= step) {
    out += x_tick(x.at(value), y, chart.x_is_bytes ? size_text(value) : std::to_string(std::llround(value)));
  }
  return out;
}

std::string logarithmic_y_ticks(const chart& chart, const axis& x, const axis& y) {
  std::string out;
  for (double value = y.least; value <= y.most * 1.001; value *= 10) {
    out += y_tick(y.at(value), x, with_prefix(value, chart.y_unit));
    for (int minor = 2; minor < 10 && value < y.most * 0.999; ++minor) {
      out += stroke(x.begin, y.at(value * minor), x.begin + 4, y.at(value * minor), "frame");
    }
  }
  return out;
}

std::string draw_line(const line& line, const axis& x, const axis& y) {
  const std::string colour = "l" + std::to_string(line.colour % 8);
  std::string path, ranges, marks;
  for (const point& p : line.points) {
    if (!x.shows(p.x) || !y.shows(p.y)) continue;
    path += (path.empty() ? "M" : "L") + number(x.at(p.x)) + " " + number(y.at(p.y));
    if (p.least > 0 && p.most > p.least) {
      ranges += stroke(x.at(p.x), y.at(p.least), x.at(p.x), y.at(p.most), "range " + colour);
    }
    marks += mark(x.at(p.x), y.at(p.y), line.colour);
  }
  const std::string kind = "line " + colour + (line.dashed ? " dashed" : "");
  return ranges + "<path class=\"" + kind + "\" d=\"" + (path.empty() ? "M0 0" : path) + "\"/>\n" + marks;
}

/// Appends the legend and returns its height.
double draw_legend(const chart& chart, double y0, std::size_t columns, std::string& out) {
  const std::size_t in_a_line = columns < 2 ? 2 : 3;
  const double space = (static_cast<double>(columns) * width - left) / static_cast<double>(in_a_line);
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const double x = left + static_cast<double>(i % in_a_line) * space;
    const double y = y0 + 10 + 18 * static_cast<double>(i / in_a_line);
    const std::string kind =
        "line l" + std::to_string(chart.lines[i].colour % 8) + (chart.lines[i].dashed ? " dashed" : "");
    out += stroke(x, y, x + 28, y, kind) + mark(x + 14, y, chart.lines[i].colour);
    out += text(x + 35, y + 4, "tick", "start", chart.lines[i].name);
  }
  return 18 * static_cast<double>((chart.lines.size() + in_a_line - 1) / in_a_line) + 8;
}

std::string draw_axes(const chart& chart, const axis& x, const axis& y) {
  std::string out = text(x.begin, y.end - 10, "title", "start", chart.title);
  out += x.kind == axes::linear ? linear_x_ticks(x, y) : logarithmic_x_ticks(chart, x, y);
  out += y.kind == axes::linear ? linear_y_ticks(chart, x, y) : logarithmic_y_ticks(chart, x, y);
  out += "<path class=\"frame\" d=\"M" + number(x.begin) + " " + number(y.end) + "V" + number(y.begin) + "H" +
         number(x.end) + "\"/>\n";
  return out + text((x.begin + x.end) / 2, y.begin + 34, "tick", "middle", chart.x_label);
}

std::string draw(const chart& chart, double x0, double y0) {
  const bool share = chart.kind == axes::share;
  axis x{1, 10, x0 + left, x0 + width - right, share ? axes::logarithmic : chart.kind};
  axis y{1, 10, y0 + height - bottom, y0 + top, share ? axes::linear : chart.kind};
  std::array<double, 4> range{1e300, 0, 1e300, 0};
  for (const line& each : chart.lines) {
    for (const point& p : each.points) {
      if (!x.shows(p.x) || !y.shows(p.y)) continue;
      range = {std::min(range[0], p.x), std::max(range[1], p.x), std::min(range[2], p.least > 0 ? p.least : p.y),
               std::max({range[3], p.y, p.most})};
    }
  }
  fit(x, range[0], range[1], 2);
  fit(y, range[2], share ? 1 : range[3], 10);
  std::string out = draw_axes(chart, x, y);
  for (const line& each : chart.lines) out += draw_line(each, x, y);
  return out;
}

}  // namespace

std::string page::svg() const {
  double y = 44;
  std::string body;
  std::size_t columns = 1;
  for (const std::vector<chart>& row : rows_) {
    columns = std::max(columns, row.size());
    for (std::size_t i = 0; i < row.size(); ++i) body += draw(row[i], static_cast<double>(i) * width, y);
    y += height;
    if (!row.empty()) y += draw_legend(row.front(), y, row.size(), body);
    y += 18;
  }
  const double page_width = static_cast<double>(columns) * width + 12;
  const std::string extent = number(page_width) + "\" height=\"" + number(y);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + extent + "\" viewBox=\"0 0 " + number(page_width) +
         " " + number(y) + "\">\n" + style() + "<rect class=\"page\" width=\"" + extent + "\"/>\n" +
         text(left, 26, "head", "start", title_) + body + "</svg>\n";
}

}  // namespace plot
