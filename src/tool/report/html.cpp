// SPDX-License-Identifier: Apache-2.0
// The HTML page: puts the data between the page's files, which the build has turned into strings.
#include "tool/report/html.hpp"

#include <cstddef>
#include <utility>

#include "tool/report/buffered_file.hpp"
#include "tool/report/page_data.hpp"
#include "tool/report/page_text.hpp"
#include "tool/report/report.hpp"

namespace nacre::tool {

void write_page(const page_parts& parts, std::string data, const std::string& path) {
  // "</" could end the script element that holds the JSON. JSON permits "<\/" instead.
  for (std::size_t index = 0; (index = data.find("</", index)) != std::string::npos; index += 3)
    data.insert(index + 1, "\\");
  buffered_file file(path);
  std::string_view page = parts.text;
  for (const auto& [mark, text] : {std::pair<std::string_view, std::string_view>{"@style@", page_style()},
                                   {"@data@", data},
                                   {"@script@", parts.script}}) {
    const std::size_t index = page.find(mark);
    file.put(page.substr(0, index));
    file.put(text);
    page = page.substr(index + mark.size());
  }
  file.put(page);
  file.close();
}

void write_html(const trace::trace_log& log, const std::string& path) {
  write_page({page_text(), page_script()}, page_data(log, take_survey(log)), path);
}

}  // namespace nacre::tool
