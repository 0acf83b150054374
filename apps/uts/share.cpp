// SPDX-License-Identifier: Apache-2.0
// The manager of the shared queue, and its workers.
#include "share.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "lines.hpp"
#include "rank_part.hpp"

namespace uts {
namespace {

constexpr nacre::rank_id manager{0};

/// The queue of rank 0, which alone has a table of all workers.
///
/// The search is over when all workers wait and as many chunks have come from each as it has said in its request that
/// it has released before: requests overtake chunks (UTS-MPI section 3.1.1).
class shared_queue {
 public:
  explicit shared_queue(std::uint32_t size) : received_(size), requests_(size) {}

  void add(search chunk) { chunks_.push_back(std::move(chunk)); }
  /// Returns how many chunks have come from the worker.
  std::uint64_t received_from(nacre::rank_id worker) { return ++received_[worker.value()]; }
  [[nodiscard]] bool waits(nacre::rank_id worker) const {
    return std::any_of(waiting_.begin(), waiting_.end(), [&](const waiter& each) { return each.worker == worker; });
  }
  /// Returns how many requests have come from the worker.
  std::uint64_t wait_for_work(nacre::rank_id worker, std::uint64_t released, double now) {
    waiting_.push_back({worker, released, now});
    return ++requests_[worker.value()];
  }

  /// Whom to send which chunk, the one who has waited longest first, and since when.
  struct gift {
    nacre::rank_id target;
    double since;
    std::uint64_t request;  // its number among those of the target
    search chunk;
  };
  [[nodiscard]] std::optional<gift> next_gift() {
    if (waiting_.empty() || chunks_.empty()) return std::nullopt;
    const waiter& first = waiting_.front();
    gift next{first.worker, first.since, requests_[first.worker.value()], std::move(chunks_.front())};
    waiting_.pop_front();
    chunks_.pop_front();
    return next;
  }
  [[nodiscard]] std::uint64_t chunks() const noexcept { return chunks_.size(); }
  [[nodiscard]] bool all_wait(std::uint32_t workers) const { return chunks_.empty() && waiting_.size() == workers; }
  /// Whether all chunks have come that the waiting workers have released.
  [[nodiscard]] bool all_received() const {
    return std::all_of(waiting_.begin(), waiting_.end(),
                       [this](const waiter& w) { return received_[w.worker.value()] == w.released; });
  }

 private:
  struct waiter {
    nacre::rank_id worker;
    std::uint64_t released;  // chunks, before it asked
    double since;            // by the manager's clock
  };
  std::deque<search> chunks_;
  std::deque<waiter> waiting_;
  std::vector<std::uint64_t> received_;  // chunks, by worker
  std::vector<std::uint64_t> requests_;  // by worker
};

/// One rank. A worker's search runs in one message to itself after the other, and nothing comes to it meanwhile.
class sharer {
 public:
  /// A release costs a rank little, but the manager as much as a hundred nodes and more, so each makes the next one
  /// later. Who is given the last chunk there was knows that others wait, and releases often again. Nobody waits for
  /// a release in particular, so it may come late; but whoever gives of very few nodes is soon back to ask for some.
  static constexpr adaption adapts{.growth_after = 1,
                                   .growth = 1.25,
                                   .least = 64,
                                   .most = 4096,
                                   .seconds_most = std::numeric_limits<double>::infinity(),
                                   .stack_least = 12};

  sharer(nacre::rank_id self, std::uint32_t size, const rank_search_options& options)
      : size_(size),
        seconds_a_message_(options.costs.descriptor * 2 * size),
        search_(options, adapts),
        queue_(self == manager ? size : 0) {}

  void begin_whole(const rank_search_options& options) { queue_.add(search::of_whole(*shared_tree(options.params))); }
  [[nodiscard]] const rank_search& own() const noexcept { return search_; }
  [[nodiscard]] sharing_figures figures() const noexcept { return {.work_outrun = work_outrun_}; }
  /// Of the manager, once the system is quiet.
  [[nodiscard]] double ended_at() const {
    if (!is_over_) throw std::runtime_error("the search stops before its end: a worker has not released what it says");
    return ended_at_;
  }

