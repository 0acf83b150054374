// SPDX-License-Identifier: Apache-2.0
// A listener that admits the callers that prove the job's secret, for as long as the job lasts.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <string_view>
#include <vector>

#include "join/net/refusal_log.hpp"
#include "join/net/socket_handshake.hpp"
#include "wire/auth.hpp"

namespace nacre::net {

/// Accepts connections and drives their handshakes, many at a time; none can delay another. A caller that is refused,
/// stalls or sends garbage costs one line in the log, one of the places for at most the time of a handshake, and
/// nothing else. When all places are taken the oldest handshake gives way, so strangers cannot lock members out; a
/// member that was dropped calls again. One thread.
///
/// Before the job begins, members call, thousands at once, and slowly where they share a few cores. So there are many
/// places and much time, and a handshake keeps its place for `undisturbed`: the oldest of a crowd is the one that is
/// nearest to its end. Further callers wait in the kernel's queue meanwhile. A member that is slow, or dies, looks like
/// a stranger that sends nothing, so callers that sent too little to be judged are not logged. Once the job has begun,
/// all members are connected and only strangers call. So there are few places, and each refusal is logged.
class listener {
 public:
  /// The number of handshakes at a time, and the time that each may take.
  struct limits {
    std::size_t places;
    std::chrono::milliseconds time;
    std::chrono::milliseconds undisturbed;  ///< so long no further caller takes the place
  };
  static constexpr limits before_job{
      .places = 512, .time = std::chrono::milliseconds(handshake_time_ms_max), .undisturbed = std::chrono::seconds(2)};
  static constexpr limits during_job{
      .places = 64, .time = std::chrono::seconds(5), .undisturbed = std::chrono::seconds(0)};

  /// `local` is the identity that is sent to callers after they have proven themselves. `first`: the limits until the
  /// job begins, of at most as many places as before_job.
  listener(unique_fd listening_socket, const job_secret& secret, peer_identity local, refusal_log log,
           const limits& first = before_job);

  /// Readable when poll has something to do.
  [[nodiscard]] int descriptor() const noexcept { return events_.get(); }

  /// Advances all handshakes that are ready and appends the callers that are admitted. Call it now and then even if
  /// none is ready, for the deadlines.
  void poll(time_point now, std::vector<peer_candidate>& admitted);

  /// All members are connected: from now on the limits are during_job, for the handshakes under way, too. Further calls
  /// do nothing.
  void job_begins(time_point now);

  /// Logs one line about an admitted candidate that its taker refuses.
  void refuse(const peer_candidate& refused, std::string_view reason, time_point now);

  /// Handshakes under way.
  [[nodiscard]] std::size_t waiting() const noexcept { return handshakes_.size(); }

 private:
  using place = std::list<socket_handshake>::iterator;

  void accept_all(time_point now, std::vector<peer_candidate>& admitted);
  [[nodiscard]] bool accept_one(time_point now, std::vector<peer_candidate>& admitted);
  [[nodiscard]] bool oldest_may_go(time_point now) const;
  void hear_calls(bool hears);
  void turn_away_one();
  void give_up_oldest(time_point now);
  void log_refusal(const socket_handshake& refused, time_point now);
  void advance(place place, time_point now, std::vector<peer_candidate>& admitted);
  void watch(const socket_handshake& socket_handshake, int operation);

  unique_fd listening_socket_;
  unique_fd events_;
  unique_fd spare_;  // given up to take a call where the process may open no more
  job_secret secret_;
  peer_identity local_;
  refusal_log log_;
  limits limits_;
  bool has_begun_ = false;                  // the job
  bool hears_calls_ = true;                 // events_ tells of calls
  std::list<socket_handshake> handshakes_;  // oldest first, by deadline as well
};

}  // namespace nacre::net
