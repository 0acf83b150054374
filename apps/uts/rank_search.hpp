// SPDX-License-Identifier: Apache-2.0
// The search of one rank between two looks at messages: common to searches by stealing and by sharing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nacre/nacre.hpp>
#include <optional>
#include <string_view>

#include "report.hpp"
#include "search.hpp"
#include "sha1.hpp"
#include "tree.hpp"
#include "tree_params.hpp"

namespace uts {

/// Costs in seconds where time is simulated, beside those of messages.
struct simulated_costs {
  double node = seconds_a_node;
  double descriptor = 0;  ///< of two that the manager keeps for each worker, and looks at for each message; sharing
};

/// Stealing within the host first.
struct near_first {
  std::uint32_t requests = 0;  ///< in a row, to ranks of the thief's host before each one to another host; 0: any rank
  std::uint64_t host = 0;      ///< equal on the ranks of one host, and on no other; read if `requests` is not 0
};

/// Parameters of a search by messages between ranks. An empty one adapts itself.
struct rank_search_options {
  tree_params params;
  sha1_choice sha = sha1_choice::automatic;
  std::optional<std::uint32_t> chunk{};  ///< nodes that are given away at a time, at least 1; empty: half of the work
  std::optional<std::uint32_t>
      interval{};       ///< nodes between two looks at what others want, or two releases, at least 1
  bool patient = true;  ///< thieves wait after requests in vain; for ranks that share processors
  simulated_costs costs{};
  near_first nearby{};
};

/// Parameters of the adaptive interval.
struct adaption {
  std::uint32_t growth_after = 8;  ///< the interval grows after so many looks in vain
  double growth = 2;               ///< factor by which it grows
  std::uint32_t least = 64;        ///< smallest interval, in nodes; so many are hashed as a group
  double fewest = 16;              ///< smallest interval where `least` nodes take longer than seconds_most
  std::uint32_t most = 1024;       ///< largest interval, in nodes; a look costs a hundredth of that
  double seconds_most = 20e-6;     ///< an interval never takes longer than this, because another rank may wait
  std::size_t stack_least = 2;     ///< a rank with fewer nodes gives none away
};

/// The interval: the nodes between two looks, the paper's polling interval and release interval. An adaptive one grows
/// when several looks in a row were in vain. After a hit it returns to the least, or to the nodes that take as long as
/// an answer does.
class pace {
 public:
  pace(std::optional<std::uint32_t> fixed, const adaption& adaption)
      : fixed_(fixed.has_value()),
        adaption_(adaption),
        wanted_(fixed.value_or(adaption.least)),
        nodes_(fixed.value_or(adaption.least)) {}

  [[nodiscard]] std::uint32_t nodes() const noexcept { return nodes_; }
  void looked(bool hit) noexcept {
    if (fixed_) return;
    if (hit) wanted_ = adaption_.least;
    in_vain_ = hit ? 0 : in_vain_ + 1;
    if (in_vain_ >= adaption_.growth_after) {
      wanted_ = std::min<double>(wanted_ * adaption_.growth, adaption_.most);
      in_vain_ = 0;
    }
    const double in_time = seconds_ > 0 ? adaption_.seconds_most * generated_ / seconds_ : adaption_.least;
    const double nodes = std::clamp<double>(in_time, std::min(adaption_.fewest, wanted_), wanted_);
    const double meanwhile = seconds_ > 0 ? answer_seconds_ * generated_ / seconds_ : 0;
    nodes_ = static_cast<std::uint32_t>(std::min(std::max(nodes, meanwhile), nodes_max));
  }
  /// A rank that was asked for work has taken so long to answer, without waiting for some. Counts from the next look
  /// on.
  void answered(double seconds) noexcept { answer_seconds_ = (answer_seconds_ + seconds) / 2; }
  /// So many nodes have taken so long.
  void generated(std::uint64_t nodes, double seconds) noexcept {
    generated_ += static_cast<double>(nodes);
    seconds_ += seconds;
  }

 private:
  static constexpr double nodes_max = 1u << 20;

  bool fixed_;
  adaption adaption_;
  double wanted_;
  std::uint32_t nodes_;
  std::uint32_t in_vain_ = 0;
  double generated_ = 0;
  double seconds_ = 0;
  double answer_seconds_ = 0;
};

/// The search of one rank, between two looks.
class rank_search {
 public:
  rank_search(const rank_search_options& options, const adaption& adapts)
      : tree_(shared_tree(options.params)),
        seconds_a_node_(options.costs.node),
        kernel_(select_sha1(options.sha)),
        chunk_(options.chunk),
        stack_least_(adapts.stack_least),
        pace_(options.interval, adapts) {}

  /// Generates an interval of nodes, or all that are left, and charges for them. The children of a node are generated
  /// together. If they are two intervals or more, so many of the next calls generate nothing that there is one call for
  /// each interval.
  void advance(nacre::context& ctx);

  /// Takes out the work to give away: the oldest nodes, if there are more than two chunks, as in the paper; empty
  /// otherwise. Without a fixed chunk, half of the work, if that is worth a message.
  [[nodiscard]] search surplus();

  void begin_whole() { work_ = search::of_whole(*tree_); }
  void take_over(search given) { work_.take_over(std::move(given)); }
  void looked(bool hit) noexcept { pace_.looked(hit); }
  void answered(double seconds) noexcept { pace_.answered(seconds); }
  [[nodiscard]] bool finished() const noexcept { return work_.finished(); }
  [[nodiscard]] const tree_counts& counts() const noexcept { return work_.counts(); }
  /// When it generated its last node, by the clock of its rank; 0: never.
  [[nodiscard]] double last_node_at() const noexcept { return last_node_at_; }
  [[nodiscard]] std::uint64_t chunks_given() const noexcept { return chunks_given_; }

 private:
  [[nodiscard]] search split();

  std::shared_ptr<const tree> tree_;  // one for all ranks of the process
  double seconds_a_node_;
  sha1_kernel kernel_;
  std::optional<std::uint32_t> chunk_;
  std::size_t stack_least_;
  pace pace_;
  std::uint64_t looks_owed_ = 0;  // for nodes that were generated together
  search work_;
  double last_node_at_ = 0;
  std::uint64_t chunks_given_ = 0;
};

/// Collective: the counts of all ranks together and the seconds that rank 0 has measured, on every rank. `start` is
/// that of this rank. `own` are the figures that this rank has counted, without last_node and chunks.
[[nodiscard]] search_result combined(nacre::runtime& rt, const rank_search_options& options,
                                     const rank_search& rank_search, double start, double seconds, sharing_figures own,
                                     std::string_view mode);

/// Protocol messages: handled in the poll loop, ahead of those that carry nodes, which come on the other channel.
inline constexpr nacre::with as_control{.category = nacre::category::communication, .channel = nacre::channel::system};
inline constexpr nacre::with as_work{.category = nacre::category::communication};

}  // namespace uts
