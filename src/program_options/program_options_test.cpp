// SPDX-License-Identifier: Apache-2.0
// The reading of command lines, the text of --help, and the errors.
#include "program_options/program_options.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nacre/error.hpp>

namespace nacre {
namespace {

enum class colour { red, green };

/// A variable of every kind.
struct variables {
  bool quick = false;
  int runs = 3;
  std::uint32_t ranks = 0;
  std::uint64_t messages = 1'000'000;
  double seconds = 0.5;
  std::string file{};
  std::optional<std::uint32_t> depth{};
  std::optional<double> part{};
  std::vector<int> counts{1, 2};
  std::vector<std::uint64_t> sizes{};
  std::vector<std::string> transports{"shm", "tcp"}, settings{};
  colour chosen_colour = colour::green;
  bool secret = false;
};

void declare(program_options& options, variables& variables) {
  options.add("--quick", variables.quick, "Quickly");
  options.add("--runs", variables.runs, "Runs of each").between(1, 100);
  options.add("--ranks", variables.ranks, "Ranks").otherwise("as recorded");
  options.add("--messages", variables.messages, "Messages of all");
  options.add("--seconds", variables.seconds, "Time of each").between(0.01, 60);
  options.add("--file", variables.file, "Where to").called("FILE").must_be([](const std::string& name) {
    return name == "/" ? std::string("no folder") : std::string();
  });
  options.section("Shape");
  options.add("--depth", variables.depth, "Of the tree").called("COUNT");
  options.add("--part", variables.part, "Of it");
  options.add("--counts", variables.counts, "Some");
  options.add("--sizes", variables.sizes, "Of messages").of_bytes().between(8, 1 << 20);
  options.add("--transport", variables.transports, "Which").one_of({"shm", "tcp", "ucx"});
  options.add("--set", variables.settings, "More").verbatim();
  options.add_choice("--colour", variables.chosen_colour, {{"red", colour::red}, {"green", colour::green}}, "Paint");
  options.add("--secret", variables.secret, "").hidden();
  options.footer("Example: sample --quick");
}

/// The result of a command line.
struct reading {
  variables got{};
  std::optional<int> exit_code{};
  std::string output{}, errors{};
};

reading read(std::vector<const char*> words) {
  words.insert(words.begin(), "sample");
  reading result;
  program_options options("sample", "Shows what options are.");
  declare(options, result.got);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  result.exit_code = options.parse(static_cast<int>(words.size()), words.data());
  result.output = testing::internal::GetCapturedStdout();
  result.errors = testing::internal::GetCapturedStderr();
  return result;
}

/// The error line for a refused command line.
std::string refusal(std::vector<const char*> words) {
  const reading got = read(std::move(words));
  EXPECT_EQ(got.exit_code, 2);
  EXPECT_EQ(got.output, "");
  return got.errors;
}

TEST(program_options, what_is_not_given_stays) {
  const reading got = read({});
  EXPECT_FALSE(got.exit_code.has_value());
  EXPECT_FALSE(got.got.quick || got.got.secret || got.got.depth || got.got.part);
  EXPECT_EQ(got.got.runs, 3);
  EXPECT_EQ(got.got.transports, (std::vector<std::string>{"shm", "tcp"}));
  EXPECT_EQ(got.got.chosen_colour, colour::green);
}

TEST(program_options, values_of_all_kinds_are_read) {
  const reading got =
      read({"--quick", "--runs=7", "--ranks", "4294967295", "--messages", "18446744073709551615", "--seconds", "1e-1",
            "--file", "x.json", "--depth=9", "--part", "-0.25", "--colour=RED", "--secret"});
  ASSERT_FALSE(got.exit_code.has_value()) << got.errors;
  EXPECT_TRUE(got.got.quick && got.got.secret);
  EXPECT_EQ(got.got.runs, 7);
  EXPECT_EQ(got.got.ranks, 4294967295u);
  EXPECT_EQ(got.got.messages, 18446744073709551615u);
  EXPECT_EQ(got.got.seconds, 0.1);
  EXPECT_EQ(got.got.file, "x.json");
  EXPECT_EQ(got.got.depth, 9u);
  EXPECT_EQ(got.got.part, -0.25);
  EXPECT_EQ(got.got.chosen_colour, colour::red);
}

TEST(program_options, lists_are_written_with_commas_or_words_or_again) {
  const std::vector<int> all{5, 6, 7};
  EXPECT_EQ(read({"--counts=5,6,7"}).got.counts, all);
  EXPECT_EQ(read({"--counts", "5", "6,7", "--quick"}).got.counts, all);
  EXPECT_EQ(read({"--counts=5", "--counts=6", "--counts", "7"}).got.counts, all);
  EXPECT_EQ(read({"--sizes=8,4KiB,1m,64B"}).got.sizes, (std::vector<std::uint64_t>{8, 4096, 1 << 20, 64}));
  EXPECT_EQ(read({"--set", "a=1,2", "--set=b"}).got.settings, (std::vector<std::string>{"a=1,2", "b"}));
}

TEST(program_options, help_names_values_bounds_defaults_sections_and_examples) {
  const reading got = read({"--help"});
  EXPECT_EQ(got.exit_code, 0);
  for (const char* part :
       {"Shows what options are.", "--runs N in [1 - 100]=3", "--ranks N=as recorded", "--messages N=1000000",
        "--seconds NUMBER in [0.01 - 60]=0.5", "--file FILE", "Shape:", "--depth COUNT",
        "--transport {shm,tcp,ucx}=shm,tcp ...", "--colour {red,green}=green", "Example: sample --quick"}) {
    EXPECT_NE(got.output.find(part), std::string::npos) << part << " in\n" << got.output;
  }
  EXPECT_EQ(got.output.find("secret"), std::string::npos);
}

TEST(program_options, nonsense_is_refused_with_what_would_be_right) {
  EXPECT_EQ(refusal({"--run", "3"}),
            "sample: there is no option '--run': did you mean --runs? --help shows the options\n");
  EXPECT_EQ(refusal({"--zzzzzz"}), "sample: there is no option '--zzzzzz': --help shows the options\n");
  EXPECT_EQ(refusal({"word"}), "sample: there is no option 'word': --help shows the options\n");
  EXPECT_EQ(refusal({"--runs", "0"}),
            "sample: --runs has no value '0': N is a whole number from 1 to 100: --help shows the options\n");
  EXPECT_NE(refusal({"--messages=-1"}).find("N is a whole number, 0 or more:"), std::string::npos);
  for (const char* wrong : {"--runs=2x", "--runs=1.5", "--messages=-1", "--messages=18446744073709551616",
                            "--seconds=nan", "--seconds=inf", "--seconds=61", "--depth=4294967296", "--part=x",
                            "--counts=1,x", "--sizes=7", "--sizes=1Mx", "--sizes=KiB", "--runs=1KiB"}) {
    EXPECT_NE(refusal({wrong}).find("is a "), std::string::npos) << wrong;
  }
  EXPECT_EQ(refusal({"--transport=shm,tpc"}),
            "sample: --transport has no value 'tpc': it knows shm, tcp, ucx: --help shows the options\n");
  EXPECT_NE(refusal({"--colour=blue"}).find("it knows red, green"), std::string::npos);
  EXPECT_NE(refusal({"--file=/"}).find("FILE is no folder"), std::string::npos);
  for (const char* bare : {"--runs", "--runs="}) EXPECT_NE(refusal({bare}).find("--runs"), std::string::npos);
  EXPECT_NE(refusal({"--runs=1", "--runs=2"}).find("--runs"), std::string::npos);
}

TEST(program_options, a_program_keeps_what_it_does_not_know_or_advises_on_it) {
  int runs = 1;
  std::vector<std::string> rest;
  program_options keeps("keeps", "");
  keeps.add("--runs", runs, "");
  keeps.pass_on(rest);
  const char* const given[] = {"keeps", "--sim=1", "--runs=2", "word"};
  EXPECT_FALSE(keeps.parse(4, given).has_value());
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(rest, (std::vector<std::string>{"--sim=1", "word"}));

  std::string tree;
  program_options empty("empty", "");
  empty.add("--tree", tree, "Which").called("NAME");
  const char* const nothing[] = {"empty", "--tree", ""};
  testing::internal::CaptureStderr();
  EXPECT_EQ(empty.parse(3, nothing), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "empty: --tree has no value '': it is empty, leave it out or write NAME: --help shows the options\n");

  program_options advises("advises", "");
  advises.advise_on_words([](const std::string& word) { return "did you mean --tree " + word + "?"; });
  testing::internal::CaptureStderr();
  EXPECT_EQ(advises.parse(4, given), 2);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("no option '--sim=1'"), std::string::npos);
  const char* const stray[] = {"advises", "T1"};
  testing::internal::CaptureStderr();
  EXPECT_EQ(advises.parse(2, stray), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "advises: there is no option 'T1': did you mean --tree T1? --help shows the options\n");
}

TEST(program_options, two_outputs_of_one_name_are_refused) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / ("nacre_outputs_" + std::to_string(getpid()));
  fs::create_directory(folder);
  const std::string a = folder / "a", b = folder / "b", c = folder / "c";
  const auto refused = [](const std::string& output, const std::string& other) {
    try {
      demand_other_file(output, other);
      return false;
    } catch (const setup_error& error) {
      EXPECT_NE(std::string(error.what()).find(other), std::string::npos) << error.what();
      return true;
    }
  };
  EXPECT_TRUE(refused(a, a)) << "of which none exists";
  EXPECT_TRUE(refused(a, folder / "." / "a"));
  EXPECT_TRUE(refused(fs::relative(a), a));
  EXPECT_FALSE(refused(a, b));
  EXPECT_FALSE(refused(a, ""));
  EXPECT_FALSE(refused("", ""));
  std::ofstream(a) << "a";
  fs::create_symlink(a, b);
  fs::create_hard_link(a, c);
  EXPECT_TRUE(refused(b, a));
  EXPECT_TRUE(refused(a, c));
  EXPECT_FALSE(refused("/dev/null", "/dev/null")) << "which keeps nothing";
  fs::remove_all(folder);
}

