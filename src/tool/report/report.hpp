// SPDX-License-Identifier: Apache-2.0
// `nacre report`: a trace, or the profile of an emulation, as a page, as a text, or in the formats of other tools.
#pragma once

#include <string>

#include "tool/report/survey.hpp"
#include "trace/trace_log.hpp"

namespace nacre::tool {

struct report_arguments {
  std::string trace;  ///< a trace, or the profile of an emulation
  std::string format = "html";
  std::string output{};  ///< a file, or a folder for otf2; empty: text is printed, others go beside the trace
  std::string slice{};   ///< for the page of an emulation, see slice_of
};

/// Reads the trace or profile and writes the report. Returns the exit code. Throws setup_error when it cannot be read,
/// the format is unknown or not for it, or the report cannot be written.
int write_report(const report_arguments& given);

/// The names of the formats, separated by bars.
[[nodiscard]] std::string report_formats();

// One function for each format.
void write_html(const trace::trace_log& log, const std::string& path);
[[nodiscard]] std::string text_report(const trace::trace_log& log);
void write_perfetto(const trace::trace_log& log, const std::string& path);
/// Three files: PATH.prv, PATH.pcf and PATH.row.
void write_paraver(const trace::trace_log& log, const std::string& path);
#if defined(NACRE_WITH_OTF2)
void write_otf2(const trace::trace_log& log, const std::string& folder);
#endif

}  // namespace nacre::tool
