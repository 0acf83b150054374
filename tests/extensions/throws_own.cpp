// SPDX-License-Identifier: Apache-2.0
// A module that throws an exception of its own class, whose code goes with the file.
#include <nacre/extension.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>

struct own_error : std::exception {
  std::string text = "an error of the module";
  ~own_error() override;
  [[nodiscard]] const char* what() const noexcept override { return text.c_str(); }
};
own_error::~own_error() = default;

class throws_own final : public nacre::extension {
  void on_command(nacre::extension_host&, nacre::rank_id, std::uint32_t, std::span<const std::byte>) override {
    throw own_error();
  }
};

NACRE_EXTENSION(throws_own)
