// SPDX-License-Identifier: Apache-2.0
// Output is passed on unchanged, and in whole lines.
#include "tool/line_relay.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <utility>

namespace nacre::tool {
namespace {

struct pipe_ends {
  unique_fd read;
  unique_fd write;
};

pipe_ends make_pipe() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
  return {.read = unique_fd(ends[0]), .write = unique_fd(ends[1])};
}

void write_to(const unique_fd& pipe, std::string_view text) {
  ASSERT_EQ(::write(pipe.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

std::string read_all(const unique_fd& pipe) {
  std::string result;
  std::array<char, 4096> buffer;
  for (ssize_t bytes; (bytes = ::read(pipe.get(), buffer.data(), buffer.size())) > 0;) {
    result.append(buffer.data(), static_cast<std::size_t>(bytes));
  }
  return result;
}

/// The output stream of a process, a relay that reads it, and the relay's output.
class stage {
 public:
  explicit stage(std::string label)
      : source_(make_pipe()),
        target_(make_pipe()),
        sink_(target_.write.get()),
        relay_(std::move(source_.read), sink_, std::move(label)) {}

  std::string pass(std::string_view text) {
    write_to(source_.write, text);
    return pump();
  }
  std::string end() {
    source_.write.reset();
    return pump();
  }
  std::string pump() {
    relay_.pump();
    sink_.flush();
    return read_all(target_.read);
  }
  void close_target() { target_.read.reset(); }
  [[nodiscard]] line_relay& relay() noexcept { return relay_; }
  [[nodiscard]] line_sink& sink() noexcept { return sink_; }

 private:
  pipe_ends source_;
  pipe_ends target_;
  line_sink sink_;
  line_relay relay_;
};

TEST(line_relay, holds_a_line_back_until_it_is_complete) {
  stage output("");
  EXPECT_EQ(output.pass("one"), "");
  EXPECT_TRUE(output.relay().holds_unfinished_line());
  EXPECT_EQ(output.pass(" two\nthr"), "one two\n");
  EXPECT_EQ(output.pass("ee\nfour\n"), "three\nfour\n");
  EXPECT_FALSE(output.relay().holds_unfinished_line());
}

TEST(line_relay, passes_bytes_on_as_they_are) {
  stage output("");
  const std::string odd("\0\xff\r\n\n\x1b[31m\n", 11);
  EXPECT_EQ(output.pass(odd), odd);
  EXPECT_EQ(output.pass("no end"), "");
  EXPECT_EQ(output.end(), "no end") << "nothing is added";
  EXPECT_LT(output.relay().descriptor(), 0);
}

TEST(line_relay, labels_every_line_and_ends_the_last_one) {
  stage output("[7] ");
  EXPECT_EQ(output.pass("one\n\ntwo\nthree"), "[7] one\n[7] \n[7] two\n");
  EXPECT_EQ(output.end(), "[7] three\n");
}

TEST(line_relay, passes_a_line_without_an_end_on_in_parts_with_one_label) {
  stage output("[0] ");
  const std::string part(30000, 'x');
  std::string got;
  for (int i = 0; i < 3; ++i) got += output.pass(part);
  EXPECT_GE(got.size(), line_relay::line_bytes_max);
  got += output.pass("y\n");
  EXPECT_TRUE(got == "[0] " + part + part + part + "y\n");
}

TEST(line_relay, releases_an_unfinished_line_when_it_is_told_to) {
  stage output("");
  EXPECT_EQ(output.pass("progress 10%\r"), "");
  output.relay().release_unfinished();
  EXPECT_EQ(output.pump(), "progress 10%\r");
}

TEST(line_sink, keeps_what_a_slow_reader_does_not_take) {
  const pipe_ends target = make_pipe();
  line_sink sink(target.write.get());
  std::string all;
  for (int i = 0; !sink.full(); ++i) {
    const std::string line = std::to_string(i) + std::string(1000, '.') + "\n";
    sink.push(line);
    all += line;
  }
  std::string got;
  while (!sink.empty()) {
    sink.flush();
    got += read_all(target.read);
  }
  EXPECT_TRUE(got == all);
}

TEST(line_sink, drops_everything_when_nobody_reads_and_lets_the_source_know) {
  ::signal(SIGPIPE, SIG_IGN);
  stage output("");
  output.close_target();
  output.pass("one\n");
  EXPECT_TRUE(output.sink().broken());
  output.pump();
  EXPECT_LT(output.relay().descriptor(), 0) << "its writer gets SIGPIPE";
}

}  // namespace
}  // namespace nacre::tool
