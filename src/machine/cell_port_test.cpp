// SPDX-License-Identifier: Apache-2.0
// A port of cells against drops worked out by hand, and against known results on overloaded ports.
#include "machine/cell_port.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <nacre/rng.hpp>

namespace nacre::machine {
namespace {

using std::chrono::nanoseconds;

constexpr std::int64_t cell_ns = 53;  // a byte takes 1 ns

[[nodiscard]] cell_port_options plain(std::uint64_t buffer_cells, cell_discard discard, std::uint64_t threshold = 0) {
  return {.bytes_per_second = 1e9,
          .buffer_cells = buffer_cells,
          .circuits = 8,
          .discard = discard,
          .threshold_cells = threshold};
}

/// Which of the cells of one packet that arrive at one time are passed on, as "1" and "0".
[[nodiscard]] std::string passed(cell_port& port, std::uint32_t circuit, std::uint64_t length, std::int64_t time) {
  std::string word;
  for (std::uint64_t place = 0; place < length; ++place) {
    const atm_cell cell{.circuit = circuit, .packet = 0, .place = place, .length = length};
    word += port.arrive(cell, nanoseconds(time)) ? '1' : '0';
  }
  return word;
}

TEST(cell_port, a_message_and_the_trailer_of_its_packet_fill_whole_cells) {
  EXPECT_EQ(aal5_cells(0), 1U);
  EXPECT_EQ(aal5_cells(40), 1U);
  EXPECT_EQ(aal5_cells(41), 2U);
  EXPECT_EQ(aal5_cells(88), 2U);
  EXPECT_EQ(aal5_cells(600), 13U);
  EXPECT_EQ(aal5_cells(10240), 214U);
}

TEST(cell_port, without_discard_only_cells_without_room_are_dropped) {
  cell_port port(plain(3, cell_discard::tail));
  EXPECT_EQ(passed(port, 0, 5, 0), "11100");
  EXPECT_EQ(passed(port, 1, 3, 2 * cell_ns), "110");  // two have left
  EXPECT_EQ(port.dropped(), 3U);
}

/// The buffer has room again when the second half of the packet comes; its last cell passes, as it separates packets.
TEST(cell_port, partial_discard_drops_the_rest_of_a_damaged_packet_but_its_last_cell) {
  cell_port port(plain(2, cell_discard::partial));
  const auto arrives = [&](std::uint32_t circuit, std::uint64_t place, std::int64_t time) {
    return port.arrive({.circuit = circuit, .packet = 0, .place = place, .length = 5}, nanoseconds(time)).has_value();
  };
  EXPECT_TRUE(arrives(0, 0, 0));
  EXPECT_TRUE(arrives(1, 0, 0));
  EXPECT_FALSE(arrives(0, 1, 0));  // no room
  EXPECT_FALSE(arrives(0, 2, 10 * cell_ns));
  EXPECT_TRUE(arrives(1, 1, 10 * cell_ns));  // another circuit
  EXPECT_FALSE(arrives(0, 3, 20 * cell_ns));
  EXPECT_TRUE(arrives(0, 4, 20 * cell_ns));
  EXPECT_EQ(port.occupied_cells(nanoseconds(20 * cell_ns)), 1U);
  EXPECT_EQ(port.dropped(), 3U);
  EXPECT_EQ(passed(port, 0, 2, 30 * cell_ns), "11") << "the next packet of the circuit";
}

TEST(cell_port, where_the_rest_of_a_damaged_packet_is_dropped_its_last_cell_is_too) {
  cell_port port(plain(2, cell_discard::rest));
  EXPECT_EQ(passed(port, 0, 3, 0), "110");
  EXPECT_EQ(passed(port, 1, 3, 0), "000");
  EXPECT_EQ(passed(port, 0, 2, 2 * cell_ns), "11");
  EXPECT_EQ(passed(port, 1, 3, 3 * cell_ns), "100");
  const atm_cell last{.circuit = 1, .packet = 0, .place = 2, .length = 3};
  EXPECT_FALSE(port.arrive(last, nanoseconds(9 * cell_ns))) << "though there is room";
}

TEST(cell_port, a_last_cell_without_room_is_dropped_under_partial_discard_too) {
  cell_port port(plain(1, cell_discard::partial));
  EXPECT_EQ(passed(port, 0, 3, 0), "100");
  EXPECT_EQ(passed(port, 1, 1, 0), "0");
  EXPECT_EQ(passed(port, 1, 1, cell_ns), "1");
}

TEST(cell_port, early_discard_refuses_whole_packets_from_the_threshold_on) {
  cell_port port(plain(10, cell_discard::early, 4));
  EXPECT_EQ(passed(port, 0, 3, 0), "111");
  EXPECT_EQ(passed(port, 1, 5, 0), "11111");  // begun below the threshold, and goes on above it
  EXPECT_EQ(passed(port, 2, 1, 0), "0");
  EXPECT_EQ(passed(port, 0, 3, 4 * cell_ns), "000");
  EXPECT_EQ(passed(port, 0, 3, 5 * cell_ns), "111");  // three of eight are left
  EXPECT_EQ(port.dropped(), 4U);
}

TEST(cell_port, early_discard_treats_a_packet_without_room_as_partial_discard_does) {
  cell_port port(plain(4, cell_discard::early, 4));
  EXPECT_EQ(passed(port, 0, 6, 0), "111100");
  EXPECT_EQ(passed(port, 1, 2, 4 * cell_ns), "11");
}

TEST(packet_assembly, a_packet_is_whole_when_all_its_cells_have_come) {
  packet_assembly assembly;
  EXPECT_FALSE(assembly.arrive({.packet = 0, .place = 0, .length = 2}));
  EXPECT_TRUE(assembly.arrive({.packet = 0, .place = 1, .length = 2}));
  EXPECT_TRUE(assembly.arrive({.packet = 1, .place = 0, .length = 1}));
  EXPECT_FALSE(assembly.arrive({.packet = 2, .place = 1, .length = 2})) << "its first cell is missing";
  EXPECT_TRUE(assembly.arrive({.packet = 3, .place = 0, .length = 1}));
}

TEST(packet_assembly, a_packet_without_its_last_cell_takes_the_next_one_with_it) {
  packet_assembly assembly;
  EXPECT_FALSE(assembly.arrive({.packet = 0, .place = 0, .length = 2}));
  EXPECT_FALSE(assembly.arrive({.packet = 1, .place = 0, .length = 2}));
  EXPECT_FALSE(assembly.arrive({.packet = 1, .place = 1, .length = 2}));
  EXPECT_FALSE(assembly.arrive({.packet = 2, .place = 0, .length = 2}));
  EXPECT_TRUE(assembly.arrive({.packet = 2, .place = 1, .length = 2}));
  // Right number of cells, of two packets.
  EXPECT_FALSE(assembly.arrive({.packet = 3, .place = 0, .length = 2}));
  EXPECT_FALSE(assembly.arrive({.packet = 4, .place = 1, .length = 2}));
  EXPECT_TRUE(assembly.arrive({.packet = 5, .place = 0, .length = 1}));
}

/// Circuits that send packet behind packet, each at a random part of the port's cell times, of which `ratio` come for
/// each that can leave.
struct overload {
  std::uint32_t circuits;
  std::uint64_t length;
  double ratio;

