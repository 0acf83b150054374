// SPDX-License-Identifier: Apache-2.0
// nacre::run: from options to a running job.
#include <nacre/run.hpp>

#include <stdio_ext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include <nacre/error.hpp>

#include "base/forked_child.hpp"
#include "base/privilege.hpp"
#include "base/standard_streams.hpp"
#include "join/launch/foreign_launcher.hpp"
#include "join/launch/job_credentials.hpp"
#include "machine/network_config.hpp"
#include "runtime/early_exit.hpp"
#include "runtime/job.hpp"
#include "runtime/memory_defaults.hpp"
#include "runtime/options.hpp"
#include "runtime/runtime_copies.hpp"
#include "transport/transport.hpp"

namespace nacre {
namespace {

constexpr int exit_setup = 2;

int report(const char* name) {
  std::fprintf(stderr, "nacre: %s\n", name);
  let_launcher_read();
  return exit_setup;
}

/// Returns the exit code.
int print_help(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return 0;
  const int problem = errno;
  ::__fpurge(stdout);  // so that exit does not report the error again
  std::clearerr(stdout);
  if (problem == EPIPE) return 0;  // the reader has closed the pipe
  std::fprintf(stderr, "nacre: standard output cannot be written: %s\n", std::strerror(problem));
  return 1;
}

/// The choices of `nacre run`, which come by the environment. A program with more rights than its caller ignores them.
launch::launcher_choices trusted_choices() {
  return has_more_rights_than_its_caller() ? launch::launcher_choices{} : launch::choices_of_launcher();
}

void set_choices(config& configuration, const launch::launcher_choices& choices, setting_source source) {
  if (!choices.transport.empty()) configuration.set("transport", choices.transport, source);
  if (!choices.restore.empty()) configuration.set("restore", choices.restore, source);
}

/// A process that a launcher has started joins its job, and goes on from the images that it names, unless somebody says
/// otherwise.
void follow_launcher(config& configuration) {
  launch::launcher_choices choices = trusted_choices();
  if (choices.transport.empty()) choices.transport = transport::backend_of_launcher();
  if (configuration.source_of("transport") != setting_source::built_in) choices.transport.clear();
  if (configuration.source_of("restore") != setting_source::built_in) choices.restore.clear();
  set_choices(configuration, choices, setting_source::program);
}

/// The system calls it before main, since a rank prints lines before it calls nacre::run, too, and may end before.
[[gnu::constructor]] void prepare_output() noexcept {
  if (launch::started_by_launcher()) write_output_by_line();
}

}  // namespace

config read_config(int& argc, char** argv) {
  config merged(all_option_tables());
  follow_launcher(merged);
  // Options name files to load, read and write. A program with more rights than its caller ignores the environment.
  char* nothing[] = {nullptr};
  const char* const* const environment = has_more_rights_than_its_caller() ? nothing : environ;
  // The launcher's choices come before those of files; a script between it and the rank may set variables of its own.
  set_choices(merged, trusted_choices(), setting_source::environment);
  merged.apply_environment(environment);
  for (const std::string& warning : warnings_about_variables(environment)) {
    if (launch::is_first_process()) std::fprintf(stderr, "nacre: %s\n", warning.c_str());
  }
  merged.apply_command_line(argc, argv);
  return merged;
}

int run(int& argc, char** argv, const std::function<void(runtime&)>& main) {
  occupy_standard_descriptors();
  try {
    return run(read_config(argc, argv), main);
  } catch (const setup_error& error) {
    return report(error.what());
  }
}

int run(const config& configuration, const std::function<void(runtime&)>& main) {
  occupy_standard_descriptors();
  try {
    must_not_be_forked_child();
    tell_of_runtime_copies();
    config complete = configuration;
    if (!complete.is_declared("transport")) complete.declare(all_option_tables());
    follow_launcher(complete);
    if (complete.get_bool("help")) {
      return print_help(complete.help_text());
    }
    if (launch::is_first_process()) {
      for (const std::string& warning : warnings_about_effects(complete, !transport::backend_of_launcher().empty()))
        std::fprintf(stderr, "nacre: %s\n", warning.c_str());
    }
    if (complete.get_string("transport") == "sim") machine::apply_machine_file(complete);
    if (launch::started_by_launcher()) take_receive_memory(complete);
    const job_report done = run_job(complete, main);
    if (complete.get_bool("trace_hash") && done.events != 0) {
      std::fprintf(stderr, "nacre: simulated %.9f s in %llu events, trace hash %016llx\n", done.seconds,
                   static_cast<unsigned long long>(done.events), static_cast<unsigned long long>(done.trace_hash));
    }
    if (done.code != 0) early_exit::owe(done.code);
    return done.code != 0 ? done.code : done.left_all ? 0 : 1;
  } catch (const transport::job_aborted&) {
    return 1;                              // the launcher has printed why
  } catch (const std::exception& error) {  // a setup_error, or thrown by a factory that the program has registered
    return report(error.what());
  } catch (...) {
    return report("what the program has registered threw an exception that is no std::exception");
  }
}

const char* version() noexcept { return NACRE_VERSION; }

}  // namespace nacre
