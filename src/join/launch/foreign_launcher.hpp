// SPDX-License-Identifier: Apache-2.0
// Recognises that srun or mpirun has started this process, and refuses when it cannot tell where the other ranks are.
#pragma once

#include <string_view>

namespace nacre::launch {

/// True when a launcher that speaks PMIx has started this process. False for a rank of nacre run, wherever that runs.
[[nodiscard]] bool started_by_pmix() noexcept;

/// False when a launcher, nacre run included, has started this process with another number than 0: what concerns all
/// processes alike is then said by another one.
[[nodiscard]] bool is_first_process() noexcept;

/// Throws setup_error when srun or mpirun has started this process as one of several, and gives `transport` no means to
/// find the others: each of them would be a job of its own. The message tells the command to type.
void refuse_lonely_task(std::string_view transport);

}  // namespace nacre::launch
