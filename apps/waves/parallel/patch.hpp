// SPDX-License-Identifier: Apache-2.0
// A patch as a mobile object, the element of an array.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <nacre/nacre.hpp>

#include "parallel/patch_data.hpp"
#include "parallel/world.hpp"

namespace waves {

/// Displacements at a receiver, or parts of them, three numbers at first and for each step.
struct receiver_record {
  int number = 0, first_row = 0;  ///< see recorded_part
  std::vector<double> values;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(number, first_row, values);
  }
};

/// Points of a plane: rows of three components.
struct plane_part {
  int first_row = 0;
  std::vector<float> values;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(first_row, values);
  }
};

class patch {
 public:
  using array = nacre::array_ptr<patch, nacre::by_tile>;

  patch() = default;
  patch(nacre::group_ptr<world> home, int at_y, int at_z) : home_(home), at_y_(at_y), at_z_(at_z) {}

  /// Steps until `step` is reached. With `energy`, the energy of rows is summed in the last one.
  void run_until(nacre::context& ctx, array all, int step, bool energy);
  /// A halo from the neighbour in a direction.
  void halo(nacre::context& ctx, std::uint32_t exchange, std::uint32_t source, nacre::buffer rows);
  /// All halos of an exchange may be there.
  void go_on(nacre::context& ctx);

  [[nodiscard]] std::uint64_t digest(nacre::context& ctx);
  [[nodiscard]] std::vector<receiver_record> records(nacre::context& ctx);
  /// See subdomain; without the numbers of rows these are in the order of z, then y.
  [[nodiscard]] std::vector<std::array<double, 2>> errors(nacre::context& ctx);
  [[nodiscard]] std::vector<double> energies(nacre::context& ctx);
  /// The points with one z, or with one y, as the axis says; empty where the patch has none.
  [[nodiscard]] plane_part plane(nacre::context& ctx, int axis, int index);
  [[nodiscard]] std::uint64_t bytes(nacre::context& ctx);

  /// Seconds that a move takes beside the packed form: rows are copied out and in, and their tables made again.
  [[nodiscard]] double migration_cost() const;

  template <class Archive>
  void save(Archive& ar) const {
    std::optional<patch_data::packed> state = packed_;
    if (data_) state = data_->pack_up(exchange_);
    ar(home_, all_, at_y_, at_z_, exchange_, until_, energy_, state);
  }
  template <class Archive>
  void load(Archive& ar) {
    ar(home_, all_, at_y_, at_z_, exchange_, until_, energy_, packed_);
  }

 private:
  [[nodiscard]] patch_data& data(nacre::context& ctx);
  void compute(nacre::context& ctx, world& world);
  void send_halos(nacre::context& ctx, world& world);

  nacre::group_ptr<world> home_;
  array all_;
  int at_y_ = 0, at_z_ = 0;
  std::uint32_t exchange_ = 0;  // that it waits for
  int until_ = 0;
  bool energy_ = false;
  std::shared_ptr<patch_data> data_;          // made by the first handler on a rank
  std::optional<patch_data::packed> packed_;  // before that, what came with a move
};

}  // namespace waves
