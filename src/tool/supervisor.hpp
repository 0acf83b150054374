// SPDX-License-Identifier: Apache-2.0
// Decides how a launcher reacts to the end of a rank. Touches no process.
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
  kind cause = kind::exited;
  std::int32_t number = 0;  ///< exit code or signal
};

/// Why a job ends; the launcher tells this to the ranks that still run.
struct announcement {
  std::uint32_t peer = 0;
  std::string reason;
};

/// Actions for the launcher, in this order.
struct orders {
  std::optional<std::string> line;       ///< to print
  std::optional<announcement> announce;  ///< to be told to every rank
  std::optional<int> ask_for_image;      ///< to be told to every rank: this signal asks for a last image
  std::vector<int> signals;              ///< each for the POSIX process group of every rank that runs
};

/// How long the supervisor waits.
struct supervisor_times {
  std::chrono::milliseconds blame{3000};      ///< from a peer's report that a rank is lost until that rank is blamed
  std::chrono::milliseconds grace{2000};      ///< from the announcement to SIGTERM
  std::chrono::milliseconds force{3500};      ///< from the announcement to SIGKILL
  std::chrono::milliseconds shutdown{10000};  ///< from an interruption to SIGKILL
};

/// Decides how a job ends. The launcher reports events, then calls `decide`, which returns the actions to take. The
/// supervisor itself touches no process.
///
/// | state | event | then |
/// |---|---|---|
/// | running | a rank is killed, or exits with an error or without a shutdown | one line, announcement; ending |
/// | running | a rank says that it lost a peer | blaming the peer |
/// | running | a rank hangs up | blaming the rank |
/// | blaming | the blamed rank ends as above, or the time for blame is over | one line, announcement; ending |
/// | running, blaming | the launcher is interrupted | the signal goes to all; ending, without a line |
/// | the same, some rank has joined | the signal for a last image | one line, the ranks are told; running, and due |
/// | running, due | the grace for the image is over; a second signal | one line, SIGKILL; ending |
/// | ending | the end of the rank that was blamed shows that it was killed, or its host lost | that is the cause |
/// | ending | grace is over; force is over | SIGTERM; SIGKILL |
/// | ending | the launcher is interrupted, perhaps again | SIGKILL; no life follows |
/// | any | the last rank has ended | over |
///
/// Invariants: a job gets at most one line about its end. The line names the first cause and no consequence: the exit
/// with an error of a rank that has reported a loss is a consequence, and so is every end in state `ending`. No time
/// depends on the ranks: SIGKILL follows the line after `force`. One thread.
class supervisor {
 public:
  explicit supervisor(std::uint32_t ranks, const supervisor_times& times = {});

  /// Sets the host of each rank, which the line then names; without this call the line names no host.
  void name_hosts(std::vector<std::string> by_rank) { hosts_ = std::move(by_rank); }

  /// The job can go on from an image: when a rank is killed or lost, the others are killed at once, since nothing of
  /// what they have is needed any more.
  void end_at_once_after_death() noexcept { goes_on_ = true; }

  /// The job writes images: this signal to the launcher asks for a last one, for which the ranks have `grace`.
  void end_behind_image(int signal, std::chrono::milliseconds grace) noexcept {
    image_signal_ = signal;
    image_grace_ = grace;
  }

  void joined(std::uint32_t rank);
  /// The rank has sent its shutdown: its end is no fault from now on, and its exit code counts for the launcher's.
  void left(std::uint32_t rank);
  void lost(std::uint32_t reporter, std::uint32_t peer, std::string reason, time_point now);
  void disconnected(std::uint32_t rank, time_point now);
  void ended(std::uint32_t rank, ending ending);
  void interrupted(int signal, time_point now);

  /// Returns the actions that follow from all events so far. Call it after each batch of events, and at `due`.
  [[nodiscard]] orders decide(time_point now);

  /// The time at which decide must be called even if no event comes.
  [[nodiscard]] std::optional<time_point> due() const;
  [[nodiscard]] bool is_ending() const noexcept { return ending_.has_value(); }
  [[nodiscard]] bool over() const noexcept { return running_ == 0; }
  /// The launcher's exit code, valid once the job is over: 0 if all ranks returned 0; the code of the rank that failed;
  /// 128 and the signal. After an interruption a rank that was killed, or has lost another, counts as ended by the
  /// signal that the launcher got.
  [[nodiscard]] int exit_code() const;
  /// Whether the job ends because a rank was killed or lost, and not by an error of the program or a signal to the
  /// launcher. A rank that meets the limit on the length of files (SIGXFSZ) makes an error, which would come again.
  [[nodiscard]] bool by_death() const noexcept { return by_death_ && !is_stopped(); }
  /// Whether the job ends because a rank has failed in another way.
  [[nodiscard]] bool by_error() const noexcept { return cause_ && !by_death_ && !is_stopped(); }
  /// Whether a last image was asked for, and the job ended by other means before the ranks could end behind it.
  [[nodiscard]] bool missed_image() const noexcept { return image_until_ && (by_death_ || interrupted_by_); }
  /// The rank that the line names.
  struct cause {
    std::uint32_t rank = 0;
    bool host_lost = false;
    int signal = 0;  ///< that has killed it; 0: none, or it is not known
  };
  [[nodiscard]] std::optional<cause> cause_of_end() const noexcept { return cause_; }

 private:
  struct rank_state {
    bool joined = false;
    bool left = false;
    bool reported_loss = false;
    std::optional<ending> end;
    [[nodiscard]] bool waits_for_others() const noexcept { return joined && !left && !end; }
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

  [[nodiscard]] bool is_stopped() const noexcept { return interrupted_by_ || image_until_ || interrupted_in_end_; }
  [[nodiscard]] std::optional<std::string> fault_of(std::uint32_t rank) const;
  [[nodiscard]] std::optional<std::uint32_t> culprit() const;
  /// Changes the state of a rank, and keeps the count of those that wait.
  template <class Change>
  void change(std::uint32_t rank, Change to);
  void find_cause(time_point now);
  void blame(std::uint32_t rank, std::string reason, time_point now);
  void end_job(std::uint32_t rank, const std::string& reason, int code, time_point now);
  void give_up_image(const std::string& reason, time_point now);
  void press(time_point now);

  supervisor_times times_;
  std::vector<rank_state> ranks_;
  std::vector<std::string> hosts_;  // by rank, or empty
  std::uint32_t running_;
  std::uint32_t waiting_ = 0;  // ranks that have joined, and neither left nor ended
  std::optional<suspicion> suspicion_;
  std::optional<final_phase> ending_;
  orders orders_;
  std::optional<int> interrupted_by_;
  int exit_code_ = 0;
  bool interrupted_in_end_ = false;  // when the job was ending for another reason
  bool goes_on_ = false;
  bool by_death_ = false;
  bool blamed_unseen_ = false;  // the job ends because of a rank that peers have lost, whose end is not known
  std::optional<cause> cause_;
  std::optional<int> image_signal_;
  std::chrono::milliseconds image_grace_{};
  std::optional<time_point> image_until_;  // a last image is asked for
};

/// "was killed by signal 9 (Killed)" or "exited with code 3".
[[nodiscard]] std::string describe(const ending& ending);

}  // namespace nacre::tool
