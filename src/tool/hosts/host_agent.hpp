// SPDX-License-Identifier: Apache-2.0
// The launcher's agent on a host: `nacre host-agent`, which starts the ranks there and ends with the launcher.
#pragma once

namespace nacre::tool {

/// Reads a host_launch_spec from standard input, checks that the program can be started, and calls the launcher. Then
/// goes to the background, so that the remote shell that has started the agent can end. Returns the exit code of the
/// process. Throws setup_error only in the foreground, where the remote shell passes standard error on to the launcher.
///
/// | state | event | then |
/// |---|---|---|
/// | called | start_ranks | the ranks are started: serving; if that fails, host_failed |
/// | serving | output of a rank | rank_output, within the window |
/// | serving | a rank ends | rank_ended |
/// | serving | all ranks have ended, and their output too | host_done |
/// | any | the connection to the launcher ends | all ranks are killed and the agent ends |
///
/// Invariant: no rank outlives the agent, because the kernel kills ranks with it. The agent outlives the launcher until
/// it sees the end of the connection: at once when the launcher's process ends, after 20 s when its host is lost.
[[nodiscard]] int run_host_agent();

}  // namespace nacre::tool
