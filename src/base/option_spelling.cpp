// SPDX-License-Identifier: Apache-2.0
// Spells option names for each of their sources.
#include "base/option_spelling.hpp"

namespace nacre {

std::string environment_name(std::string_view name) {
  std::string variable(environment_prefix);
  for (const char letter : name) {
    const bool lower = letter >= 'a' && letter <= 'z';
    variable += letter == '.' ? '_' : lower ? static_cast<char>(letter - 'a' + 'A') : letter;
  }
  return variable;
}

std::string_view prefix_of(setting_source source) noexcept {
  if (source == setting_source::environment) return environment_prefix;
  if (source == setting_source::command_line) return command_line_prefix;
  return {};
}

std::string spelled(std::string_view name, setting_source source) {
  if (source == setting_source::environment) return environment_name(name);
  return std::string(prefix_of(source)).append(name);
}

std::string_view word_for(setting_source source) noexcept {
  switch (source) {
    case setting_source::built_in:
      return "the default";
    case setting_source::program:
    case setting_source::code:
      return "the program";
    case setting_source::file:
    case setting_source::named_file:
      return "a file";
    case setting_source::environment:
      return "the environment";
    case setting_source::command_line:
      return "the command line";
  }
  __builtin_unreachable();
}

}  // namespace nacre
