// SPDX-License-Identifier: Apache-2.0
// The control messages between a rank and its launcher, and the byte stream that carries them.
#include "join/launch/control_message.hpp"

#include <utility>

#include <nacre/archive.hpp>

namespace nacre::launch {

template <class Archive>
void serialize(Archive& ar, joined& m) {
  ar(m.address);
}
template <class Archive>
void serialize(Archive& ar, roster& m) {
  ar(m.addresses);
}
template <class Archive>
void serialize(Archive& ar, lost& m) {
  ar(m.peer, m.reason);
}
template <class Archive>
void serialize(Archive& ar, aborted& m) {
  ar(m.peer, m.reason);
}

void control_stream::push(const control_message& m) {
  writer out(append(packed_size(m)));
  out(m);
}

expected<std::optional<control_message>, std::string_view> control_stream::pop() {
  const auto frame = next();
  if (!frame) return unexpected(frame.error());
  if (!*frame) return std::nullopt;
  auto m = unpack<control_message>(**frame);
  if (!m) return unexpected(std::string_view("sent bytes that are no control message"));
  return std::optional<control_message>(std::move(*m));
}

}  // namespace nacre::launch