  struct outcome {
    double goodput;  // of the link
    std::uint64_t damaged;
  };
  [[nodiscard]] outcome play(cell_port_options options) const {
    constexpr std::int64_t slots = 60'000;
    options.circuits = circuits;
    cell_port port(options);
    std::vector<packet_assembly> assemblies(circuits);
    std::vector<atm_cell> next(circuits);
    std::vector<std::uint64_t> passed(circuits);
    outcome done{};
    std::uint64_t whole_cells = 0;
    rng random(1);
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      const auto first = static_cast<std::uint32_t>(random.below(circuits));
      for (std::uint32_t i = 0; i < circuits; ++i) {
        if (random.uniform() * circuits >= ratio) continue;
        const std::uint32_t circuit = (first + i) % circuits;
        atm_cell& cell = next[circuit];
        cell.circuit = circuit;
        cell.length = length;
        if (port.arrive(cell, nanoseconds(slot * cell_ns))) {
          passed[circuit] += 1;
          if (assemblies[circuit].arrive(cell)) whole_cells += cell.length;
        }
        if (cell.is_last()) {
          done.damaged += passed[circuit] != 0 && passed[circuit] != cell.length ? 1 : 0;
          passed[circuit] = 0;
          cell.packet += 1;
        }
        cell.place = cell.is_last() ? 0 : cell.place + 1;
      }
    }
    done.goodput = static_cast<double>(whole_cells) / static_cast<double>(slots);
    return done;
  }
};

/// Romanow and Floyd, 1995; Turner, 1996: under overload hardly a long packet is whole without discards, partial
/// discard helps somewhat, and early discard keeps the link full of whole packets.
TEST(cell_port, under_overload_early_discard_keeps_goodput_and_partial_discard_keeps_some) {
  for (const std::uint32_t circuits : {2U, 4U, 8U}) {
    const overload load{.circuits = circuits, .length = 32, .ratio = 1.5};
    const double tail = load.play(plain(512, cell_discard::tail)).goodput;
    const double partial = load.play(plain(512, cell_discard::partial)).goodput;
    const double early = load.play(plain(512, cell_discard::early, 200)).goodput;
    EXPECT_LT(tail, 0.1) << circuits;
    EXPECT_GT(partial, tail + 0.1) << circuits;
    EXPECT_LT(partial, 0.9) << circuits;
    EXPECT_GT(early, 0.98) << circuits;
  }
}

/// Turner, 1996: the buffer that early discard needs grows with the number of circuits.
TEST(cell_port, early_discard_damages_no_packet_where_the_buffer_holds_one_of_each_circuit_above_the_threshold) {
  constexpr std::uint64_t length = 40, threshold = 60;
  for (const std::uint32_t circuits : {2U, 4U, 8U}) {
    const overload load{.circuits = circuits, .length = length, .ratio = circuits * 1.0};
    const std::uint64_t enough = threshold + circuits * (length - 1);
    EXPECT_EQ(load.play(plain(enough, cell_discard::early, threshold)).damaged, 0U) << circuits;
    EXPECT_GT(load.play(plain(threshold + length / 2, cell_discard::early, threshold)).damaged, 0U) << circuits;
  }
}

}  // namespace
}  // namespace nacre::machine
