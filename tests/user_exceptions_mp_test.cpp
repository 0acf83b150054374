// SPDX-License-Identifier: Apache-2.0
// Whatever code of the user throws, wherever the runtime calls it, a caller hears of it or the job ends with one line.
//
// The executable is its own rank program: `user_exceptions_mp_test --place NAME`. `--only TEXT` looks at some places.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <nacre/nacre.hpp>

#include "launched.hpp"
#include "transports.hpp"
#include "user_exceptions/places.hpp"

namespace {

using namespace nacre::tests;

constexpr std::chrono::seconds long_enough{20};  // of processor time, which others use too

std::vector<place> all_places() {
  std::vector<place> all;
  for (const auto part : {places_of_messages(), places_of_objects(), places_of_containers(), places_of_policies()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

int act_as_rank(int argc, char** argv) {
  const std::string_view wanted = argv[2];
  for (const place& each : all_places()) {
    if (each.name == wanted) return nacre::run(argc, argv, each.main);
  }
  return 3;
}

bool in_one_process(const std::string& transport) { return transport == "inproc" || transport == "sim"; }

std::vector<std::string> command_for(const place& place, const std::string& transport) {
  std::vector<std::string> words;
  if (!in_one_process(transport)) words = start_of(transport, 2).words;
  words.insert(words.end(), {own_path(), "--place", std::string(place.name), "--nacre.workers=1"});
  if (in_one_process(transport)) words.insert(words.end(), {"--nacre.transport=" + transport, "--nacre.ranks=2"});
  std::istringstream options{std::string(place.options)};
  for (std::string each; options >> each;) words.push_back("--nacre." + each);
  return words;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Empty, or what is wrong.
std::string complaint(const place& place, const outcome& got, bool one_process) {
  if (!WIFEXITED(got.status)) return "it hangs, or dies by a signal";
  const std::string& told = place.outcome == ends_as::job ? got.errors : got.output;
  if (!contains(told, place.text)) return "nothing says \"" + std::string(place.text) + '"';
  const bool says_boom = !contains(std::string(place.text), "std::") && place.text != "collective";
  if (says_boom && !contains(told, "boom")) return "nothing says what was thrown";
  if (place.outcome == ends_as::caught) {
    if (code_of(got) != 0 || !got.errors.empty()) return "it does not end well";
    return contains(got.output, "goes on") ? "" : "it does not go on";
  }
  if (code_of(got) <= 0) return "it does not end with an error";
  // Processes in which the same happens at the same time each say so.
  std::set<std::string> reasons;
  std::size_t told_by = 0;
  for (const std::string& line : lines_of(got.errors)) {
    if (!line.starts_with("nacre: ")) continue;
    reasons.insert(line.substr(line.starts_with("nacre: rank ") ? std::string_view("nacre: rank 0").size() : 0));
    ++told_by;
  }
  return reasons.size() == 1 && told_by <= (one_process ? 1U : 2U) ? "" : "not one line tells why";
}

/// What to look at alone, of an argument of the test program; empty: everything.
std::string_view only;

class user_exceptions : public testing::TestWithParam<const char*> {};

TEST_P(user_exceptions, reach_their_caller_or_end_the_job) {
  const std::string transport = GetParam();
  for (const place& each : all_places()) {
    if (each.crosses && transport == "inproc") continue;
    if (each.early && !in_one_process(transport)) continue;
    if (each.name.find(only) == std::string_view::npos) continue;
    const outcome got = launched(command_for(each, transport)).end(long_enough);
    EXPECT_EQ(complaint(each, got, in_one_process(transport)), "") << each.name << ", over " << transport << '\n'
                                                                   << got.output << got.errors;
  }
}

INSTANTIATE_TEST_SUITE_P(over, user_exceptions, testing::Values("inproc", "sim", "shm", "tcp"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[1]) == "--place") return act_as_rank(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  if (argc > 2 && std::string_view(argv[1]) == "--only") only = argv[2];
  return RUN_ALL_TESTS();
}
