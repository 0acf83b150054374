// SPDX-License-Identifier: Apache-2.0
// Declares the options.
#include "options.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <program_options.hpp>
#include <string>
#include <string_view>

#include "output/snapshot.hpp"
#include "pictures/png_file.hpp"

namespace nbody {
namespace {

constexpr std::uint32_t bodies_max = 1u << 30, pieces_max = 1u << 16;
constexpr std::array<std::string_view, 5> model_names{"plummer", "collision", "hernquist", "collapse", "cube"};

constexpr const char* footer = R"(Examples:
  nbody --bodies 100000 --steps 0 --check                           one evaluation of the forces, and its errors
  nacre run -n 2 nbody --model collision --bodies 100000 --softening 0.02 --steps 500 --pictures meeting
  nbody --model cluster.hdf5 --rungs 8 --softening 0.01 --steps 100 --out later.hdf5
  nbody --model galaxy.hdf5 --gravity 43007.1                       kpc, 1e10 solar masses, km/s
  nbody --bench-kernel                                              the inner loop beside the processor's peak
  nbody --nacre.help                                                options of the runtime

Exit code: 0; 1 when an output could not be written; 2 when the options or the bodies are wrong.)";

/// What means something by not being given.
struct given_options {
  std::optional<double> gravity{};
  std::optional<std::uint64_t> bodies{}, seed{};
  std::optional<std::uint32_t> samples{};
};

void add_physics(nacre::program_options& parser, options& asked, given_options& given) {
  parser.section("Bodies and time");
  parser
      .add("--model", asked.model_name,
           "plummer, collision, hernquist, collapse, cube, or a file: .txt (x y z vx vy vz mass) or .hdf5 (GADGET)")
      .called("NAME|FILE");
  parser.add("--bodies", given.bodies, "Bodies of a model")
      .called("COUNT")
      .between(1, bodies_max)
      .otherwise(std::to_string(asked.model.bodies));
  parser.add("--seed", given.seed, "Each seed gives other bodies, and other samples of --check")
      .called("NUMBER")
      .otherwise(std::to_string(asked.model.seed));
  parser.add("--steps", asked.steps, "Steps; 0 computes the forces once").called("COUNT");
  parser.add("--step", asked.step, "Length of a step; with --rungs of the longest").called("TIME").between(0, 1e300);
  parser.add("--rungs", asked.rungs, "Bodies have steps of their own, down to the longest / 2^COUNT; needs --softening")
      .called("COUNT")
      .between(0, 20);
  parser.add("--eta", asked.efficiency, "A body's own step is sqrt(2 eta softening / acceleration)")
      .called("NUMBER")
      .between(1e-6, 10);
  parser.add("--gravity", given.gravity, "The constant of gravity: 43007.1 for kpc, 1e10 solar masses, km/s")
      .called("NUMBER")
      .between(0, 1e300)
      .otherwise("that of the units of a .hdf5 file, else 1");
  parser.add("--softening", asked.soft.length, "Length of the softening").called("LENGTH").between(0, 1e300);
  parser.add_choice("--softening-shape", asked.soft.shape,
                    {{"plummer", softening_shape::plummer}, {"spline", softening_shape::spline}},
                    "plummer: 1/sqrt(r^2 + s^2); spline: that of GADGET, exact beyond 2.8 s");
}

void add_computing(nacre::program_options& parser, options& asked) {
  parser.section("Computing");
  const auto error = [](const std::string& text) {
    const double number = std::strtod(text.c_str(), nullptr);
    return number == 0 || (number >= error_min && number <= 0.1) ? std::string()
                                                                 : std::string("between 1e-6 and 0.1, or 0");
  };
  parser
      .add("--error", asked.error,
           "Root mean square error of the forces in a sphere; 0: direct sums in double precision")
      .called("NUMBER")
      .must_be(error);
  parser.add("--pieces", asked.pieces, "Pieces of the domain, mobile objects")
      .called("COUNT")
      .between(1, pieces_max)
      .otherwise("one for 20000 bodies, at least 8");
  parser.add_choice(
      "--balance", asked.balance,
      {{"none", balance_kind::none},
       {"bound", balance_kind::bound},
       {"ranges", balance_kind::ranges},
       {"cut", balance_kind::cut}},
      "none: pieces of equal numbers of bodies; bound: of the same part of space, as long as --recut says; "
      "ranges: pieces move by their last time; cut: the curve is also cut anew by it");
  parser.add_choice("--essential", asked.essential, {{"push", essential_kind::push}, {"pull", essential_kind::pull}},
                    "push: ranks send each other the cells that they need; pull: pieces ask for them");
  parser.add("--recut", asked.recut_steps, "Steps between two cuts by time of --balance bound; 0: none")
      .called("STEPS")
      .between(0, 1e9);
}

void add_output(nacre::program_options& parser, options& asked, given_options& given) {
  parser.section("Output");
  parser.add("--report", asked.report_steps, "Steps between two lines of energies, momenta and radii")
      .called("STEPS")
      .between(1, 1e9);
  parser.add("--check", asked.check, "Compare the last forces with direct sums");
  parser.add("--samples", given.samples, "Bodies that --check compares")
      .called("COUNT")
      .between(1, 1e6)
      .otherwise(std::to_string(asked.samples));
  parser.add("--json", asked.json, "Write the result as one JSON object").called("FILE");
  parser.add("--out", asked.out, "Write the last state, .txt or .hdf5").called("FILE");
  parser.add("--pictures", asked.pictures, "Write PREFIX-000000.png and so on, and PREFIX.png, which is animated")
      .called("PREFIX");
  parser.add("--picture-steps", asked.picture_steps, "Steps between two pictures").called("STEPS").between(1, 1e9);
  parser.add("--pixels", asked.pixels, "Width of a picture").called("COUNT").between(16, 4096);
  parser.add("--half-width", asked.half_width, "What pictures show on each side of the centre of mass")
      .called("LENGTH")
      .between(0, 1e300)
      .otherwise("three half-mass radii");
  parser.add("--quiet", asked.quiet, "Print nothing but errors");
  parser.add("--bench-kernel", asked.bench_kernel, "Measure the inner loop, and nothing else");
}

/// Takes what was given. Returns what is wrong with it: what would be ignored.
std::string problem_of_given(options& asked, const given_options& given) {
  asked.has_gravity = given.gravity.has_value();
  asked.gravity = given.gravity.value_or(asked.gravity);
  asked.model.bodies = given.bodies.value_or(asked.model.bodies);
  asked.model.seed = given.seed.value_or(asked.model.seed);
  asked.samples = given.samples.value_or(asked.samples);
  const bool is_file = asked.model.kind == model_kind::file;
  if (is_file && given.bodies) return "--bodies is given with a file (which says how many there are): leave it out";
  if (is_file && given.seed && !asked.check) {
    return "--seed is given with a file, whose bodies are not drawn (nor are samples, without --check): leave it out";
  }
  if (given.samples && !asked.check) return "--samples is given without --check (which compares them): add --check";
  return {};
}

std::string problem_of(options& asked) {
  const auto match = std::find(model_names.begin(), model_names.end(), asked.model_name);
  asked.model.kind = static_cast<model_kind>(match - model_names.begin());
  if (asked.model.kind == model_kind::file && format_of(asked.model_name) == file_format::unknown) {
    return "--model " + asked.model_name +
           " is no model (there are plummer, collision, hernquist, collapse and cube) and no file that ends in .txt "
           "or .hdf5";
  }
  if (!asked.out.empty() && format_of(asked.out) == file_format::unknown) {
    return "--out " + asked.out + " does not say its format: try a name that ends in .txt or .hdf5";
  }
  if (asked.rungs > 0 && !(asked.soft.length > 0)) {
    return "--rungs needs --softening (a body's own step follows from it): try --softening 0.01";
  }
  if (asked.recut_steps > 0 && asked.balance != balance_kind::bound) {
    return "--recut is given without --balance bound (the other ways do not cut by steps): leave it out";
  }
  if (!asked.pictures.empty() && !pictures::has_png()) {
    return "--pictures needs libpng, and this nbody was built without it";
  }
  return {};
}

}  // namespace

command_line parse_command_line(int argc, const char* const* argv) {
  nacre::program_options parser("nbody", "Gravity between bodies by a tree: dual walks with local expansions.");
  parser.footer(footer);
  command_line result;
  options& asked = result.asked;
  given_options given;
  add_physics(parser, asked, given);
  add_computing(parser, asked);
  add_output(parser, asked, given);
  result.exit_code = parser.parse(argc, argv);
  if (result.exit_code) return result;
  std::string problem = problem_of(asked);
  if (problem.empty()) problem = problem_of_given(asked, given);
  if (!problem.empty()) result.exit_code = parser.refuse(problem);
  return result;
}

std::uint32_t pieces_for(const options& asked) noexcept {
  constexpr std::uint64_t bodies_a_piece = 20000, least = 8;
  if (asked.pieces != 0) return asked.pieces;
  const std::uint64_t bodies = asked.model.bodies;
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(bodies / bodies_a_piece, std::min(least, bodies), pieces_max));
}

}  // namespace nbody
