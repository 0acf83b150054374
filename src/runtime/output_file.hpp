// SPDX-License-Identifier: Apache-2.0
// Files that a run writes at its end, and that it looks after at its start.
#pragma once

#include <string>
#include <string_view>

namespace nacre {

/// Throws setup_error when `path` cannot be written, as far as that can be told without changing what is there. `what`
/// names the content, `option` asks for it.
void check_output(const std::string& path, std::string_view what, std::string_view option);

/// Makes `text` the content of the file. Returns the system's reason when it cannot, else an empty text.
[[nodiscard]] std::string write_output(const std::string& path, std::string_view text);

}  // namespace nacre
