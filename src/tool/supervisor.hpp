// SPDX-License-Identifier: Apache-2.0
// Decides what a launcher does when a rank of its job ends, without touching a process.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nacre::tool {

using time_point = std::chrono::steady_clock::time_point;

/// How a process has ended.
struct ending {
  enum class kind : std::uint8_t { exited, killed, lost };  ///< lost: with its host
  kind how = kind::exited;
  std::int32_t number = 0;  ///< exit code or signal
};

/// Why a job ends, for those ranks that still run.
struct announcement {
  std::uint32_t peer = 0;
  std::string reason;
};

/// What to do, in this order.
struct orders {
  std::optional<std::string> line;       ///< print it
  std::optional<announcement> announce;  ///< tell it to every rank
  std::vector<int> signals;              ///< send each to the process group of every rank that still runs
};

/// How long it waits for what.
struct supervisor_times {
  std::chrono::milliseconds blame{500};       ///< for the own end of a rank that a peer has lost
  std::chrono::milliseconds grace{2000};      ///< from the announcement to SIGTERM
  std::chrono::milliseconds force{3500};      ///< from the announcement to SIGKILL
  std::chrono::milliseconds farewell{10000};  ///< from an interruption to SIGKILL
};

/// Watches over the ranks of one job. Its user tells it what happens, then asks `settle` what to do.
///
/// | state | event | then |
/// |---|---|---|
/// | running | a rank is killed, or exits with an error or without a goodbye | one line, announcement; ending |
/// | running | a rank says that it lost a peer, or hangs up | blaming that peer |
/// | blaming | the peer ends as above, or the time for blame is over | one line, announcement; ending |
/// | running, blaming | the launcher is interrupted | the signal goes to all; ending, without a line |
/// | ending | grace is over; force is over; interrupted again | SIGTERM; SIGKILL; SIGKILL |
/// | any | the last rank has ended | over |
///
/// Invariants: at most one line for a job; it names the first cause and none of its consequences: a rank that reports a
/// loss and then exits with an error is a consequence, and one that ends in `ending` is, too. Times do not depend on
/// the ranks: from the line to SIGKILL it takes `force`. One thread.
class supervisor {
 public:
  explicit supervisor(std::uint32_t ranks, const supervisor_times& times = {});

  /// The host of each rank, for its line; nothing is said of hosts before.
  void name_hosts(std::vector<std::string> by_rank) { hosts_ = std::move(by_rank); }

  void joined(std::uint32_t rank);
  /// The rank has said goodbye: from here its exit code counts, and its end disturbs nobody.
  void left(std::uint32_t rank);
  void lost(std::uint32_t reporter, std::uint32_t peer, std::string reason, time_point now);
  void hung_up(std::uint32_t rank, time_point now);
  void ended(std::uint32_t rank, ending how);
  void interrupted(int signal, time_point now);

  /// What to do, given all that has been told. Call it after each round of telling, and when `due` has come.
  [[nodiscard]] orders settle(time_point now);

  /// When settle should be called although nothing happens.
  [[nodiscard]] std::optional<time_point> due() const;
  [[nodiscard]] bool is_ending() const noexcept { return ending_.has_value(); }
  [[nodiscard]] bool over() const noexcept { return running_ == 0; }
  /// For the launcher's own exit, once it is over: 0; the code of the rank that failed; 128 and the signal.
  [[nodiscard]] int exit_code() const;

 private:
  struct rank_state {
    bool joined = false;
    bool left = false;
    bool reported_loss = false;
    std::optional<ending> end;
  };
  struct suspicion {
    std::uint32_t rank = 0;
    std::string reason;
    time_point until;
  };
  struct final_phase {
    std::optional<time_point> terminate_at;
    std::optional<time_point> kill_at;
  };

  [[nodiscard]] std::optional<std::string> fault_of(std::uint32_t rank) const;
  [[nodiscard]] std::optional<std::uint32_t> culprit() const;
  [[nodiscard]] bool anyone_waits_for(std::uint32_t rank) const;
  void find_cause(time_point now);
  void blame(std::uint32_t rank, std::string reason, time_point now);
  void end_job(std::uint32_t rank, const std::string& reason, int code, time_point now);
  void press(time_point now);

  supervisor_times times_;
  std::vector<rank_state> ranks_;
  std::vector<std::string> hosts_;  // by rank, or empty
  std::uint32_t running_;
  std::optional<suspicion> suspicion_;
  std::optional<final_phase> ending_;
  orders orders_;
  int exit_code_ = 0;
};

/// "was killed by signal 9 (Killed)" or "exited with code 3".
[[nodiscard]] std::string describe(const ending& how);

}  // namespace nacre::tool
