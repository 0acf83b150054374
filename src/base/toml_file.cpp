// SPDX-License-Identifier: Apache-2.0
// Reads a TOML file piece by piece, looks how deeply it is nested, and parses it.
#include "base/toml_file.hpp"

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include <nacre/error.hpp>

#include "base/nesting_scan.hpp"

namespace nacre {

toml_file::toml_file(std::string path, purpose use) : path_(std::move(path)), use_(use) {
  refuse_unreadable_kind();
  const std::string text = content();
  refuse_deep_nesting(text);
  try {
    table_ = toml::parse(text, path_);
  } catch (const toml::parse_error& error) {
    refuse(place_of(error.source()), std::string(error.description()), "correct this line");
  }
}

std::string toml_file::place_of(const toml::source_region& region) const {
  return path_ + ":" + std::to_string(region.begin.line);
}

void toml_file::refuse(const std::string& place, const std::string& problem, const std::string& remedy) const {
  throw setup_error({.problem = place + ": " + problem, .why = std::string(use_.reason), .remedy = remedy});
}

/// Refuses a path that names no file, such as a folder.
void toml_file::refuse_unreadable_kind() const {
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0) return;  // opening it gives the reason
  if (S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)) return;
  refuse(path_, S_ISDIR(status.st_mode) ? "this is a folder" : "this is no file that can be read",
         "name a file with " + std::string(use_.content));
}

std::string toml_file::content() const {
  errno = 0;
  std::ifstream file(path_, std::ios::binary);
  if (!file) refuse(path_, std::string("it cannot be opened: ") + std::strerror(errno), "check the path");
  std::string text;
  std::array<char, 16 * 1024> piece;
  while (file.read(piece.data(), piece.size()), file.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() <= bytes_max) continue;
    refuse(path_, "it is longer than " + std::to_string(bytes_max) + " bytes",
           "name a file with " + std::string(use_.content));
  }
  if (file.bad()) refuse(path_, std::string("it cannot be read: ") + std::strerror(errno), "check the file");
  return text;
}

/// Runs before the parser does, because of what `nesting_max` says.
void toml_file::refuse_deep_nesting(std::string_view text) const {
  nesting_scan scan(text);
  while (scan.next()) {
    if (scan.depth() <= nesting_max) continue;
    refuse(path_ + ":" + std::to_string(scan.line()),
           "tables, lists or parts of a name are nested deeper than " + std::to_string(nesting_max),
           "write NAME = VALUE");
  }
}

void toml_file::for_each_value(const toml::table& table, const std::string& prefix, const take_value& take) const {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (const toml::table* const inner = node.as_table()) {
      for_each_value(*inner, name + ".", take);
      continue;
    }
    const std::string place = place_of(node.source());
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
      refuse(place, name + " is a list or a date", "write " + name + " = \"...\" with one value");
    }
    take(name, text.str(), place);
  }
}

}  // namespace nacre
