// SPDX-License-Identifier: Apache-2.0
// Checks and descriptions of tree parameters.
#include "tree_params.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <nacre/error.hpp>
#include <stdexcept>
#include <utility>

namespace uts {
namespace {

bool reads_geometric(tree_type type) { return type == tree_type::geometric || type == tree_type::hybrid; }
bool reads_binomial(tree_type type) { return type == tree_type::binomial || type == tree_type::hybrid; }

std::string_view name_of(tree_type type) { return tree_type_names[static_cast<std::size_t>(type)]; }

[[noreturn]] void refuse(std::string problem, std::string reason, std::string remedy) {
  throw nacre::setup_error({std::move(problem), std::move(reason), std::move(remedy)});
}

void validate_branching(const tree_params& params) {
  const bool mean = reads_geometric(params.type);
  const double least = mean ? 1e-9 : 0;
  const double most = mean ? 1e6 : 1e9;
  if (params.branching >= least && params.branching <= most) return;
  refuse(fmt::format("branching {} is out of range for a {} tree", params.branching, name_of(params.type)),
         mean ? "beyond, its formula is not defined in double arithmetic" : "it is a number of children",
         fmt::format("try --branching between {} and {}", least, most));
}

}  // namespace

void validate(const tree_params& params) {
  constexpr std::uint32_t depth_max = 1'000'000;
  const auto type = static_cast<std::size_t>(params.type), shape = static_cast<std::size_t>(params.shape);
  if (type >= tree_type_names.size() || shape >= tree_shape_names.size()) {
    throw std::out_of_range("a type or shape of trees that does not exist");
  }
  validate_branching(params);
  if (params.depth < 1 || params.depth > depth_max) {
    refuse(fmt::format("depth {} is out of range", params.depth), "shapes are measured by it, and have a table for it",
           fmt::format("try --depth between 1 and {}", depth_max));
  }
  if (reads_geometric(params.type) && params.shape == tree_shape::expdec && params.depth < 2) {
    refuse("shape expdec needs a depth above 1", "it divides by log(depth)", "try --depth 2 or more");
  }
  if (reads_binomial(params.type) && !(params.q >= 0 && params.q <= 1)) {
    refuse(fmt::format("q {} is out of range", params.q), "it is a probability", "try --q between 0 and 1");
  }
  if (reads_binomial(params.type) && params.m > children_max) {
    refuse(fmt::format("m {} is out of range", params.m),
           fmt::format("nodes of a {} tree have at most {} children", name_of(params.type), children_max),
           fmt::format("try --m between 0 and {}", children_max));
  }
  if (params.type == tree_type::hybrid && !(params.f >= 0 && params.f <= 5)) {
    refuse(fmt::format("f {} is out of range", params.f), "no shape has nodes below 5 times its depth",
           "try --f between 0 and 5");
  }
  if (params.granularity < 1) {
    refuse("granularity 0 is out of range", "each hash must be computed once", "try --granularity 1 or more");
  }
}

bool same_tree(const tree_params& a, const tree_params& b) {
  if (a.type != b.type || a.branching != b.branching) return false;
  if (a.type == tree_type::balanced) return a.depth == b.depth;
  if (a.seed != b.seed) return false;
  if (reads_geometric(a.type) && (a.shape != b.shape || a.depth != b.depth)) return false;
  if (reads_binomial(a.type) && (a.q != b.q || a.m != b.m)) return false;
  return a.type != tree_type::hybrid || a.f == b.f;
}

std::string describe(const tree_params& params) {
  std::string text(name_of(params.type));
  if (reads_geometric(params.type)) {
    text += fmt::format(", shape {}", tree_shape_names[static_cast<std::size_t>(params.shape)]);
  }
  if (params.type != tree_type::binomial) text += fmt::format(", depth {}", params.depth);
  text += fmt::format(", branching {}", params.branching);
  if (reads_binomial(params.type)) text += fmt::format(", q {}, m {}", params.q, params.m);
  if (params.type == tree_type::hybrid) text += fmt::format(", f {}", params.f);
  if (params.type != tree_type::balanced) text += fmt::format(", seed {}", params.seed);
  if (params.granularity > 1) text += fmt::format(", granularity {}", params.granularity);
  return text;
}

}  // namespace uts
