// SPDX-License-Identifier: Apache-2.0
// The command that starts an agent on another host, and the explanation of its failures.
#include "tool/hosts/remote_shell.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

#include <nacre/error.hpp>

namespace nacre::tool {
namespace {

constexpr int ssh_failed = 255;
constexpr int not_executable = 126;
constexpr int not_found = 127;

/// A failure by words in the messages of ssh, with its meaning and a remedy.
struct known_trouble {
  std::string_view words;
  std::string_view meaning;
  std::string_view remedy;
};
constexpr std::array troubles{
    known_trouble{"Could not resolve", "its name has no address", "check the name in --hosts and in ~/.ssh/config"},
    known_trouble{"Name or service not known", "its name has no address", "check the name in --hosts"},
    known_trouble{"Permission denied", "it refuses the keys of this user",
                  "put a key there (ssh-copy-id {host}), or name one: --ssh 'ssh -i KEY'"},
    known_trouble{"Host key verification failed", "its host key is not known here, or has changed",
                  "log in once by hand (ssh {host}) and compare it"},
    known_trouble{"Connection refused", "nothing listens there for ssh",
                  "start sshd there, or name its port: --ssh 'ssh -p PORT'"},
    known_trouble{"timed out", "it does not answer",
                  "look whether it is up and not behind a firewall: ssh {host} true"},
    known_trouble{"No route to host", "there is no route to it", "look whether it is up: ssh {host} true"},
    known_trouble{"Network is unreachable", "there is no route to it", "check the network of this host"},
    known_trouble{"Connection closed", "it closed the connection", "ssh {host} true shows more"},
};

std::string quoted_for_shells(std::string_view word) {
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// The last line that is not blank.
std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  const std::size_t begin = text.rfind('\n');
  return std::string(begin == std::string_view::npos ? text : text.substr(begin + 1));
}

std::string with_host(std::string_view text, const std::string& host) {
  std::string result(text);
  constexpr std::string_view mark = "{host}";
  const std::size_t index = result.find(mark);
  if (index != std::string::npos) result.replace(index, mark.size(), host);
  return result;
}

std::string explain_shell(const failed_start& start) {
  for (const known_trouble& each : troubles) {
    if (start.said.find(each.words) == std::string::npos) continue;
    return fmt::format("host {} cannot be used: {} ({}): {}", start.host, each.meaning, last_line(start.said),
                       with_host(each.remedy, start.host));
  }
  const std::string said = last_line(start.said);
  return fmt::format("host {} cannot be used: {} failed{}: try {} {} true", start.host, start.command.front(),
                     said.empty() ? "" : " (" + said + ")", start.command.front(), start.host);
}

}  // namespace

std::vector<std::string> split_words(std::string_view line) {
  std::vector<std::string> words;
  bool is_within = false;
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == '\0' && (c == ' ' || c == '\t')) {
      is_within = false;
      continue;
    }
    if (!is_within) words.emplace_back();
    is_within = true;
    if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = '\0';
    } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      words.back() += line[++i];
    } else {
      words.back() += c;
    }
  }
  if (quote != '\0' || words.empty()) {
    throw setup_error({.problem = fmt::format("--ssh {} is no command", quoted_for_shells(line)),
                       .why = "it starts an agent on each host",
                       .remedy = "write --ssh 'ssh -p 2222 -i KEY'"});
  }
  return words;
}

std::vector<std::string> agent_command(const std::vector<std::string>& shell, const std::string& host,
                                       const std::string& nacre) {
  std::vector<std::string> words = shell;
  words.push_back(host);
  words.push_back(fmt::format("exec {} host-agent", quoted_for_shells(nacre)));
  return words;
}

std::string explain(const failed_start& start) {
  constexpr std::string_view own_name = "nacre: ";
  const std::string said = last_line(start.said);
  if (start.outcome.cause == ending::kind::killed) {
    return fmt::format("host {} cannot be used: {} {}: try {} {} true", start.host, start.command.front(),
                       describe(start.outcome), start.command.front(), start.host);
  }
  if (said.starts_with(own_name)) return fmt::format("host {}: {}", start.host, said.substr(own_name.size()));
  if (start.outcome.number == ssh_failed) return explain_shell(start);
  if (start.outcome.number == not_found || start.outcome.number == not_executable) {
    return fmt::format(
        "host {} cannot run {} ({}): install nacre there at the same path, or name its place with "
        "--nacre PATH",
        start.host, start.nacre, said);
  }
  return fmt::format("host {} cannot be used: {} {} before an agent had called{}: try {} {} true", start.host,
                     start.command.front(), describe(start.outcome), said.empty() ? "" : " (" + said + ")",
                     start.command.front(), start.host);
}

}  // namespace nacre::tool
