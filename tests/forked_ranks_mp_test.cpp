// SPDX-License-Identifier: Apache-2.0
// A process that a rank forks, and that runs no other program, leaves the job alone.
//
// The executable is its own rank program: `forked_ranks_mp_test --as-rank NAME` runs one of the programs below.
#include "launched.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

namespace {

using namespace nacre::tests;

// ---- rank programs, in which rank 0 forks while the job is at work

int add_one(int number) { return number + 1; }

struct counter {
  int value = 0;
  void add(int more) { value += more; }
  int read() const { return value; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(value);
  }
};

/// What the forked child does; true: it returns from where it was forked.
using child_program = bool (*)(nacre::runtime& rt, nacre::mobile_ptr<counter> object);

/// Calls that must throw usage_error, each alone.
bool is_refused_everything(nacre::runtime& rt, nacre::mobile_ptr<counter> object) {
  const nacre::rank_id last(rt.size() - 1);
  const std::vector<std::pair<const char*, std::function<void()>>> calls{
      {"send", [&] { rt.send<add_one>(last, 1); }},
      {"call", [&] { static_cast<void>(rt.call<add_one>(last, 1).get()); }},
      {"send to an object", [&] { rt.send<&counter::add>(object, 1); }},
      {"create", [&] { static_cast<void>(rt.create<counter>()); }},
      {"create_array", [&] { static_cast<void>(rt.create_array<counter>(nacre::extents{4})); }},
      {"migrate", [&] { rt.migrate(object, last).get(); }},
      {"destroy", [&] { rt.destroy(object); }},
      {"barrier", [&] { rt.barrier(); }},
      {"all_reduce", [&] { static_cast<void>(rt.all_reduce(1, std::plus<>{})); }},
      {"wait_quiescence", [&] { rt.wait_quiescence(); }},
      {"sleep", [&] { rt.sleep(0.01).wait(); }}};
  for (const auto& [name, call] : calls) {
    try {
      call();
      std::fprintf(stderr, "%s is not refused\n", name);
      std::_Exit(9);
    } catch (const nacre::usage_error&) {
    }
  }
  std::_Exit(7);
}

/// Peers must see the end of the rank though the child lives on.
bool holds_no_sockets(nacre::runtime&, nacre::mobile_ptr<counter>) {
  int sockets = 0;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the descriptor of the folder
    const bool is_stream = std::stoi(each.path().filename()) <= STDERR_FILENO;
    if (!is_stream && std::filesystem::is_socket(std::filesystem::status(each.path(), gone))) ++sockets;
  }
  std::_Exit(sockets == 0 ? 6 : 9);
}

const std::map<std::string_view, std::pair<child_program, int>>& child_programs() {  // with the code of the child
  static const std::map<std::string_view, std::pair<child_program, int>> all{
      {"returns", {[](nacre::runtime&, nacre::mobile_ptr<counter>) { return true; }, 0}},
      {"exits", {[](nacre::runtime&, nacre::mobile_ptr<counter>) -> bool { std::exit(5); }, 5}},
      {"throws", {[](nacre::runtime& rt, nacre::mobile_ptr<counter>) { return rt.barrier(), true; }, 1}},
      {"calls", {is_refused_everything, 7}},
      {"holds_no_sockets", {holds_no_sockets, 6}}};
  return all;
}

int run_forking(const std::string& name, int argc, char** argv) {
  const auto [program, code] = child_programs().at(name);
  return nacre::run(argc, argv, [program = program, code = code](nacre::runtime& rt) {
    nacre::mobile_ptr<counter> object;
    if (rt.rank().value() == 0) object = rt.create<counter>();
    object = rt.broadcast(object, nacre::rank_id(0));
    const nacre::rank_id last(rt.size() - 1);
    for (int round = 0; round < 3; ++round) {
      rt.send<&counter::add>(object, 1);
      if (rt.rank().value() == 0) {
        const pid_t child = ::fork();
        if (child == 0) {
          ::alarm(60);
          if (program(rt, object)) return;
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != code) std::printf("the child ended with %d\n", status);
      }
      for (int each = 0; each < 50; ++each) {
        if (rt.call<add_one>(last, each).get() != each + 1) std::printf("wrong result\n");
      }
    }
    rt.wait_quiescence();
    if (rt.rank().value() == 0 && rt.call<&counter::read>(object).get() == 3 * static_cast<int>(rt.size()))
      std::printf("all is well\n");
  });
}

/// A handler forks; its child returns from the handler, and so must neither answer nor go on with the rank's work.
int fork_in_handler(int) {
  const pid_t child = ::fork();
  if (child == 0) return -1;
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void forks_in_handlers(nacre::runtime& rt) {
  const nacre::rank_id last(rt.size() - 1);
  bool well = true;
  for (int round = 0; round < 3; ++round) well &= rt.call<fork_in_handler>(last, round).get() == 0;
  rt.barrier();
  if (well && rt.rank().value() == 0) std::printf("all is well\n");
}

// ---- tests

void expect_well(const std::vector<std::string>& command, const std::string& errors = "") {
  const outcome got = launched(command).end();
  std::string text;
  for (const std::string& word : command) text += word + " ";
  EXPECT_EQ(code_of(got), 0) << text << got.errors;
  EXPECT_EQ(got.output, "all is well\n") << text << got.errors;
  if (errors.empty()) {
    EXPECT_EQ(got.errors, "") << text;
  } else {
    EXPECT_NE(got.errors.find(errors), std::string::npos) << text << got.errors;
  }
}

void expect_well_everywhere(const std::string& program, const std::string& errors = "") {
  for (const std::string transport : {"shm", "tcp", "udp"}) {
    expect_well(
        nacre_with({"run", "-n", "2", "--transport", transport, own_path(), "--as-rank", program, "--nacre.workers=1"}),
        errors);
    expect_well(
        {own_path(), "--as-rank", program, "--nacre.workers=1", "--nacre.ranks=2", "--nacre.transport=" + transport},
        errors);
  }
  for (const std::string transport : {"inproc", "sim"}) {
    expect_well({own_path(), "--as-rank", program, "--nacre.ranks=2", "--nacre.transport=" + transport}, errors);
  }
}

TEST(a_process_that_a_rank_forks, may_return_or_exit_and_the_job_goes_on) {
  expect_well_everywhere("returns");
  expect_well_everywhere("exits");
}

TEST(a_process_that_a_rank_forks, holds_no_sockets_of_its_rank) { expect_well_everywhere("holds_no_sockets"); }

TEST(a_process_that_a_rank_forks, has_each_of_its_calls_refused) { expect_well_everywhere("calls"); }

TEST(a_process_that_a_rank_forks, ends_alone_with_a_line_when_main_does_not_catch_the_error) {
  expect_well_everywhere("throws", "nacre: a process that rank 0 has forked: main threw: this process was forked");
}

TEST(a_process_that_a_rank_forks, in_a_handler_ends_with_the_handler) { expect_well_everywhere("forks_in_handlers"); }

}  // namespace

int main(int argc, char** argv) {
  for (int each = STDERR_FILENO + 1; each < 1024; ++each) ::fcntl(each, F_SETFD, FD_CLOEXEC);  // what our caller leaks
  const std::string name = argc > 2 && std::string_view(argv[1]) == "--as-rank" ? argv[2] : "";
  if (name == "forks_in_handlers") return nacre::run(argc, argv, forks_in_handlers);
  if (!name.empty()) return run_forking(name, argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
