// SPDX-License-Identifier: Apache-2.0
// The tree as a rank sees it: the top, its own branches, and a cache of parts of the others, for all its workers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <nacre/nacre.hpp>

#include "numerics/branch.hpp"
#include "numerics/top_tree.hpp"
#include "numerics/walk.hpp"
#include "parallel/essential.hpp"
#include "parallel/plans.hpp"

namespace nbody {

class piece;

/// A part of a branch.
struct part_name {
  std::uint32_t branch = 0, part = 0;
  friend auto operator<=>(const part_name&, const part_name&) = default;
};
/// Parts on their way, one behind the other: groups as they lie in memory, or the places and masses of bodies.
struct early_parts {
  std::vector<part_name> names{};
  std::vector<std::byte> bytes{};
};

struct store_counts {
  std::uint64_t needed = 0;    ///< parts of other ranks that walks of this rank have read, once for each walk
  std::uint64_t fetched = 0;   ///< parts that were asked for; the others were there, or on their way
  std::uint64_t pushed = 0;    ///< parts that were sent to other ranks unasked
  std::uint64_t requests = 0;  ///< messages that asked
  std::uint64_t answers = 0;   ///< messages with parts, asked for or not
  std::uint64_t bytes = 0;     ///< of the parts that came
};
struct add_counts {
  store_counts operator()(const store_counts& a, const store_counts& b) const;
};

/// One on each rank; its group is made before images are restored, and keeps nothing from one evaluation to the next.
///
/// | of a part | means |
/// |---|---|
/// | no bit | nobody on this rank has asked for it |
/// | asked_ bit | a message to its owner is under way: later walks wait for the same answer |
/// | present bit | it is there; nothing of it changes until the next evaluation |
///
/// With pushes, walks of branches that were built here ask for nothing. A piece that was moved between its build and
/// its walk asks, as nobody sends parts for it to its new rank.
///
/// Walks read without a lock: a walk begins after `fetch` has seen, under the lock, that all of its parts are present.
class store {
 public:
  using group = nacre::group_ptr<store>;

  /// Drops what is kept of evaluations before this one, so that their trees do not lie beside the new ones.
  void forget_before(epoch_number epoch);
  /// A branch that was built on this rank. Begins a new evaluation where `epoch` is one.
  void publish(epoch_number epoch, std::uint32_t number, branch_tree&& tree);
  /// How the tree is cut in an evaluation that begins, which pieces read when they build.
  void set_plan(nacre::context& ctx, cut_plan plan);
  /// Whether the plan of the evaluation, or the roots, have yet to come. Then the piece gets a message, piece::arrived,
  /// when they have.
  [[nodiscard]] bool awaits_plan(epoch_number epoch, nacre::mobile_ptr<piece> object);
  [[nodiscard]] bool awaits_roots(epoch_number epoch, nacre::mobile_ptr<piece> object);
  [[nodiscard]] const cut_plan& plan() const noexcept { return plan_; }
  /// The roots of all branches of the plan, in the order of the curve. If the plan says so, sends each other rank the
  /// parts that walks of the branches which were built there can open: now, as nobody walks yet, and walks let messages
  /// wait.
  void set_roots(nacre::context& ctx, group everywhere, std::vector<branch_root> roots);

  [[nodiscard]] const tree_rules& rules() const noexcept { return plan_.rules; }
  [[nodiscard]] const top_tree& top() const noexcept { return top_; }
  [[nodiscard]] const std::vector<branch_root>& roots() const noexcept { return roots_; }
  [[nodiscard]] std::span<const branch_view> views() const noexcept { return views_; }

  /// Asks the owners for all parts that walks of the branches from `first` to `end` need next and this rank has not.
  /// False: everything is there. Else the piece gets a message, piece::arrived, when what is missing now has come, and
  /// asks again.
  [[nodiscard]] bool fetch(nacre::context& ctx, group everywhere, std::uint32_t first, std::uint32_t end,
                           nacre::mobile_ptr<piece> object);
  /// A request of another rank.
  void serve(nacre::context& ctx, group everywhere, epoch_number epoch, const std::vector<part_name>& names);
  /// The answer to a request of this rank, or what another rank has pushed: of an evaluation that is over, if the piece
  /// that needed it has been moved away.
  void deliver(nacre::context& ctx, epoch_number epoch, std::vector<part_name> names, std::span<const std::byte> bytes);

  /// Memory for a walk, which nobody else uses meanwhile.
  [[nodiscard]] std::unique_ptr<walk_memory> borrow();
  void give_back(std::unique_ptr<walk_memory> memory);

  [[nodiscard]] store_counts take_counts();

 private:
  struct waiter {
    nacre::mobile_ptr<piece> client;
    std::size_t parts;
  };
  struct fetched_branch {
    group_array groups;
    std::vector<float> bodies;  // x, y, z, mass
  };
  void begin(epoch_number epoch);
  void call_early_pieces(nacre::context& ctx);
  void take_roots(nacre::rank_id rank, std::vector<branch_root> roots);
  void push(nacre::context& ctx, group everywhere);
  /// Takes the parts; those that are here already are the same.
  void insert(const std::vector<part_name>& names, std::span<const std::byte> bytes);
  /// Both return what is left of the bytes behind the part.
  [[nodiscard]] std::span<const std::byte> insert_groups(std::uint32_t branch, std::span<const std::byte> bytes);
  [[nodiscard]] std::span<const std::byte> insert_bodies(const part_name& name, std::span<const std::byte> bytes);
  void add_part(const part_name& name, std::vector<std::byte>& bytes) const;
  void send_parts(nacre::context& ctx, group everywhere, nacre::rank_id target, const std::vector<part_name>& names);

  epoch_number epoch_ = 0;
  cut_plan plan_{};
  top_tree top_{};
  std::vector<branch_root> roots_{};
  std::vector<branch_view> views_{};
  std::map<std::uint32_t, std::unique_ptr<branch_tree>> own_trees_{};

  std::mutex mutex_{};  // guards what follows, and own_trees_ while they are filled
  std::vector<part_mask> asked_{}, present_{};
  std::map<std::uint32_t, fetched_branch> fetched_{};
  std::map<part_name, std::vector<std::shared_ptr<waiter>>> waiters_{};
  epoch_number roots_epoch_ = 0;                          // whose roots are there
  std::vector<nacre::mobile_ptr<piece>> early_pieces_{};  // wait for the plan or for the roots
  std::vector<early_parts> early_{};                      // pushed by a rank that had the roots before this one
  std::vector<std::unique_ptr<walk_memory>> memory_{};
  store_counts counts_{};
};

}  // namespace nbody
