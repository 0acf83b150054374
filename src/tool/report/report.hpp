// SPDX-License-Identifier: Apache-2.0
// `nacre report`: a trace as a page, as a text, or in the formats of other tools.
#pragma once

#include <string>

#include "tool/report/survey.hpp"
#include "trace/trace_log.hpp"

namespace nacre::tool {

/// Reads the trace and writes the report. Returns the exit code. Throws setup_error when the trace cannot be read, the
/// format is unknown, or the report cannot be written. `output` is a file, or a folder for otf2. If it is empty, text
/// goes to standard output and other formats to a name beside the trace.
int write_report(const std::string& trace, const std::string& format, const std::string& output);

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
