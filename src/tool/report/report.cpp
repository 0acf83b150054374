// SPDX-License-Identifier: Apache-2.0
// Chooses the format of a report.
#include "tool/report/report.hpp"

#include <fmt/format.h>
#include <filesystem>
#include <system_error>

#include <array>
#include <cstdio>
#include <functional>
#include <string_view>
#include <vector>

#include <nacre/error.hpp>

#include "base/nearest_name.hpp"
#include "base/print_error.hpp"
#include "emulator/profile_file.hpp"
#include "program_options/standard_output.hpp"
#include "tool/report/buffered_file.hpp"
#include "tool/report/emulation_page.hpp"

namespace nacre::tool {
namespace {

struct report_format {
  std::string_view name;
  std::string_view ending;  ///< of the output's name
  std::string_view opened_with;
  std::function<void(const trace::trace_log&, const std::string&)> write;
};

void write_text(const trace::trace_log& log, const std::string& path) {
  if (path.empty()) return print(text_report(log));
  buffered_file file(path);
  file.put(text_report(log));
  file.close();
}

const std::vector<report_format>& formats() {
  static const std::vector<report_format> all {
    {"html", ".html", "a browser", write_html},
        {"perfetto", ".json", "https://ui.perfetto.dev or chrome://tracing", write_perfetto},
        {"paraver", "", "wxparaver", write_paraver},
#if defined(NACRE_WITH_OTF2)
        {"otf2", ".otf2", "Vampir or otf2-print", write_otf2},
#endif
        {"text", "", "", write_text},
  };
  return all;
}

void tell_written(const std::string& path, std::string_view opened_with) {
  print(fmt::format("{}: open it with {}\n", path, opened_with));
}

int write_emulation(const report_arguments& given) {
  const emulator::profile_input profile(given.trace);
  if (given.format == "html") {
    const std::string path = given.output.empty() ? given.trace + ".html" : given.output;
    write_emulation_html(profile, given.slice, path);
    tell_written(path, "a browser");
    return 0;
  }
  if (given.format != "text") {
    throw setup_error({"'" + given.trace + "' is the profile of an emulation",
                       "it has sums, and no events that " + given.format + " could show",
                       "use --format html or --format text"});
  }
  if (given.output.empty()) {
    print(emulation_text(profile));
    return 0;
  }
  buffered_file file(given.output);
  file.put(emulation_text(profile));
  file.close();
  return 0;
}

}  // namespace

std::string report_formats() {
  std::string all;
  for (const report_format& each : formats()) all += fmt::format("{}{}", all.empty() ? "" : "|", each.name);
  return all;
}

namespace {

/// Whether the file is the trace, or the part of a rank: FILE.0, FILE.1 and so on.
bool is_of_trace(const std::filesystem::path& file, const std::filesystem::path& trace) {
  std::error_code none;
  if (std::filesystem::equivalent(file, trace, none)) return true;
  const std::string name = file.filename().string(), stem = trace.filename().string() + ".";
  const bool is_part = name.starts_with(stem) && name.size() > stem.size() &&
                       name.find_first_not_of("0123456789", stem.size()) == std::string::npos;
  const auto folder = [](const std::filesystem::path& path) {
    return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  };
  return is_part && std::filesystem::equivalent(folder(file), folder(trace), none);
}

}  // namespace

int write_report(const report_arguments& given) {
  for (const report_format& each : formats()) {
    if (each.name != given.format) continue;
    for (const std::string_view ending : {"", ".prv", ".pcf", ".row", ".otf2", ".def"}) {
      if (given.output.empty() || !is_of_trace(given.output + std::string(ending), given.trace)) continue;
      throw setup_error({"the report would replace '" + given.output + std::string(ending) + "', of which it tells",
                         "--output names a file of the trace", "choose another name"});
    }
    if (emulator::is_profile(given.trace)) return write_emulation(given);
    if (!given.slice.empty()) {
      throw setup_error({"'" + given.trace + "' is not the profile of an emulation",
                         "only these have a grid to --slice",
                         "leave --slice out, or name what emulate --profile has written"});
    }
    const trace::trace_log log(given.trace);
    const bool printed = each.name == "text" && given.output.empty();
    for (const std::string& note : log.notes()) {
      if (!printed) nacre::print_error("nacre: {}\n", note);  // the text on standard output contains the notes
    }
    const std::string neighbour = printed ? "" : given.trace + std::string(each.ending);
    const std::string path = given.output.empty() ? neighbour : given.output;
    each.write(log, path);
    if (!each.opened_with.empty()) {
      const bool paraver = each.name == "paraver";
      tell_written(path + (paraver ? ".prv" : ""), each.opened_with);
    }
    return 0;
  }
  std::vector<std::string_view> names;
  for (const report_format& each : formats()) names.push_back(each.name);
  const auto nearest = nearest_name(given.format, names);
  throw setup_error({.problem = fmt::format("there is no format '{}'", given.format),
                     .why = "--format says what is written",
                     .remedy = nearest ? fmt::format("did you mean {}?", *nearest)
                                       : fmt::format("choose one of {}", report_formats())});
}

}  // namespace nacre::tool
