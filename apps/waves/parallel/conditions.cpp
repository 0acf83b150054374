// SPDX-License-Identifier: Apache-2.0
// Lists and compares what decides what the numbers of an image mean.
#include "parallel/conditions.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nacre/error.hpp>

namespace waves {
namespace {

using namespace std::string_literals;

const char* words_of(variation kind) {
  switch (kind) {
    case variation::random:
      return "random";
    case variation::waves:
      return "that of the manufactured solution";
    case variation::none:
      break;
  }
  return "as described";
}

/// A number that depends on all bits and on their order, after splitmix64.
class digester {
 public:
  void add(double value) {
    state_ = (state_ ^ std::bit_cast<std::uint64_t>(value)) + 0x9e3779b97f4a7c15u;
    state_ = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9u;
    state_ = (state_ ^ (state_ >> 27)) * 0x94d049bb133111ebu;
    state_ ^= state_ >> 31;
  }
  [[nodiscard]] std::string text() const { return fmt::format("{:016x}", state_); }

 private:
  std::uint64_t state_ = 0;
};

class lister {
 public:
  void add(std::string name, std::string value) { list_.push_back({std::move(name), std::move(value)}); }
  void add(std::string name, double value) { add(std::move(name), fmt::format("{:.17g}", value)); }
  void add(const std::string& name, const position& place) {
    for (std::size_t axis = 0; axis < 3; ++axis) add(name + "xyz"[axis], place[axis]);
  }
  void add(const std::string& name, const isotropic& material) {
    add(name + "lambda", material.lambda);
    add(name + "mu", material.mu);
    add(name + "rho", material.rho);
  }

  void add_grid(const grid& grid) {
    for (const auto& [name, along] : {std::pair{"x", &grid.x}, {"y", &grid.y}, {"z", &grid.z}}) {
      add(fmt::format("the number of points along {}", name), along->count());
      add(fmt::format("the number of points that absorb along {}", name),
          along->layer_at_begin() + along->layer_at_end());
    }
    add("top", std::string(grid.top == top_side::free_surface ? "free" : "fixed"));
    add("h", grid.h);
    add("the step in time", grid.dt);
  }
  void add_receivers(const std::vector<receiver>& receivers) {
    add("the number of receivers", static_cast<double>(receivers.size()));
    for (const receiver& each : receivers) {
      add("receiver " + each.name + ": at, ", each.place);
    }
  }
  void add_sources(const std::vector<placed_source>& sources) {
    add("the number of sources", static_cast<double>(sources.size()));
    int number = 0;
    for (const placed_source& each : sources) {
      const std::string name = fmt::format("source {}: ", ++number);
      add(name + "time", time_function_names()[static_cast<std::size_t>(each.time.kind)]);
      add(name + "start", each.time.start);
      add(name + "width", each.time.width);
      add(name + "number of points", static_cast<double>(each.points.size()));
      add(name + "at, ", each.place);
      digester digest;
      for (const source_point& point : each.points) {
        for (const int index : {point.x, point.y, point.z}) digest.add(index);
        for (const double force : point.force) digest.add(force);
      }
      add(name + "digest of its points", digest.text());
    }
  }
  void add_materials(const model& model) {
    add("interface", std::string(model.mean == interface_mean::harmonic ? "harmonic" : "thin_layer"));
    add("the material", std::string(words_of(model.kind)));
    add("the seed", static_cast<double>(model.seed));
    add("the number of layers", static_cast<double>(model.layers.size()));
    for (std::size_t k = 0; k < model.layers.size(); ++k) {
      add(fmt::format("layer {}: top", k + 1), model.layers[k].top);
      add(fmt::format("layer {}: ", k + 1), model.layers[k].material);
    }
    add("the number of blocks", static_cast<double>(model.blocks.size()));
    for (std::size_t k = 0; k < model.blocks.size(); ++k) {
      add(fmt::format("block {}: low ", k + 1), model.blocks[k].low);
      add(fmt::format("block {}: high ", k + 1), model.blocks[k].high);
      add(fmt::format("block {}: ", k + 1), model.blocks[k].material);
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      add("the raster's number of points along "s + "xyz"[axis], model.points.count[axis]);
    }
    digester digest;
    for (const isotropic& each : model.points.materials) {
      for (const double modulus : {each.lambda, each.mu, each.rho}) digest.add(modulus);
    }
    add("the digest of the raster's materials", digest.text());
    add("the raster's low ", model.points.low);
    add("the raster's spacing ", model.points.spacing);
  }

  [[nodiscard]] conditions take() { return std::move(list_); }

 private:
  conditions list_;
};

}  // namespace

conditions conditions_of(const problem& problem) {
  lister list;
  list.add_grid(problem.grid);
  list.add("the frequency of the exact solution", problem.exact ? problem.exact->frequency() : 0);
  list.add("the initial state", problem.initial.random ? 1 : 0);
  list.add_receivers(problem.receivers);
  list.add_sources(problem.sources);
  list.add_materials(problem.material);
  return list.take();
}

void demand_same(const conditions& image, const conditions& job) {
  for (std::size_t k = 0; k < std::max(image.size(), job.size()); ++k) {
    const condition of_image = k < image.size() ? image[k] : condition{},
                    of_job = k < job.size() ? job[k] : condition{};
    if (of_image.name == of_job.name && of_image.value == of_job.value) continue;
    const auto text = [](const condition& each) {
      return each.name.empty() ? "nothing" : fmt::format("{} is {}", each.name, each.value);
    };
    throw nacre::setup_error({fmt::format("in the image {}, and in this job {}", text(of_image), text(of_job)),
                              "displacements of another problem mean nothing here",
                              "take the input and the options of the image, or leave out --nacre.restore"});
  }
}

}  // namespace waves
