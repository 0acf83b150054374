// SPDX-License-Identifier: Apache-2.0
// The command lines of programs: of the benchmarks, of those in apps/, of the `nacre` command.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace nacre {

/// One option of a program, to say more of it: `options.add("--runs", runs, "Runs").between(1, 100)`. Lives as long as
/// the program_options that made it.
class program_option {
 public:
  struct rule;
  explicit program_option(rule& of) noexcept : rule_(&of) {}

  /// What --help calls the value, such as FILE. Otherwise N, NUMBER or TEXT.
  program_option& called(std::string_view name);
  /// Bounds of a number, or of each in a list; both belong to them.
  program_option& between(double least, double most);
  /// The words that it knows.
  program_option& one_of(std::vector<std::string> words);
  /// A further test of each value: returns what it must be, in words that follow "NAME is", or an empty text if it is.
  program_option& must_be(std::function<std::string(const std::string& value)> test);
  /// Numbers may have a unit: 4KiB, 1MiB. Units are powers of 1024.
  program_option& of_bytes();
  /// Commas in a value of a list stay in it. Such an option is repeated for each value.
  program_option& verbatim();
  /// What --help shows as the default instead of the value of the variable.
  program_option& otherwise(std::string_view text);
  program_option& required();
  /// Is not shown by --help.
  program_option& hidden();

 private:
  rule* rule_;
};

/// What a program understands, each option bound to a variable, which keeps its value where the option is not given;
/// that value is what --help shows as the default. An option is written as `--name value` or `--name=value`. A text
/// that is given is not empty.
///
/// A program that has options also looks after what it prints: where its standard output could not be written, it says
/// so when it exits, and its exit code is not 0.
class program_options {
 public:
  /// `about` is the first line of --help.
  program_options(std::string name, std::string about);
  /// A command of a `program` that has several, which reads the line.
  program_options(CLI::App& program, std::string command, std::string about);
  ~program_options();
  static constexpr int usage_code = 2;  ///< of a program that was not given what it understands

  program_options(const program_options&) = delete;
  program_options& operator=(const program_options&) = delete;

  /// A name that begins with no dash is that of a positional argument. A bool is a switch. A vector is a list: its
  /// values are separated by commas or words, or the option is repeated. An optional has no default to show. Defined
  /// for bool, int, std::uint32_t, std::uint64_t, double, std::string, optionals and vectors of these numbers and
  /// vectors of texts. The variable must outlive the reading of the command line.
  template <class Value>
  program_option add(std::string_view name, Value& into, std::string_view about);

  /// An option that takes one of some words, whatever their case, and what each means. `into` must have one of the
  /// values.
  template <class Value>
  program_option add_choice(std::string_view name, Value& into,
                            std::initializer_list<std::pair<std::string_view, Value>> meanings,
                            std::string_view about) {
    std::vector<std::string> words;
    std::vector<Value> values;
    std::size_t usual = 0;
    for (const auto& [word, value] : meanings) {
      if (value == into) usual = values.size();
      words.emplace_back(word);
      values.push_back(value);
    }
    return add_words(
        name, std::move(words), usual, [&into, values](std::size_t position) { into = values[position]; }, about);
  }

  /// The heading, in --help, of what is added from now on.
  void section(std::string title);
  /// The last lines of --help.
  void footer(std::string text);
  /// Keeps what it does not know instead of refusing it, in the order of the command line. `into` must outlive parse.
  void pass_on(std::vector<std::string>& into);
  /// What to advise someone who wrote a word that is no option.
  void advise_on_words(std::function<std::string(const std::string& word)> advice);

  /// Reads the command line into the variables. Returns the exit code where there is nothing to run: 0 after --help, 2
  /// after one line on standard error that says what is wrong.
  [[nodiscard]] std::optional<int> parse(int argc, const char* const* argv);
  /// Prints such a line, for what only the program can see, and returns the exit code, 2.
  int refuse(std::string_view problem) const;

  /// Of a command: whether it was given, and more. Belongs to its program.
  [[nodiscard]] CLI::App* command() const noexcept;

 private:
  program_option add_words(std::string_view name, std::vector<std::string> words, std::size_t usual,
                           std::function<void(std::size_t position)> choose, std::string_view about);
  struct state;
  std::unique_ptr<state> state_;
};

/// The whole of a main: returns what `body` returns. What it throws becomes one line on standard error, after `name`,
/// and a code: usage_code for a setup_error, 1 for want of memory and all else.
[[nodiscard]] int run_program(std::string_view name, const std::function<int()>& body);

}  // namespace nacre
