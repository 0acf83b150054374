// SPDX-License-Identifier: Apache-2.0
// Two processes that exchange messages by hand, and the time that they take.
#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <functional>
#include <stdexcept>

#include "calibration/schedule.hpp"
#include "figures.hpp"
#include "steady_seconds.hpp"

namespace ladder {

using nacre::calibration::answer_bytes;
using nacre::calibration::batches_least;
using nacre::calibration::batches_of;
using nacre::calibration::phase_seconds;
using nacre::calibration::stream_of;
using nacre::calibration::streams_of;
using nacre::calibration::trips_of;

using bench::steady_seconds;

/// A second process that runs `body` and ends; forked while this one has a single thread.
class partner {
 public:
  explicit partner(const std::function<void()>& body) : id_(fork()) {
    if (id_ < 0) throw std::runtime_error("no second process to compare with: fork failed");
    if (id_ > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      body();
    } catch (...) {
      _exit(1);
    }
    _exit(0);
  }
  partner(const partner&) = delete;
  partner& operator=(const partner&) = delete;
  ~partner() {
    kill(id_, SIGKILL);  // it has nothing left to do, or waits for an answer that will not come
    waitpid(id_, nullptr, 0);
  }
  [[nodiscard]] pid_t id() const noexcept { return id_; }

 private:
  pid_t id_;
};

/// The side that answers, until it is ended.
template <class End>
[[noreturn]] void serve(End& end, std::size_t bytes) {
  for (;;) {
    for (int i = 0; i < trips_of(bytes); ++i) {
      end.receive(bytes);
      end.send(bytes, 0);
    }
    for (int i = 0; i < streams_of(bytes); ++i) {
      for (int k = 0; k < stream_of(bytes); ++k) end.receive(bytes);
      end.send(answer_bytes, 0);
    }
  }
}

/// The side that measures.
template <class End>
sample drive(End& end, std::size_t bytes) {
  sample best{bytes, 1e9, 1e9};
  const double begin = steady_seconds();
  for (int batch = 0;
       batch < batches_of(bytes) && (batch < batches_least || steady_seconds() - begin < 2 * phase_seconds); ++batch) {
    double start = steady_seconds();
    for (int i = 0; i < trips_of(bytes); ++i) {
      end.send(bytes, 0);
      end.receive(bytes);
    }
    best.round_trip_seconds = std::min(best.round_trip_seconds, (steady_seconds() - start) / trips_of(bytes));
    start = steady_seconds();
    for (int i = 0; i < streams_of(bytes); ++i) {
      for (int k = 0; k < stream_of(bytes); ++k) end.send(bytes, k);
      end.receive(answer_bytes);
    }
    best.one_way_seconds =
        std::min(best.one_way_seconds, (steady_seconds() - start) / (streams_of(bytes) * stream_of(bytes)));
  }
  return best;
}

}  // namespace ladder
