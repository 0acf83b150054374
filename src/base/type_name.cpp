// SPDX-License-Identifier: Apache-2.0
// Reads the names that the compiler gives to types.
#include "base/type_name.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace nacre {

std::string type_name(const std::type_info& type) {
  const std::unique_ptr<char, decltype(&std::free)> spelt(abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr),
                                                          &std::free);
  return spelt ? spelt.get() : type.name();
}

}  // namespace nacre
