// SPDX-License-Identifier: Apache-2.0
// Finds two names of one file, and files that cannot be written.
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <nacre/error.hpp>

#include "base/output_file.hpp"
#include "program_options/program_options.hpp"

namespace nacre {
namespace {

namespace fs = std::filesystem;

/// Whether what is written under the name takes the place of what was there.
bool keeps_content(const std::string& name) {
  std::error_code none;
  const fs::file_status file_status = fs::status(name, none);
  return !fs::exists(file_status) || fs::is_regular_file(file_status);
}

/// The name without links and dots, as far as its folders exist.
fs::path resolved(const std::string& name) {
  std::error_code fault;
  const fs::path absolute = fs::absolute(name, fault);
  const fs::path whole = fs::weakly_canonical(absolute, fault);
  return fault ? absolute : whole;
}

}  // namespace

void demand_other_file(const std::string& output, const std::string& other) {
  if (output.empty() || other.empty() || !keeps_content(output)) return;
  std::error_code none;
  if (!fs::equivalent(output, other, none) && resolved(output) != resolved(other)) return;
  throw setup_error({output == other ? "'" + output + "' is given for two files"
                                     : "'" + other + "' and '" + output + "' are one file",
                     "what is written last would replace the rest", "choose another name"});
}

void demand_writable(const std::string& output, std::string_view option) {
  if (!output.empty()) check_output(output, "the file", option);
}

}  // namespace nacre
