// SPDX-License-Identifier: Apache-2.0
// The command lines of programs: of the benchmarks, of those in apps/, of the `nacre` command.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace nacre {

/// A handle to refine one option: `options.add("--runs", runs, "Runs").between(1, 100)`. Valid as long as the
/// program_options that made it.
class program_option {
 public:
  struct rule;
  explicit program_option(rule& option_rule) noexcept : rule_(&option_rule) {}

  /// The name of the value in --help, such as FILE. The default is N, NUMBER or TEXT.
  program_option& called(std::string_view name);
  /// Inclusive bounds of a number, or of each number in a list.
  program_option& between(double least, double most);
  /// The words that are valid values.
  program_option& one_of(std::vector<std::string> words);
  /// A further test of each value. Returns an empty text for a valid value, otherwise the requirement, in words that
  /// follow "NAME is".
  program_option& must_be(std::function<std::string(const std::string& value)> test);
  /// Numbers may have a unit: 4KiB, 1MiB. Units are powers of 1024.
  program_option& of_bytes();
  /// A comma does not separate values of a list; the user repeats the option for each value.
  program_option& verbatim();
  /// The default that --help shows, instead of the value of the variable.
  program_option& otherwise(std::string_view text);
  program_option& required();
  /// --help does not show the option.
  program_option& hidden();

 private:
  rule* rule_;
};

/// The options of a program. Each option is bound to a variable. A variable keeps its value when its option is not
/// given, so --help shows that value as the default. An option is written as `--name value` or `--name=value`. Empty
/// texts are refused.
///
/// The constructor for a whole program calls check_output_at_exit: when standard output could not be written, the
/// program says so at exit, and its exit code is not 0.
class program_options {
 public:
  /// `topic` is the first line of --help.
  program_options(std::string name, std::string topic);
  /// One command of a `program` that has several; `program` reads the command line.
  program_options(CLI::App& program, std::string command, std::string topic);
  ~program_options();
  static constexpr int usage_code = 2;  ///< exit code for invalid arguments

  program_options(const program_options&) = delete;
  program_options& operator=(const program_options&) = delete;

  /// Adds an option. A name without a dash in front makes a positional argument. A bool is a switch. A vector is a
  /// list: the user separates values by commas or blanks, or repeats the option. An optional has no default to show.
  /// Defined for bool, int, std::uint32_t, std::uint64_t, double, std::string, optionals and vectors of these numbers
  /// and vectors of texts. The variable must outlive the reading of the command line.
  template <class Value>
  program_option add(std::string_view name, Value& value, std::string_view topic);

  /// Adds an option that takes one of some words, in upper or lower case. `meanings` maps each word to the value
  /// for `target`. The initial value of `target` must be one of them.
  template <class Value>
  program_option add_choice(std::string_view name, Value& target,
                            std::initializer_list<std::pair<std::string_view, Value>> meanings,
                            std::string_view topic) {
    std::vector<std::string> words;
    std::vector<Value> values;
    std::size_t usual = 0;
    for (const auto& [word, value] : meanings) {
      if (value == target) usual = values.size();
      words.emplace_back(word);
      values.push_back(value);
    }
    return add_words(
        name, std::move(words), usual, [&target, values](std::size_t position) { target = values[position]; }, topic);
  }

  /// The heading in --help of all options that are added from now on.
  void section(std::string title);
  /// The last lines of --help.
  void footer(std::string text);
  /// Stores unknown arguments in `words`, in their order, instead of refusing them. `words` must outlive parse.
  void pass_on(std::vector<std::string>& words);
  /// Sets the advice in the error message for a word that is no option.
  void advise_on_words(std::function<std::string(const std::string& word)> advice);

  /// Reads the command line into the variables. Returns nullopt if the program is to run, otherwise its exit code: 0
  /// after --help, 2 after one line on standard error that names the problem.
  [[nodiscard]] std::optional<int> parse(int argc, const char* const* argv);
  /// Prints such a line for a problem that only the program can find. Returns the exit code, 2.
  int refuse(std::string_view problem) const;

  /// CLI11's object, which tells for example whether the command was given. The program owns it.
  [[nodiscard]] CLI::App* command() const noexcept;

 private:
  program_option add_words(std::string_view name, std::vector<std::string> words, std::size_t usual,
                           std::function<void(std::size_t position)> choose, std::string_view topic);
  struct state;
  std::unique_ptr<state> state_;
};

/// Reads finite numbers with `separator` between them, such as "4/32/57/71.5". Returns how many there are. None when
/// `text` is anything else, or holds more numbers than `values`, of which the first ones may have changed then.
[[nodiscard]] std::optional<std::size_t> read_numbers(std::string_view text, char separator, std::span<double> values);

/// Throws setup_error if an output of a program is another of its files: an input, or another output. Names are
/// different files when they lead to different ones, or when one of them leads to a device or a pipe; an empty name is
/// no file.
void demand_other_file(const std::string& output, const std::string& other);

/// Throws setup_error if an output of a program cannot be written, as far as that can be found without changing an
/// existing file; `option` asks for it. An empty name is no file.
void demand_writable(const std::string& output, std::string_view option);

/// Whether a progress line on standard error is seen: it reaches a terminal, directly or through `nacre run`.
[[nodiscard]] bool progress_is_seen() noexcept;

/// The whole of a main: returns the exit code that `body` returns. An exception becomes one line on standard error,
/// after `name`, and an exit code: usage_code for a setup_error, 1 for any other.
[[nodiscard]] int run_program(std::string_view name, const std::function<int()>& body);

}  // namespace nacre
