// SPDX-License-Identifier: Apache-2.0
// A number that tells executables apart, so that ranks of different builds do not misread each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace nacre {

/// The fingerprint of the running executable: a hash of its ELF build-id when the linker left one, otherwise of the
/// whole file /proc/self/exe. Equal on all hosts that run the same file, and practically never equal for different
/// builds. Costs microseconds with a build-id, and one read of the file without. Throws setup_error when neither can be
/// had.
[[nodiscard]] std::uint64_t binary_fingerprint();

/// The descriptor of the GNU build-id among ELF notes; nothing when there is none or the notes are damaged. `alignment`
/// is the segment's alignment (4 or 8). The result is a view into `notes`.
[[nodiscard]] std::optional<std::span<const std::byte>> find_build_id(std::span<const std::byte> notes,
                                                                      std::size_t alignment);

/// The fingerprint of a file's content; nothing when it cannot be read.
[[nodiscard]] std::optional<std::uint64_t> file_fingerprint(const char* path);

}  // namespace nacre
