// SPDX-License-Identifier: Apache-2.0
// The configuration of a job: tables of declared options, merged from command line, environment, file and defaults.
#pragma once

#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace nacre {

/// The form of an option's values, and the getter that reads them.
enum class option_kind {
  boolean,   ///< true/false, on/off, yes/no, 1/0; get_bool
  integer,   ///< a decimal number; get_int
  real,      ///< a decimal number with or without fraction and exponent; get_double
  duration,  ///< a number with ns, us, ms, s or min, such as 20us; a bare 0 is allowed; get_duration
  bytes,     ///< a number, alone or with B, KiB, MiB or GiB, such as 64KiB; get_int
  choice,    ///< one of the words that `range` lists; get_string
  text       ///< anything; get_string
};

/// One option: a row of a component's table. All views must outlive every config that uses the table (string literals
/// do).
struct option {
  std::string_view name;  ///< lower case, words joined by '_', groups by '.', such as "tcp.port"
  option_kind kind = option_kind::text;
  std::string_view default_value{};
  std::string_view unit{};   ///< for people: "threads", "messages"; empty when there is none
  std::string_view range{};  ///< "1..1024", "1..", "1us..10s", "1KiB..1GiB", "tcp|inproc|sim"; empty allows everything
  std::string_view help{};   ///< one sentence, without the default and the range
  bool hidden = false;       ///< for tests: neither --nacre.help nor docs/options.md lists it
};

/// The options of one component, under the heading that --nacre.help prints.
struct option_table {
  std::string_view component;
  std::span<const option> options;
};

/// The source of a value. A later source in this list outranks an earlier one, in any order of application.
enum class setting_source {
  built_in,      ///< the table's default
  program,       ///< the program's own default
  file,          ///< a file that the program applies
  named_file,    ///< the file that the option "config" names
  environment,   ///< NACRE_TRANSPORT=tcp
  command_line,  ///< --nacre.transport=tcp
  code           ///< set() by the program
};

/// The merged configuration. An unknown name or a bad value throws setup_error, which names the nearest known option,
/// or the range and an example. Reading an undeclared name, or reading with the getter of another kind, aborts: it is a
/// mistake of the program, not of its user. Copyable; not thread-safe while it changes. Meant for set-up: getters parse
/// on every call.
///
/// Two options are always declared: "config" (a TOML file to read) and "help".
class config {
 public:
  /// A configuration without tables: set() keeps everything and declare() checks it later. Nothing can be read or
  /// applied.
  config() = default;
  explicit config(std::span<const option_table> tables) { declare(tables); }
  config(std::initializer_list<option_table> tables) : config(std::span(tables.begin(), tables.size())) {}

  /// Adds tables, then checks the values that set() got before there were any tables. Aborts when a name is declared
  /// twice or a default contradicts its own range.
  void declare(std::span<const option_table> tables);

  /// Gives an option a value as text, which counts as one from `source`. It replaces an older value from that source.
  void set(std::string_view name, std::string_view text, setting_source source = setting_source::code);

  /// As set, for a number or a truth value.
  template <class Number>
  requires(std::is_arithmetic_v<Number>) void set(std::string_view name, Number value,
                                                  setting_source source = setting_source::code) {
    if constexpr (std::is_same_v<Number, bool>) {
      set(name, std::string_view(value ? "true" : "false"), source);
    } else {
      std::array<char, 400> text;  // the longest double without an exponent has fewer characters
      const auto written = std::to_chars(text.data(), text.data() + text.size(), value);
      set(name, std::string_view(text.data(), written.ptr), source);
    }
  }

  /// True when the value comes from a source other than the table's default. This function and the next one abort for
  /// an undeclared name.
  [[nodiscard]] bool was_set(std::string_view name) const;
  /// The source of the value in force.
  [[nodiscard]] setting_source source_of(std::string_view name) const;
  /// Whether a table has an option of this name.
  [[nodiscard]] bool is_declared(std::string_view name) const noexcept;

  /// The value of a boolean option. This getter and those below abort for an option of another kind or an undeclared
  /// name.
  [[nodiscard]] bool get_bool(std::string_view name) const;
  /// The value of an integer option, or of one in bytes.
  [[nodiscard]] std::int64_t get_int(std::string_view name) const;
  /// The value of an option that is a real number.
  [[nodiscard]] double get_double(std::string_view name) const;
  /// The value of an option that is a time.
  [[nodiscard]] std::chrono::nanoseconds get_duration(std::string_view name) const;
  /// The value as text, of an option of any kind. The reference is valid until the configuration changes.
  [[nodiscard]] const std::string& get_string(std::string_view name) const;

  /// Takes every NACRE_NAME=value of a null-terminated list such as `environ`; '.' in a name is '_' there. Names that
  /// begin with NACRE_JOB_ are the launcher's; unknown names are left alone, and read_config tells of them.
  void apply_environment(const char* const* environment);

  /// Takes `--nacre.name=value` (and `--nacre.flag` for a boolean) out of the arguments, up to `--`; `argc` shrinks and
  /// argv[argc] is null again.
  void apply_command_line(int& argc, char** argv);

  /// Takes every value of a TOML file; nested tables join by '.'. Throws when the file cannot be read or parsed.
  void apply_toml_file(const std::string& path);

  /// Every option with default, unit, range, help and the value in force where it differs, grouped by component.
  [[nodiscard]] std::string help_text() const;
  /// Every option as Markdown tables, without the values in force.
  [[nodiscard]] std::string docs_markdown() const;

 private:
  static constexpr std::size_t source_count = static_cast<std::size_t>(setting_source::code) + 1;

  struct setting {
    option declaration;
    std::string_view component;
    std::array<std::optional<std::string>, source_count> texts;  // by source; built_in is always there
  };
  struct early_setting {
    std::string name;
    std::string text;
    setting_source source;
  };

  void declare_option(std::string_view component, const option& declaration);
  /// `place` follows the option's name in messages, such as " in job.toml:3".
  void store(std::string_view name, std::string_view text, setting_source source, std::string_view place);
  void load_file(const std::string& path, setting_source source);
  void load_named_file();
  [[nodiscard]] setting* find(std::string_view name) noexcept;
  [[nodiscard]] const setting* find(std::string_view name) const noexcept;
  [[nodiscard]] const setting& require(std::string_view name) const;
  /// The text in force, of an option of one of these kinds.
  [[nodiscard]] const std::string& text_of(std::string_view name, std::initializer_list<option_kind> readable) const;
  [[noreturn]] void throw_unknown(std::string_view name, setting_source source, std::string_view place) const;

  std::vector<setting> settings_;
  std::vector<early_setting> early_;  // only while there are no tables
};

}  // namespace nacre
