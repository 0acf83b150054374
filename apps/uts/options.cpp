// SPDX-License-Identifier: Apache-2.0
// Declares the options and turns their values into a tree.
#include "options.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <nacre/error.hpp>
#include <program_options.hpp>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "nearest_name.hpp"
#include "presets.hpp"

namespace uts {
namespace {

constexpr const char* footer = R"(Examples:
  uts --tree T1                      search a named tree of about 4 million nodes
  uts --tree T1L --sequential        102 million nodes in a plain loop: the yardstick
  uts --tree T3 --seed 43            a named tree with one parameter changed
  uts --type geometric --shape fixed --depth 8 --branching 4 --seed 19
  uts --tree T3 --mode steal --chunk 20 --interval 512 --nacre.transport=sim --nacre.ranks=32
  uts --tree T1 --json --quiet       one JSON object for scripts

Exit code: 0 when the counts match the published ones or none are known, 1 on a mismatch, 2 when the options are wrong.)";

/// The options as given; what was not given stays empty.
struct given_options {
  std::string tree, type, shape, sha = "auto", mode = "objects", chunk = "auto", interval = "auto", node_cost = "20ns";
  std::optional<double> branching, q, f;
  std::optional<std::uint32_t> depth, seed, m, granularity;
};

void declare_tree(nacre::program_options& parser, given_options& given) {
  parser.add("--tree", given.tree, "A tree by its name, such as T1 or T1L; --list shows all").called("NAME");
  parser.section("A tree by its parameters (alone, or to change a named one)");
  parser.add("--type", given.type, "geometric (default), binomial, hybrid or balanced").called("TYPE");
  parser.add("--shape", given.shape, "How a geometric tree narrows: linear (default), expdec, cyclic or fixed")
      .called("SHAPE");
  parser.add("--depth", given.depth, "d: depth that the shape is measured by (default 6)").called("COUNT");
  parser.add("--branching", given.branching, "b: mean children near the root; children of a binomial root (default 4)");
  parser.add("--seed", given.seed, "r: each seed gives another tree (default 0)").called("COUNT");
  parser.add("--q", given.q, "Binomial: probability of having children (default 15/64 = 0.234375)");
  parser.add("--m", given.m, "Binomial: how many children then, at most 100 (default 4)").called("COUNT");
  parser.add("--f", given.f, "Hybrid: geometric above depth f * d, binomial below (default 0.5)");
  parser.add("--granularity", given.granularity, "g: compute each hash g times; more work, same tree (default 1)")
      .called("COUNT");
}

void declare_run(nacre::program_options& parser, given_options& given, options& asked) {
  parser.section("How to run");
  parser
      .add("--sha", given.sha,
           "SHA-1 by lanes of AVX-512 (avx512) or AVX2 (avx2), by SHA instructions (shani) or by none of them "
           "(portable); auto takes the first that this processor has")
      .called("HOW");
  parser
      .add("--mode", given.mode,
           "How ranks share the work: objects, mobile objects that split and move; steal, ranks without work ask "
           "others; share, rank 0 keeps a queue for the others. The last two: one search for each rank")
      .called("MODE");
  parser
      .add("--chunk", given.chunk,
           "steal, share: nodes given away at a time, by who has more than twice as many; auto: half")
      .called("COUNT");
  parser
      .add("--interval", given.interval,
           "steal, share: nodes between two looks at requests, or "
           "between two releases; auto: more after each look in vain")
      .called("COUNT");
  parser
      .add("--near", asked.near,
           "steal: requests in a row to ranks of the own host before each one to another host; 0 (default): hosts do "
           "not "
           "matter")
      .called("COUNT");
  parser
      .add("--node-cost", given.node_cost,
           "Where time is simulated, what a node costs for each of its hashes: a time such as 12.5ns, or measured, as "
           "long as this processor takes")
      .called("TIME")
      .must_be([](const std::string& text) {
        return parse_node_cost(text) ? "" : "a time such as 12.5ns, 100s at most, or the word measured";
      });
  parser.add("--sequential", asked.sequential, "Search in a plain loop on one thread");
  parser.section("Output");
  parser.add("--json", asked.json, "Print the result as one JSON object");
  parser.add("--quiet", asked.quiet, "No progress line (there is one only on a terminal)");
  parser.add("--list", asked.list, "Print the named trees with their published sizes, and stop");
}

/// The position of `value` among `names`; throws setup_error, naming the nearest, if it is not there.
std::size_t position(std::string_view value, std::span<const std::string_view> names, std::string_view option) {
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (equal_ignoring_case(names[k], value)) return k;
  }
  std::string known;
  for (const std::string_view name : names) known.append(known.empty() ? "" : ", ").append(name);
  throw nacre::setup_error({fmt::format("{} has no value '{}'", option, value), "it knows " + known,
                            fmt::format("did you mean {}?", nearest_name(value, names))});
}

