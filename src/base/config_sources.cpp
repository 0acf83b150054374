// SPDX-License-Identifier: Apache-2.0
// Reads options from the environment, the command line and TOML files.
#include <nacre/config.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <nacre/assert.hpp>
#include <nacre/error.hpp>

#include "base/option_spelling.hpp"
#include "base/toml_file.hpp"

namespace nacre {
namespace {

constexpr std::string_view tables_first = "a config declares its tables before it reads a source";

}  // namespace

void config::apply_environment(const char* const* environment) {
  NACRE_EXPECT(!settings_.empty(), tables_first);
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::size_t equals = entry.find('=');
    if (!entry.starts_with(environment_prefix) || entry.starts_with(launcher_prefix)) continue;
    if (equals == std::string_view::npos) continue;
    const std::string_view variable = entry.substr(0, equals);
    const setting* known = nullptr;
    for (const setting& one : settings_) {
      if (environment_name(one.declaration.name) == variable) known = &one;
    }
    if (known == nullptr) continue;  // another software's, or a mistake, which read_config tells of
    store(known->declaration.name, entry.substr(equals + 1), setting_source::environment, "");
  }
}

void config::apply_command_line(int& argc, char** argv) {
  NACRE_EXPECT(!settings_.empty(), tables_first);
  std::vector<char*> kept;
  bool ours = true;
  for (int i = 0; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (argument == "--") ours = false;
    if (i == 0 || !ours || !argument.starts_with(command_line_prefix)) {
      kept.push_back(argv[i]);
      continue;
    }
    argument.remove_prefix(command_line_prefix.size());
    const std::size_t equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    if (equals != std::string_view::npos) {
      store(name, argument.substr(equals + 1), setting_source::command_line, "");
      continue;
    }
    const setting* const target = find(name);
    const bool needs_value = target != nullptr && target->declaration.kind != option_kind::boolean;
    if (needs_value) {
      throw setup_error({.problem = std::string(argv[i]) + " has no value",
                         .why = "only a boolean option goes without",
                         .remedy = "write " + std::string(argv[i]) + "=VALUE; --nacre.help lists what it may be"});
    }
    store(name, "true", setting_source::command_line, "");
  }
  argc = static_cast<int>(kept.size());
  std::copy(kept.begin(), kept.end(), argv);
  argv[argc] = nullptr;
}

void config::apply_toml_file(const std::string& path) { load_file(path, setting_source::file); }

void config::load_file(const std::string& path, setting_source source) {
  NACRE_EXPECT(!settings_.empty(), tables_first);
  const toml_file file(path, {.content = "options", .reason = "its options would have no effect"});
  file.for_each_value(file.table(), "",
                      [&](const std::string& name, const std::string& text, const std::string& place) {
                        if (name == "config") file.refuse(place, "a file cannot name another file", "remove this line");
                        store(name, text, source, " in " + place);
                      });
}

}  // namespace nacre
