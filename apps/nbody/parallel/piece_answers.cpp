// SPDX-License-Identifier: Apache-2.0
// What a piece tells of its bodies: samples, direct sums, digests, masses by place.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parallel/piece.hpp"

namespace nbody {
namespace {

/// The finaliser of SplitMix64.
constexpr std::uint64_t mixed(std::uint64_t bits) noexcept {
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
  return bits ^ bits >> 31;
}

std::uint64_t whole(double mass, double all) noexcept {
  return static_cast<std::uint64_t>(mass / all * whole_mass + 0.5);
}

}  // namespace

std::vector<force_sample> piece::samples(std::vector<std::uint32_t> numbers) const {
  std::vector<force_sample> force_samples;
  for (std::size_t k = 0; k < bodies_.size(); ++k) {
    const body& each = bodies_[k];
    if (std::binary_search(numbers.begin(), numbers.end(), each.number)) {
      force_samples.push_back({each.place, accelerations_[k], each.number});
    }
  }
  return force_samples;
}

std::vector<direct_force> piece::direct(std::vector<force_sample> places, softening soft) const {
  std::vector<direct_force> sums(places.size());
  for (std::size_t k = 0; k < places.size(); ++k) {
    add_direct(bodies_, places[k].place, places[k].number, soft, sums[k]);
  }
  return sums;
}

std::uint64_t piece::digest() const {
  std::uint64_t sum = 0;
  for (const body& each : bodies_) {
    std::uint64_t bits = mixed(each.number + 0x9e3779b97f4a7c15u);
    for (const vector3* vector : {&each.place, &each.velocity}) {
      for (const double value : *vector) bits = mixed(bits ^ std::bit_cast<std::uint64_t>(value));
    }
    sum += bits;
  }
  return sum;
}

std::vector<std::uint64_t> piece::radial_masses(vector3 centre, double mass, radial_scale scale) const {
  std::vector<std::uint64_t> masses(radial_bins);
  for (const body& each : bodies_) masses[radial_bin(length(each.place - centre), scale)] += whole(each.mass, mass);
  return masses;
}

std::vector<std::uint64_t> piece::pixel_masses(projection seen, double mass) const {
  std::vector<std::uint64_t> masses(std::size_t{seen.pixels} * seen.pixels + 1);
  for (const body& each : bodies_) masses[seen.pixel_of(each.place)] += whole(each.mass, mass);
  masses.pop_back();
  return masses;
}

}  // namespace nbody
