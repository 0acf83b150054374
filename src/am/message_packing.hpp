// SPDX-License-Identifier: Apache-2.0
// Packs and measures the values of messages where their code, which is the user's, may throw.
#pragma once

#include <cstddef>
#include <string>

#include <nacre/message.hpp>

namespace nacre {

/// Names the packing of the values of a message for people: "packing the arguments of step".
[[nodiscard]] std::string packing_of(const message_header& header);

/// Packs a message as packed_form does, for a sender, which can catch what the values throw. The error for a value that
/// cannot be packed names the handler.
[[nodiscard]] message_ptr packed_by_sender(message_ptr m);

/// Measures a message as am_engine::size_of does, after it has left its sender. If measuring throws, returns the size
/// of an empty message.
[[nodiscard]] std::size_t size_or_least(const message& m) noexcept;

}  // namespace nacre
