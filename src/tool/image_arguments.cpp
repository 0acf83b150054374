// SPDX-License-Identifier: Apache-2.0
// The arguments of `nacre run` that are about images.
#include "tool/image_arguments.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include <nacre/config.hpp>
#include <nacre/error.hpp>

#include "base/option_spelling.hpp"
#include "runtime/last_image.hpp"
#include "runtime/options.hpp"

namespace nacre::tool {
namespace {

[[noreturn]] void refuse_image_option(const std::string& problem, const std::string& reason,
                                      const std::string& remedy) {
  throw setup_error({.problem = problem, .why = reason, .remedy = remedy});
}

}  // namespace

image_options image_options_of(const run_arguments& given) {
  config settings(all_option_tables());
  if (!given.config.empty()) settings.apply_toml_file(given.config);
  settings.apply_environment(environ);
  std::vector<std::string> words = given.program;
  std::vector<char*> arguments;
  for (std::string& each : words) arguments.push_back(each.data());
  arguments.push_back(nullptr);
  int count = static_cast<int>(words.size());
  settings.apply_command_line(count, arguments.data());
  for (const std::string& each : given.variables) {
    for (const std::string_view name : {"checkpoint.folder", "checkpoint.signal", "checkpoint.grace", "restore"}) {
      const std::string variable = environment_name(name) + "=";
      if (each.starts_with(variable) && settings.source_of(name) < setting_source::command_line)
        settings.set(std::string(name), each.substr(variable.size()), setting_source::environment);
    }
  }
  image_options options{settings.get_string("checkpoint.folder"), settings.get_string("restore")};
  if (!given.restore.empty()) options.restore = given.restore;
  if (options.folder.empty()) return options;
  options.signal = last_image_signal_of(settings);
  options.grace = std::chrono::ceil<std::chrono::milliseconds>(settings.get_duration("checkpoint.grace"));
  return options;
}

survival parse_survive(const run_arguments& given, const image_options& images) {
  survival survive;
  if (given.survive.empty()) {
    if (!given.restarts.empty())
      refuse_image_option("--restarts is given without --survive", "it counts starts after a death", "leave it out");
    return survive;
  }
  survive.deaths = true;
  for (std::size_t begin = 0; begin <= given.survive.size();) {
    const std::size_t end = std::min(given.survive.find(',', begin), given.survive.size());
    const std::string word = given.survive.substr(begin, end - begin);
    begin = end + 1;
    if (word == "restart") continue;
    if (word == "shrink") {
      survive.shrinks = true;
    } else if (word == "any") {
      survive.errors = true;
    } else {
      refuse_image_option(
          fmt::format("--survive {} is unknown", given.survive), "it says what follows when a rank is killed",
          "write restart: the job starts again, on as many ranks; shrink: without the rank; any: also after "
          "an error of a rank; or shrink,any");
    }
  }
  if (!images.folder.empty()) return survive;
  refuse_image_option("--survive has no images to start from", "the program writes them to a folder",
                      "name it behind the program: --nacre.checkpoint.folder=DIR");
}

std::uint32_t parse_restarts(const std::string& text) {
  constexpr std::uint32_t by_default = 3;
  if (text.empty()) return by_default;
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (*end == '\0' && value >= 1 && value <= 1'000'000) return static_cast<std::uint32_t>(value);
  refuse_image_option(fmt::format("--restarts {} is no number of starts", text),
                      "so often the job starts again without a newer image", "choose 1 or more");
}

}  // namespace nacre::tool
