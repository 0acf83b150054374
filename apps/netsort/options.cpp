// SPDX-License-Identifier: Apache-2.0
// Declares the options with CLI11.
#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

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

const char* name_of(placement how) noexcept { return how == placement::central ? "central" : "distributed"; }

command_line parse_command_line(int argc, const char* const* argv) {
  CLI::App app("Sorts by a bitonic network whose every wire is a mobile object.", "netsort");
  app.footer(footer);
  command_line result;
  options& asked = result.asked;
  const std::map<std::string, placement> placements{{name_of(placement::central), placement::central},
                                                    {name_of(placement::distributed), placement::distributed}};
  const CLI::Validator power_of_two(
      [](const std::string& text) {
        const auto number = std::strtoull(text.c_str(), nullptr, 10);
        return number >= 2 && number <= values_max && (number & (number - 1)) == 0
                   ? std::string()
                   : fmt::format("{} is no power of two from 2 to {}", text, values_max);
      },
      "POWER OF 2");
  app.add_option("--values", asked.values, "Wires of the network, each a mobile object (default 1024)")
      ->check(power_of_two)
      ->type_name("COUNT");
  app.add_option("--keys", asked.keys, "Keys on each wire (default 1)")
      ->check(CLI::Range(1u, keys_max))
      ->type_name("COUNT");
  app.add_option("--placement", asked.where,
                 "central: rank 0 creates all wires and sends them away; distributed: each rank creates its share "
                 "(default)")
      ->transform(CLI::CheckedTransformer(placements, CLI::ignore_case))
      ->type_name("NAME");
  app.add_option("--location", asked.location, "Location policy, the same as --nacre.location")->type_name("NAME");
  app.add_option("--repetitions", asked.repetitions, "How often it sorts, each time other keys (default 3)")
      ->check(CLI::Range(1u, 1u << 20))
      ->type_name("COUNT");
  app.add_option("--wander", asked.wander, "Wires move on to the next rank after so many steps; 0: they stay (default)")
      ->type_name("STEPS");
  app.add_option("--seed", asked.seed, "Each seed gives other keys (default 1)")->type_name("NUMBER");
  app.add_flag("--json", asked.json, "Print the result as one JSON object");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    result.exit_code = app.exit(help);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "netsort: {}: --help shows the options\n", error.what());
    result.exit_code = 2;
  }
  return result;
}

}  // namespace netsort
