// SPDX-License-Identifier: Apache-2.0
// Declares the options.
#include "options.hpp"

#include <bit>
#include <cstdlib>
#include <program_options.hpp>
#include <string>

namespace netsort {
namespace {

constexpr std::uint32_t values_max = 1u << 20;
constexpr std::uint32_t keys_max = 1u << 24;

constexpr const char* footer = R"(Examples:
  netsort --values 1024 --placement central --nacre.ranks=4        four ranks in this process
  nacre run -n 4 netsort --placement distributed --keys 100        four processes
  netsort --placement central --location jump_update --wander 4 --nacre.transport=sim --nacre.ranks=64
  netsort --nacre.help                                             options of the runtime

Exit code: 0 when the keys came out sorted, 1 when not, 2 when the options are wrong.)";

}  // namespace

const char* name_of(placement placement) noexcept {
  return placement == placement::central ? "central" : "distributed";
}

command_line parse_command_line(int argc, const char* const* argv) {
  nacre::program_options parser("netsort", "Sorts by a bitonic network whose every wire is a mobile object.");
  parser.footer(footer);
  command_line result;
  options& asked = result.asked;
  const auto size = [](const std::string& text) {
    const auto number = std::strtoull(text.c_str(), nullptr, 10);
    return std::has_single_bit(number) ? std::string() : std::string("a power of 2");
  };
  parser.add("--values", asked.values, "Wires of the network, each a mobile object; a power of 2")
      .called("COUNT")
      .between(2, values_max)
      .must_be(size);
  parser.add("--keys", asked.keys, "Keys on each wire").called("COUNT").between(1, keys_max);
  parser.add_choice(
      "--placement", asked.layout,
      {{name_of(placement::central), placement::central}, {name_of(placement::distributed), placement::distributed}},
      "central: rank 0 creates all wires and sends them away; distributed: each rank creates its share");
  parser.add("--location", asked.location, "Location policy, the same as --nacre.location").called("NAME");
  parser.add("--repetitions", asked.repetitions, "How often it sorts, each time other keys")
      .called("COUNT")
      .between(1, 1u << 20);
  parser.add("--wander", asked.wander, "Wires move on to the next rank after so many steps; 0: they stay")
      .called("STEPS");
  parser.add("--seed", asked.seed, "Each seed gives other keys").called("NUMBER");
  parser.add("--measured", asked.measured,
             "Where time is simulated, keys cost what they take on this processor, instead of 2 ns when merged");
  parser.add("--json", asked.json, "Print the result as one JSON object");
  result.exit_code = parser.parse(argc, argv);
  return result;
}

}  // namespace netsort
