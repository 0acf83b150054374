// SPDX-License-Identifier: Apache-2.0
// Declares the options with CLI11. Only this file compiles CLI11's templates.
#include "program_options/program_options.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <type_traits>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/nearest_name.hpp"
#include "base/print_error.hpp"
#include "program_options/option_rule.hpp"
#include "program_options/standard_output.hpp"

namespace nacre {
namespace {

using detail::is_list;
using detail::is_optional;
using detail::joined;
using detail::read_all;
using detail::rule;

/// A default as a user would write it; empty if there is none.
template <class Value>
std::string shown(const Value& value) {
  if constexpr (is_optional<Value>) {
    return {};
  } else if constexpr (is_list<Value>) {
    return joined(value, ",");
  } else {
    return fmt::format("{}", value);
  }
}

/// The type of one value.
template <class Value>
struct single {
  using type = Value;
};
template <class Value>
requires(is_optional<Value> || is_list<Value>) struct single<Value> {
  using type = typename Value::value_type;
};

}  // namespace

program_option& program_option::called(std::string_view name) {
  rule_->called = name;
  rule_->describe();
  return *this;
}

program_option& program_option::between(double least, double most) {
  rule_->least = least;
  rule_->most = most;
  rule_->bounded = true;
  rule_->describe();
  return *this;
}

program_option& program_option::one_of(std::vector<std::string> words) {
  rule_->words = std::move(words);
  rule_->describe();
  return *this;
}

program_option& program_option::must_be(std::function<std::string(const std::string& value)> test) {
  rule_->test = std::move(test);
  return *this;
}

program_option& program_option::of_bytes() {
  rule_->bytes = true;
  return *this;
}

program_option& program_option::verbatim() {
  rule_->option->delimiter('\0')->allow_extra_args(false);
  return *this;
}

program_option& program_option::otherwise(std::string_view text) {
  rule_->otherwise = text;
  rule_->describe();
  return *this;
}

program_option& program_option::required() {
  rule_->option->required();
  return *this;
}

program_option& program_option::hidden() {
  rule_->option->group("");
  return *this;
}

struct program_options::state {
  std::string name;
  std::unique_ptr<CLI::App> own{};
  CLI::App* app = nullptr;
  std::string section{};
  std::vector<std::string>* rest = nullptr;
  std::function<std::string(const std::string&)> advice{};

  program_option declare(std::string_view option, std::string_view about, std::shared_ptr<rule> how,
                         CLI::callback_t read, const std::string& usual) {
    how->option = app->add_option(std::string(option), std::move(read), std::string(about));
    how->otherwise = usual;
    return finished(*how);
  }

  program_option finished(rule& of) {
    if (!section.empty()) of.option->group(section);
    if (!of.called.empty()) of.describe();
    return program_option(of);
  }

  /// Advice for an argument that is no option.
  [[nodiscard]] std::string advice_for(const std::string& argument) const {
    if (!argument.starts_with('-')) return advice ? advice(argument) + " " : std::string();
    std::vector<std::string> names;
    for (const CLI::Option* each : app->get_options()) {
      if (!each->get_group().empty()) names.push_back(each->get_name());
    }
    const std::vector<std::string_view> known(names.begin(), names.end());
    const auto nearest = nearest_name(argument.substr(0, argument.find('=')), known);
    return nearest ? fmt::format("did you mean {}? ", *nearest) : std::string();
  }

