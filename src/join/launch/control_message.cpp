// SPDX-License-Identifier: Apache-2.0
// How the control messages between a rank and its launcher are packed.
#include "join/launch/control_message.hpp"

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

template <class Archive>
void serialize(Archive& ar, image_wanted& m) {
  ar(m.signal);
}

template class message_stream<control_message>;

}  // namespace nacre::launch
