// SPDX-License-Identifier: Apache-2.0
// Reads the tables of an input file.
#include "setup/input_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <istream>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <nacre/error.hpp>

#include "setup/input_table.hpp"

namespace waves {
namespace {

bool is_whole(double number, double least, double most) {
  return number >= least && number <= most && number == std::floor(number);
}

isotropic read_material(input_table& table) {
  const double vp = table.required_number("vp"), vs = table.required_number("vs");
  return isotropic::of_speeds(vp, vs, table.required_number("rho"));
}

void read_grid(input_table table, description& description) {
  description.size = table.required_numbers<3>("size");
  description.h = table.required_number("h");
  description.time = table.required_number("time");
  const double layers = table.number("layers").value_or(description.layers);
  if (!is_whole(layers, 0, 1000))
    table.refuse("layers is out of bounds", "take a whole number of points from 0 to 1000");
  description.layers = static_cast<int>(layers);
  description.step = table.number("step").value_or(description.step);
  const std::string top = table.text("top").value_or("free");
  if (top != "free" && top != "fixed") table.refuse("top is " + top, "write \"free\" or \"fixed\"");
  if (top == "fixed") description.top = top_side::as_other_sides;
  const std::string mean = table.text("interface").value_or("thin_layer");
  if (mean != "thin_layer" && mean != "harmonic")
    table.refuse("interface is " + mean, "write \"thin_layer\" or \"harmonic\"");
  if (mean == "harmonic") description.material.mean = interface_mean::harmonic;
  table.finish();
}

void read_source(input_table table, description& description) {
  point_source source;
  source.place = table.required_numbers<3>("at");
  source.force = table.numbers<3>("force").value_or(source.force);
  source.moment = table.numbers<6>("moment").value_or(source.moment);
  const std::string name = table.text("time").value_or("gaussian");
  const auto& names = time_function_names();
  const auto match = std::find(names.begin(), names.end(), name);
  if (match == names.end()) {
    std::string all;
    for (const std::string& each : names) all += " " + each;
    table.refuse("time is " + name, "write one of" + all);
  }
  source.time.kind = static_cast<time_function::shape>(match - names.begin());
  source.time.start = table.number("start").value_or(0);
  source.time.width = table.required_number("width");
  table.finish();
  description.sources.push_back(source);
}

/// Numbers vp, vs, rho for each point, in text, x fastest.
void read_raster(input_table table, const std::filesystem::path& folder, description& description) {
  raster& points = description.material.points;
  const auto name = table.text("file");
  if (!name) table.refuse("there is no file", "name the file of its numbers");
  const auto count = table.required_numbers<3>("count");
  points.low = table.numbers<3>("low").value_or(points.low);
  points.spacing = table.required_numbers<3>("spacing");
  std::size_t wanted = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!is_whole(count[axis], 1, 1e6) || !(points.spacing[axis] > 0)) {
      table.refuse("count or spacing is out of bounds", "take whole counts from 1 to 1000000 and positive spacings");
    }
    points.count[axis] = static_cast<int>(count[axis]);
    wanted *= static_cast<std::size_t>(count[axis]);
  }
  std::ifstream file(folder / *name);
  double vp = 0, vs = 0, rho = 0;
  while (points.materials.size() < wanted && file >> vp >> vs >> rho) {
    points.materials.push_back(isotropic::of_speeds(vp, vs, rho));
  }
  if (points.materials.size() < wanted) {
    table.refuse(
        fmt::format("{} has {} points, or a word that is no number behind them", *name, points.materials.size()),
        fmt::format("write vp, vs, rho for each of {} points", wanted));
  }
  file >> std::ws;
  if (!file.eof()) {
    table.refuse(fmt::format("{} has more than {} points", *name, wanted), "correct count, or the file");
  }
  table.finish();
}

/// Null where there is none.
const toml::table* table_of(const toml::table& all, const std::string& file, const std::string& key) {
  const toml::node* node = all.get(key);
  if (node != nullptr && !node->is_table()) {
    throw nacre::setup_error({fmt::format("{}: {} is no single table", file, key), "the input cannot be understood",
                              fmt::format("write [{}], once", key)});
  }
  return node == nullptr ? nullptr : node->as_table();
}

void read_random(input_table table, description& description) {
  const double seed = table.number("seed").value_or(1);
  if (!is_whole(seed, 0, 1e15)) table.refuse("seed is out of bounds", "take a whole number from 0 to 1e15");
  if (table.truth("material").value_or(false)) description.material.kind = variation::random;
  description.initial.random = table.truth("state").value_or(false);
  description.material.seed = description.initial.seed = static_cast<std::uint64_t>(seed);
  table.finish();
}

/// Calls `read` for each table of a list, such as [[layer]].
template <class Read>
void for_each(const toml::table& all, const std::string& file, const std::string& key, Read&& read) {
  const toml::node* node = all.get(key);
  if (node == nullptr) return;
  const toml::array* list = node->as_array();
  if (list == nullptr || !list->is_homogeneous(toml::node_type::table)) {
    throw nacre::setup_error({fmt::format("{}: {} is no list of tables", file, key), "the input cannot be understood",
                              fmt::format("write [[{}]]", key)});
  }
  int number = 0;
  for (const toml::node& each : *list) read(input_table(file, fmt::format("{} {}", key, ++number), *each.as_table()));
}

void read_rest(const toml::table& all, const std::string& file, description& description) {
  for_each(all, file, "layer", [&](input_table source) {
    const double top = source.number("top").value_or(0);
    description.material.layers.push_back({top, read_material(source)});
    source.finish();
  });
  for_each(all, file, "block", [&](input_table source) {
    block box;
    box.low = source.required_numbers<3>("low");
    box.high = source.required_numbers<3>("high");
    box.material = read_material(source);
    source.finish();
    description.material.blocks.push_back(box);
  });
  for_each(all, file, "source", [&](input_table source) { read_source(std::move(source), description); });
  for_each(all, file, "receiver", [&](input_table source) {
    const auto name = source.text("name");
    const auto values = source.required_numbers<3>("at");
    source.finish();
    description.receivers.push_back(
        {name.value_or(fmt::format("receiver{}", description.receivers.size() + 1)), values});
  });
  if (const toml::table* table = table_of(all, file, "raster")) {
    read_raster(input_table(file, "raster", *table), std::filesystem::path(file).parent_path(), description);
  }
  if (const toml::table* table = table_of(all, file, "random")) {
    read_random(input_table(file, "random", *table), description);
  }
}

}  // namespace

description read_input(const std::string& file) {
  toml::table all;
  try {
    all = toml::parse_file(file);
  } catch (const toml::parse_error& error) {
    throw nacre::setup_error({fmt::format("{}, line {}: {}", file, error.source().begin.line, error.description()),
                              "the input cannot be read", "correct the file, or its name"});
  }
  for (const auto& [key, node] : all) {
    constexpr const char* known[] = {"grid", "layer", "block", "raster", "source", "receiver", "random"};
    if (std::find(std::begin(known), std::end(known), key.str()) == std::end(known)) {
      throw nacre::setup_error({fmt::format("{}: {} is unknown", file, key.str()), "the input cannot be understood",
                                "tables are grid, layer, block, raster, source, receiver, random"});
    }
  }
  description asked;
  asked.name = std::filesystem::path(file).stem().string();
  const toml::table* grid = table_of(all, file, "grid");
  if (grid == nullptr) {
    throw nacre::setup_error({file + " has no [grid]", "it says how large the box is, h and the time", "add one"});
  }
  read_grid(input_table(file, "grid", *grid), asked);
  read_rest(all, file, asked);
  return asked;
}

}  // namespace waves
