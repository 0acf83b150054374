// SPDX-License-Identifier: Apache-2.0
// Policies of one kind by name: built-in ones, and ones that the program has registered.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nacre/config.hpp>
#include <nacre/error.hpp>

#include "base/nearest_name.hpp"

namespace nacre::balance {

/// A table belongs to the process, since the program registers policies before any runtime exists. Any thread.
template <class Policy, class... Site>
class policy_table {
 public:
  using factory = std::function<std::unique_ptr<Policy>(const config&, Site...)>;
  struct built_in {
    std::string_view name;
    std::unique_ptr<Policy> (*make)(const config&, Site...);  ///< null: there is no policy by this name, on purpose
  };

  /// `option`: name of the option that selects a policy.
  policy_table(std::string_view option, std::span<const built_in> rows) : option_(option), built_ins_(rows) {}

  void add(std::string_view name, factory make) {
    const std::scoped_lock lock(mutex_);
    registered_.insert_or_assign(std::string(name), std::move(make));
  }

  [[nodiscard]] bool has_own(std::string_view name) {
    const std::scoped_lock lock(mutex_);
    return registered_.find(name) != registered_.end();
  }

  /// Makes the registered policy of that name, else the built-in one. Throws setup_error that suggests a similar name.
  [[nodiscard]] std::unique_ptr<Policy> make(std::string_view name, const config& configuration, Site... site) {
    const std::scoped_lock lock(mutex_);
    if (const auto match = registered_.find(name); match != registered_.end())
      return match->second(configuration, site...);
    for (const built_in& each : built_ins_) {
      if (each.name == name) return each.make == nullptr ? nullptr : each.make(configuration, site...);
    }
    throw_unknown(name);
  }

 private:
  [[noreturn]] void throw_unknown(std::string_view name) const {
    std::vector<std::string_view> known;
    for (const built_in& each : built_ins_) known.push_back(each.name);
    for (const auto& [each, make] : registered_) known.push_back(each);
    std::string all;
    for (const std::string_view each : known) all += (all.empty() ? "" : ", ") + std::string(each);
    const auto nearest = nearest_name(name, known);
    throw setup_error({.problem = "there is no " + std::string(option_) + " '" + std::string(name) + "'",
                       .why = "the option " + std::string(option_) + " names one of " + all,
                       .remedy = nearest ? "did you mean " + std::string(*nearest) + "?" : "choose one of them"});
  }

  std::string_view option_;
  std::span<const built_in> built_ins_;
  std::mutex mutex_;
  std::map<std::string, factory, std::less<>> registered_;
};

}  // namespace nacre::balance
