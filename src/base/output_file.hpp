// SPDX-License-Identifier: Apache-2.0
// Files that a run writes at its end and checks at its start.
#pragma once

#include <string>
#include <string_view>

namespace nacre {

/// Throws setup_error if `path` cannot be written, as far as that can be found without changing an existing file.
/// `name` names the content and `option` the option that asks for it, for the message.
void check_output(const std::string& path, std::string_view name, std::string_view option);

/// Makes `text` the content of the file. Returns an empty text, or the text of errno on failure.
[[nodiscard]] std::string write_output(const std::string& path, std::string_view text);

/// Makes `text` the content of the file in one step: until then, and on failure, the file keeps the content that it
/// has. The text is written to a temporary file in the same folder, which takes the place of the file, or of the file
/// that a link points to. What is no regular file (a pipe, a device), and a file in a folder that takes no other file,
/// is written in place. Returns an empty text, or the text of errno on failure.
[[nodiscard]] std::string replace_output(const std::string& path, std::string_view text);

}  // namespace nacre
