// SPDX-License-Identifier: Apache-2.0
// The command line as the kernel knows it.
#include "runtime/command_text.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string_view>

#include "join/launch/job_credentials.hpp"

namespace nacre {

std::string text_of_command() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::string text;
  for (std::string_view rest = all; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word.starts_with("--nacre.")) continue;
    if (!text.empty()) text += ' ';
    text += word;
  }
  return text;
}

std::string mark_of_job() { return launch::choices_of_launcher().mark; }

std::uint32_t life_of_job() {
  std::uint32_t life = 1;
  const std::string digits = launch::choices_of_launcher().life;
  std::from_chars(digits.data(), digits.data() + digits.size(), life);
  return std::max<std::uint32_t>(life, 1);
}

}  // namespace nacre
