// SPDX-License-Identifier: Apache-2.0
// A relaxation on a grid of cells, 27 of them a node, with a reduction of the residual after every sweep. The result is
// compared, bit for bit, with that of one loop over all cells.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "programs.hpp"

namespace emulate {
namespace {

using nacre::coordinates;
using nacre::emulated_node;

constexpr std::int32_t side = 3;
using face = std::array<double, side * side>;

/// The value of a cell before the first sweep. Cells outside of the grid are 0 for ever.
double first_value(std::int64_t x, std::int64_t y, std::int64_t z) {
  return static_cast<double>((x * 7919 + y * 104'729 + z * 1'299'709) % 1000) / 1000;
}

double relaxed(double west, double east, double south, double north, double below, double above) {
  return (west + east + south + north + below + above) / 6;
}

/// The sum of such numbers over all cells does not depend on their order.
std::uint64_t fingerprint(std::int64_t x, std::int64_t y, std::int64_t z, double value) {
  std::uint64_t word = std::bit_cast<std::uint64_t>(value) ^ static_cast<std::uint64_t>((z << 42) ^ (y << 21) ^ x);
  word = (word ^ word >> 31) * 0x9e3779b97f4a7c15;
  return (word ^ word >> 29) * 0xbf58476d1ce4e5b9;
}

/// What is left of one sweep: the largest change of a cell, and the fingerprint of all.
struct residual {
  double change = 0;
  std::uint64_t cells = 0;
  std::uint32_t parts = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(change, cells, parts);
  }
};

struct brick_of_cells {
  std::array<double, side * side * side> cells{};
  std::array<std::array<face, 6>, 2> halos{};  ///< by the parity of the sweep, then by the side
  std::array<std::uint32_t, 2> heard{};
  std::uint32_t sweep = 0;
  std::map<std::uint32_t, residual> residuals;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(cells, halos, heard, sweep, residuals);
  }
  double& at(std::int32_t x, std::int32_t y, std::int32_t z) {
    return cells[static_cast<std::size_t>(x + side * (y + side * z))];
  }
};

struct face_message {
  std::uint32_t sweep, sweeps;
  std::uint32_t from_side;  ///< of the receiver: 0 west, 1 east, 2 south, 3 north, 4 below, 5 above
  std::uint32_t unused = 0;
  face values;
};

/// The residual of the last sweep, where the corner has it.
std::atomic<std::uint64_t> last_change{0}, last_cells{0};

coordinates neighbour(coordinates at, std::uint32_t number) {
  const std::int32_t step = number % 2 == 0 ? -1 : 1;
  (number < 2 ? at.x : number < 4 ? at.y : at.z) += step;
  return at;
}
bool inside(const coordinates& at, const coordinates& grid) {
  return at.x >= 0 && at.y >= 0 && at.z >= 0 && at.x < grid.x && at.y < grid.y && at.z < grid.z;
}

/// Adds up residuals along lines to the corner, as the reduction of the paper does.
void add_residual(emulated_node& here, std::uint32_t sweep, std::uint32_t sweeps, double change, std::uint64_t cells) {
  const coordinates& at = here.at();
  const coordinates& grid = here.machine().grid;
  const std::uint32_t expected =
      1 + (at.z + 1 < grid.z) + (at.z == 0 && at.y + 1 < grid.y) + (at.z == 0 && at.y == 0 && at.x + 1 < grid.x);
  auto& all = here.state<brick_of_cells>().residuals;
  residual& sum = all[sweep];
  sum.change = std::max(sum.change, change);
  sum.cells += cells;
  if (++sum.parts < expected) return;
  const residual whole = sum;
  all.erase(sweep);
  if (at.z > 0) return here.send<add_residual>({at.x, at.y, at.z - 1}, sweep, sweeps, whole.change, whole.cells);
  if (at.y > 0) return here.send<add_residual>({at.x, at.y - 1, at.z}, sweep, sweeps, whole.change, whole.cells);
  if (at.x > 0) return here.send<add_residual>({at.x - 1, at.y, at.z}, sweep, sweeps, whole.change, whole.cells);
  if (sweep != sweeps) return;
  // Only this node writes them, and main reads them once the emulation has ended.
  last_change = std::bit_cast<std::uint64_t>(whole.change);
  last_cells = whole.cells;
}

void take_face(emulated_node& here, face_message message);

void send_faces(emulated_node& here, brick_of_cells& own, std::uint32_t sweeps) {
  for (std::uint32_t number = 0; number < 6; ++number) {
    const coordinates to = neighbour(here.at(), number);
    if (!inside(to, here.machine().grid)) continue;
    face_message message{own.sweep, sweeps, number ^ 1, 0, {}};
    const std::int32_t fixed = number % 2 == 0 ? 0 : side - 1;
    for (std::int32_t b = 0, k = 0; b < side; ++b) {
      for (std::int32_t a = 0; a < side; ++a, ++k) {
        message.values[static_cast<std::size_t>(k)] = number < 2   ? own.at(fixed, a, b)
                                                      : number < 4 ? own.at(a, fixed, b)
                                                                   : own.at(a, b, fixed);
      }
    }
    here.send<take_face>(to, message);
  }
}

residual sweep_cells(brick_of_cells& own, const coordinates& at, const std::array<face, 6>& halo) {
  residual result;
  const auto value = [&](std::int32_t x, std::int32_t y, std::int32_t z) {
    const auto of = [&](std::size_t number, std::int32_t a, std::int32_t b) {
      return halo[number][static_cast<std::size_t>(a + side * b)];
    };
    if (x < 0) return of(0, y, z);
    if (x == side) return of(1, y, z);
    if (y < 0) return of(2, x, z);
    if (y == side) return of(3, x, z);
    if (z < 0) return of(4, x, y);
    return z == side ? of(5, x, y) : own.at(x, y, z);
  };
  brick_of_cells next;
  for (std::int32_t z = 0; z < side; ++z) {
    for (std::int32_t y = 0; y < side; ++y) {
      for (std::int32_t x = 0; x < side; ++x) {
        const double now = relaxed(value(x - 1, y, z), value(x + 1, y, z), value(x, y - 1, z), value(x, y + 1, z),
                                   value(x, y, z - 1), value(x, y, z + 1));
        result.change = std::max(result.change, std::fabs(now - own.at(x, y, z)));
        result.cells += fingerprint(at.x * side + x, at.y * side + y, at.z * side + z, now);
        next.at(x, y, z) = now;
      }
    }
  }
  own.cells = next.cells;
  return result;
}

/// Runs sweeps while all neighbours' faces for them are here.
void advance(emulated_node& here, brick_of_cells& own, std::uint32_t sweeps) {
  std::uint32_t neighbours = 0;
  for (std::uint32_t number = 0; number < 6; ++number) {
    neighbours += inside(neighbour(here.at(), number), here.machine().grid) ? 1 : 0;
  }
  while (own.sweep < sweeps && own.heard[own.sweep % 2] == neighbours) {
    own.heard[own.sweep % 2] = 0;
    const residual part = sweep_cells(own, here.at(), own.halos[own.sweep % 2]);
    ++own.sweep;
    add_residual(here, own.sweep, sweeps, part.change, part.cells);
    if (own.sweep < sweeps) send_faces(here, own, sweeps);
  }
}

void take_face(emulated_node& here, face_message message) {
  brick_of_cells& own = here.state<brick_of_cells>();
  own.halos[message.sweep % 2][message.from_side] = message.values;
  ++own.heard[message.sweep % 2];
  if (message.sweep == own.sweep) advance(here, own, message.sweeps);
}

void begin(emulated_node& here, std::uint32_t sweeps) {
  brick_of_cells& own = here.state<brick_of_cells>();
  const coordinates& at = here.at();
  for (std::int32_t z = 0; z < side; ++z) {
    for (std::int32_t y = 0; y < side; ++y) {
      for (std::int32_t x = 0; x < side; ++x) {
        own.at(x, y, z) = first_value(at.x * side + x, at.y * side + y, at.z * side + z);
      }
    }
  }
  send_faces(here, own, sweeps);
  advance(here, own, sweeps);
}

/// The sweeps in one loop over all cells, with a border of zeros.
residual relax_plainly(const coordinates& grid, std::uint32_t sweeps) {
  const std::int64_t nx = grid.x * side, ny = grid.y * side, nz = grid.z * side;
  const auto place = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    return static_cast<std::size_t>(x + 1 + (nx + 2) * (y + 1 + (ny + 2) * (z + 1)));
  };
  std::vector<double> now(static_cast<std::size_t>((nx + 2) * (ny + 2) * (nz + 2)), 0.0);
  const auto for_each = [&](auto visit) {
    for (std::int64_t z = 0; z < nz; ++z) {
      for (std::int64_t y = 0; y < ny; ++y) {
        for (std::int64_t x = 0; x < nx; ++x) visit(x, y, z);
      }
    }
  };
  for_each([&](auto x, auto y, auto z) { now[place(x, y, z)] = first_value(x, y, z); });
  residual result;
  for (std::uint32_t sweep = 0; sweep < sweeps; ++sweep) {
    std::vector<double> next(now.size(), 0.0);
    result = {};
    for_each([&](auto x, auto y, auto z) {
      const double value = relaxed(now[place(x - 1, y, z)], now[place(x + 1, y, z)], now[place(x, y - 1, z)],
                                   now[place(x, y + 1, z)], now[place(x, y, z - 1)], now[place(x, y, z + 1)]);
      result.change = std::max(result.change, std::fabs(value - now[place(x, y, z)]));
      result.cells += fingerprint(x, y, z, value);
      next[place(x, y, z)] = value;
    });
    now.swap(next);
  }
  return result;
}

}  // namespace

program_result run_jacobi(nacre::runtime& rt, const nacre::emulated_machine& machine, const program_parameters& with,
                          const nacre::emulation_options& how) {
  const std::uint32_t sweeps = with.rounds;
  last_change = last_cells = 0;
  rt.barrier();
  const auto start = [&](emulated_node& here) { here.add_task<begin>(sweeps); };
  program_result result{nacre::emulate(rt, machine, start, how)};
  const auto most = [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); };
  const std::uint64_t change = rt.all_reduce(last_change.load(), most);
  const std::uint64_t cells = rt.all_reduce(last_cells.load(), most);
  if (rt.rank().value() != 0) return result;
  const residual plain = relax_plainly(machine.grid, sweeps);
  if (change == std::bit_cast<std::uint64_t>(plain.change) && cells == plain.cells) return result;
  result.error = fmt::format("residual {} and cells {:x}, but one loop gives {} and {:x}",
                             std::bit_cast<double>(change), cells, plain.change, plain.cells);
  return result;
}

}  // namespace emulate
