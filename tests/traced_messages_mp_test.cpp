// SPDX-License-Identifier: Apache-2.0
// Lines of steals: what `uts` records is read back from the .prv file by a parser of its own, after the description of
// that format by its authors (BSC, "Paraver: Trace Format"), and compared with what the search says about itself.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <istream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/sanitized.hpp"
#include "launched.hpp"

namespace {

using namespace nacre::tests;

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The numbers of a text between whatever else is in it.
std::vector<std::int64_t> numbers_of(const std::string& text) {
  std::vector<std::int64_t> numbers;
  for (std::size_t place = 0; place < text.size();) {
    if (text[place] < '0' || text[place] > '9') {
      ++place;
      continue;
    }
    char* end = nullptr;
    numbers.push_back(std::strtoll(text.c_str() + place, &end, 10));
    place = static_cast<std::size_t>(end - text.c_str());
  }
  return numbers;
}

/// Where a record is: processor, application, task and thread, all from 1.
struct place {
  std::int64_t processor = 0, application = 0, task = 0, thread = 0;
};

/// 3:place:logical send:physical send:place:logical receive:physical receive:size:tag
struct communication {
  place source;
  std::int64_t logical_send = 0, physical_send = 0;
  place target;
  std::int64_t logical_receive = 0, physical_receive = 0;
  std::int64_t size = 0, tag = 0;
};

/// A .prv file with its .pcf file.
class paraver_trace {
 public:
  explicit paraver_trace(const std::string& path) {
    const std::vector<std::string> lines = lines_of(text_of(path + ".prv"));
    read_header(lines.at(0));
    read_records(lines);
    read_names(lines_of(text_of(path + ".pcf")));
  }

  /// Whether a place is one of the header, and the processor that of the thread.
  [[nodiscard]] bool has(const place& one) const {
    return one.application == 1 && one.task >= 1 && one.task <= static_cast<std::int64_t>(threads_.size()) &&
           one.thread >= 1 && one.thread <= threads_[static_cast<std::size_t>(one.task - 1)] && one.processor >= 1 &&
           one.processor <= processors_;
  }
  [[nodiscard]] std::int64_t end() const { return end_; }
  [[nodiscard]] std::size_t tasks() const { return threads_.size(); }
  [[nodiscard]] const std::vector<communication>& communications() const { return communications_; }
  /// Those whose tag is the handler with a name that contains `name`, in the order of the file.
  [[nodiscard]] std::vector<communication> of_handler(const std::string& name) const {
    std::vector<communication> all;
    for (const communication& each : communications_) {
      const auto handler = handlers_.find(each.tag);
      if (handler != handlers_.end() && handler->second.find(name) != std::string::npos) all.push_back(each);
    }
    return all;
  }

 private:
  /// #Paraver (dd/mm/yy at hh:mm):end_ns:nodes(processors of each):applications:tasks(threads:node,...)
  void read_header(const std::string& line) {
    ASSERT_TRUE(line.starts_with("#Paraver (")) << line;
    const std::vector<std::int64_t> n = numbers_of(line.substr(line.find("):") + 2));
    ASSERT_GE(n.size(), 5U) << line;
    end_ = n[0];
    ASSERT_EQ(n[1], 1) << "one node";
    processors_ = n[2];
    ASSERT_EQ(n[3], 1) << "one application";
    ASSERT_EQ(n.size(), 5 + 2 * static_cast<std::size_t>(n[4])) << line;
    for (std::size_t index = 5; index < n.size(); index += 2) threads_.push_back(n[index]);
  }
  void read_records(const std::vector<std::string>& lines) {
    for (std::size_t index = 1; index < lines.size(); ++index) {
      const std::vector<std::int64_t> n = numbers_of(lines[index]);
      if (n.at(0) != 3) continue;
      ASSERT_EQ(n.size(), 15U) << lines[index];
      communications_.push_back(
          {{n[1], n[2], n[3], n[4]}, n[5], n[6], {n[7], n[8], n[9], n[10]}, n[11], n[12], n[13], n[14]});
    }
  }
  /// The values of the event type of handlers: a number and a name on each line.
  void read_names(const std::vector<std::string>& lines) {
    bool inside = false;
    for (const std::string& line : lines) {
      if (line.ends_with("\thandler")) inside = true;
      if (line.empty()) inside = false;
      std::istringstream words(line);
      std::int64_t number = 0;
      if (std::string name; inside && words >> number && std::getline(words >> std::ws, name)) handlers_[number] = name;
    }
  }

  std::int64_t end_ = 0, processors_ = 0;
  std::vector<std::int64_t> threads_;  // by task
  std::vector<communication> communications_;
  std::map<std::int64_t, std::string> handlers_;
};

class traced_search : public testing::Test {
 protected:
  traced_search() : folder_(testing::TempDir() + "nacre_lines_XXXXXX") { EXPECT_NE(mkdtemp(folder_.data()), nullptr); }
  ~traced_search() override { std::filesystem::remove_all(folder_); }

