// SPDX-License-Identifier: Apache-2.0
// A path that names no machine file is refused with a plain line, before it takes memory or time without end.
#include "machine/machine_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

#include <nacre/error.hpp>

namespace nacre::machine {
namespace {

std::string refusal_of(const std::string& path) {
  try {
    static_cast<void>(read_machine_file(path));
  } catch (const setup_error& refusal) {
    return refusal.what();
  }
  return {};
}

/// A pipe with a name, into which a process writes up to 64 MiB of spaces.
class long_pipe {
 public:
  long_pipe() {
    EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    writer_ = ::fork();
    if (writer_ == 0) write_spaces();
  }
  long_pipe(const long_pipe&) = delete;
  long_pipe& operator=(const long_pipe&) = delete;
  ~long_pipe() { ::unlink(path_.c_str()); }

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Whether the reader closed the pipe before the writer had written all.
  [[nodiscard]] bool closed_early() {
    int status = 0;
    EXPECT_EQ(::waitpid(writer_, &status, 0), writer_);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE;
  }

 private:
  [[noreturn]] void write_spaces() const {
    ::alarm(60);  // for a reader that never comes
    std::signal(SIGPIPE, SIG_DFL);
    std::array<char, 16 * 1024> spaces;
    spaces.fill(' ');
    const int target = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    for (int written = 0; written < 4096; ++written) {
      if (::write(target, spaces.data(), spaces.size()) <= 0) break;
    }
    ::_exit(0);
  }

  const std::string path_ = testing::TempDir() + "nacre_long_pipe_" + std::to_string(::getpid());
  pid_t writer_ = -1;
};

TEST(machine_file, a_file_without_end_is_refused_before_it_has_been_read) {
  long_pipe pipe;
  EXPECT_EQ(
      refusal_of(pipe.path()),
      pipe.path() + ": it is longer than 16777216 bytes (the file describes no machine): name a file with a machine");
  EXPECT_TRUE(pipe.closed_early());
}

TEST(machine_file, a_folder_is_refused) {
  EXPECT_EQ(refusal_of("/"), "/: this is a folder (the file describes no machine): name a file with a machine");
}

TEST(machine_file, a_missing_file_and_an_empty_one_are_refused) {
  EXPECT_EQ(refusal_of("/nowhere/m.toml"),
            "/nowhere/m.toml: it cannot be opened: No such file or directory (the file describes no machine): "
            "check the path");
  EXPECT_EQ(refusal_of("/dev/null"),
            "/dev/null: it has no grid (the file describes no machine): write grid = [34, 34, 36]");
}

}  // namespace
}  // namespace nacre::machine
