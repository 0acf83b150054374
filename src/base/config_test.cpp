// SPDX-License-Identifier: Apache-2.0
// The promises of the configuration, each as a sentence.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/config_test_kit.hpp"

namespace nacre {
namespace {

TEST(config, answers_with_the_defaults_of_its_tables) {
  const config settings = make_config();
  EXPECT_EQ(settings.get_int("workers"), 2);
  EXPECT_EQ(settings.get_string("transport"), "inproc");
  EXPECT_FALSE(settings.get_bool("summary"));
  EXPECT_EQ(settings.get_duration("spin"), 20us);
  EXPECT_EQ(settings.get_int("tcp.buffer"), 65536);
  EXPECT_EQ(settings.get_double("tcp.loss"), 0.5);
  EXPECT_FALSE(settings.was_set("workers"));
}

TEST(config, takes_numbers_and_truth_values) {
  const option of_test[] = {{.name = "count", .kind = option_kind::integer, .default_value = "1"},
                            {.name = "share", .kind = option_kind::real, .default_value = "1"},
                            {.name = "quiet", .kind = option_kind::boolean, .default_value = "false"}};
  config early;
  early.set("count", 7U);
  early.set("share", 0.1);
  early.set("quiet", true);
  const option_table tables[] = {{"test", of_test}};
  early.declare(tables);
  EXPECT_EQ(early.get_int("count"), 7);
  EXPECT_EQ(early.get_double("share"), 0.1);
  EXPECT_TRUE(early.get_bool("quiet"));
  early.set("share", -2.5e-9);
  EXPECT_EQ(early.get_double("share"), -2.5e-9);
  EXPECT_EQ(early.source_of("count"), setting_source::code);
}

TEST(config, the_command_line_loses_our_options_and_keeps_the_rest_in_order) {
  config settings = make_config();
  arguments list{"prog", "--tree", "--nacre.workers=4", "T1", "--nacre.summary", "--", "--nacre.workers=8"};
  settings.apply_command_line(list.count, list.values());
  EXPECT_EQ(list.left(), (std::vector<std::string>{"prog", "--tree", "T1", "--", "--nacre.workers=8"}));
  EXPECT_EQ(settings.get_int("workers"), 4);
  EXPECT_TRUE(settings.get_bool("summary"));
  EXPECT_TRUE(settings.was_set("workers"));
}

TEST(config, precedence_does_not_depend_on_the_order_of_application) {
  const temporary_file file("workers = 3\ntransport = 'sim'\nspin = '5us'\n[tcp]\nport = 3\n");
  const auto from_file = [&](config& configuration) { configuration.apply_toml_file(file.path()); };
  const auto from_environment = [](config& configuration) {
    const char* const entries[] = {"NACRE_WORKERS=4", "NACRE_TRANSPORT=tcp", nullptr};
    configuration.apply_environment(entries);
  };
  const auto from_command_line = [](config& configuration) { apply(configuration, {"prog", "--nacre.workers=5"}); };
  const auto check = [](const config& settings) {
    EXPECT_EQ(settings.get_int("workers"), 5);
    EXPECT_EQ(settings.get_string("transport"), "tcp");
    EXPECT_EQ(settings.get_duration("spin"), 5us);
    EXPECT_EQ(settings.get_int("tcp.port"), 3);
    EXPECT_EQ(settings.source_of("transport"), setting_source::environment);
    EXPECT_EQ(settings.source_of("tcp.loss"), setting_source::built_in);
  };
  config rising = make_config();
  from_file(rising), from_environment(rising), from_command_line(rising);
  check(rising);
  config falling = make_config();
  from_command_line(falling), from_environment(falling), from_file(falling);
  check(falling);
}

TEST(config, the_program_may_set_a_weak_default_or_have_the_last_word) {
  config settings = make_config();
  settings.set("workers", "7", setting_source::program);
  EXPECT_EQ(settings.get_int("workers"), 7);
  apply(settings, {"prog", "--nacre.workers=5"});
  EXPECT_EQ(settings.get_int("workers"), 5);
  settings.set("workers", "6");
  EXPECT_EQ(settings.get_int("workers"), 6);
}

TEST(config, a_file_may_be_named_on_the_command_line_and_replaces_the_one_of_the_environment) {
  const temporary_file weak("workers = 3\nspin = '1ms'\n");
  const temporary_file strong("workers = 4\n");
  for (const bool environment_first : {true, false}) {
    config settings = make_config();
    const std::string variable = "NACRE_CONFIG=" + weak.path();
    if (environment_first) apply_environment(settings, variable.c_str());
    apply(settings, {"prog", "--nacre.config=" + strong.path()});
    if (!environment_first) apply_environment(settings, variable.c_str());
    EXPECT_EQ(settings.get_int("workers"), 4);
    EXPECT_EQ(settings.get_duration("spin"), 20us) << "the other file has no say";
  }
}

TEST(config, environment_names_write_dots_as_underscores_and_the_launchers_names_are_left_alone) {
  config settings = make_config();
  const char* const entries[] = {"NACRE_TCP_PORT=77", "NACRE_JOB_SECRET=x", "NACREOUS=1", "HOME=/", nullptr};
  settings.apply_environment(entries);
  EXPECT_EQ(settings.get_int("tcp.port"), 77);
}

TEST(config, an_unknown_name_is_an_error_that_suggests_the_nearest) {
  config settings = make_config();
  EXPECT_EQ(complaint([&] {
              apply(settings, {"prog", "--nacre.transprot=tcp"});
            }),
            "unknown option --nacre.transprot (it would have no effect): "
            "did you mean --nacre.transport? --nacre.help lists all options");
  EXPECT_EQ(complaint([&] { apply_environment(settings, "NACRE_TCP_PROT=1"); }), "")
      << "other software may use variables that begin so";
  EXPECT_EQ(complaint([&] { settings.set("flavour", "x"); }),
            "unknown option flavour (it would have no effect): --nacre.help lists all options");
}

TEST(config, a_failed_command_line_leaves_the_arguments_whole) {
  config settings = make_config();
  arguments list{"prog", "--nacre.workers=3", "a", "--nacre.wrong=1"};
  EXPECT_NE(complaint([&] { settings.apply_command_line(list.count, list.values()); }), "");
  EXPECT_EQ(list.left().size(), 4U);
}

TEST(config, a_bad_value_is_an_error_with_the_range_and_an_example) {
  config settings = make_config();
  EXPECT_EQ(complaint([&] {
              apply(settings, {"prog", "--nacre.workers=0"});
            }),
            "--nacre.workers=0 is outside 1..1024 threads (meaning: Worker threads of a rank): "
            "write, for example, --nacre.workers=2");
  EXPECT_EQ(complaint([&] { apply_environment(settings, "NACRE_TRANSPORT=tpc"); }),
            "NACRE_TRANSPORT=tpc is none of inproc|sim|tcp (meaning: How messages travel): "
            "did you mean NACRE_TRANSPORT=tcp?");
  EXPECT_EQ(complaint([&] {
              apply(settings, {"prog", "--nacre.workers"});
            }),
            "--nacre.workers has no value (only a boolean option goes without): "
            "write --nacre.workers=VALUE; --nacre.help lists what it may be");
  EXPECT_EQ(settings.get_int("workers"), 2);
}

TEST(config, errors_in_a_file_name_the_line) {
  config settings = make_config();
  const auto complaint_about = [&settings](const std::string& content) {
    const temporary_file file(content);
    std::string text = complaint([&] { settings.apply_toml_file(file.path()); });
    if (const std::size_t index = text.find(file.path()); index != std::string::npos) {
      text.replace(index, file.path().size(), "FILE");
    }
    return text;
  };
  EXPECT_EQ(complaint_about("workers = 1\n[tcp]\nprot = 1\n"),
            "unknown option tcp.prot in FILE:3 (it would have no effect): "
            "did you mean tcp.port? --nacre.help lists all options");
  EXPECT_EQ(complaint_about("\nworkers = 'many'\n"),
            "workers=many in FILE:2 is not a whole number within 1..1024 threads (meaning: Worker threads of a rank): "
            "write, for example, workers=2");
  EXPECT_EQ(complaint_about("[nacre]\nworkers = 1\n"),
            "unknown option nacre.workers in FILE:2 (it would have no effect): "
            "did you mean workers, without nacre.? --nacre.help lists all options");
  EXPECT_NE(complaint_about("workers = \n").find("FILE:1: "), std::string::npos);
  EXPECT_EQ(complaint_about("workers = [1, 2]\n"),
            "FILE:1: workers is a list or a date (its options would have no effect): "
            "write workers = \"...\" with one value");
  EXPECT_EQ(complaint_about("config = 'other.toml'\n"),
            "FILE:1: a file cannot name another file (its options would have no effect): remove this line");
}

std::string repeated(std::size_t count, const std::string& name) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += name;
  return text;
}

TEST(config, tables_lists_and_names_that_are_nested_without_end_are_an_error_that_names_the_line) {
  constexpr std::size_t many = 200'000;
  for (const std::string& deep :
       {repeated(many, "a.") + "a = 1", "[" + repeated(many, "a.") + "a]", "x = " + repeated(many, "["),
        "x = " + repeated(many, "{a="), "[[" + repeated(many, "'a'.") + "a]]", repeated(many, "\"a\" . ") + "a = 1"}) {
    const temporary_file file("workers = 3  # [[[[\ntransport = 'sim'  # it's\n" + deep + "\n");
    config settings = make_config();
    const std::string text = complaint([&] { settings.apply_toml_file(file.path()); });
    EXPECT_EQ(text.find(file.path() + ":3: tables, lists or parts of a name are nested deeper than"), 0U)
        << text.substr(0, 200);
  }
}

TEST(config, brackets_and_dots_in_strings_and_comments_are_no_nesting) {
  const std::string dots(1000, '.');
  const std::string brackets(1000, '[');
  const temporary_file file("# " + brackets + dots + "\ntransport = 'sim' # \"" + brackets + "\n[tcp]  # it's\n" +
                            "buffer = '''\n64KiB'''\nloss = 0.25\n#'" + brackets + "\n");
  config settings = make_config();
  settings.apply_toml_file(file.path());
  EXPECT_EQ(settings.get_string("transport"), "sim");
  EXPECT_EQ(settings.get_double("tcp.loss"), 0.25);
  for (const std::string& text :
       {"'" + brackets + "'", "\"\"\"\n\\\"\"\"" + brackets + "\"\"\"", "\"\\\"" + brackets + "\""}) {
    const temporary_file words("transport = " + text + "\n");
    EXPECT_NE(complaint([&] { settings.apply_toml_file(words.path()); }).find("transport="), std::string::npos) << text;
  }
}

TEST(config, a_file_without_end_is_an_error) {
  config settings = make_config();
  const std::string text = complaint([&] { settings.apply_toml_file("/dev/zero"); });
  EXPECT_NE(text.find("it is longer than"), std::string::npos) << text;
}

TEST(config, a_missing_file_is_an_error_that_names_it) {
  config settings = make_config();
  const std::string text = complaint([&] { apply(settings, {"prog", "--nacre.config=/nowhere/job.toml"}); });
  EXPECT_EQ(text.find("/nowhere/job.toml: "), 0U) << text;
  EXPECT_NE(text.find("check the path"), std::string::npos) << text;
}

TEST(config, a_folder_in_place_of_a_file_is_an_error_and_an_empty_device_is_none) {
  const std::string refusal = "/: this is a folder (its options would have no effect): name a file with options";
  for (const char* const entry : {"NACRE_CONFIG=/", "NACRE_CONFIG=/dev/null"}) {
    const std::string path = std::string(entry).substr(std::string(entry).find('/'));
    config by_environment = make_config(), by_command_line = make_config();
    EXPECT_EQ(complaint([&] { apply_environment(by_environment, entry); }), path == "/" ? refusal : "");
    EXPECT_EQ(complaint([&] {
                apply(by_command_line, {"prog", "--nacre.config=" + path});
              }),
              path == "/" ? refusal : "");
  }
}

TEST(config, values_of_all_toml_kinds_are_understood) {
  const temporary_file file("summary = true\nspin = '1.5ms'\ntcp.loss = 0.25\ntcp.buffer = 4096\n");
  config settings = make_config();
  settings.apply_toml_file(file.path());
  EXPECT_TRUE(settings.get_bool("summary"));
  EXPECT_EQ(settings.get_duration("spin"), 1500us);
  EXPECT_EQ(settings.get_double("tcp.loss"), 0.25);
  EXPECT_EQ(settings.get_int("tcp.buffer"), 4096);
}

TEST(config, settings_made_before_the_tables_are_checked_when_these_come) {
  const option_table tables[] = {{"runtime", runtime_options}};
  config good;
  good.set("workers", "9");
  good.declare(tables);
  EXPECT_EQ(good.get_int("workers"), 9);
  config bad;
  bad.set("wokers", "9");
  EXPECT_NE(complaint([&] { bad.declare(tables); }).find("did you mean workers?"), std::string::npos);
}

TEST(config, a_copy_changes_alone) {
  config first = make_config();
  config second = first;
  second.set("workers", "3");
  EXPECT_EQ(first.get_int("workers"), 2);
  EXPECT_EQ(second.get_int("workers"), 3);
}

TEST(config, the_help_shows_every_option_under_its_component_and_what_was_changed) {
  config settings = make_config();
  apply(settings, {"prog", "--nacre.workers=5"});
  const std::string text = settings.help_text();
  EXPECT_NE(text.find("\nruntime\n"
                      "  --nacre.workers  (integer, 1..1024 threads; default 2)\n"
                      "      Worker threads of a rank. Now 5, from the command line.\n"
                      "  --nacre.transport  (word, inproc|sim|tcp; default inproc)\n"),
            std::string::npos)
      << text;
  EXPECT_LT(text.find("\nruntime\n"), text.find("\ntcp transport\n"));
  for (const option& one : tcp_options) {
    EXPECT_NE(text.find("--nacre." + std::string(one.name)), std::string::npos) << one.name;
  }
}

TEST(config, long_help_is_broken_into_lines_at_spaces) {
  const std::string long_help = std::string(60, 'a') + ' ' + std::string(33, 'b') + ' ' + std::string(120, 'c') + " d";
  const option rows[] = {{.name = "one", .help = long_help}};
  const std::string text = config{{"x", rows}}.help_text();
  EXPECT_NE(text.find("\n      A" + std::string(59, 'a') + ' ' + std::string(33, 'b') + "\n      " +
                      std::string(120, 'c') + "\n      d.\n"),
            std::string::npos)
      << text;
}

TEST(config, help_that_is_no_sentence_is_printed_as_one) {
  EXPECT_NE(make_config().help_text().find("\n      A share.\n"), std::string::npos);
  EXPECT_NE(make_config().docs_markdown().find("| A share. |\n"), std::string::npos);
}

TEST(config, the_documentation_is_a_table_per_component_with_bars_escaped) {
  const std::string text = make_config().docs_markdown();
  EXPECT_NE(text.find("### runtime\n\n| Option | Value | Default | Meaning |\n|---|---|---|---|\n"
                      "| `workers` | integer, 1..1024 threads | `2` | Worker threads of a rank. |\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("word, inproc\\|sim\\|tcp"), std::string::npos) << text;
}

TEST(config_death_test, mistakes_of_the_program_itself_abort) {
  const config settings = make_config();
  EXPECT_DEATH((void)settings.get_int("transport"), "getter of another kind");
  EXPECT_DEATH((void)settings.get_int("nothing"), "no table declares option nothing");
  constexpr option twice[] = {{.name = "a.b"}, {.name = "a_b"}};
  EXPECT_DEATH((config{{"x", twice}}), "declared twice: a_b");
  constexpr option wrong[] = {{.name = "a", .kind = option_kind::integer, .default_value = "9", .range = "1..3"}};
  EXPECT_DEATH((config{{"x", wrong}}), "the default of option a is outside 1..3");
  const char* const entries[] = {nullptr};
  EXPECT_DEATH(config().apply_environment(entries), "declares its tables");
}

}  // namespace
}  // namespace nacre
