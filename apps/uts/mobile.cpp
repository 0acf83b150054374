// SPDX-License-Identifier: Apache-2.0
// The search as a program of mobile objects.
#include "mobile.hpp"

#include <memory>
#include <mutex>
#include <optional>

#include "presets.hpp"
#include "search.hpp"

namespace uts {
namespace {

/// Nodes that one handler generates: 150 us or so, so that a rank looks at its messages often enough, and the message
/// to itself in between costs less than a thousandth.
constexpr std::uint64_t nodes_a_handler = 8192;
/// Counts are reported when so many have come together, for the progress line.
constexpr std::uint64_t nodes_a_report = std::uint64_t{1} << 21;
/// The tree of these parameters, made once in a process: it is a pure function of them, and its tables take some
/// milliseconds. Objects that arrive from another rank find it here.
std::shared_ptr<const tree> tree_of(const tree_params& params) {
  static std::mutex mutex;
  static std::shared_ptr<const tree> latest;
  const std::scoped_lock lock(mutex);
  if (!latest || !(latest->params() == params)) latest = std::make_shared<const tree>(params);
  return latest;
}

/// Adds up what the parts report. It shows the progress line while it is on the rank where it was made.
class collector {
 public:
  collector() = default;
  collector(progress_mode mode, std::optional<std::uint64_t> nodes_total, double started)
      : line_(std::make_unique<progress_line>(mode, nodes_total)), started_(started) {}

  void add(nacre::context& ctx, tree_counts part) {
    counts_ += part;
    if (line_) line_->update(counts_.nodes, ctx.now() - started_);
  }
  tree_counts total() const { return counts_; }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(counts_, started_);
  }

 private:
  tree_counts counts_;
  std::unique_ptr<progress_line> line_;
  double started_ = 0;
};

/// The unit of work: a search that goes on by messages to itself, gives half away when others want work, and ends when
/// it has nothing left.
class part {
 public:
  part() = default;
  part(nacre::mobile_ptr<collector> to, const tree_params& params, sha1_choice sha, search work)
      : to_(to), params_(params), sha_(sha), work_(std::move(work)) {}

  void go_on(nacre::context& ctx) {
    if (!tree_) {
      tree_ = tree_of(params_);
      kernel_ = select_sha1(sha_);
    }
    const std::uint64_t before = work_.counts().nodes;
    work_.advance(*tree_, kernel_, nodes_a_handler / params_.granularity + 1);
    ctx.charge(static_cast<double>(work_.counts().nodes - before) * seconds_a_node * params_.granularity);
    if (work_.finished()) {
      report(ctx);
      ctx.destroy(ctx.self<part>());
      return;
    }
    if (work_.counts().nodes - reported_.nodes >= nodes_a_report) report(ctx);
    if (ctx.wanted_elsewhere() && work_.worth_splitting(*tree_)) {
      const auto half = ctx.create<part>(to_, params_, sha_, work_.split_half(*tree_));
      ctx.send<&part::go_on>(half);
    }
    ctx.send<&part::go_on>(ctx.self<part>());
  }

  /// For the balancer: how many nodes wait to be expanded.
  double load() const { return static_cast<double>(work_.stack().size()); }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(to_, params_, sha_, work_, reported_);
  }

 private:
  void report(nacre::context& ctx) {
    const tree_counts& all = work_.counts();
    ctx.send<&collector::add>(to_, tree_counts{all.nodes - reported_.nodes, all.leaves - reported_.leaves, all.depth});
    reported_ = all;
  }

  nacre::mobile_ptr<collector> to_;
  tree_params params_;
  sha1_choice sha_ = sha1_choice::automatic;
  search work_;
  tree_counts reported_;
  std::shared_ptr<const tree> tree_;  // found again where the object arrives
  sha1_kernel kernel_{};
};

}  // namespace

search_result search_with_mobile_objects(nacre::runtime& rt, const mobile_options& how) {
  const std::shared_ptr<const tree> searched = tree_of(how.params);  // before the clock starts
  const sha1_kernel kernel = select_sha1(how.sha);
  nacre::mobile_ptr<collector> to;
  rt.barrier();
  const double start = rt.now();
  if (rt.rank().value() == 0) {
    const auto known = find_known_size(how.params);
    to = rt.create<collector>(how.progress, known ? std::optional(known->nodes) : std::nullopt, start);
    const auto whole = rt.create<part>(to, how.params, how.sha, search::of_whole(*searched));
    rt.send<&part::go_on>(whole);
  }
  rt.wait_quiescence();
  const double seconds = rt.now() - start;
  tree_counts counts;
  if (rt.rank().value() == 0) {
    counts = rt.call<&collector::total>(to).get();
    rt.destroy(to);
  }
  counts = rt.broadcast(counts, nacre::rank_id{0});
  return {how.params, counts, rt.broadcast(seconds, nacre::rank_id{0}), "mobile objects", kernel.name};
}

}  // namespace uts
