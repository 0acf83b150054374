// SPDX-License-Identifier: Apache-2.0
// A module that is as it should be: each command adds the number of its bytes, and answers with the sum before.
#include <nacre/extension.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

#include "proof_of_code.hpp"

class loaded_counter final : public nacre::extension {
  void on_command(nacre::extension_host& host, nacre::rank_id, std::uint32_t,
                  std::span<const std::byte> bytes) override {
    const std::uint64_t previous = sum_;
    sum_ += bytes.size();
    host.reply(std::as_bytes(std::span(&previous, 1)));
  }
  std::uint64_t sum_ = 0;
};

NACRE_EXTENSION(loaded_counter)
