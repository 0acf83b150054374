// SPDX-License-Identifier: Apache-2.0
// A subdomain as a mobile object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "kernel/check.hpp"
#include "kernel/part.hpp"
#include "kernel/size_rule.hpp"
#include "meshing/rank_clock.hpp"
#include "picture/raster.hpp"

namespace mesh2d {

/// The exchange of splits: at once, or in rounds that all subdomains begin together.
enum class exchange : std::uint8_t { at_once, in_rounds };

/// A mesh for files: triangles by their vertices, and names for vertices that other subdomains have, too.
struct mesh_copy {
  static constexpr std::uint64_t unshared = ~std::uint64_t{0};

  std::vector<point> points{};
  std::vector<std::uint64_t> names{};       // of points; `unshared` where no other subdomain has the point
  std::vector<std::uint8_t> on_boundary{};  // whether a point lies on an input segment
  std::vector<std::array<std::uint32_t, 3>> triangles{};
  std::vector<std::uint32_t> regions{};  // of triangles
  template <class Archive>
  void serialize(Archive& ar) {
    ar(points, names, on_boundary, triangles, regions);
  }
};

/// The field of --size on a rank, if there is one.
class rank_field {
 public:
  /// Before any subdomain begins.
  void set(std::shared_ptr<const size_field> field, double triangles_expected) noexcept {
    field_ = std::move(field);
    triangles_max_ = triangles_by_samples(triangles_expected);
  }
  [[nodiscard]] const size_field* get() const noexcept { return field_.get(); }
  /// A subdomain has outgrown the samples of the field.
  void outgrown(std::uint64_t triangles, const point& point) {
    const std::lock_guard lock(lock_);
    outgrown_ = field_faults::sum(outgrown_, {.count = 1, .first = point, .triangles = triangles});
  }
  /// Beyond it a subdomain has outgrown the samples.
  [[nodiscard]] std::size_t triangles_max() const noexcept { return triangles_max_; }
  [[nodiscard]] field_faults faults() const {
    if (field_ == nullptr) return {};
    const std::lock_guard lock(lock_);
    return field_faults::sum(field_->faults(), outgrown_);
  }

 private:
  std::shared_ptr<const size_field> field_{};
  std::size_t triangles_max_ = 0;
  mutable std::mutex lock_{};
  field_faults outgrown_{};
};

/// The objects that each rank has one of.
struct rank_objects {
  nacre::group_ptr<meshing::rank_clock> clocks{};
  nacre::group_ptr<rank_field> fields{};
  template <class Archive>
  void serialize(Archive& ar) {
    ar(clocks, fields);
  }
};

struct subdomain_counts {
  std::uint64_t triangles = 0, vertices = 0, bytes = 0, splits_sent = 0, messages = 0;
  bool waiting = false;  // splits have come that the next round will apply
  template <class Archive>
  void serialize(Archive& ar) {
    ar(triangles, vertices, bytes, splits_sent, messages, waiting);
  }
  static subdomain_counts sum(const subdomain_counts& a, const subdomain_counts& b);
};

/// Refines its part in slices, each a message to itself, and tells its neighbours in bulk which interfaces it has
/// split. All is done when no message is under way any more.
class subdomain {
 public:
  using array = nacre::array_ptr<subdomain>;

  void begin(nacre::context& ctx, const array& all, const rank_objects& of_ranks, part work, const size_rule& rule,
             double expected, exchange exchange);
  void go_on(nacre::context& ctx);
  void take_splits(nacre::context& ctx, const std::vector<piece_split>& splits);
  /// Ends a round, on all subdomains before the next one begins on any: its splits are those that have come by now.
  void end_round();
  /// Applies the splits of the round before, in an order that does not depend on time.
  void next_round(nacre::context& ctx);

  /// Checks the part, and sends its side of each interface to the neighbour.
  void check(nacre::context& ctx);
  void compare(std::uint32_t neighbour, const std::vector<interface_record>& theirs);
  [[nodiscard]] findings found() const { return findings_; }

  [[nodiscard]] subdomain_counts counts() const;
  [[nodiscard]] mesh_copy copy() const;
  /// Its part of a picture.
  [[nodiscard]] raster_tile draw(nacre::context& ctx, const raster_frame& frame, colouring colouring) const;
  /// For balancers: the triangles that are still to come.
  [[nodiscard]] double load() const;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(all_, of_ranks_, rule_, expected_, exchange_, begun_, scheduled_, refined_, splits_sent_, messages_, waiting_,
       of_last_round_, findings_, work_);
  }

 private:
  void schedule(nacre::context& ctx);
  void tell_neighbours(nacre::context& ctx);
  void apply(nacre::context& ctx, std::vector<piece_split>& splits);
  /// The rule, with the field of the rank where the subdomain is.
  const size_rule& rule(nacre::context& ctx);
  /// Whether the field of --size has turned out to be faulty, on this rank: then the job ends with a line about it.
  bool has_faulty_field(nacre::context& ctx) const;
  void reserve();

  array all_{};
  rank_objects of_ranks_{};
  size_rule rule_{};
  double expected_ = 0;
  exchange exchange_ = exchange::at_once;
  bool begun_ = false, scheduled_ = false, refined_ = false;
  std::uint64_t splits_sent_ = 0, messages_ = 0;
  std::vector<piece_split> waiting_{}, of_last_round_{};
  findings findings_{};
  part work_{};
};

}  // namespace mesh2d
