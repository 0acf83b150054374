// SPDX-License-Identifier: Apache-2.0
// A line on standard error when a signal is about to end a process of a job.
#pragma once

namespace nacre {

/// While an object of this class lives, the first SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT of the process prints one
/// line: the signal, the handler with its object, or main, the rank and the worker. Then the action that was there
/// before follows: a handler of the program, a library or a sanitizer is called with the same arguments; the system's
/// default ends the process, with its core file and its exit status. A signal that is ignored stays ignored. A handler
/// that the program sets later takes the place of this one, and stays there. Under a thread sanitizer nothing is set,
/// since it hides its own handlers. Any thread; several objects may live at a time. To be made when the transport is
/// open, since libraries of transports set handlers, too.
class crash_report {
 public:
  crash_report() noexcept;
  crash_report(const crash_report&) = delete;
  crash_report& operator=(const crash_report&) = delete;
  ~crash_report();
};

}  // namespace nacre
