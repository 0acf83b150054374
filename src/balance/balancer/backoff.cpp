// SPDX-License-Identifier: Apache-2.0
// Makes a back-off from two options.
#include "balance/balancer/backoff.hpp"

#include <chrono>
#include <string>

#include <nacre/error.hpp>

namespace nacre::balance {

double seconds_of(const config& configuration, std::string_view name) {
  return std::chrono::duration<double>(configuration.get_duration(name)).count();
}

backoff read_backoff(const config& configuration, std::string_view min, std::string_view max) {
  const double shortest = seconds_of(configuration, min);
  const double longest = seconds_of(configuration, max);
  if (shortest > longest) {
    throw setup_error({.problem = std::string(min) + " is longer than " + std::string(max),
                       .why = "one is the first wait of a back-off, the other its last",
                       .remedy = "change one of them"});
  }
  return {shortest, longest};
}

}  // namespace nacre::balance
