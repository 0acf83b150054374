// SPDX-License-Identifier: Apache-2.0
// Functions of a library of the system that a program is not linked with: a host without it runs the program, too.
#pragma once

#include <dlfcn.h>

namespace nacre {

/// A shared library, looked for where the system looks for those of programs; never unloaded. Any thread.
class loaded_library {
 public:
  /// `flags` of dlopen: RTLD_LOCAL, or RTLD_GLOBAL for a library whose own plugins look for its functions.
  explicit loaded_library(const char* file_name, int flags = RTLD_LOCAL) noexcept
      : handle_(::dlopen(file_name, RTLD_NOW | flags)) {}

  /// Whether the library was found; else dlerror() says why it was not.
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// Sets `function` to the one of this name. False: the library has none, or was not found.
  template <class Function>
  [[nodiscard]] bool find(const char* name, Function*& function) const noexcept {
    function = handle_ == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(handle_, name));
    return function != nullptr;
  }

 private:
  void* handle_;
};

}  // namespace nacre
