// SPDX-License-Identifier: Apache-2.0
// A scheduler that knows how many items are in it, whatever the one below says.
#pragma once

#include <cstdint>
#include <optional>

#include <nacre/scheduler.hpp>

namespace nacre {

/// Passes everything on and counts. One thread.
class counted_scheduler final : public scheduler {
 public:
  explicit counted_scheduler(scheduler& below) noexcept : below_(below) {}

  /// Items that have been pushed and not popped.
  [[nodiscard]] std::uint64_t items() const noexcept { return items_; }

  void push(worker_id by, work& item) override {
    ++items_;
    below_.push(by, item);
  }
  void push_made(worker_id by, work& item) override {
    ++items_;
    below_.push_made(by, item);
  }
  [[nodiscard]] work* pop(worker_id by) override {
    work* const item = below_.pop(by);
    if (item != nullptr) --items_;
    return item;
  }
  void feel(worker_id by, pressure now) override { below_.feel(by, now); }
  [[nodiscard]] std::size_t waiting(worker_id by) const override { return below_.waiting(by); }
  [[nodiscard]] std::uint64_t steals(worker_id by) const override { return below_.steals(by); }
  [[nodiscard]] std::optional<worker_id> last_victim(worker_id by) const override { return below_.last_victim(by); }

 private:
  scheduler& below_;
  std::uint64_t items_ = 0;
};

}  // namespace nacre
