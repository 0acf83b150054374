// SPDX-License-Identifier: Apache-2.0
// Job credentials: the data that a launcher hands to each process that it starts as a rank of a job.
#include "join/launch/job_credentials.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>

#include <nacre/error.hpp>

namespace nacre::launch {
namespace {

constexpr const char* rank_name = "NACRE_JOB_RANK";
constexpr const char* size_name = "NACRE_JOB_SIZE";
constexpr const char* ranks_on_host_name = "NACRE_JOB_RANKS_ON_HOST";
constexpr const char* place_on_host_name = "NACRE_JOB_PLACE_ON_HOST";
constexpr const char* control_address_name = "NACRE_JOB_CONTROL_ADDRESS";
constexpr const char* secret_name = "NACRE_JOB_SECRET_FD";
constexpr const char* transport_name = "NACRE_JOB_TRANSPORT";
constexpr const char* restore_name = "NACRE_JOB_RESTORE";
constexpr const char* mark_name = "NACRE_JOB_IMAGES";
constexpr const char* life_name = "NACRE_JOB_LIFE";
constexpr const char* joined_name = "NACRE_JOB_JOINED";  // the process that has used the credentials

constexpr std::size_t secret_digits = 2 * job_secret::size_bytes;
constexpr std::string_view note_begin = "process ";  // of the note of the process that has taken the secret
constexpr std::size_t name_bytes_max = 100;

[[noreturn]] void reject(const std::string& problem) {
  throw setup_error({.problem = problem,
                     .why = "a rank joins its job with what nacre run put into its environment",
                     .remedy = "start the program with nacre run and leave the variables NACRE_JOB_* alone"});
}

template <class Number>
std::optional<Number> parse(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::uint32_t number(const char* name) {
  const char* const text = std::getenv(name);
  const auto value = parse<std::uint32_t>(text == nullptr ? "" : text);
  if (!value) reject(std::string(name) + (text == nullptr ? " is missing" : " is no number"));
  return *value;
}

/// Leaves a note in the pipe that the secret was in. A process that has the pipe too, as this one's parent, finds the
/// note there instead of the secret. Without effect where /proc is missing, or when no other process has the pipe.
void leave_note(int descriptor, const std::string& note) {
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  const net::unique_fd pipe(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  [[maybe_unused]] const ssize_t left = pipe ? ::write(pipe.get(), note.data(), note.size()) : 0;
}

std::string own_note() {
  return std::string(note_begin) + std::to_string(::getpid()) + " (" +
         std::string(program_invocation_short_name).substr(0, name_bytes_max) + ")";
}

[[noreturn]] void refuse_second_taker(const std::string& taker) {
  throw setup_error({.problem = "the place of this rank in its job is taken by " + taker,
                     .why = "it has called nacre::run before this one, with variables that it has inherited",
                     .remedy = "start helpers when nacre::run has begun, or so: env -u NACRE_JOB_RANK HELPER"});
}

job_secret read_secret(int descriptor) {
  const net::unique_fd pipe(descriptor);
  std::array<char, 256> text{};
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const ssize_t part = ::read(pipe.get(), text.data() + bytes, text.size() - bytes);
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) break;
    bytes += static_cast<std::size_t>(part);
  }
  const std::string_view whole(text.data(), bytes);
  if (whole.starts_with(note_begin)) {
    const std::string taker(whole);
    leave_note(pipe.get(), taker);  // a third process may ask
    refuse_second_taker(taker);
  }
  const auto secret = job_secret::from_hex(whole);
  explicit_bzero(text.data(), text.size());
  if (!secret) reject("descriptor " + std::to_string(descriptor) + " does not hold the job's secret");
  leave_note(pipe.get(), own_note());
  return *secret;
}

bool is_own_pid(const char* text) noexcept { return text != nullptr && parse<pid_t>(text) == ::getpid(); }

std::string text_of_variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

/// The choices that were in the environment of this process, which are its own as the environment is.
launcher_choices& taken_choices() {
  static launcher_choices choices;
  return choices;
}

std::string line(const char* name, const std::string& value) { return std::string(name) + "=" + value; }

}  // namespace

std::vector<std::string> job_variables(rank_id rank, std::uint32_t size, const std::string& control_address,
                                       int secret_descriptor, host_share share) {
  return {line(rank_name, std::to_string(rank.value())),         line(size_name, std::to_string(size)),
          line(ranks_on_host_name, std::to_string(share.ranks)), line(place_on_host_name, std::to_string(share.place)),
          line(control_address_name, control_address),           line(secret_name, std::to_string(secret_descriptor))};
}

std::vector<std::string> variables_of(const launcher_choices& choices) {
  std::vector<std::string> variables;
  if (!choices.transport.empty()) variables.push_back(line(transport_name, choices.transport));
  if (!choices.restore.empty()) variables.push_back(line(restore_name, choices.restore));
  if (!choices.mark.empty()) variables.push_back(line(mark_name, choices.mark));
  if (!choices.life.empty()) variables.push_back(line(life_name, choices.life));
  return variables;
}

launcher_choices choices_of_launcher() {
  if (is_own_pid(std::getenv(joined_name))) return taken_choices();
  if (std::getenv(rank_name) == nullptr) return {};
  return {.transport = text_of_variable(transport_name),
          .restore = text_of_variable(restore_name),
          .mark = text_of_variable(mark_name),
          .life = text_of_variable(life_name)};
}

bool is_job_variable(std::string_view variable) noexcept { return variable.starts_with("NACRE_JOB_"); }

net::unique_fd make_secret_pipe(const job_secret& secret) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    throw setup_error({.problem = "cannot make a pipe: " + net::error_text(errno),
                       .why = "each rank gets the job's secret through one",
                       .remedy = "raise the limit of open files (ulimit -n)"});
  }
  net::unique_fd out(ends[0]);
  const net::unique_fd in(ends[1]);
  std::string digits = secret.to_hex();
  const ssize_t written = ::write(in.get(), digits.data(), digits.size());  // far less than any pipe holds
  explicit_bzero(digits.data(), digits.size());
  if (written != static_cast<ssize_t>(secret_digits)) reject("the pipe for the secret is broken");
  return out;
}

