// SPDX-License-Identifier: Apache-2.0
// Reads a machine from a TOML file; an error names the file, the line, and what may stand there.
#include "machine/machine_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/nearest_name.hpp"
#include "base/toml_file.hpp"

namespace nacre::machine {
namespace {

/// One value of a file, and where it stands.
struct value {
  const toml_file& file;
  const toml::node& node;
  std::string name;
  std::string place;

  [[noreturn]] void refuse_for(const std::string& kind) const {
    file.refuse(place, name + " is not " + kind, "write " + name + " = " + example());
  }
  [[nodiscard]] std::string example() const {
    if (name == "grid") return "[34, 34, 36]";
    if (name == "missing") return "[[0, 0, 1], [4, 5, 6]]";
    if (name == "turns") return "\"once\" or \"counted\"";
    if (name == "topology") return "\"mesh\", \"torus\", \"fat_tree\" or \"dragonfly\"";
    if (name == "bandwidth") return "1e9";
    if (name == "contention") return "true";
    if (name == "measured") return "1.0";
    if (name == "hop" || name == "turn" || name == "handler" || name == "injection" || name == "cycle")
      return "\"5ns\"";
    return "32";
  }
  [[nodiscard]] value element(std::size_t index) const {
    const toml::node* const position = node.as_array() == nullptr ? nullptr : node.as_array()->get(index);
    if (position == nullptr) refuse_for("a list of three whole numbers");
    return {file, *position, name, place};
  }
};

std::int64_t whole_number(const value& value, std::int64_t least, std::int64_t most) {
  const auto* const number = value.node.as_integer();
  if (number == nullptr || number->get() < least || number->get() > most) {
    value.refuse_for("a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return number->get();
}

void read(const value& value, std::uint32_t& target) {
  target = static_cast<std::uint32_t>(whole_number(value, 0, std::numeric_limits<std::uint32_t>::max()));
}

void read(const value& value, bool& is_into) {
  const auto* const flag = value.node.as_boolean();
  if (flag == nullptr) value.refuse_for("true or false");
  is_into = flag->get();
}

void read(const value& value, double& target) {
  if (const auto* const real = value.node.as_floating_point()) {
    target = real->get();
  } else if (const auto* const whole = value.node.as_integer()) {
    target = static_cast<double>(whole->get());
  } else {
    value.refuse_for("a number");
  }
  if (!std::isfinite(target)) value.refuse_for("a finite number");
}

void read(const value& value, coordinates& coordinates) {
  const toml::array* const list = value.node.as_array();
  if (list == nullptr || list->size() != 3) value.refuse_for("a list of three whole numbers");
  std::array<std::int64_t, 3> numbers{};
  for (std::size_t k = 0; k < 3; ++k) numbers[k] = whole_number(value.element(k), 0, 1 << 20);
  coordinates = {numbers[0], numbers[1], numbers[2]};
}

void read(const value& value, std::vector<coordinates>& target) {
  const toml::array* const list = value.node.as_array();
  if (list == nullptr) value.refuse_for("a list of places");
  target.clear();
  for (std::size_t k = 0; k < list->size(); ++k) read(value.element(k), target.emplace_back());
}

void read(const value& value, std::chrono::nanoseconds& time) {
  const auto* const text = value.node.as_string();
  if (text == nullptr) value.refuse_for("a time, which is a text with a unit");
  const std::string& word = text->get();
  double number = 0;
  const char* const last = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data(), last, number);
  constexpr std::array<std::pair<std::string_view, double>, 4> units{{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  for (const auto& [unit, factor] : units) {
    if (error != std::errc() || std::string_view(end, last) != unit) continue;
    const double ns = std::round(number * factor);
    if (!(ns >= 0 && ns <= 1e18) || std::fabs(ns - number * factor) > 1e-6) break;
    time = std::chrono::nanoseconds(static_cast<std::int64_t>(ns));
    return;
  }
  value.refuse_for("a time in whole nanoseconds with the unit ns, us, ms or s");
}

template <class Enum>
void read_word(const value& value, Enum& target, std::initializer_list<std::pair<std::string_view, Enum>> words) {
  const auto* const text = value.node.as_string();
  for (const auto& [word, meaning] : words) {
    if (text == nullptr || text->get() != word) continue;
    target = meaning;
    return;
  }
  value.refuse_for("one of the words that it may be");
}
void read(const value& value, turn_rule& turn_rule) {
  read_word(value, turn_rule, {{"once", turn_rule::once}, {"counted", turn_rule::counted}});
}
void read(const value& value, emulated_topology& emulated_topology) {
  read_word(value, emulated_topology,
            {{"mesh", emulated_topology::mesh},
             {"torus", emulated_topology::torus},
             {"fat_tree", emulated_topology::fat_tree},
             {"dragonfly", emulated_topology::dragonfly}});
}

/// The members of a machine by their names.
struct member {
  std::string_view name;
  std::function<void(const value&, emulated_machine&)> read_into;
};
template <auto Member>
member row(std::string_view name) {
  return {name, [](const value& value, emulated_machine& machine) { read(value, machine.*Member); }};
}
const std::vector<member>& members() {
  using m = emulated_machine;
  static const std::vector<member> rows{row<&m::grid>("grid"),
                                        row<&m::threads>("threads"),
                                        row<&m::communication_threads>("communication_threads"),
                                        row<&m::hop>("hop"),
                                        row<&m::turn>("turn"),
                                        row<&m::handler>("handler"),
                                        row<&m::measured>("measured"),
                                        row<&m::turns>("turns"),
                                        row<&m::topology>("topology"),
                                        row<&m::switch_ports>("switch_ports"),
                                        row<&m::injection>("injection"),
                                        row<&m::bandwidth>("bandwidth"),
                                        row<&m::contention>("contention"),
                                        row<&m::packet_bytes>("packet_bytes"),
                                        row<&m::output_packets>("output_packets"),
                                        row<&m::input_packets>("input_packets"),
                                        row<&m::missing>("missing"),
                                        row<&m::cycle>("cycle"),
                                        row<&m::processor_threads>("processor_threads"),
                                        row<&m::local_cache_cycles>("local_cache_cycles"),
                                        row<&m::local_memory_cycles>("local_memory_cycles"),
                                        row<&m::remote_cache_cycles>("remote_cache_cycles"),
                                        row<&m::remote_memory_cycles>("remote_memory_cycles"),
                                        row<&m::float_cycles>("float_cycles")};
  return rows;
}

toml_file opened(const std::string& path) {
  return {path, {.content = "a machine", .reason = "the file describes no machine"}};
}

constexpr std::string_view simulator_table = "sim";

}  // namespace

emulated_machine read_machine_file(const std::string& path) {
  const toml_file file = opened(path);
  emulated_machine machine;
  bool any_grid = false;
  for (const auto& [key, node] : file.table()) {
    const std::string name(key.str());
    if (name == simulator_table && node.is_table()) continue;
    const auto known =
        std::find_if(members().begin(), members().end(), [&](const member& m) { return m.name == name; });
    if (known == members().end()) {
      std::vector<std::string_view> names;
      for (const member& m : members()) names.push_back(m.name);
      const auto meant = nearest_name(name, names);
      file.refuse(file.place_of(key.source()), "a machine has no " + name,
                  meant ? "did you mean " + std::string(*meant) + "?" : "remove this line");
    }
    known->read_into({file, node, name, file.place_of(node.source())}, machine);
    any_grid = any_grid || name == "grid";
  }
  if (!any_grid) file.refuse(path, "it has no grid", "write grid = [34, 34, 36]");
  return machine;
}

std::vector<machine_file_option> read_simulator_options(const std::string& path) {
  const toml_file file = opened(path);
  std::vector<machine_file_option> result;
  if (const toml::table* const options = file.table()[simulator_table].as_table()) {
    file.for_each_value(*options, std::string(simulator_table) + ".",
                        [&](const std::string& name, const std::string& text, const std::string& place) {
                          result.push_back({name, text, place});
                        });
  }
  return result;
}

}  // namespace nacre::machine
