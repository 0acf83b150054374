// SPDX-License-Identifier: Apache-2.0
// Reads options from the environment, the command line and TOML files.
#include <nacre/config.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include <nacre/assert.hpp>
#include <nacre/error.hpp>

#include "base/nesting_scan.hpp"
#include "base/option_spelling.hpp"

#include <toml++/toml.h>

namespace nacre {
namespace {

constexpr std::size_t file_bytes_max = std::size_t{16} << 20;
constexpr std::size_t nesting_max = 32;  // options have three parts at most

constexpr std::string_view tables_first = "a config declares its tables before it reads a source";

[[noreturn]] void throw_unusable_file(const std::string& place, const std::string& what, const std::string& remedy) {
  throw setup_error({.problem = place + ": " + what, .why = "its options would have no effect", .remedy = remedy});
}

/// Refuses a path that names no file, because the parser would find it empty. A pipe or a device may be read as a file.
void refuse_what_is_no_file(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return;  // the parser says so
  if (S_ISREG(about.st_mode) || S_ISFIFO(about.st_mode) || S_ISCHR(about.st_mode)) return;
  throw_unusable_file(path, S_ISDIR(about.st_mode) ? "this is a folder" : "this is no file that can be read",
                      "name a file with options");
}

std::string content_of(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw_unusable_file(path, std::string("it cannot be opened: ") + std::strerror(errno), "check the path");
  std::string text;
  std::array<char, 16 * 1024> piece;
  while (file.read(piece.data(), piece.size()), file.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() <= file_bytes_max) continue;
    throw_unusable_file(path, "it is longer than " + std::to_string(file_bytes_max) + " bytes",
                        "name a file with options");
  }
  if (file.bad())
    throw_unusable_file(path, std::string("it cannot be read: ") + std::strerror(errno), "check the file");
  return text;
}

/// Refuses a text with tables and lists nested deeper than any option, before the parser sees it. The parser destroys
/// its tables recursively, so a name of thousands of parts would overflow the stack.
void refuse_deep_nesting(std::string_view text, const std::string& path) {
  nesting_scan scan(text);
  while (scan.next()) {
    if (scan.depth() <= nesting_max) continue;
    throw_unusable_file(path + ":" + std::to_string(scan.line()),
                        "tables, lists or parts of a name are nested deeper than " + std::to_string(nesting_max),
                        "write the option as NAME = VALUE");
  }
}

std::string place_of(const toml::source_region& region, const std::string& path) {
  return path + ":" + std::to_string(region.begin.line);
}

/// Calls `take(name, text, place)` for every value, with the tables' names joined by '.'.
template <class Take>
void for_each_value(const toml::table& table, const std::string& prefix, const std::string& path, const Take& take) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (const toml::table* const inner = node.as_table()) {
      for_each_value(*inner, name + ".", path, take);
      continue;
    }
    const std::string place = place_of(node.source(), path);
    std::ostringstream text;
    text.precision(17);
    if (const auto* const word = node.as_string()) {
      text << word->get();
    } else if (const auto* const integer = node.as_integer()) {
      text << integer->get();
    } else if (const auto* const real = node.as_floating_point()) {
      text << real->get();
    } else if (const auto* const truth = node.as_boolean()) {
      text << (truth->get() ? "true" : "false");
    } else {
      throw_unusable_file(place, name + " is a list or a date", "write " + name + " = \"...\" with one value");
    }
    take(name, text.str(), place);
  }
}

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
    if (known == nullptr) throw_unknown(variable.substr(environment_prefix.size()), setting_source::environment, "");
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
  refuse_what_is_no_file(path);
  const std::string content = content_of(path);
  refuse_deep_nesting(content, path);
  toml::table table;
  try {
    table = toml::parse(content, path);
  } catch (const toml::parse_error& error) {
    throw_unusable_file(place_of(error.source(), path), std::string(error.description()), "correct this line");
  }
  for_each_value(table, "", path, [&](const std::string& name, const std::string& text, const std::string& place) {
    if (name == "config") throw_unusable_file(place, "a file cannot name another file", "remove this line");
    store(name, text, source, " in " + place);
  });
}

}  // namespace nacre
