// SPDX-License-Identifier: Apache-2.0
// The search as a program of mobile objects.
#include "mobile.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "presets.hpp"
#include "search.hpp"

namespace uts {
namespace {

/// Nodes that one handler generates. Who asks for work waits for the end of a handler, so it takes 5 us or so while
/// somebody wants any. When nobody does, it doubles to 20 us, and then grows by a sixteenth each time: about by a
/// sixteenth of the time in which nobody has asked, up to where the message to itself in between, and the caches that
/// the runtime has used meanwhile, cost less than a hundredth.
constexpr std::uint64_t nodes_a_handler_min = 256, nodes_to_double = 1024, nodes_a_handler_max = 4096;
constexpr std::uint64_t longer(std::uint64_t nodes) {
  return std::min(nodes + (nodes < nodes_to_double ? nodes : nodes / 16), nodes_a_handler_max);
}
/// Counts are reported when so many have come together, for the progress line.
constexpr std::uint64_t nodes_a_report = std::uint64_t{1} << 21;
}  // namespace

/// Adds up what the parts on its rank report; it is the member of a group, so no rank hears of every part. Each
/// tells the first one from time to time, which shows the progress line.
class collector {
 public:
  /// Rank 0's main. A job that goes on from an image shows no line.
  void show_line(progress_mode mode, std::optional<std::uint64_t> nodes_total, double started) {
    const std::scoped_lock lock(mutex_);
    line_ = std::make_unique<progress_line>(mode, nodes_total);
    started_ = started;
  }
  void add(nacre::context& ctx, nacre::group_ptr<collector> all, const tree_counts& part) {
    std::uint64_t told = 0;
    {
      const std::scoped_lock lock(mutex_);
      counts_ += part;
      untold_ += part.nodes;
      if (ctx.rank().value() == 0 || untold_ >= nodes_a_report) told = std::exchange(untold_, 0);
    }
    if (told == 0) return;
    if (ctx.rank().value() == 0) return show(ctx, told);
    ctx.send<&collector::show>(all[nacre::rank_id(0)], told);
  }
  void show(nacre::context& ctx, std::uint64_t nodes) {
    const std::scoped_lock lock(mutex_);
    shown_ += nodes;
    if (line_) line_->update(shown_, ctx.now() - started_);
  }
  tree_counts total() const {
    const std::scoped_lock lock(mutex_);
    return counts_;
  }

  /// The job goes on from an image on fewer ranks: takes over the counts of a rank that is no more.
  void merge(collector&& gone) {
    counts_ += gone.counts_;
    untold_ += gone.untold_;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(counts_, untold_, shown_);
  }

 private:
  mutable std::mutex mutex_;  // handlers on a group run at the same time
  tree_counts counts_;
  std::uint64_t untold_ = 0;  // nodes
  std::uint64_t shown_ = 0;
  std::unique_ptr<progress_line> line_;
  double started_ = 0;
};

namespace {

using collectors = nacre::group_ptr<collector>;

/// The unit of work: a search that goes on by messages to itself, gives half away when others want work, and ends when
/// it has nothing left.
class part {
 public:
  part() = default;
  part(const collectors& ranks_collecting, const mobile_options& options, search work)
      : part(ranks_collecting, options.params, options.sha, options.node_seconds, std::move(work)) {}
  part(const collectors& ranks_collecting, const tree_params& params, sha1_choice sha, double node_seconds, search work)
      : collectors_(ranks_collecting),
        params_(params),
        sha_(sha),
        node_seconds_(node_seconds),
        work_(std::move(work)) {}

  void go_on(nacre::context& ctx) {
    if (!tree_) {
      tree_ = shared_tree(params_);
      kernel_ = select_sha1(sha_);
    }
    const std::uint64_t previous = work_.counts().nodes;
    work_.advance(*tree_, kernel_, nodes_a_handler_ / params_.granularity + 1);
    ctx.charge(static_cast<double>(work_.counts().nodes - previous) * node_seconds_ * params_.granularity);
    if (work_.finished()) {
      report(ctx);
      ctx.destroy(ctx.self<part>());
      return;
    }
    if (work_.counts().nodes - reported_.nodes >= nodes_a_report) report(ctx);
    const bool wanted = ctx.wanted_elsewhere();
    nodes_a_handler_ = wanted ? nodes_a_handler_min : longer(nodes_a_handler_);
    if (wanted && work_.worth_splitting(*tree_)) {
      const auto half = ctx.create<part>(collectors_, params_, sha_, node_seconds_, work_.split_half(*tree_));
      ctx.send<&part::go_on>(half);
    }
    ctx.send<&part::go_on>(ctx.self<part>());
  }

  /// For the balancer: how many nodes wait to be expanded.
  double load() const { return static_cast<double>(work_.stack().size()); }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(collectors_, params_, sha_, node_seconds_, work_, reported_);
  }

 private:
  void report(nacre::context& ctx) {
    const tree_counts& all = work_.counts();
    ctx.local(collectors_)
        .add(ctx, collectors_, tree_counts{all.nodes - reported_.nodes, all.leaves - reported_.leaves, all.depth});
    reported_ = all;
  }

  collectors collectors_;
  tree_params params_;
  sha1_choice sha_ = sha1_choice::automatic;
  double node_seconds_ = seconds_a_node;
  search work_;
  tree_counts reported_;
  std::uint64_t nodes_a_handler_ = nodes_a_handler_min;
  std::shared_ptr<const tree> tree_;  // found again where the object arrives
  sha1_kernel kernel_{};
};

struct sum {
  tree_counts operator()(tree_counts a, const tree_counts& b) const { return a += b; }
};

}  // namespace

search_result search_with_mobile_objects(nacre::runtime& rt, const mobile_options& options,
                                         std::optional<search_progress> now) {
  const std::shared_ptr<const tree> searched = shared_tree(options.params);  // before the clock starts
  const sha1_kernel kernel = select_sha1(options.sha);
  const auto known = find_known_size(options.params);
  const bool first = rt.rank().value() == 0;
  if (!now) {  // else the search was over when `restored` returned
    now = search_progress{rt.create_group<collector>(), rt.broadcast(rt.now(), nacre::rank_id{0})};
    if (first) {
      rt.local(now->counters)
          .show_line(options.progress, known ? std::optional(known->nodes) : std::nullopt, now->started);
      rt.send<&part::go_on>(rt.create<part>(now->counters, options, search::of_whole(*searched)));
    }
    rt.wait_quiescence(*now);
  }
  const double seconds = rt.now() - now->started;
  tree_counts counts;
  if (first) counts = rt.reduce<&collector::total>(now->counters, sum{}).get();
  counts = rt.broadcast(counts, nacre::rank_id{0});
  rt.destroy(now->counters);
  return {options.params, counts, rt.broadcast(seconds, nacre::rank_id{0}), "mobile objects", kernel.name};
}

}  // namespace uts
