// SPDX-License-Identifier: Apache-2.0
// The arguments of `nacre run` that are about images.
#include "tool/image_arguments.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
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

/// Appends an entry as the launcher reads it. `begin`: of an entry that names a file with options, "--nacre.config=".
/// Where only other hosts may have that file the entry is left out: the ranks tell if they have not.
void add_entry(std::vector<std::string>& entries, const std::string& entry, const std::string& begin,
               const view_of_ranks& view) {
  if (!entry.starts_with(begin)) return entries.push_back(entry);
  const std::string path = std::filesystem::path(view.folder) / entry.substr(begin.size());
  std::error_code fault;
  if (!view.is_remote || std::filesystem::exists(path, fault)) entries.push_back(begin + path);
}

std::vector<char*> pointers_into(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& each : texts) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// The variables that the ranks will have, but for the file that the launcher hands over.
std::vector<std::string> variables_of_ranks(const run_arguments& given, const view_of_ranks& view) {
  const std::string config = environment_name("config") + "=";
  std::vector<std::string> variables;
  for (const std::string& each : given.variables) {
    if (each.find('=') == std::string::npos) continue;  // its value is in the environment
    if (view.config.empty() || !each.starts_with(config)) add_entry(variables, each, config, view);
  }
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view variable = *each;
    const std::string_view name = variable.substr(0, variable.find('=') + 1);
    const auto is_replaced = [&](const std::string& other) { return other.starts_with(name); };
    if (name != config && !std::any_of(given.variables.begin(), given.variables.end(), is_replaced))
      variables.emplace_back(variable);
  }
  return variables;
}

}  // namespace

image_options image_options_of(const run_arguments& given, const view_of_ranks& view) {
  config settings(all_option_tables());
  if (!view.config.empty()) settings.apply_toml_file(view.config);
  std::vector<std::string> variables = variables_of_ranks(given, view);
  settings.apply_environment(pointers_into(variables).data());
  std::vector<std::string> words;
  const auto own_position =
      std::find(given.program.begin(), given.program.end(), "--");  // behind it are none of Nacre's
  for (auto each = given.program.begin(); each != own_position; ++each)
    add_entry(words, *each, std::string(command_line_prefix) + "config=", view);
  int count = static_cast<int>(words.size());
  settings.apply_command_line(count, pointers_into(words).data());
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
