// SPDX-License-Identifier: Apache-2.0
// The fields of a patch and the halos that have come, which neighbours on the same rank fill directly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "numerics/cut.hpp"
#include "numerics/halo_exchange.hpp"
#include "numerics/subdomain.hpp"

namespace waves {

/// Exchanges are numbered: 2n is that of the displacement of step n, 2n + 1 that of the acceleration in step n. A
/// neighbour is at most one exchange ahead, since it waits for this patch's halos. Halos of two exchanges in a row have
/// different memory, and a patch that computes after an exchange reads no halo of the next one. So a halo is written to
/// its place at once, by a message or by a neighbour's thread.
class patch_data {
 public:
  patch_data(std::shared_ptr<const problem> subject, const cut& cut, int at_y, int at_z);

  [[nodiscard]] subdomain& fields() noexcept { return fields_; }
  [[nodiscard]] bool has_neighbour(std::size_t number) const noexcept { return (neighbours_ >> number & 1) != 0; }

  /// Writes a halo from the neighbour in a direction, and returns whether it was the last one of its exchange.
  [[nodiscard]] bool take(std::uint32_t exchange, std::size_t source, std::span<const double> packed);
  /// Does the same with the rows of a neighbour's field. Returns nothing, and does nothing, once the patch has been
  /// packed to move.
  [[nodiscard]] std::optional<bool> take_rows(std::uint32_t exchange, std::size_t source, const rows& field,
                                              const patch_box& neighbour);
  /// Whether all halos of an exchange are there; forgets them if so.
  [[nodiscard]] bool consume(std::uint32_t exchange);
  /// The field of an exchange.
  [[nodiscard]] rows& field_of(std::uint32_t exchange) noexcept;

  /// For an image or a move: neighbours no longer write here until `reopen`.
  struct packed {
    subdomain_state state;
    std::array<std::uint8_t, 2> arrived{};
    template <class Archive>
    void serialize(Archive& ar) {
      ar(state, arrived);
    }
  };
  [[nodiscard]] packed pack_up(std::uint32_t exchange);
  void restore(const packed& packed);
  void reopen();

 private:
  bool mark(std::uint32_t exchange, std::size_t source) noexcept;

  subdomain fields_;
  std::uint8_t neighbours_ = 0;  // a bit for each direction
  std::mutex mutex_;
  std::array<std::uint8_t, 2> arrived_{};  // for even and odd exchanges
  bool closed_ = false;
};

}  // namespace waves
