// SPDX-License-Identifier: Apache-2.0
// Reads the text of the exception being handled, and adds a name to it.
#include "base/exception_text.hpp"

#include <cstddef>
#include <exception>
#include <new>
#include <stdexcept>

namespace nacre {
namespace {

/// An error with a name in its text; the user's own exception is nested in it.
class named_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace

std::string text_of_thrown() {
  try {
    throw;
  } catch (const std::exception& thrown) {
    return thrown.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

std::string without_middle(std::string text) {
  constexpr std::size_t most = 4096, head = 1500, tail = 2000;
  if (text.size() <= most) return text;
  const auto begins_character = [&](std::size_t place) {
    return (static_cast<unsigned char>(text[place]) & 0xc0) != 0x80;
  };
  std::size_t first = head, last = text.size() - tail;
  while (first > 0 && !begins_character(first)) --first;
  while (last < text.size() && !begins_character(last)) ++last;
  return text.replace(first, last - first, " [...] ");
}

void detail::throw_named(const std::string& function) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const named_error&) {
    throw;
  } catch (const unpackable_value& thrown) {
    throw unpackable_value(function + ": " + thrown.what());
  } catch (...) {
    std::throw_with_nested(named_error(function + " threw: " + text_of_thrown()));
  }
}

}  // namespace nacre