job_credentials take_job_credentials() {
  if (is_own_pid(std::getenv(joined_name))) {
    throw setup_error({.problem = "this process has joined its job before",
                       .why = "peers and secret of a job are handed to a process once",
                       .remedy = "call nacre::run once in a program that nacre run starts"});
  }
  const std::uint32_t rank = number(rank_name);
  const std::uint32_t size = number(size_name);
  const char* const control_address = std::getenv(control_address_name);
  if (rank >= size) reject("rank " + std::to_string(rank) + " does not exist in a job of " + std::to_string(size));
  if (control_address == nullptr || !net::address::parse(control_address))
    reject(std::string(control_address_name) + " is no address");
  job_credentials credentials{.rank = rank_id(rank),
                              .size = size,
                              .ranks_on_host = std::min(size, std::max(1U, number(ranks_on_host_name))),
                              .place_on_host = number(place_on_host_name),
                              .control_address = control_address,
                              .secret = read_secret(static_cast<int>(number(secret_name)))};
  credentials.place_on_host = std::min(credentials.place_on_host, credentials.ranks_on_host - 1);
  taken_choices() = choices_of_launcher();
  for (const char* name : {rank_name, size_name, ranks_on_host_name, place_on_host_name, control_address_name,
                           secret_name, transport_name, restore_name, mark_name, life_name})
    ::unsetenv(name);
  ::setenv(joined_name, std::to_string(::getpid()).c_str(), 1);
  return credentials;
}

bool started_by_launcher() noexcept {
  return std::getenv(launch::rank_name) != nullptr || launch::is_own_pid(std::getenv(launch::joined_name));
}

}  // namespace nacre::launch
