// SPDX-License-Identifier: Apache-2.0
// Where the handlers of a rank find what the rank keeps for a search.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <nacre/nacre.hpp>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace uts {

/// What a handler throws when a message is none that its sender may send now. It ends the job with these words.
[[nodiscard]] inline std::runtime_error refusal(const nacre::context& ctx, const char* reason) {
  return std::runtime_error("rank " + std::to_string(ctx.source().value()) + " sends " + reason);
}

/// What a rank keeps for a search, made and owned by its main. Messages do not say where it is: whatever a peer sends,
/// a handler finds the part of its own rank, or none. A process has one search of a kind at a time. Any thread.
template <class Part>
class rank_part {
 public:
  template <class... Args>
  explicit rank_part(nacre::rank_id rank, Args&&... args)
      : rank_(rank.value()), part_(std::make_shared<Part>(std::forward<Args>(args)...)) {
    const std::scoped_lock lock(all().mutex);
    auto& by_rank = all().by_rank;
    if (by_rank.size() <= rank_) by_rank.resize(rank_ + 1);
    if (by_rank[rank_] != nullptr) throw nacre::usage_error("a rank searches two trees at a time");
    by_rank[rank_] = part_;
  }
  rank_part(const rank_part&) = delete;
  rank_part& operator=(const rank_part&) = delete;
  ~rank_part() {
    const std::scoped_lock lock(all().mutex);
    all().by_rank[rank_] = nullptr;
  }

  [[nodiscard]] Part* operator->() const noexcept { return part_.get(); }

  /// Of the rank that runs the handler; stays while the handler has it. Throws refusal when there is none.
  [[nodiscard]] static std::shared_ptr<Part> of(const nacre::context& ctx) {
    const std::shared_lock lock(all().mutex);
    const auto& by_rank = all().by_rank;
    const std::size_t rank = ctx.rank().value();
    if (rank >= by_rank.size() || by_rank[rank] == nullptr) throw refusal(ctx, "a message of a search that is not");
    return by_rank[rank];
  }

 private:
  struct table {
    std::shared_mutex mutex;
    std::vector<std::shared_ptr<Part>> by_rank;
  };
  static table& all() {
    static table of_process;
    return of_process;
  }

  const std::size_t rank_;
  const std::shared_ptr<Part> part_;
};

/// Some messages are for the sender's own rank only. Throws refusal when another sends one.
inline void expect_own(const nacre::context& ctx) {
  if (ctx.source() != ctx.rank()) throw refusal(ctx, "a message that a rank sends to itself only");
}

}  // namespace uts
