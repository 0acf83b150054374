// SPDX-License-Identifier: Apache-2.0
// The launcher's agent on a host: `nacre host-agent`, which starts the ranks there and ends with the launcher.
#pragma once

namespace nacre::tool {

/// Reads a ticket from standard input, checks that the program can be started, calls the launcher, and goes to the
/// background, so that the remote shell which has started it can end. Returns the exit code of the process that was
/// called. Throws setup_error, for whoever reads its standard error, as long as it is in the foreground.
///
/// | state | event | then |
/// |---|---|---|
/// | called | start_ranks | the ranks are started; serving, or host_trouble and the end |
/// | serving | output of a rank | sent on, as far as the window goes |
/// | serving | a rank ends; all have ended and nothing more comes | rank_ended; host_done |
/// | any | the connection to the launcher ends | all ranks are killed, the agent ends |
///
/// Invariant: no rank outlives the agent (the kernel kills them), and the agent outlives the launcher by the time that
/// the end of the connection takes to arrive: at once when its process ends, 20 s when its host is lost.
[[nodiscard]] int run_host_agent();

}  // namespace nacre::tool
