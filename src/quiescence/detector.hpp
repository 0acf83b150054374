// SPDX-License-Identifier: Apache-2.0
// The interface of a termination detector, without I/O and without a clock.
#pragma once

#include <cstdint>
#include <type_traits>

#include <nacre/ids.hpp>

namespace nacre::quiescence {

/// The units that a rank has counted since the job's start. A unit is anything that runs user code or leads to it: the
/// active main of the application, a handler's message, a suspended coroutine, a one-shot timer that is set. Both
/// counters only grow; a unit may be done on another rank than the one that created it.
///
/// While objects are held for an image, `lying` is the number of open units here that the hold keeps from going on, and
/// `taken_up` counts, and only grows, how often this number may have changed. Else `lying` is 0.
struct unit_counters {
  std::uint64_t created = 0;
  std::uint64_t done = 0;
  std::uint64_t lying = 0;
  std::uint64_t taken_up = 0;
  friend bool operator==(const unit_counters&, const unit_counters&) = default;
  unit_counters& operator+=(const unit_counters& more) noexcept {
    created += more.created;
    done += more.done;
    lying += more.lying;
    taken_up += more.taken_up;
    return *this;
  }
};

/// A message between detectors. Each type of detector defines its kinds and flags. It has no padding, so it travels as
/// its bytes.
struct detector_message {
  unit_counters sums{};
  std::uint32_t wave = 0;
  std::uint16_t kind = 0;
  std::uint16_t flags = 0;
  friend bool operator==(const detector_message&, const detector_message&) = default;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(sums.created, sums.done, sums.lying, sums.taken_up, wave, kind, flags);
  }
};
static_assert(std::has_unique_object_representations_v<detector_message>);

/// Takes the outputs of a detector. One for each rank.
class detector_host {
 public:
  /// Sends `m`, which is not counted, in order behind every earlier message from this rank to `target`. Never to this
  /// rank. Must not call the detector.
  virtual void send(rank_id target, const detector_message& m) = 0;

  /// The system has been quiet at some moment after the request numbered `last`, or, while objects are held, no unit
  /// was open then but those that lay. This answers all requests since the previous declaration, up to `last`.
  /// Before it returns, the host counts as created the units that waited (a continuation, a main that goes on).
  /// Always the detector's last output of a call; may call request().
  virtual void declare(std::uint64_t last) = 0;

 protected:
  ~detector_host() = default;
};

/// One rank's part in detecting that no unit exists anywhere: none runs, is queued, waits under backpressure or is in
/// flight.
///
/// Rules that the host must keep, since the proofs rest on them:
/// 1. `created` is incremented before the unit can run anywhere, and before the unit that creates it is done. `done` is
///    incremented when everything that the unit created has been counted. Each is a release, read by an acquire.
/// 2. The application's main is a unit from before the first on_idle of its rank. It is done when it returns or waits;
///    a unit or a declaration ends the wait, and creates main anew before it is done itself.
/// 3. The detector's own messages are no units.
/// Not thread-safe: one call at a time. The detectors of all ranks must be of one type and have one tree.
class detector {
 public:
  virtual ~detector() = default;

  /// Requests a declaration of quiescence. Returns the request's number: 1, 2, 3, ... on each rank. Several
  /// may be open at a time.
  virtual std::uint64_t request(detector_host& host) = 0;

  /// Takes a message that another rank's detector has sent. Returns false, and changes nothing, if `source` may not
  /// send this message now.
  [[nodiscard]] virtual bool on_message(detector_host& host, rank_id source, const detector_message& m) = 0;

  /// True while the detector waits for this rank's counters. Cheap: the host may look after every unit.
  [[nodiscard]] virtual bool wants_counters() const noexcept = 0;

  /// Whether the last round over all ranks found the counters of the round before, and no quiescence: something is
  /// open, and nothing happens. The rank that begins rounds knows it, and may hand over its counters later then; the
  /// others say false.
  [[nodiscard]] virtual bool still() const noexcept { return false; }
  /// From now on still() is false until a wave has found so.
  virtual void forget_still() noexcept {}

  /// Hands over the counters of a rank that has nothing to run now: the sum of `done` of all its threads, read first,
  /// and the sum of `created`, read after that. Messages may arrive between the reads, and units may be open elsewhere.
  /// A rank that knows an open unit of its own (running, queued, under backpressure, an active main) should not call.
  /// Its silence delays the wave, which costs and loses nothing, since there is no quiescence to be found. Ignored when
  /// the counters are not wanted.
  virtual void on_idle(detector_host& host, const unit_counters& now) = 0;
};

}  // namespace nacre::quiescence
