// SPDX-License-Identifier: Apache-2.0
// The launcher's agent on a host, until it has called the launcher and gone to the background.
#include "tool/hosts/host_agent.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <nacre/error.hpp>

#include "join/launch/job_credentials.hpp"
#include "join/launch/launcher_connection.hpp"
#include "join/net/call.hpp"
#include "tool/hosts/host_message.hpp"
#include "tool/hosts/serving_agent.hpp"
#include "tool/program.hpp"
#include "wire/binary_fingerprint.hpp"

namespace nacre::tool {
namespace {

constexpr std::size_t host_spec_bytes_max = 16u << 20;
constexpr std::chrono::seconds call_time{10};

std::vector<std::byte> read_standard_input() {
  std::vector<std::byte> bytes;
  std::array<std::byte, 16 * 1024> buffer;
  while (bytes.size() <= host_spec_bytes_max) {
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    bytes.insert(bytes.end(), buffer.begin(), buffer.begin() + count);
  }
  return bytes;
}

job_secret secret_of(const std::string& digits) {
  const auto secret = job_secret::from_hex(digits);
  if (!secret) throw setup_error("the launcher's orders hold no secret");
  return *secret;
}

bool is_replaced(std::string_view variable, const std::vector<std::string>& words) {
  const std::string_view name = variable.substr(0, variable.find('=') + 1);
  for (const std::string& each : words) {
    if (each.starts_with(name)) return true;
  }
  return launch::is_job_variable(variable);
}

rank_launch_spec make_rank_spec(const host_launch_spec& host_spec, const std::string& path) {
  command command{.path = path, .arguments = host_spec.arguments, .environment = host_spec.variables};
  for (char** each = environ; *each != nullptr; ++each) {
    if (!is_replaced(*each, host_spec.variables)) command.environment.emplace_back(*each);
  }
  return {.program = std::move(command),
          .secret = secret_of(host_spec.job_secret),
          .control_address = host_spec.control_address,
          .size = host_spec.size,
          .ranks_on_host = static_cast<std::uint32_t>(host_spec.ranks.size())};
}

net::peer_candidate call_launcher(const host_launch_spec& host_spec) {
  const auto address = net::address::parse(host_spec.launcher);
  if (!address) throw setup_error("the launcher's orders hold no address");
  const job_secret secret = secret_of(host_spec.agent_secret);
  auto launcher = net::call(*address,
                            {.secret = secret,
                             .local = launch::control_identity(host_spec.index, host_spec.hosts),
                             .expected = rank_id(host_spec.hosts)},
                            std::chrono::steady_clock::now() + call_time);
  if (!launcher) {
    throw setup_error(
        {.problem = "cannot call the launcher at " + host_spec.launcher + ": " + launcher.error().explanation,
         .why = "agents and ranks are connected to it",
         .remedy = "name an address of its host that can be reached from here with --address, or open "
                   "its firewall for the hosts of the job"});
  }
  return std::move(*launcher);
}

/// Closes the standard descriptors, which keep the remote shell waiting. Returns only in the child.
void go_to_background() {
  const pid_t child = ::fork();
  if (child < 0) throw setup_error("cannot start a process: " + net::error_text(errno));
  if (child > 0) ::_exit(EXIT_SUCCESS);
  ::setsid();
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, each);
}

}  // namespace

int run_host_agent() {
  const host_launch_spec host_spec = unpack_host_spec(read_standard_input());
  enter_folder(host_spec.folder);
  const char* const search_path = std::getenv("PATH");
  const std::string path =
      find_program(host_spec.arguments.front(), search_path == nullptr ? "/usr/bin:/bin" : search_path);
  const auto fingerprint = file_fingerprint(path.c_str());
  if (!fingerprint) {
    throw setup_error({.problem = "cannot read '" + path + "'",
                       .why = "hosts compare the program before they start it",
                       .remedy = "check its permissions"});
  }
  const rank_launch_spec rank_spec = make_rank_spec(host_spec, path);
  raise_limit_of_files(3 * std::uint64_t{rank_spec.ranks_on_host} + host_spec.size + 64,
                       fmt::format("{} ranks of {} here", rank_spec.ranks_on_host, host_spec.size));
  net::peer_candidate launcher = call_launcher(host_spec);
  go_to_background();
  return serving_agent(rank_spec, host_spec.ranks, std::move(launcher))
      .run({.program = path, .fingerprint = *fingerprint});
}

}  // namespace nacre::tool