  void begin(nacre::context& ctx) { ask(ctx); }
  void go_on(nacre::context& ctx) {
    search_.advance(ctx);
    if (search_.finished()) return ask(ctx);
    search chunk = search_.surplus();
    if (!chunk.finished()) {
      search_.looked(false);
      ++released_;
      line_leaves<&sharing::on_release>(ctx, manager, line::release, released_);
      ctx.send<&sharing::on_release>(as_work, manager, std::move(chunk));
    }
    ctx.send<&sharing::go_on>(ctx.rank());
  }
  void on_work(nacre::context& ctx, std::uint64_t left, double waited, search chunk) {
    if (ctx.source() != manager || !asks_.exchange(false)) throw refusal(ctx, "work that nobody asks it for");
    line_arrives(ctx, manager, line::work, requests_, chunk);
    search_.answered(ctx.now() - asked_at_ - waited);
    search_.looked(left == 0);
    search_.take_over(std::move(chunk));
    ctx.send<&sharing::go_on>(ctx.rank());
  }

  void on_request(nacre::context& ctx, std::uint64_t released) {
    const std::scoped_lock lock(mutex_);
    take(ctx);
    if (queue_.waits(ctx.source())) throw refusal(ctx, "a second request");
    const std::uint64_t count = queue_.wait_for_work(ctx.source(), released, ctx.now());
    line_arrives(ctx, ctx.source(), line::request, count, released);
    serve(ctx);
  }
  void on_release(nacre::context& ctx, search chunk) {
    const std::scoped_lock lock(mutex_);
    take(ctx);
    const std::uint64_t count = queue_.received_from(ctx.source());
    line_arrives(ctx, ctx.source(), line::release, count, chunk);
    queue_.add(std::move(chunk));
    serve(ctx);
  }

 private:
  void ask(nacre::context& ctx) {
    asked_at_ = ctx.now();
    asks_ = true;
    line_leaves<&sharing::on_request>(ctx, manager, line::request, ++requests_);
    ctx.send<&sharing::on_request>(as_control, manager, released_);
  }
  void take(nacre::context& ctx) const {
    const bool works = ctx.source() != manager || size_ == 1;
    if (ctx.rank() != manager || !works) throw refusal(ctx, "a worker's message, but not as a worker to the manager");
    if (is_over_) throw refusal(ctx, "a message after the end of the search");
    ctx.charge(seconds_a_message_);
  }
  void serve(nacre::context& ctx) {
    while (auto next = queue_.next_gift()) {
      line_leaves<&sharing::on_work>(ctx, next->target, line::work, next->request);
      ctx.send<&sharing::on_work>(as_work, next->target, queue_.chunks(), ctx.now() - next->since,
                                  std::move(next->chunk));
    }
    if (!queue_.all_wait(size_ == 1 ? 1 : size_ - 1)) return;
    is_over_ = queue_.all_received();
    if (is_over_) {
      ended_at_ = ctx.now();
    } else {
      ++work_outrun_;
    }
  }

  const std::uint32_t size_;
  const double seconds_a_message_;  // of the manager
  rank_search search_;              // of the message that runs it, or of who finds that it asks
  std::uint64_t released_ = 0;
  std::uint64_t requests_ = 0;  // before asks_
  double asked_at_ = 0;         // before asks_
  std::atomic<bool> asks_ = false;
  std::mutex mutex_;  // over all below, which are the manager's
  shared_queue queue_;
  bool is_over_ = false;
  std::uint64_t work_outrun_ = 0;
  double ended_at_ = 0;
};

std::shared_ptr<sharer> here(const nacre::context& ctx) { return rank_part<sharer>::of(ctx); }

}  // namespace

namespace sharing {

void begin(nacre::context& ctx) {
  expect_own(ctx);
  here(ctx)->begin(ctx);
}
void go_on(nacre::context& ctx) {
  expect_own(ctx);
  here(ctx)->go_on(ctx);
}
void on_request(nacre::context& ctx, std::uint64_t released) { here(ctx)->on_request(ctx, released); }
void on_release(nacre::context& ctx, search chunk) { here(ctx)->on_release(ctx, std::move(chunk)); }
void on_work(nacre::context& ctx, std::uint64_t left, double waited, search chunk) {
  here(ctx)->on_work(ctx, left, waited, std::move(chunk));
}

}  // namespace sharing

search_result search_by_sharing(nacre::runtime& rt, const rank_search_options& options) {
  const rank_part<sharer> part(rt.rank(), rt.rank(), rt.size(), options);
  if (rt.rank() == manager) part->begin_whole(options);
  rt.barrier();
  const double start = rt.now();
  if (rt.rank() != manager || rt.size() == 1) rt.send<&sharing::begin>(rt.rank());
  rt.wait_quiescence();
  const double seconds = rt.rank() == manager ? part->ended_at() - start : 0;
  return combined(rt, options, part->own(), start, seconds, part->figures(), "sharing");
}

}  // namespace uts
