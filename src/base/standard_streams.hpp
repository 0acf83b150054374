// SPDX-License-Identifier: Apache-2.0
// The standard descriptors and the standard output of this process, as its parent has left them.
#pragma once

namespace nacre {

/// Opens /dev/null as each of the descriptors 0, 1 and 2 that is closed, so that no socket or file of this process gets
/// one of these numbers and is then written to by printf. Reading gives the end of the file. Writing fails with EBADF,
/// as it does on a closed descriptor, so that a program still learns that its output is lost. A process calls it before
/// it opens anything.
void occupy_standard_descriptors() noexcept;

/// If standard output is a pipe that nothing has been printed to, each line will be written when it is complete, as on
/// a terminal. A buffer that somebody has chosen for stdout stays. Not while another thread prints.
void write_output_by_line() noexcept;

}  // namespace nacre
