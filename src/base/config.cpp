// SPDX-License-Identifier: Apache-2.0
// Keeps one text per option and source, and answers from the highest source.
#include <nacre/config.hpp>

#include <algorithm>
#include <utility>

#include <nacre/assert.hpp>
#include <nacre/error.hpp>

#include "base/nearest_name.hpp"
#include "base/option_spelling.hpp"
#include "base/option_value.hpp"

namespace nacre {
namespace {

constexpr std::array<option, 2> own_options{{
    {.name = "config", .kind = option_kind::text, .help = "A TOML file with values for these options."},
    {.name = "help", .kind = option_kind::boolean, .default_value = "false", .help = "Prints this table and ends."},
}};

std::size_t index_of(setting_source source) { return static_cast<std::size_t>(source); }

/// `fault` follows the value in the message.
[[noreturn]] void throw_bad_value(const option& declaration, std::string_view text, setting_source source,
                                  const std::string& fault) {
  const std::string written = spelled(declaration.name, source) + "=";
  const std::vector<std::string_view> choices = choices_of(declaration);
  const auto meant = declaration.kind == option_kind::choice ? nearest_name(text, choices) : std::nullopt;
  std::string_view help = declaration.help;
  if (help.ends_with('.')) help.remove_suffix(1);
  throw setup_error({.problem = written + std::string(text) + fault,
                     .why = "meaning: " + std::string(help),
                     .remedy = meant ? "did you mean " + written + std::string(*meant) + "?"
                                     : "write, for example, " + written + example_of(declaration)});
}

}  // namespace

void config::declare(std::span<const option_table> tables) {
  if (settings_.empty()) {
    for (const option& declaration : own_options) declare_option("configuration", declaration);
  }
  for (const option_table& table : tables) {
    for (const option& declaration : table.options) declare_option(table.component, declaration);
  }
  for (const early_setting& early : std::exchange(early_, {})) store(early.name, early.text, early.source, "");
}

void config::declare_option(std::string_view component, const option& declaration) {
  const std::string name(declaration.name);
  for (const setting& other : settings_) {
    NACRE_EXPECT(environment_name(other.declaration.name) != environment_name(name), "option declared twice: " + name);
  }
  const bool listed = declaration.kind != option_kind::choice || !declaration.range.empty();
  NACRE_EXPECT(listed, "an option of kind choice lists its words in `range`: " + name);
  const std::string fault = find_fault(declaration, declaration.default_value);
  NACRE_EXPECT(fault.empty(), "the default of option " + name + " " + fault);
  setting& added = settings_.emplace_back(setting{declaration, component, {}});
  added.texts[index_of(setting_source::built_in)] = declaration.default_value;
}

void config::set(std::string_view name, std::string_view text, setting_source source) {
  NACRE_EXPECT(source != setting_source::built_in, "built-in values come from the table");
  if (settings_.empty()) {
    early_.push_back({std::string(name), std::string(text), source});
  } else {
    store(name, text, source, "");
  }
}

void config::store(std::string_view name, std::string_view text, setting_source source, std::string_view place) {
  setting* const target = find(name);
  if (target == nullptr) throw_unknown(name, source, place);
  const std::string fault = find_fault(target->declaration, text);
  if (!fault.empty()) throw_bad_value(target->declaration, text, source, std::string(place) + " " + fault);
  const std::string previous = get_string("config");
  target->texts[index_of(source)] = text;
  if (get_string("config") != previous) load_named_file();
}

void config::load_named_file() {
  for (setting& one : settings_) one.texts[index_of(setting_source::named_file)].reset();
  if (const std::string path = get_string("config"); !path.empty()) load_file(path, setting_source::named_file);
}

void config::throw_unknown(std::string_view name, setting_source source, std::string_view place) const {
  const std::string_view prefix = prefix_of(source);
  std::vector<std::string> spellings;
  for (const setting& one : settings_) {
    spellings.push_back(spelled(one.declaration.name, source).substr(prefix.size()));
  }
  const std::vector<std::string_view> known(spellings.begin(), spellings.end());
  std::string remedy;
  constexpr std::string_view doubled = "nacre.";  // a prefix of names on the command line, not in files
  if (name.starts_with(doubled) && find(name.substr(doubled.size())) != nullptr) {
    remedy.append("did you mean ").append(prefix).append(name.substr(doubled.size()));
    remedy.append(", without ").append(doubled).append("? ");
  } else if (const auto nearest = nearest_name(name, known)) {
    remedy.append("did you mean ").append(prefix).append(*nearest).append("? ");
  }
  throw setup_error({.problem = std::string("unknown option ").append(prefix).append(name).append(place),
                     .why = "it would have no effect",
                     .remedy = remedy + "--nacre.help lists all options"});
}

config::setting* config::find(std::string_view name) noexcept {
  const auto match = std::ranges::find(settings_, name, [](const setting& one) { return one.declaration.name; });
  return match == settings_.end() ? nullptr : &*match;
}

const config::setting* config::find(std::string_view name) const noexcept {
  return const_cast<config*>(this)->find(name);  // find changes nothing
}

const config::setting& config::require(std::string_view name) const {
  const setting* const setting = find(name);
  NACRE_EXPECT(setting != nullptr, "no table declares option " + std::string(name));
  return *setting;
}

const std::string& config::text_of(std::string_view name, std::initializer_list<option_kind> readable) const {
  const bool fits = std::ranges::find(readable, require(name).declaration.kind) != readable.end();
  NACRE_EXPECT(fits, "option " + std::string(name) + " is read with the getter of another kind");
  return get_string(name);
}

bool config::is_declared(std::string_view name) const noexcept { return find(name) != nullptr; }

bool config::was_set(std::string_view name) const { return source_of(name) != setting_source::built_in; }

setting_source config::source_of(std::string_view name) const {
  const setting& entry = require(name);
  std::size_t index = source_count - 1;
  while (!entry.texts[index]) --index;
  return static_cast<setting_source>(index);
}

const std::string& config::get_string(std::string_view name) const {
  return *require(name).texts[index_of(source_of(name))];
}

bool config::get_bool(std::string_view name) const { return *parse_boolean(text_of(name, {option_kind::boolean})); }

std::int64_t config::get_int(std::string_view name) const {
  const std::string& text = text_of(name, {option_kind::integer, option_kind::bytes});
  return require(name).declaration.kind == option_kind::bytes ? *parse_bytes(text) : *parse_integer(text);
}

double config::get_double(std::string_view name) const { return *parse_real(text_of(name, {option_kind::real})); }

std::chrono::nanoseconds config::get_duration(std::string_view name) const {
  return *parse_duration(text_of(name, {option_kind::duration}));
}

}  // namespace nacre
