// SPDX-License-Identifier: Apache-2.0
// Runs one script for each rank of a job, over any backend: in threads, or in virtual time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "transport/transport.hpp"

namespace nacre::transport::conformance {

/// The longest time that a test waits for an event that must happen.
inline constexpr std::chrono::seconds patience{30};

/// A backend under test and the number of ranks that it is to connect.
struct subject {
  const backend* row;
  std::uint32_t ranks;
};
[[nodiscard]] std::string name_of(const subject& subject);
/// For the names and messages of tests.
void PrintTo(const subject& subject, std::ostream* out);
/// Every backend of this build with each of these numbers of ranks.
[[nodiscard]] std::vector<subject> every_backend_with(std::vector<std::uint32_t> ranks);

/// The actions of one rank, step by step, so that it can run beside others in one thread as well as in its own.
class rank_script {
 public:
  enum class progress {
    idle,    ///< nothing to do until something arrives
    moving,  ///< call again at once
    done     ///< the rank's work is done; further steps only watch for stray messages
  };
  virtual ~rank_script() = default;
  virtual progress step(endpoint& endpoint) = 0;
};
using rank_scripts = std::vector<std::unique_ptr<rank_script>>;  // by rank

/// One job. Its endpoints are open from the constructor to the destructor, unless a test closes one.
class job {
 public:
  /// `tight`: with the smallest buffers that the backend's options allow.
  enum class buffers { usual, tight };
  explicit job(const subject& subject, buffers buffers = buffers::usual);
  ~job();

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] endpoint& at(std::uint32_t rank) { return *endpoints_[rank]; }
  [[nodiscard]] const capabilities& declared() { return at(0).declared(); }
  [[nodiscard]] fabric& net() { return *fabric_; }

  /// Ends one rank without a shutdown.
  void end(std::uint32_t rank) { endpoints_[rank].reset(); }

  /// Steps all of them until all are done and nothing moves any more: each in a thread of its own, or all in this one
  /// with fabric::advance in between. Reports a failure when they do not come to an end.
  void run(const rank_scripts& scripts);

  /// Calls its argument for all ranks at once in threads of their own; one after the other in virtual time.
  void on_every_rank(const std::function<void(std::uint32_t)>& action);

  /// Lets virtual time pass until no event is left; does nothing elsewhere.
  void run_until_idle();

 private:
  void run_in_threads(const rank_scripts& scripts);
  void run_in_virtual_time(const rank_scripts& scripts);

  std::uint32_t size_;
  bool virtual_time_;
  std::unique_ptr<fabric> fabric_;
  std::vector<std::unique_ptr<endpoint>> endpoints_;
};

}  // namespace nacre::transport::conformance
