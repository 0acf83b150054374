// SPDX-License-Identifier: Apache-2.0
// What a rank keeps for all patches that are on it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <nacre/nacre.hpp>

#include "numerics/cut.hpp"
#include "numerics/problem.hpp"
#include "numerics/scratch.hpp"
#include "parallel/patch_data.hpp"

namespace waves {

/// A member of a group: handlers of several patches use it at a time. Main sets the problem when no patch exists.
class world {
 public:
  void set(std::shared_ptr<const problem> subject, const cut& cut, bool is_simulated);
  /// Whether patches declare what they take.
  [[nodiscard]] bool is_simulated() const noexcept { return is_simulated_; }
  [[nodiscard]] const std::shared_ptr<const problem>& of() const noexcept { return problem_; }
  [[nodiscard]] const cut& patches() const noexcept { return cut_; }

  /// A patch, of whatever rank, tells that of rank 0 that its displacement is no longer finite.
  void mark_unstable(nacre::context& ctx);
  [[nodiscard]] bool is_unstable();

  /// Patches of this rank, so that neighbours can write to them.
  void enter(int number, const std::shared_ptr<patch_data>& data);
  /// Null when the patch is not here.
  [[nodiscard]] std::shared_ptr<patch_data> find(int number);

  /// Scratch memory, which `give_back` returns.
  [[nodiscard]] std::unique_ptr<scratch> take_scratch();
  void give_back(std::unique_ptr<scratch> room);

 private:
  std::shared_ptr<const problem> problem_;
  cut cut_;
  bool is_simulated_ = false;
  std::mutex mutex_;  // of what follows
  bool is_unstable_ = false;
  std::unordered_map<int, std::weak_ptr<patch_data>> patches_;
  std::vector<std::unique_ptr<scratch>> rooms_;
};

}  // namespace waves
