// SPDX-License-Identifier: Apache-2.0
// One connection as messages of one variant: frames that are packed and unpacked.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include <nacre/archive.hpp>
#include <nacre/expected.hpp>

#include "join/launch/frame_stream.hpp"

namespace nacre::launch {

/// Both directions of one connection, without I/O. One thread. Every Message has an explicit instantiation beside its
/// serialize functions.
template <class Message>
class message_stream : public frame_stream {
 public:
  void push(const Message& m);
  /// The next complete message; nothing while there is none; an error, as a clause, when the bytes are no message.
  [[nodiscard]] expected<std::optional<Message>, std::string_view> pop();
};

template <class Message>
void message_stream<Message>::push(const Message& m) {
  writer out(append(packed_size(m)));
  out(m);
}

template <class Message>
expected<std::optional<Message>, std::string_view> message_stream<Message>::pop() {
  const auto frame = next();
  if (!frame) return unexpected(frame.error());
  if (!*frame) return std::nullopt;
  auto m = unpack<Message>(**frame);
  if (!m) return unexpected(std::string_view("sent bytes that are no control message"));
  return std::optional<Message>(std::move(*m));
}

}  // namespace nacre::launch
