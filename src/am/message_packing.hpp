// SPDX-License-Identifier: Apache-2.0
// Packs and measures the values of messages where their code, which is the user's, may throw.
#pragma once

#include <cstddef>
#include <string>

#include <nacre/message.hpp>

namespace nacre {

/// Names the packing of the values of a message for people: "packing the arguments of step".
[[nodiscard]] std::string packing_of(const message_header& header);

/// As packed_form, for a sender, which can catch what values throw. The error of a value that cannot be packed names
/// the handler.
[[nodiscard]] message_ptr packed_by_sender(message_ptr m);

/// As am_engine::size_of, behind the sender: that of an empty message when measuring the values throws.
[[nodiscard]] std::size_t size_or_least(const message& m) noexcept;

}  // namespace nacre
