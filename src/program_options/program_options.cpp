// SPDX-License-Identifier: Apache-2.0
// Declares the options with CLI11, whose templates are compiled here alone.
#include "program_options/program_options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <span>
#include <type_traits>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/nearest_name.hpp"

namespace nacre {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

template <class Value>
std::string joined(const std::vector<Value>& values, std::string_view separator) {
  std::string text;
  for (const Value& each : values) text.append(text.empty() ? "" : separator).append(fmt::format("{}", each));
  return text;
}

}  // namespace

/// What is known of an option. Belongs to what CLI11 calls when it was given.
struct program_option::rule {
  CLI::Option* option = nullptr;
  std::string called;
  bool whole = false, bytes = false, any_case = false;
  double least = -infinity, most = infinity;
  bool bounded = false;  // by the program, not only by the type
  std::vector<std::string> words{};
  std::function<std::string(const std::string&)> test{};

  [[noreturn]] void refuse(const std::string& value, const std::string& why) const {
    throw CLI::ValidationError(fmt::format("{} has no value '{}': {}", option->get_name(), value, why));
  }

  /// What a number must be.
  [[nodiscard]] std::string kind() const {
    std::string text = fmt::format("{} is a {}number", called, whole ? "whole " : "");
    if (most < infinity) {
      text += fmt::format(" from {} to {}", bound(least), bound(most));
    } else if (least > -infinity) {
      text += fmt::format(", {} or more", bound(least));
    }
    return text + (bytes ? ", also with a unit, as in 4KiB" : "");
  }

  [[nodiscard]] std::string bound(double value) const {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), whole ? "%.0f" : "%g", value);
    return text.data();
  }

  [[nodiscard]] std::size_t position_of(const std::string& value) const {
    const auto same = [this](char a, char b) { return any_case ? lower(a) == lower(b) : a == b; };
    const auto found = std::find_if(words.begin(), words.end(), [&](const std::string& word) {
      return std::equal(word.begin(), word.end(), value.begin(), value.end(), same);
    });
    if (found == words.end()) refuse(value, "it knows " + joined(words, ", "));
    return static_cast<std::size_t>(found - words.begin());
  }

  void describe() const {
    std::string text = words.empty() ? called : "{" + joined(words, ",") + "}";
    if (bounded) text += fmt::format(" in [{} - {}]", bound(least), bound(most));
    option->type_name(text);
  }
};

namespace {

using rule = program_option::rule;

template <class Value>
constexpr bool is_optional = false;
template <class Value>
constexpr bool is_optional<std::optional<Value>> = true;
template <class Value>
constexpr bool is_list = false;
template <class Value>
constexpr bool is_list<std::vector<Value>> = true;

/// 1024 for "KiB"; 0 for what is no unit.
double factor_of(std::string_view unit) {
  constexpr std::array<std::string_view, 5> units{"", "k", "m", "g", "t"};
  std::string small(unit);
  for (char& each : small) each = lower(each);
  if (small == "b") return 1;
  for (std::size_t power = 0; power < units.size(); ++power) {
    const std::string begin(units[power]);
    if (small == begin || (power > 0 && (small == begin + "b" || small == begin + "ib"))) {
      return std::pow(1024.0, static_cast<double>(power));
    }
  }
  return 0;
}

void read(const rule& how, const std::string& text, std::string& into) {
  if (!how.words.empty()) (void)how.position_of(text);
  into = text;
}

template <class Number>
requires std::is_arithmetic_v<Number>
void read(const rule& how, const std::string& text, Number& into) {
  Number value{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  const double factor = how.bytes ? factor_of(std::string_view(end, last)) : (end == last ? 1 : 0);
  const double scaled = static_cast<double>(value) * factor;
  const bool read = error == std::errc() && factor > 0 && std::isfinite(scaled);
  const bool fits = factor == 1 || scaled < static_cast<double>(std::numeric_limits<Number>::max());
  if (!read || !fits || scaled < how.least || scaled > how.most) how.refuse(text, how.kind());
  into = factor == 1 ? value : static_cast<Number>(scaled);
}

template <class Value>
void read_all(const rule& how, const CLI::results_t& given, Value& into) {
  if (how.test) {
    for (const std::string& each : given) {
      if (const std::string problem = how.test(each); !problem.empty()) how.refuse(each, how.called + " is " + problem);
    }
  }
  if constexpr (is_list<Value>) {
    into.clear();
    for (const std::string& each : given) read(how, each, into.emplace_back());
  } else if constexpr (is_optional<Value>) {
    read(how, given.front(), into.emplace());
  } else {
    read(how, given.front(), into);
  }
}

/// A default as it would be written; empty for none.
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
  rule_->option->default_str(std::string(text));
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
    if (!usual.empty()) how->option->default_str(usual);
    return finished(*how);
  }

  program_option finished(rule& of) {
    if (!section.empty()) of.option->group(section);
    if (!of.called.empty()) of.describe();
    return program_option(of);
  }

  /// What to try instead of an argument that is no option.
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
    // An unknown option leaves its value behind as well; the option is what to speak of.
    const auto option =
        std::find_if(extras.begin(), extras.end(), [](const auto& each) { return each.starts_with("-"); });
    const std::string& argument = option != extras.end() ? *option : extras.front();
    return fmt::format("there is no option '{}': {}", argument, advice_for(argument));
  }
};

program_options::program_options(std::string name, std::string about)
    : state_(std::make_unique<state>(state{.name = std::move(name)})) {
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
    fmt::print(stderr, "{}: {}--help shows the options\n", state_->name, state_->unknown());
    return 2;
  } catch (const CLI::ParseError& error) {
    return refuse(error.what());
  }
}

int program_options::refuse(std::string_view problem) const {
  fmt::print(stderr, "{}: {}: --help shows the options\n", state_->name, problem);
  return 2;
}

}  // namespace nacre
