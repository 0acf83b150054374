// SPDX-License-Identifier: Apache-2.0
// What the elements of one array have run of what was sent to all of them, and what they must have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace campaign {

/// A *life* is one element, from its insertion to its end, wherever it moves. The ranks share the process; any thread,
/// but for `faults`, which is asked when nothing is under way any more.
///
/// One life lasts as long as the array, so what it has run is the order of all.
class array_record {
 public:
  using life = std::uint32_t;     ///< any number that is given once
  using message = std::uint64_t;  ///< as well

  void heard(life lifetime, message note);
  /// `step`: a main, or one run of a handler, which has sent this to all elements.
  void told(std::uint64_t step, message note);
  /// So many results have been combined.
  void counted(message note, std::uint64_t how_many);
  /// It was there before the message was sent, and as long as it took; or had ended before.
  void must_hear(life lifetime, message note);
  void must_not_hear(life lifetime, message note);

  /// Whether the life that lasts has run all that has been told.
  [[nodiscard]] bool complete(life lasting) const;
  /// What is wrong, in words; `all`: whether all that was told must have been run by now.
  [[nodiscard]] std::vector<std::string> faults(life lasting, bool all) const;

 private:
  using faulty = std::vector<std::string>;
  void check_lives(const std::vector<message>& order, faulty& suspects) const;
  void check_senders(const std::vector<message>& order, bool all, faulty& suspects) const;
  [[nodiscard]] bool has(life lifetime, message note) const;

  mutable std::mutex mutex_;
  std::map<life, std::vector<message>> lives_;
  std::map<std::uint64_t, std::vector<message>> told_;
  std::size_t told_count_ = 0;
  std::vector<std::pair<message, std::uint64_t>> sums_;
  std::vector<std::pair<life, message>> must_, must_not_;
};

}  // namespace campaign
