// SPDX-License-Identifier: Apache-2.0
// Declares the options, and turns them into descriptions.
#include "setup/options.hpp"

#include <optional>
#include <vector>

#include <nacre/error.hpp>
#include <program_options.hpp>

#include "setup/input_file.hpp"

namespace waves {
namespace {

constexpr const char* footer = R"(Examples:
  waves --case loh1 --near --reference loh1.txt --seismograms out     seismograms, and how far from the reference
  waves basin.toml --snapshots wave.png --every 0.1                   pictures of the surface
  nacre run -n 4 waves basin.toml --json result.json                  four processes
  waves --case manufactured                                           three grids, and the order of accuracy
  waves --nacre.help                                                  options of the runtime

waves_mpi has no options of the runtime, and of the output --json alone.

Exit code: 0 when all was computed, 1 when not, 2 when the input or the options are wrong.)";

void add_problem(nacre::program_options& parser, options& asked, std::optional<double>& sigma) {
  parser.section("Problem");
  parser.add("input", asked.input, "Input file in TOML").called("FILE");
  parser.add_choice("--case", asked.base_case,
                    {{"none", known_case::none},
                     {"loh1", known_case::loh1},
                     {"lamb", known_case::lamb},
                     {"plane-wave", known_case::plane_wave},
                     {"rayleigh", known_case::rayleigh},
                     {"manufactured", known_case::manufactured}},
                    "A known problem instead of a file");
  parser.add("--h", asked.h, "Spacing of the grid; of the coarsest one where there are three")
      .called("METRES")
      .otherwise("that of the problem");
  parser.add("--time", asked.time, "Seconds to compute").called("SECONDS").otherwise("that of the problem");
  parser.add("--step", asked.step, "Step in time over h / sqrt(vp^2 + 2 vs^2)").called("PART").otherwise("1.3");
  parser.add("--unsafe-step", asked.unsafe_step, "Allow steps from 1.3 to 1.5, which some materials bear");
  parser.add("--interface", asked.interface, "Means in the plane of an interface")
      .one_of({"thin_layer", "harmonic"})
      .otherwise("that of the problem");
  parser.add("--sigma", sigma, "Width of LOH.1's source").called("SECONDS").between(0.01, 1).otherwise("0.06");
  parser.add("--near", asked.loh1.is_near, "LOH.1 in a box of 16 x 18 x 9 km instead of 30 x 30 x 17 km");
}

}  // namespace

command_line parse_command_line(int argc, const char* const* argv) {
  nacre::program_options parser("waves", "Elastic waves in three dimensions, fourth order, with a free surface.");
  parser.footer(footer);
  command_line result;
  options& asked = result.asked;
  std::optional<double> sigma;
  add_problem(parser, asked, sigma);
  parser.section("Computation");
  parser.add("--patches", asked.patches, "Parts of the grid")
      .called("COUNT")
      .between(0, 1u << 20)
      .otherwise("two for each worker");
  parser.add("--chunk", asked.chunk, "Steps between two waits of all ranks").called("STEPS").between(1, 1u << 20);
  parser.add("--kernels", asked.kernels, "Instruction set; all give the same bits")
      .one_of({"auto", "portable", "avx2", "avx512"});
  parser.section("Output");
  parser.add("--seismograms", asked.seismograms, "Write PREFIX.RECEIVER.txt, .svg and .x.sac, .y.sac, .z.sac")
      .called("PREFIX");
  parser
      .add("--reference", asked.reference,
           "Seismogram to compare the first receiver with: time, radial, transverse, vertical")
      .called("FILE");
  parser
      .add("--snapshots", asked.snapshots,
           "Picture of a plane, .png or .vti; a series gets numbers, and an animation of .png")
      .called("FILE");
  parser.add("--plane", asked.plane, "Plane of the snapshots: y or z = METRES").called("PLANE");
  parser.add("--every", asked.every, "Time between snapshots")
      .called("SECONDS")
      .between(0, 1e9)
      .otherwise("only the end");
  parser.add("--json", asked.json, "Write the result as one JSON object").called("FILE");
  parser.add("--quiet", asked.quiet, "Do not tell progress");
  result.exit_code = parser.parse(argc, argv);
  if (result.exit_code) return result;
  if (asked.input.empty() == (asked.base_case == known_case::none)) {
    result.exit_code = parser.refuse("name an input file, or one --case");
  } else if (asked.base_case != known_case::loh1 && (sigma || asked.loh1.is_near)) {
    result.exit_code = parser.refuse("--sigma and --near are those of --case loh1: leave them out");
  }
  asked.loh1.sigma = sigma.value_or(asked.loh1.sigma);
  return result;
}

std::vector<description> descriptions(const options& asked) {
  description first;
  if (asked.input.empty()) {
    first = describe(asked.base_case, asked.h.value_or(usual_h(asked.base_case)), asked.loh1);
  } else {
    first = read_input(asked.input);
    if (asked.h) first.h = *asked.h;
  }
  if (asked.time) first.time = *asked.time;
  if (asked.step) first.step = *asked.step;
  first.is_step_forced = asked.unsafe_step;
  if (!asked.interface.empty()) {
    first.material.mean = asked.interface == "harmonic" ? interface_mean::harmonic : interface_mean::thin_layer;
  }
  std::vector<description> all{first};
  if (first.exact) {
    for (int level = 1; level < 3; ++level) {
      all.push_back(all.back());
      all.back().h /= 2;
    }
  }
  for (const description& each : all) check(each);
  return all;
}

const row_kernels& chosen_kernels(const options& asked) {
  if (asked.kernels == "auto") return best_kernels();
  if (const row_kernels* match = kernels_named(asked.kernels.c_str())) return *match;
  throw nacre::setup_error(
      {"this processor has no " + asked.kernels, "its instructions would end the program", "take --kernels auto"});
}

}  // namespace waves
