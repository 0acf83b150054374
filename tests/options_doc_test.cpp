// SPDX-License-Identifier: Apache-2.0
// docs/options.md says what this build knows.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include <nacre/config.hpp>

#include "runtime/options.hpp"

namespace nacre {
namespace {

constexpr const char* head = R"(# Options

Every option of Nacre itself, as `--nacre.help` prints them too. Each can be given in three ways, the first of which
outranks the others:

- on the command line, before any `--`: `--nacre.sim.latency=2us`; a boolean one may stand alone: `--nacre.summary`
- in the environment: `NACRE_SIM_LATENCY=2us`
- in the TOML file that `--nacre.config=FILE` names: `latency = "2us"` under `[sim]`

A program may have defaults of its own, which all three outrank. A name that does not exist, or a value out of its
range, ends the program before it begins, with exit code 2 and a line that says what was probably meant. Only an unknown
variable of the environment does not: it costs a line, unless it says where Nacre is installed (`NACRE_ROOT`, `NACRE_DIR`,
`NACRE_HOME`, `NACRE_PREFIX`, `NACRE_VERSION`).

These tables are made from the source. When a test says that they are out of date, it also says which file to copy here.

)";

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(options_document, it_holds_the_tables_of_this_build) {
  const std::filesystem::path document = std::filesystem::path(NACRE_SOURCE_DIR) / "docs" / "options.md";
  const std::string wanted = head + config(all_option_tables()).docs_markdown();
  if (content_of(document) == wanted) return;
  const std::filesystem::path fresh = std::filesystem::path(testing::TempDir()) / "nacre_options.md";
  std::ofstream(fresh) << wanted;
  FAIL() << "docs/options.md is out of date: cp " << fresh.string() << ' ' << document.string();
}

}  // namespace
}  // namespace nacre
