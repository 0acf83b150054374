// SPDX-License-Identifier: Apache-2.0
// Prints the options for a terminal and for the documentation.
#include <nacre/config.hpp>

#include "base/option_spelling.hpp"
#include "base/option_value.hpp"

namespace nacre {
namespace {

/// "integer, 1..1024 threads"
std::string shape_of(const option& declaration) {
  std::string text(word_for(declaration.kind));
  std::string_view separator = ", ";
  for (const std::string_view part : {declaration.range, declaration.unit}) {
    if (part.empty()) continue;
    text.append(separator).append(part);
    separator = " ";
  }
  return text;
}

std::string cell(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '|') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

}  // namespace

std::string config::help_text() const {
  std::string text =
      "Command line: --nacre.NAME=VALUE, up to --. Environment: NACRE_NAME=VALUE, with _ for each dot.\n"
      "File (--nacre.config=FILE): NAME = VALUE in TOML. The command line outranks the environment, and that the "
      "file.\n";
  std::string_view component;
  for (const setting& one : settings_) {
    const option& declaration = one.declaration;
    if (one.component != component) text.append("\n").append(one.component).append("\n");
    component = one.component;
    text.append("  ").append(command_line_prefix).append(declaration.name);
    text.append("  (").append(shape_of(declaration));
    if (!declaration.default_value.empty()) text.append("; default ").append(declaration.default_value);
    text.append(")\n      ").append(declaration.help);
    if (const setting_source source = source_of(declaration.name); source != setting_source::built_in) {
      text.append(" Now ").append(get_string(declaration.name)).append(", from ").append(word_for(source)).append(".");
    }
    text.append("\n");
  }
  return text;
}

std::string config::docs_markdown() const {
  std::string text;
  std::string_view component;
  for (const setting& one : settings_) {
    const option& declaration = one.declaration;
    if (one.component != component) {
      text.append(text.empty() ? "" : "\n").append("### ").append(one.component);
      text.append("\n\n| Option | Value | Default | Meaning |\n|---|---|---|---|\n");
    }
    component = one.component;
    text.append("| `").append(declaration.name).append("` | ").append(cell(shape_of(declaration))).append(" | ");
    if (!declaration.default_value.empty()) text.append("`").append(cell(declaration.default_value)).append("`");
    text.append(" | ").append(cell(declaration.help)).append(" |\n");
  }
  return text;
}

}  // namespace nacre