  [[nodiscard]] std::string unknown() const {
    const std::vector<std::string> extras = app->remaining();
    // CLI11 keeps the value of an unknown option, too. The message is to name the option.
    const auto option =
        std::find_if(extras.begin(), extras.end(), [](const auto& each) { return each.starts_with("-"); });
    const std::string& argument = option != extras.end() ? *option : extras.front();
    return fmt::format("there is no option '{}': {}", argument, advice_for(argument));
  }
};

program_options::program_options(std::string name, std::string about)
    : state_(std::make_unique<state>(state{.name = std::move(name)})) {
  check_output_at_exit();
  state_->own = std::make_unique<CLI::App>(std::move(about), state_->name);
  state_->app = state_->own.get();
}

program_options::program_options(CLI::App& program, std::string command, std::string about)
    : state_(
          std::make_unique<state>(state{.name = command, .app = program.add_subcommand(command, std::move(about))})) {}

program_options::~program_options() = default;

template <class Value>
program_option program_options::add(std::string_view name, Value& into, std::string_view about) {
  using one = typename single<Value>::type;
  auto how = std::make_shared<rule>();
  if constexpr (std::is_same_v<Value, bool>) {
    how->option = state_->app->add_flag_function(
        std::string(name), [how, &into](std::int64_t times) { into = times > 0; }, std::string(about));
    return state_->finished(*how);
  } else {
    constexpr bool number = std::is_arithmetic_v<one>;
    how->whole = std::is_integral_v<one>;
    how->called = how->whole ? "N" : (number ? "NUMBER" : "TEXT");
    if constexpr (std::is_unsigned_v<one>) how->least = 0;
    if constexpr (std::is_integral_v<one> && sizeof(one) < sizeof(std::uint64_t)) {
      how->least = static_cast<double>(std::numeric_limits<one>::min());
      how->most = static_cast<double>(std::numeric_limits<one>::max());
    }
    const program_option made = state_->declare(
        name, about, how,
        [how, &into](const CLI::results_t& given) {
          read_all(*how, given, into);
          return true;
        },
        shown(into));
    if (is_list<Value>) how->option->expected(CLI::detail::expected_max_vector_size)->delimiter(',');
    return made;
  }
}

template program_option program_options::add(std::string_view, bool&, std::string_view);
template program_option program_options::add(std::string_view, int&, std::string_view);
template program_option program_options::add(std::string_view, std::uint32_t&, std::string_view);
template program_option program_options::add(std::string_view, std::uint64_t&, std::string_view);
template program_option program_options::add(std::string_view, double&, std::string_view);
template program_option program_options::add(std::string_view, std::string&, std::string_view);
template program_option program_options::add(std::string_view, std::optional<std::uint32_t>&, std::string_view);
template program_option program_options::add(std::string_view, std::optional<double>&, std::string_view);
template program_option program_options::add(std::string_view, std::vector<int>&, std::string_view);
template program_option program_options::add(std::string_view, std::vector<std::uint32_t>&, std::string_view);
template program_option program_options::add(std::string_view, std::vector<std::uint64_t>&, std::string_view);
template program_option program_options::add(std::string_view, std::vector<std::string>&, std::string_view);

program_option program_options::add_words(std::string_view name, std::vector<std::string> words, std::size_t usual,
                                          std::function<void(std::size_t position)> choose, std::string_view about) {
  auto how = std::make_shared<rule>();
  how->called = "NAME";
  how->any_case = true;
  how->words = std::move(words);
  return state_->declare(
      name, about, how,
      [how, choose = std::move(choose)](const CLI::results_t& given) {
        choose(how->position_of(given.front()));
        return true;
      },
      how->words[usual]);
}

void program_options::section(std::string title) { state_->section = std::move(title); }

void program_options::footer(std::string text) { state_->app->footer(std::move(text)); }

void program_options::pass_on(std::vector<std::string>& into) {
  state_->rest = &into;
  state_->app->allow_extras();
}

void program_options::advise_on_words(std::function<std::string(const std::string& word)> advice) {
  state_->advice = std::move(advice);
}

CLI::App* program_options::command() const noexcept { return state_->app; }

std::optional<int> program_options::parse(int argc, const char* const* argv) {
  try {
    state_->app->parse(argc, argv);
    if (state_->rest != nullptr) *state_->rest = state_->app->remaining();
    return std::nullopt;
  } catch (const CLI::Success& help) {
    return state_->app->exit(help);
  } catch (const CLI::ExtrasError&) {
    print_error("{}: {}--help shows the options\n", state_->name, state_->unknown());
    return usage_code;
  } catch (const CLI::ParseError& error) {
    return refuse(error.what());
  }
}

int program_options::refuse(std::string_view problem) const {
  print_error("{}: {}: --help shows the options\n", state_->name, problem);
  return usage_code;
}

}  // namespace nacre
