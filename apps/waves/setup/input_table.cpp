// SPDX-License-Identifier: Apache-2.0
// Typed access to a table.
#include "setup/input_table.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nacre/error.hpp>

namespace waves {

input_table::input_table(std::string file, std::string name, const toml::table& table)
    : file_(std::move(file)), name_(std::move(name)), table_(table) {}

void input_table::refuse(const std::string& problem, const std::string& remedy) const {
  throw nacre::setup_error(
      {fmt::format("{}: {}: {}", file_, name_, problem), "the input cannot be understood", remedy});
}

void input_table::refuse_missing(const std::string& key) const {
  refuse(fmt::format("there is no {}", key), "add it; docs/waves.md lists all keys");
}

const toml::node* input_table::find(const std::string& key) {
  known_.insert(key);
  return table_.get(key);
}

std::optional<double> input_table::number(const std::string& key) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  const auto value = node->value<double>();
  if (!value || !node->is_number()) refuse(key + " is no number", "write a number, such as 100.0");
  return value;
}

double input_table::required_number(const std::string& key) {
  const auto value = number(key);
  if (!value) refuse_missing(key);
  return *value;
}

std::optional<std::string> input_table::text(const std::string& key) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_string()) refuse(key + " is no text", "write it in quotes");
  return node->value<std::string>();
}

std::optional<bool> input_table::truth(const std::string& key) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_boolean()) refuse(key + " is neither true nor false", "write one of them");
  return node->value<bool>();
}

bool input_table::read_numbers(const std::string& key, double* target, std::size_t count) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  const toml::array* list = node->as_array();
  if (list == nullptr || list->size() != count) {
    refuse(key + " is wrong", fmt::format("write a list of {} numbers", count));
  }
  for (std::size_t k = 0; k < count; ++k) {
    const toml::node& each = (*list)[k];
    if (!each.is_number()) refuse(key + " is wrong", fmt::format("write a list of {} numbers", count));
    target[k] = *each.value<double>();
  }
  return true;
}

void input_table::finish() const {
  for (const auto& [key, node] : table_) {
    if (known_.count(std::string(key.str())) == 0) {
      refuse(fmt::format("{} is unknown", key.str()), "remove it, or correct its name; docs/waves.md lists all keys");
    }
  }
}

}  // namespace waves
