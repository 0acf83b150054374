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
  std::unique_ptr<CLI::App> owned_app{};
  CLI::App* app = nullptr;
  std::string section{};
  std::vector<std::string>* rest = nullptr;
  std::function<std::string(const std::string&)> advice{};

  program_option declare(std::string_view option, std::string_view topic, std::shared_ptr<rule> manner,
                         CLI::callback_t read, const std::string& usual) {
    manner->option = app->add_option(std::string(option), std::move(read), std::string(topic));
    manner->otherwise = usual;
    return finished(*manner);
  }

  program_option finished(rule& rule) {
    if (!section.empty()) rule.option->group(section);
    if (!rule.called.empty()) rule.describe();
    return program_option(rule);
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

program_options::program_options(std::string name, std::string topic)
    : state_(std::make_unique<state>(state{.name = std::move(name)})) {
  check_output_at_exit();
  state_->owned_app = std::make_unique<CLI::App>(std::move(topic), state_->name);
  state_->app = state_->owned_app.get();
}

program_options::program_options(CLI::App& program, std::string command, std::string topic)
    : state_(
          std::make_unique<state>(state{.name = command, .app = program.add_subcommand(command, std::move(topic))})) {}

program_options::~program_options() = default;

template <class Value>
program_option program_options::add(std::string_view name, Value& value, std::string_view topic) {
  using one = typename single<Value>::type;
  auto manner = std::make_shared<rule>();
  if constexpr (std::is_same_v<Value, bool>) {
    manner->option = state_->app->add_flag_function(
        std::string(name), [manner, &value](std::int64_t times) { value = times > 0; }, std::string(topic));
    return state_->finished(*manner);
  } else {
    constexpr bool number = std::is_arithmetic_v<one>;
    manner->whole = std::is_integral_v<one>;
    manner->called = manner->whole ? "N" : (number ? "NUMBER" : "TEXT");
    if constexpr (std::is_unsigned_v<one>) manner->least = 0;
    if constexpr (std::is_integral_v<one> && sizeof(one) < sizeof(std::uint64_t)) {
      manner->least = static_cast<double>(std::numeric_limits<one>::min());
      manner->most = static_cast<double>(std::numeric_limits<one>::max());
    }
    const program_option result = state_->declare(
        name, topic, manner,
        [manner, &value](const CLI::results_t& given) {
          read_all(*manner, given, value);
          return true;
        },
        shown(value));
    if (is_list<Value>) manner->option->expected(CLI::detail::expected_max_vector_size)->delimiter(',');
    return result;
  }
}

template program_option program_options::add(std::string_view, bool&, std::string_view);
template program_option program_options::add(std::string_view, int&, std::string_view);
template program_option program_options::add(std::string_view, std::uint32_t&, std::string_view);
template program_option program_options::add(std::string_view, std::uint64_t&, std::string_view);
template program_option program_options::add(std::string_view, double&, std::string_view);
template program_option program_options::add(std::string_view, std::string&, std::string_view);
template program_option program_options::add(std::string_view, std::optional<std::uint32_t>&, std::string_view);
template program_option program_options::add(std::string_view, std::optional<std::uint64_t>&, std::string_view);
template program_option program_options::add(std::string_view, std::optional<double>&, std::string_view);
template program_option program_options::add(std::string_view, std::vector<int>&, std::string_view);
template program_option program_options::add(std::string_view, std::vector<std::uint32_t>&, std::string_view);
template program_option program_options::add(std::string_view, std::vector<std::uint64_t>&, std::string_view);
template program_option program_options::add(std::string_view, std::vector<std::string>&, std::string_view);

program_option program_options::add_words(std::string_view name, std::vector<std::string> words, std::size_t usual,
                                          std::function<void(std::size_t position)> choose, std::string_view topic) {
  auto manner = std::make_shared<rule>();
  manner->called = "NAME";
  manner->any_case = true;
  manner->words = std::move(words);
  return state_->declare(
      name, topic, manner,
      [manner, choose = std::move(choose)](const CLI::results_t& given) {
        choose(manner->position_of(given.front()));
        return true;
      },
      manner->words[usual]);
}

void program_options::section(std::string title) { state_->section = std::move(title); }

void program_options::footer(std::string text) { state_->app->footer(std::move(text)); }

void program_options::pass_on(std::vector<std::string>& words) {
  state_->rest = &words;
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
