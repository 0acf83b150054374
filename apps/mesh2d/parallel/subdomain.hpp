// SPDX-License-Identifier: Apache-2.0
// A subdomain as a mobile object.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include <nacre/nacre.hpp>

#include "kernel/check.hpp"
#include "kernel/part.hpp"
#include "kernel/size_rule.hpp"
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

/// The time that a rank has spent on refinement.
class rank_clock {
 public:
  void add(double seconds) noexcept { nanoseconds_ += static_cast<std::uint64_t>(seconds * 1e9); }
  [[nodiscard]] double seconds() const noexcept { return static_cast<double>(nanoseconds_.load()) * 1e-9; }

 private:
  std::atomic<std::uint64_t> nanoseconds_{0};
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

  void begin(nacre::context& ctx, const array& all, nacre::group_ptr<rank_clock> clocks, part work,
             const size_rule& rule, double expected, exchange how);
  void go_on(nacre::context& ctx);
  void take_splits(nacre::context& ctx, const std::vector<piece_split>& splits);
  /// Ends a round, on all subdomains before the next one begins on any: its splits are those that have come by now.
  void end_round();
  /// Applies the splits of the round before, in an order that does not depend on time.
  void next_round(nacre::context& ctx);

  /// Checks the part, and sends its side of each interface to the neighbour.
  void check(nacre::context& ctx);
  void compare(std::uint32_t neighbour, const std::vector<interface_record>& theirs);
  [[nodiscard]] findings found() const { return found_; }

  [[nodiscard]] subdomain_counts counts() const;
  [[nodiscard]] mesh_copy copy() const;
  /// Its part of a picture.
  [[nodiscard]] raster_tile draw(nacre::context& ctx, const raster_frame& frame, colouring by) const;
  /// For balancers: the triangles that are still to come.
  [[nodiscard]] double load() const;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(all_, clocks_, rule_, expected_, how_, begun_, scheduled_, refined_, splits_sent_, messages_, waiting_,
       of_last_round_, found_, work_);
  }

 private:
  void schedule(nacre::context& ctx);
  void tell_neighbours(nacre::context& ctx);
  void apply(std::vector<piece_split>& splits);
  void reserve();

  array all_{};
  nacre::group_ptr<rank_clock> clocks_{};
  size_rule rule_{};
  double expected_ = 0;
  exchange how_ = exchange::at_once;
  bool begun_ = false, scheduled_ = false, refined_ = false;
  std::uint64_t splits_sent_ = 0, messages_ = 0;
  std::vector<piece_split> waiting_{}, of_last_round_{};
  findings found_{};
  part work_{};
};

}  // namespace mesh2d
