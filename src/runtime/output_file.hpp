// SPDX-License-Identifier: Apache-2.0
// Files that a run writes at its end and checks at its start.
#pragma once

#include <string>
#include <string_view>

namespace nacre {

/// Throws setup_error if `path` cannot be written, as far as that can be found without changing an existing file.
/// `what` names the content and `option` the option that asks for it, for the message.
void check_output(const std::string& path, std::string_view what, std::string_view option);

/// Makes `text` the content of the file. Returns an empty text, or the text of errno on failure.
[[nodiscard]] std::string write_output(const std::string& path, std::string_view text);

}  // namespace nacre
