// SPDX-License-Identifier: Apache-2.0
// Prints the options for a terminal and for the documentation.
#include <nacre/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>

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

/// The help of an option as a sentence, whether its table begins and ends it like one or not.
std::string sentence(std::string_view help) {
  std::string text(help);
  if (text.empty()) return text;
  if (text.front() >= 'a' && text.front() <= 'z') text.front() = static_cast<char>(text.front() - 'a' + 'A');
  if (text.back() != '.') text += '.';
  return text;
}

/// Breaks a text at spaces into indented lines that a terminal of 100 columns can show.
std::string paragraph(std::string_view text) {
  constexpr std::string_view indent = "      ";
  constexpr std::size_t columns = 100 - indent.size();
  std::string lines;
  while (text.size() > columns) {
    std::size_t end = text.rfind(' ', columns);
    if (end == std::string_view::npos) end = text.find(' ');
    if (end == std::string_view::npos) break;
    lines.append(indent).append(text.substr(0, end)).append("\n");
    text.remove_prefix(end + 1);
  }
  return lines.append(indent).append(text).append("\n");
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
      "Options of Nacre, by the part that reads them. Each can be given in three ways, the first of which outranks the "
      "others:\n"
      "  on the command line   --nacre.NAME=VALUE, before any --\n"
      "  in the environment    NACRE_NAME=VALUE, in capitals, with _ for each dot\n"
      "  in a TOML file        NAME = VALUE; --nacre.config=FILE names the file\n";
  std::string_view component;
  for (const setting& one : settings_) {
    const option& declaration = one.declaration;
    if (declaration.hidden) continue;
    if (one.component != component) text.append("\n").append(one.component).append("\n");
    component = one.component;
    text.append("  ").append(command_line_prefix).append(declaration.name);
    text.append("  (").append(shape_of(declaration));
    if (!declaration.default_value.empty()) text.append("; default ").append(declaration.default_value);
    text.append(")\n");
    std::string help = sentence(declaration.help);
    if (const setting_source source = source_of(declaration.name); source != setting_source::built_in) {
      help.append(" Now ").append(get_string(declaration.name)).append(", from ").append(word_for(source)).append(".");
    }
    text.append(paragraph(help));
  }
  return text;
}

std::string config::docs_markdown() const {
  std::string text;
  std::string_view component;
  for (const setting& one : settings_) {
    const option& declaration = one.declaration;
    if (declaration.hidden) continue;
    if (one.component != component) {
      text.append(text.empty() ? "" : "\n").append("### ").append(one.component);
      text.append("\n\n| Option | Value | Default | Meaning |\n|---|---|---|---|\n");
    }
    component = one.component;
    text.append("| `").append(declaration.name).append("` | ").append(cell(shape_of(declaration))).append(" | ");
    if (!declaration.default_value.empty()) text.append("`").append(cell(declaration.default_value)).append("`");
    text.append(" | ").append(cell(sentence(declaration.help))).append(" |\n");
  }
  return text;
}

}  // namespace nacre
