// SPDX-License-Identifier: Apache-2.0
// The page: its parts, which the build has turned into strings, with the data between them.
#include <string>
#include <string_view>

#include "tool/report/output_file.hpp"
#include "tool/report/page_data.hpp"
#include "tool/report/page_text.hpp"
#include "tool/report/report.hpp"

namespace nacre::tool {

void write_html(const trace::trace_log& log, const std::string& path) {
  std::string data = page_data(log, take_survey(log));
  // Inside of a script element "</" could end it; in JSON the slash may be escaped.
  for (std::size_t at = 0; (at = data.find("</", at)) != std::string::npos; at += 3) data.insert(at + 1, "\\");
  output_file file(path);
  std::string_view page = page_text();
  for (const auto& [mark, text] : {std::pair<std::string_view, std::string_view>{"@style@", page_style()},
                                   {"@data@", data},
                                   {"@script@", page_script()}}) {
    const std::size_t at = page.find(mark);
    file.put(page.substr(0, at));
    file.put(text);
    page = page.substr(at + mark.size());
  }
  file.put(page);
  file.close();
}

}  // namespace nacre::tool