TEST(program_options, numbers_between_separators_are_read_and_nothing_else) {
  std::array<double, 3> values{7, 8, 9};
  EXPECT_EQ(read_numbers("1/-2.5", '/', values), 2U);
  EXPECT_EQ(values, (std::array<double, 3>{1, -2.5, 9}));
  EXPECT_EQ(read_numbers("4/5e-1/6", '/', values), 3U);
  EXPECT_EQ(values, (std::array<double, 3>{4, 0.5, 6}));
  for (const char* text :
       {"", "/", "1/", "/1", "1//2", "1,2", "1/2/3/4", "1/2/3/", "1/inf", "nan", "1/2 ", " 1", "x"}) {
    EXPECT_EQ(read_numbers(text, '/', values), std::nullopt) << text;
  }
}

TEST(program_options, an_output_that_cannot_be_written_is_refused_and_one_that_can_is_left_as_it_is) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / ("nacre_writable_" + std::to_string(getpid()));
  fs::create_directory(folder);
  const std::string missing = folder / "missing", old = folder / "old";
  std::ofstream(old) << "of yesterday";
  for (const std::string& name : {missing, old, std::string()}) demand_writable(name, "--out");
  EXPECT_FALSE(fs::exists(missing)) << "the run may yet be refused";
  EXPECT_EQ(fs::file_size(old), 12U);
  for (const std::string& name : {(folder / "none" / "file").string(), folder.string()}) {
    try {
      demand_writable(name, "--out");
      ADD_FAILURE() << name;
    } catch (const setup_error& error) {
      EXPECT_NE(std::string(error.what()).find("'" + name + "' cannot be written"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("--out asks for it"), std::string::npos) << error.what();
    }
  }
  const fs::path path = fs::current_path();
  fs::create_directory(folder / "-");
  fs::current_path(folder);
  EXPECT_THROW(demand_writable("-", "--out"), setup_error)
      << "a name like any other: a program may mean something else";
  fs::current_path(path);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace nacre