  /// Searches, and returns what the search says about itself; the .prv file is then at trace_path().
  [[nodiscard]] nlohmann::json search(std::vector<std::string> command, const std::string& mode,
                                      const std::vector<std::string>& machine = {}) const {
    command.insert(command.end(),
                   {NACRE_BIN_DIR "/uts", "--type=geometric", "--shape=fixed", sanitized ? "--depth=6" : "--depth=8",
                    "--branching=4", "--seed=19", "--quiet", "--json", "--chunk=4", "--interval=16", "--mode=" + mode,
                    "--nacre.trace=" + trace_path()});
    command.insert(command.end(), machine.begin(), machine.end());
    const outcome ran = launched(command).end();
    EXPECT_EQ(code_of(ran), 0) << ran.errors;
    const outcome got = nacre_command({"report", trace_path(), "--format", "paraver"});
    EXPECT_EQ(code_of(got), 0) << got.errors;
    return nlohmann::json::parse(ran.output);
  }
  [[nodiscard]] std::string trace_path() const { return folder_ + "/run.trace"; }

  std::string folder_;
};

void expect_sound(const paraver_trace& trace) {
  for (const communication& each : trace.communications()) {
    EXPECT_TRUE(trace.has(each.source)) << "task " << each.source.task;
    EXPECT_TRUE(trace.has(each.target)) << "task " << each.target.task;
    EXPECT_GE(each.logical_send, 0);
    EXPECT_LE(each.logical_send, each.physical_send);
    EXPECT_LE(each.physical_send, each.physical_receive);
    EXPECT_LE(each.physical_receive, each.logical_receive) << "nobody waits for a message before it is there";
    EXPECT_LE(each.logical_receive, trace.end());
    EXPECT_GT(each.size, 0);
  }
}

/// The lines between two tasks, in the order of departure.
using pairs = std::map<std::pair<std::int64_t, std::int64_t>, std::vector<communication>>;
pairs by_pair(const std::vector<communication>& all) {
  pairs sorted;
  for (const communication& each : all) sorted[{each.source.task, each.target.task}].push_back(each);
  return sorted;
}

/// Each steal is a request from the thief to the victim, and work on the way back.
void expect_steals(const paraver_trace& trace, std::uint64_t steals) {
  const std::vector<communication> requests = trace.of_handler("on_request"), work = trace.of_handler("on_work");
  EXPECT_GT(steals, trace.tasks() - 2) << "each of the others had some";
  EXPECT_EQ(work.size(), steals);
  EXPECT_EQ(requests.size(), steals);
  EXPECT_EQ(trace.communications().size(), 2 * steals) << "there is nothing else";
  const pairs back = by_pair(work);
  for (const auto& [ends, there] : by_pair(requests)) {
    const auto answers = back.find({ends.second, ends.first});
    ASSERT_NE(answers, back.end());
    ASSERT_EQ(answers->second.size(), there.size());
    for (std::size_t index = 0; index < there.size(); ++index) {
      const communication& answer = answers->second[index];
      EXPECT_LE(there[index].logical_receive, answer.logical_send) << "asked first, then given";
      EXPECT_LT(there[index].size, answer.size) << "nodes are more than a request";
      if (index > 0) {
        EXPECT_GE(there[index].logical_send, answers->second[index - 1].logical_receive) << "one request at a time";
      }
    }
  }
}

TEST_F(traced_search, by_stealing_has_a_line_to_the_victim_and_one_back_for_each_steal) {
  const auto told = search({}, "steal", {"--nacre.transport=sim", "--nacre.ranks=16"});
  const paraver_trace trace(trace_path());
  EXPECT_EQ(trace.tasks(), 16U);
  expect_sound(trace);
  expect_steals(trace, told["sharing"]["chunks"]);
  EXPECT_GT(told["sharing"]["refusals"], 0) << "refused requests have no line";
}

TEST_F(traced_search, by_stealing_between_processes_has_the_same_lines) {
  const auto told = search({NACRE_BIN_DIR "/nacre", "run", "-n", "3"}, "steal");
  const paraver_trace trace(trace_path());
  EXPECT_EQ(trace.tasks(), 3U);
  expect_sound(trace);
  expect_steals(trace, told["sharing"]["chunks"]);
}

TEST_F(traced_search, by_sharing_has_a_line_for_each_release_each_request_and_each_answer_of_the_manager) {
  for (const bool simulated : {true, false}) {
    const std::vector<std::string> machine{"--nacre.transport=sim", "--nacre.ranks=8"};
    const auto told =
        simulated ? search({}, "share", machine) : search({NACRE_BIN_DIR "/nacre", "run", "-n", "3"}, "share");
    const paraver_trace trace(trace_path());
    expect_sound(trace);
    const auto releases = trace.of_handler("on_release"), requests = trace.of_handler("on_request"),
               work = trace.of_handler("on_work");
    const std::uint64_t chunks = told["sharing"]["chunks"], workers = trace.tasks() - 1;
    EXPECT_EQ(releases.size(), chunks);
    EXPECT_EQ(work.size(), chunks + 1) << "the whole tree is the first chunk";
    EXPECT_EQ(requests.size(), chunks + 1 + workers) << "in the end all wait";
    EXPECT_EQ(trace.communications().size(), releases.size() + requests.size() + work.size());
    for (const communication& each : work) EXPECT_EQ(each.source.task, 1) << "rank 0 is the manager";
    for (const communication& each : releases) EXPECT_EQ(each.target.task, 1);
    for (const communication& each : requests) EXPECT_EQ(each.target.task, 1);
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
}

}  // namespace
