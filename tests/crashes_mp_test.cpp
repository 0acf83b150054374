// SPDX-License-Identifier: Apache-2.0
// A signal that ends a rank is told with the handler and the object in which it came, and ends it as it would alone.
//
// The executable is its own rank program: `crashes_mp_test --as-rank SIGNAL [PLACE]`.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "launched.hpp"
#include "transports.hpp"

namespace {

/// Uses up the stack. The compiler must not turn it into a loop, nor see that it has no end.
[[gnu::noinline]] int recurse(volatile char* above) {
  std::array<volatile char, 512> frame{};
  frame[0] = *above;
  return frame[0] != 0 ? recurse(frame.data()) + frame[0] : 0;
}

void fault(std::string_view signal) {
  if (signal == "SIGSEGV") {
    volatile int* volatile nowhere = nullptr;
    *nowhere = 1;
  } else if (signal == "SIGABRT") {
    std::abort();
  } else if (signal == "overflow") {
    volatile char top = 1;
    std::exit(recurse(&top));
  } else if (signal == "SIGBUS") {  // behind the end of a file
    std::FILE* const file = std::tmpfile();
    void* const memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ::fileno(file), 0);
    *static_cast<volatile char*>(memory) = 1;
  } else {
    std::raise(signal == "SIGFPE" ? SIGFPE : SIGILL);
  }
}

struct fragile {
  void step(const std::string& signal) { fault(signal); }
  nacre::task<void> later(nacre::context& ctx, std::string signal) {
    co_await ctx.sleep(0.001);
    fault(signal);
  }
  template <class Archive>
  void serialize(Archive&) {}
};

extern "C" void of_the_program(int signal, siginfo_t* details, void*) {
  static_cast<void>(!::write(STDERR_FILENO, "the program's own\n", 18));
  std::_Exit(details->si_signo == signal ? 43 : 1);
}

int act_as_rank(int argc, char** argv) {
  const std::string signal = argv[2];
  const std::string_view place = argc > 3 ? argv[3] : "";
  if (place == "own") {
    struct sigaction action {};
    action.sa_sigaction = &of_the_program;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSEGV, &action, nullptr);
  }
  if (place == "ignored") std::signal(SIGFPE, SIG_IGN);
  const int code = nacre::run(argc, argv, [&](nacre::runtime& rt) {
    const nacre::rank_id last(rt.size() - 1);
    if (place == "main") {
      rt.barrier();
      if (rt.rank() == last) fault(signal);
    } else if (place == "thread") {
      if (rt.rank() == last) std::thread([&] { fault(signal); }).join();
    } else if (place == "element") {
      const auto all = rt.create_array<fragile>(4);
      if (rt.rank() == last) rt.send<&fragile::step>(all[2], signal);
    } else if (rt.rank() == last) {
      const auto object = rt.create<fragile>();
      if (place == "coroutine") rt.send<&fragile::later>(object, signal);
      if (place != "coroutine") rt.send<&fragile::step>(object, signal);
    }
    rt.wait_quiescence();
  });
  // Behind the job the signals are as before.
  struct sigaction left {};
  ::sigaction(SIGSEGV, nullptr, &left);
  if (place == "ignored") return code == 0 && left.sa_handler == SIG_DFL ? 44 : 1;
  return code;
}

}  // namespace

namespace nacre::tests {
namespace {

outcome run_with(const std::string& transport, std::vector<std::string> more) {
  std::vector<std::string> words;
  const bool one_process = transport == "inproc" || transport == "sim";
  if (!one_process) words = start_of(transport, 2).words;
  words.insert(words.end(), {own_path(), "--as-rank"});
  words.insert(words.end(), more.begin(), more.end());
  if (one_process) words.insert(words.end(), {"--nacre.ranks=2", "--nacre.transport=" + transport});
  return launched(words).end();
}

/// The process itself ends by the signal; a launcher's code is that of a shell.
void expect_end(const std::string& transport, const outcome& got, int signal) {
  if (transport == "inproc" || transport == "sim") {
    EXPECT_TRUE(WIFSIGNALED(got.status) && WTERMSIG(got.status) == signal) << got.status << '\n' << got.errors;
  } else {
    EXPECT_EQ(code_of(got), 128 + signal) << got.errors;
  }
}

void expect_line(const outcome& got, const std::string& begin, const std::string& end) {
  int found_count = 0;
  for (const std::string& line : lines_of(got.errors))
    found_count += line.starts_with(begin) && line.ends_with(end) ? 1 : 0;
  EXPECT_EQ(found_count, 1) << begin << "..." << end << "\nis not once in\n" << got.errors;
}

class crashes : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (sanitized) GTEST_SKIP() << "the sanitizer ends the process in its own way";
  }
};

TEST_P(crashes, are_told_by_signal_with_the_handler_and_its_object_and_end_as_ever) {
  const std::vector<std::pair<std::string, int>> signals{
      {"SIGSEGV", SIGSEGV}, {"SIGBUS", SIGBUS}, {"SIGFPE", SIGFPE}, {"SIGILL", SIGILL}, {"SIGABRT", SIGABRT}};
  for (const auto& [name, signal] : signals) {
    const outcome got = run_with(GetParam(), {name});
    expect_end(GetParam(), got, signal);
    expect_line(got, "nacre: " + name, "fragile::step on object 1:1 on rank 1, worker 0");
  }
}

TEST_P(crashes, are_told_in_coroutines_elements_mains_and_threads) {
  const std::string transport = GetParam();
  expect_line(run_with(transport, {"SIGABRT", "coroutine"}), "nacre: SIGABRT",
              "fragile::later on object 1:1 on rank 1, worker 0");
  expect_line(run_with(transport, {"SIGABRT", "element"}), "nacre: SIGABRT in the handler ",
              "fragile::step on element [2] of array 1 on rank 1, worker 0");
  expect_line(run_with(transport, {"SIGSEGV", "main"}), "nacre: SIGSEGV (address 0x0)", " in main on rank 1");
  expect_line(run_with(transport, {"SIGABRT", "thread"}), "nacre: SIGABRT", " in a thread that is not the runtime's");
}

TEST_P(crashes, of_a_stack_that_is_used_up_are_told_in_handlers_and_mains) {
  for (const char* place : {"handler", "main"}) {
    const outcome got = run_with(GetParam(), {"overflow", place});
    expect_end(GetParam(), got, SIGSEGV);
    expect_line(got, "nacre: SIGSEGV (address 0x", place == std::string("main") ? " in main on rank 1" : ", worker 0");
    EXPECT_NE(got.errors.find("at the end of the stack: too deep a recursion"), std::string::npos) << got.errors;
  }
}

TEST_P(crashes, that_the_program_handles_are_handed_to_it) {
  const outcome got = run_with(GetParam(), {"SIGSEGV", "own"});
  EXPECT_EQ(code_of(got), 43) << got.status << got.errors;
  expect_line(got, "nacre: SIGSEGV", ", worker 0");
  EXPECT_NE(got.errors.find("the program's own"), std::string::npos) << got.errors;
}

TEST_P(crashes, that_are_ignored_stay_so_and_behind_the_job_all_is_as_before) {
  const outcome got = run_with(GetParam(), {"SIGFPE", "ignored"});
  EXPECT_EQ(code_of(got), 44) << got.status << got.errors;
  EXPECT_EQ(got.errors.find("SIGFPE"), std::string::npos) << got.errors;
}

INSTANTIATE_TEST_SUITE_P(over, crashes, testing::Values("inproc", "sim", "shm", "tcp"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace nacre::tests

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[1]) == "--as-rank") return act_as_rank(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
