// SPDX-License-Identifier: Apache-2.0
// An exception on its way around code that none may pass through.
#pragma once

#include <exception>
#include <utility>

namespace nacre::transport {

/// Callbacks of a library in C throw nothing; the caller of the library throws what they have kept, behind the call.
class kept_exception {
 public:
  /// Runs `body`, and keeps the first exception that comes out of any.
  template <class Body>
  void keep(Body&& body) noexcept {
    try {
      body();
    } catch (...) {
      if (first_ == nullptr) first_ = std::current_exception();
    }
  }
  /// Throws the exception that is kept, once.
  void throw_kept() {
    if (first_ != nullptr) [[unlikely]]
      std::rethrow_exception(std::exchange(first_, nullptr));
  }

 private:
  std::exception_ptr first_;
};

}  // namespace nacre::transport
