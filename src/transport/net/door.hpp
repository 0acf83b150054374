// SPDX-License-Identifier: Apache-2.0
// A listening socket that lets in those who prove the job's secret, for as long as the job lasts.
#pragma once

#include <cstddef>
#include <list>
#include <string_view>
#include <vector>

#include "transport/net/greeting.hpp"
#include "transport/net/refusal_log.hpp"
#include "wire/auth.hpp"

namespace nacre::transport::net {

/// Accepts connections and drives their handshakes, many at a time, none of which can hold another up. Whoever is
/// refused, stalls or sends garbage costs one line in the log, one of the places for at most the time of a handshake,
/// and nothing else. When all places are taken the oldest greeting gives way, so that strangers cannot lock members
/// out; a member that had to give way calls again. One thread.
class door {
 public:
  static constexpr std::size_t places = 512;

  /// `local` is what callers are told after they have proven themselves.
  door(unique_fd listener, const job_secret& secret, peer_identity local, refusal_log log);

  /// Readable when poll has something to do.
  [[nodiscard]] int descriptor() const noexcept { return events_.get(); }

  /// Does what can be done now and appends who has been let in. Also to be called now and then for the deadlines.
  void poll(time_point now, std::vector<guest>& admitted);

  /// One line about a guest that is not wanted after all.
  void refuse(const guest& whom, std::string_view why, time_point now);

  /// Handshakes under way.
  [[nodiscard]] std::size_t waiting() const noexcept { return greetings_.size(); }

 private:
  using place = std::list<greeting>::iterator;

  void accept_all(time_point now, std::vector<guest>& admitted);
  void advance(place which, time_point now, std::vector<guest>& admitted);
  void watch(const greeting& which, int operation);

  unique_fd listener_;
  unique_fd events_;
  job_secret secret_;
  peer_identity local_;
  refusal_log log_;
  std::list<greeting> greetings_;  // oldest first
};

}  // namespace nacre::transport::net
