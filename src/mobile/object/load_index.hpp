// SPDX-License-Identifier: Apache-2.0
// The objects of a rank that declare a load, by magnitude, so that balancers find heavy ones without a walk.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace nacre {

class object_entry;
struct object_entry_extra;

/// Objects with a load() above 0, in buckets by powers of two. Only these objects cost time here, and only when their
/// load has changed by more than an eighth since it was noted.
///
/// Invariant: an entry is in the index while its extra says so (`indexed`), in the bucket of that load, at the position
/// in the extra; all three change together under the lock. So removal takes one look, and an entry leaves the index
/// before it gives up its extra.
class load_index {
 public:
  static constexpr std::size_t buckets = 128;

  /// Notes the load of an object; a load of at most 0, or not a number, removes the object. The holder of the entry's
  /// activation.
  void note(object_entry& entry, object_entry_extra& extra, double load);
  /// Forgets an object, before its extra goes. The holder of the entry's activation.
  void forget(object_entry_extra& extra);

  [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }  // an estimate
  /// The sum of the noted loads, but for rounding; a load above 1e100 counts as 1e100.
  [[nodiscard]] double sum();
  /// Visits at most `most` objects, heavy buckets first, and another part of a bucket with each call:
  /// visit(object_entry&, the bucket's number, how many are in the bucket). False from `visit`: no more of this bucket.
  /// Objects do not leave during the visit, so `visit` only looks. Poll loop.
  template <class Visit>
  void visit(std::size_t most, Visit visit) {
    const std::scoped_lock lock(guard_);
    ++round_;
    for (std::size_t number = buckets_.size(); number-- > 0;) {
      const std::vector<object_entry*>& bucket = buckets_[number];
      const std::size_t first = bucket.empty() ? 0 : round_ * 61 % bucket.size();  // 61: an arbitrary large odd step
      for (std::size_t seen = 0; seen < bucket.size(); ++seen, --most) {
        if (most == 0) return;
        if (!visit(*bucket[(first + seen) % bucket.size()], number, bucket.size())) break;
      }
    }
  }

 private:
  [[nodiscard]] static std::size_t bucket_of(double load) noexcept;
  [[nodiscard]] static double counted(double load) noexcept;
  void take_out(object_entry_extra& extra);

  std::mutex guard_;                                           // held for moments; no other lock is taken meanwhile
  std::array<std::vector<object_entry*>, buckets> buckets_{};  // under the guard
  std::array<double, buckets> sums_{};                         // under the guard
  std::size_t round_ = 0;                                      // under the guard
  std::atomic<std::size_t> size_{0};                           // written under the guard
};

}  // namespace nacre
