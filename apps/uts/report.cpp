// SPDX-License-Identifier: Apache-2.0
// Formats results for people and for programs.
#include "report.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "presets.hpp"

namespace uts {
namespace {

/// A number with three digits and a unit: 102 M, 4.13 M, 950.
std::string short_number(double value) {
  constexpr std::array<const char*, 5> units{"", " k", " M", " G", " T"};
  std::size_t unit = 0;
  // From 999.5 on, three digits would read 1000.
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  if (unit == 0) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}f}{}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, units[unit]);
}

template <class Count>
std::string row(std::string_view name, Count counted, const std::optional<Count>& known) {
  if (!known) return fmt::format("{:<8}{:>16}\n", name, counted);
  return fmt::format("{:<8}{:>16}{:>16}  {}\n", name, counted, *known, counted == *known ? "match" : "MISMATCH");
}

std::string title(const tree_params& params) {
  const std::string_view name = preset_name(params);
  return name.empty() ? describe(params) : fmt::format("{}: {}", name, describe(params));
}

nlohmann::ordered_json json_of(const tree_params& params) {
  return {{"type", tree_type_names[static_cast<std::size_t>(params.type)]},
          {"shape", tree_shape_names[static_cast<std::size_t>(params.shape)]},
          {"depth", params.depth},
          {"branching", params.branching},
          {"seed", params.seed},
          {"q", params.q},
          {"m", params.m},
          {"f", params.f},
          {"granularity", params.granularity}};
}

nlohmann::ordered_json json_of(const sharing_figures& sharing) {
  return {{"last_node", sharing.last_node},     {"chunks", sharing.chunks},
          {"chunks_near", sharing.chunks_near}, {"refusals", sharing.refusals},
          {"work_outrun", sharing.work_outrun}, {"requests_outrun", sharing.requests_outrun}};
}

template <class Count>
nlohmann::ordered_json json_of(const std::optional<Count>& count) {
  return count ? nlohmann::ordered_json(*count) : nlohmann::ordered_json(nullptr);
}

}  // namespace

double search_result::nodes_per_second() const noexcept {
  return seconds > 0 ? static_cast<double>(counts.nodes) / seconds : 0;
}

verdict judge(const search_result& result) {
  const std::optional<known_size> known = find_known_size(result.params);
  if (!known) return verdict::unknown;
  return known->agrees_with(result.counts) ? verdict::match : verdict::mismatch;
}

std::string result_text(const search_result& result) {
  const std::optional<known_size> known = find_known_size(result.params);
  std::string text = fmt::format("{}\n{}, SHA-1 {}\n\n", title(result.params), result.mode, result.sha);
  text += fmt::format("{:<8}{:>16}", "", "counted") + (known ? fmt::format("{:>16}\n", known->source) : "\n");
  const known_size nothing{};
  const known_size& size = known ? *known : nothing;
  text += row<std::uint64_t>("nodes", result.counts.nodes, known ? std::optional(size.nodes) : std::nullopt);
  text += row<std::uint64_t>("leaves", result.counts.leaves, size.leaves);
  text += row<std::uint32_t>("depth", result.counts.depth, size.depth);
  text += fmt::format("{:<8}{:>16.3f}\n", "seconds", result.seconds);
  text += fmt::format("{:<8}{:>16}\n", "nodes/s", short_number(result.nodes_per_second()));
  if (!known) text += "\nNo published counts are known for these parameters; --list shows the trees that have some.\n";
  return text;
}

std::string result_json(const search_result& result) {
  const std::optional<known_size> known = find_known_size(result.params);
  constexpr std::array<std::string_view, 3> words{"match", "MISMATCH", "unknown"};
  nlohmann::ordered_json json;
  const std::string_view name = preset_name(result.params);
  json["tree"] = name.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(name);
  json["parameters"] = json_of(result.params);
  json["mode"] = result.mode;
  json["sha"] = result.sha;
  json["nodes"] = result.counts.nodes;
  json["leaves"] = result.counts.leaves;
  json["depth"] = result.counts.depth;
  json["seconds"] = result.seconds;
  json["nodes_per_second"] = result.nodes_per_second();
  json["known"] = nullptr;
  if (known) {
    json["known"] = {{"source", known->source},
                     {"nodes", known->nodes},
                     {"leaves", json_of(known->leaves)},
                     {"depth", json_of(known->depth)}};
  }
  if (result.mode == "stealing" || result.mode == "sharing") json["sharing"] = json_of(result.sharing);
  json["verdict"] = words[static_cast<std::size_t>(judge(result))];
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string preset_list() {
  std::string text = fmt::format("{:<6} {:>13} {:>13} {:>7}  {}\n", "tree", "nodes", "leaves", "depth", "parameters");
  for (const preset& p : presets()) {
    text += fmt::format("{:<6} {:>13} {:>13} {:>7}  {}\n", p.name, p.size.nodes, p.size.leaves.value_or(0),
                        p.size.depth.value_or(0), describe(p.params));
  }
  return text;
}

std::string progress_text(std::uint64_t nodes, double nodes_per_second, std::optional<std::uint64_t> nodes_total) {
  std::string text =
      fmt::format("uts: {} nodes, {}/s", short_number(static_cast<double>(nodes)), short_number(nodes_per_second));
  if (nodes_total && nodes <= *nodes_total && nodes_per_second > 0) {
    const double total = static_cast<double>(*nodes_total);
    const double left = total - static_cast<double>(nodes);
    text += fmt::format(", {:.0f} % of {}, {:.0f} s left", 100 - 100 * left / total, short_number(total),
                        left / nodes_per_second);
  }
  return text;
}

}  // namespace uts