/// A positive number, or nothing for auto.
std::optional<std::uint32_t> count_or_auto(const std::string& text, std::string_view option) {
  if (equal_ignoring_case(text, "auto")) return std::nullopt;
  std::uint32_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc() && end == text.data() + text.size() && count > 0) return count;
  throw nacre::setup_error({fmt::format("{} has no value '{}'", option, text), "it is a number of nodes, 1 or more",
                            fmt::format("try {} auto", option)});
}

template <class Given, class Value>
void replace_if_given(const std::optional<Given>& given, Value& value) {
  if (given) value = *given;
}

tree_params tree_from(const given_options& given) {
  tree_params params = given.tree.empty() ? tree_params{} : find_preset(given.tree).params;
  if (!given.type.empty()) params.type = static_cast<tree_type>(position(given.type, tree_type_names, "--type"));
  if (!given.shape.empty()) params.shape = static_cast<tree_shape>(position(given.shape, tree_shape_names, "--shape"));
  replace_if_given(given.depth, params.depth);
  replace_if_given(given.branching, params.branching);
  replace_if_given(given.seed, params.seed);
  replace_if_given(given.q, params.q);
  replace_if_given(given.m, params.m);
  replace_if_given(given.f, params.f);
  replace_if_given(given.granularity, params.granularity);
  validate(params);
  return params;
}

/// Refuses what the chosen way to search would not read.
void demand_ways_that_fit(const options& asked) {
  const bool has_counts = asked.chunk || asked.interval;
  if (asked.sequential && (has_counts || asked.mode != search_mode::objects)) {
    throw nacre::setup_error({"--sequential is given with --mode, --chunk or --interval",
                              "a plain loop has no ranks that share its work", "leave one out"});
  }
  if (has_counts && asked.mode == search_mode::objects) {
    throw nacre::setup_error({"--chunk or --interval is given without --mode steal or share",
                              "mobile objects find their own sizes", "leave it out, or name one of these modes"});
  }
  if (asked.near > 0 && (asked.sequential || asked.mode != search_mode::steal)) {
    throw nacre::setup_error({"--near is given without --mode steal", "only thieves choose whom they ask",
                              "leave it out, or name this mode"});
  }
}

/// What looks like a tree is meant for --tree.
std::string advice_for(const std::string& word) {
  std::vector<std::string_view> trees;
  for (const preset& p : presets()) trees.push_back(p.name);
  return fmt::format("did you mean --tree {}?", nearest_name(word, trees));
}

}  // namespace

command_line parse_command_line(int argc, const char* const* argv) {
  nacre::program_options parser(
      "uts", "Unbalanced Tree Search: counts the nodes of a tree that exists only as SHA-1 digests.");
  parser.footer(footer);
  parser.advise_on_words(advice_for);
  command_line result;
  given_options given;
  declare_tree(parser, given);
  declare_run(parser, given, result.asked);
  result.exit_code = parser.parse(argc, argv);
  if (result.exit_code) return result;
  result.asked.sha = static_cast<sha1_choice>(position(given.sha, sha1_names, "--sha"));
  constexpr std::array<std::string_view, 3> modes{"objects", "steal", "share"};
  result.asked.mode = static_cast<search_mode>(position(given.mode, modes, "--mode"));
  result.asked.cost = *parse_node_cost(given.node_cost);
  result.asked.chunk = count_or_auto(given.chunk, "--chunk");
  result.asked.interval = count_or_auto(given.interval, "--interval");
  demand_ways_that_fit(result.asked);
  if (!result.asked.list) result.asked.tree = tree_from(given);
  return result;
}

}  // namespace uts
