// SPDX-License-Identifier: Apache-2.0
// Runs windows as they are granted, and sends what they make for other blocks.
#include "emulator/emulated_block.hpp"

#include <algorithm>
#include <utility>

#include <nacre/error.hpp>

namespace nacre::detail {

void emulated_block::make_loop(const emulated_machine& machine, bool has_path, bool has_profile) {
  if (has_path) path_ = std::make_unique<emulator::block_path>(machine, block_count_, block_);
  if (has_profile) {
    const emulator::partition cut(machine.grid, block_count_);
    profile_ = std::make_unique<emulator::block_profile>(cut.brick_of(block_).nodes(),
                                                         emulator::profile_bins(machine.nodes()));
  }
  loop_ = std::make_unique<node_loop>(machine, block_count_, block_,
                                      emulator::handler_records{path_.get(), profile_.get()}, order_);
}

void emulated_block::begin(context& ctx, mobile_ptr<emulation_coordinator> coordinator,
                           const std::vector<mobile_ptr<emulated_block>>& blocks, std::uintptr_t program) {
  coordinator_ = coordinator;
  blocks_ = blocks;
  try {
    changing().start(*reinterpret_cast<const std::function<void(emulated_node&)>*>(program));
  } catch (const emulation_stopped&) {
  }
  begun_ = true;
  if (order_ == emulated_order::exact) return report(ctx);
  send_bundles(ctx);
  go_on_later(ctx);
}

void emulated_block::grant(context& ctx, std::uint64_t window, std::uint32_t bundles) {
  gate_.grant(window, bundles);
  run_if_ready(ctx);
}

void emulated_block::take(context& ctx, std::uint64_t round, std::vector<std::byte> bundle) {
  if (!changing().accept(bundle)) throw usage_error("a bundle of an emulation holds no such events");
  if (order_ == emulated_order::arrival) return go_on_later(ctx);
  gate_.bundle(round);
  run_if_ready(ctx);
}

void emulated_block::go_on_later(context& ctx) {
  if (going_on_ || !begun_) return;
  going_on_ = true;
  ctx.send<&emulated_block::go_on>(ctx.self<emulated_block>());
}

void emulated_block::go_on(context& ctx) {
  constexpr std::uint64_t windows_of_report = 256;
  going_on_ = false;
  const std::uint64_t window = loop_->first_window();
  const bool more = window != emulator::timing_wheel::no_window && !stopped_ && !loop_->failure().failed;
  if (more) {
    run_window(ctx, window);
    ++windows_;
    send_bundles(ctx);
    go_on_later(ctx);
  }
  if (more && windows_ < windows_of_report && !loop_->failure().failed) return;
  window_report one;
  one.first_window = window;
  one.events = loop_->counts().events - std::exchange(events_reported_, loop_->counts().events);
  one.windows = std::exchange(windows_, 0);
  one.failure = loop_->failure();
  if (one.windows != 0 || one.failure.failed) ctx.send<&emulation_coordinator::report>(coordinator_, std::move(one));
}

void emulated_block::run_window(context& ctx, std::uint64_t window) {
  const double began = ctx.now();
  const std::uint64_t events = loop_->counts().events;
  try {
    changing().run_window(window);
  } catch (const emulation_stopped&) {
  }
  credit_.add(ctx.now() - began, loop_->counts().events - events);
}

void emulated_block::send_bundles(context& ctx) {
  for (const std::uint32_t block : loop_->bundled()) {
    ctx.send<&emulated_block::take>(blocks_[block], gate_.round(), std::exchange(loop_->bundle(block), {}));
  }
  loop_->clear_bundles();
}

emulation_counts emulated_block::counts() const {
  emulation_counts all = loop_->counts();
  for (std::size_t hops = 1; hops < all.by_hops.size(); ++hops) all.hops += hops * all.by_hops[hops];
  return all;
}

emulation_failure emulated_block::finish(context& ctx, const std::vector<std::uintptr_t>& programs, std::int64_t end) {
  changing().finish(*reinterpret_cast<const std::function<void(emulated_node&)>*>(programs[ctx.rank().value()]), end);
  return loop_->failure();
}

void emulated_block::run_if_ready(context& ctx) {
  const auto window = gate_.pass();
  if (!window) return;
  run_window(ctx, *window);
  report(ctx);
}

void emulated_block::report(context& ctx) {
  window_report one;
  one.failure = loop_->failure();
  one.first_window = std::min(loop_->first_window(), loop_->first_bundled_window());
  one.events = loop_->counts().events - std::exchange(events_reported_, loop_->counts().events);
  one.bundled_to = loop_->bundled();
  send_bundles(ctx);
  ctx.send<&emulation_coordinator::report>(coordinator_, std::move(one));
}

emulation_coordinator::emulation_coordinator(const emulated_machine& machine,
                                             const std::vector<mobile_ptr<emulated_block>>& blocks,
                                             const emulation_options& options)
    : windows_(static_cast<std::uint32_t>(blocks.size())),
      blocks_(blocks),
      progress_(options.progress),
      order_(options.order),
      width_(node_loop::window_width(machine)) {}

void emulation_coordinator::report(context& ctx, const window_report& one) {
  events_ += one.events;
  if (order_ == emulated_order::arrival) return note_arrivals(ctx, one);
  // Blocks fail in one round, in whatever order their reports come: the first failure in virtual time is the one.
  if (one.failure.failed &&
      (!failure_.failed || std::pair(one.failure.time, one.failure.node) < std::pair(failure_.time, failure_.node))) {
    failure_ = one.failure;
  }
  if (!windows_.report(one.first_window, one.bundled_to)) return;
  if (progress_) show_progress(ctx.now(), windows_.window());
  if (failure_.failed || windows_.window() == emulator::window_coordinator::no_window) return;
  for (std::uint32_t block = 0; block < blocks_.size(); ++block) {
    ctx.send<&emulated_block::grant>(blocks_[block], windows_.window(), windows_.bundles_for(block));
  }
}

void emulation_coordinator::note_arrivals(context& ctx, const window_report& one) {
  windows_run_ += one.windows;
  if (one.failure.failed && !failure_.failed) {
    failure_ = one.failure;
    for (const mobile_ptr<emulated_block>& block : blocks_) ctx.send<&emulated_block::stop>(block);
  }
  if (progress_ && one.first_window != emulator::window_coordinator::no_window) {
    show_progress(ctx.now(), one.first_window);
  }
}

void emulation_coordinator::show_progress(double now, std::uint64_t window) {
  constexpr double interval = 0.2;
  if (began_ < 0) began_ = now;
  const bool ended = window == emulator::window_coordinator::no_window;
  if (!ended && now - shown_ < interval) return;
  shown_ = now;
  progress_({ended ? width_ : width_ * static_cast<std::int64_t>(window), events_, now - began_});
}

}  // namespace nacre::detail
