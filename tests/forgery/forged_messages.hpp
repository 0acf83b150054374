// SPDX-License-Identifier: Apache-2.0
// Forged messages of every kind: well formed but with false arguments, then damaged.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "am/bundle.hpp"
#include "forgery/forged_modules.hpp"
#include "join/launch/control_message.hpp"
#include "mobile/entry/empty_element.hpp"
#include "mobile/life/object_codec.hpp"
#include "tool/hosts/host_message.hpp"

namespace nacre::forgery {

template <auto F, class T = typename detail::traits<F>::target, class... Args>
message_ptr packed_call(message_kind kind, Args&&... args) {
  message_ptr m = packed_form(detail::make_typed<F, T>(std::forward<Args>(args)...));
  m->header.kind = kind;
  return m;
}

inline message_ptr some_object_message(const victim& victim, choices& choices) {
  message_ptr m;
  switch (choices.below(8)) {
    case 6:
      m = packed_call<&cell::add>(message_kind::everyone, choices.as<std::uint32_t>());
      if (choices.one_in(4)) m->header.handler = 0;  // ends it
      if (choices.one_in(2)) m->header.reply = some_request_id(choices);
      break;
    case 7: {
      const std::vector<std::byte> element = pack(cell{{1, 2}});
      m = make_message(element.size());
      std::copy(element.begin(), element.end(), m->body());
      m->header.kind = message_kind::insert;
      m->header.reply = choices.below(2) * some_request_id(choices);
      break;
    }
    case 0:
      m = packed_call<&cell::add>(message_kind::object, choices.as<std::uint32_t>());
      break;
    case 1:
      m = packed_call<&cell::count>(message_kind::object);
      break;
    case 2:
      m = packed_call<&cell::ask>(message_kind::object, choices.as<std::uint32_t>());
      break;
    case 3: {
      const std::uint32_t target = choices.one_in(4) ? choices.as<std::uint32_t>() : choices.below(ranks);
      m = make_message(sizeof target);
      std::memcpy(m->body(), &target, sizeof target);
      m->header.kind = message_kind::migrate;
      break;
    }
    case 4: {
      m = make_message(0);
      constexpr message_kind kinds[] = {message_kind::lock, message_kind::join, message_kind::claim,
                                        message_kind::request_to_send};
      m->header.kind = kinds[choices.below(4)];
      m->header.handler = choices.below(3);
      m->header.reply = some_request_id(choices);
      break;
    }
    default:
      m = make_message(0);
      m->header.kind = message_kind::destroy;
  }
  m->header.object = some_object(victim, choices).value();
  m->header.sequence = choices.as<std::uint32_t>();
  return m;
}

inline message_ptr some_arrival(const victim& victim, choices& choices, std::uint32_t peer) {
  const object_id id = some_object(victim, choices);
  object_state body;
  if (choices.one_in(4)) {  // a place without an element any more
    body.type = &detail::type_of<detail::empty_element>();
    body.object = new detail::empty_element;
  } else {
    body.type = &detail::type_of<cell>();
    body.object = new cell{{1, 2, 3}};
  }
  body.epoch = choices.as<std::uint32_t>();
  for (std::uint32_t waiting = choices.below(4); waiting != 0; --waiting) {
    message_ptr m = some_object_message(victim, choices);
    m->header.object = id.value();
    m->header.source = choices.below(ranks);
    static_cast<void>(body.order.admit(m, body.pending));
  }
  return make_arrival(
      id, std::move(body),
      {choices.one_in(4) ? choices.as<std::uint32_t>() : peer, choices.below(2) * some_request_id(choices)}, false);
}

inline message_ptr some_message(const victim& victim, choices& choices, std::uint32_t peer, bool within_bundle);

inline message_ptr some_bundle(const victim& victim, choices& choices, std::uint32_t peer) {
  std::vector<std::byte> bytes;
  for (std::uint32_t parts = 1 + choices.below(5); parts != 0; --parts) {
    const message_ptr m = some_message(victim, choices, peer, true);
    if (m->header.payload_bytes > 4096) continue;
    const std::size_t begin = bytes.size();
    bytes.resize(begin + bundle::part_bytes(m->header.payload_bytes));
    std::memcpy(bytes.data() + begin, &m->header, sizeof m->header);
    std::memcpy(bytes.data() + begin + sizeof m->header, m->body(), m->header.payload_bytes);
  }
  message_ptr all = make_message(bytes.size());
  std::copy(bytes.begin(), bytes.end(), all->body());
  all->header.kind = message_kind::bundle;
  all->header.object = choices.below(3) == 0 ? bundle::uniform : bundle::mixed;
  all->header.flags = flag_uncounted;
  return all;
}

/// Overwrites some bytes behind the header, or cuts them off.
inline message_ptr damaged(message_ptr m, choices& choices) {
  const std::uint32_t bytes = m->header.payload_bytes;
  if (bytes == 0 || !choices.one_in(4)) return m;
  if (choices.below(2) == 1) {
    m->header.payload_bytes = choices.byte() * bytes / 256;
  } else {
    for (std::uint32_t hits = 1 + choices.below(3); hits != 0; --hits) {
      m->body()[(choices.byte() * 256u + choices.byte()) % bytes] = static_cast<std::byte>(choices.byte());
    }
  }
  return m;
}

inline void forge_header(message_header& header, choices& choices) {
  switch (choices.below(12)) {
    case 0:
      header.object = choices.number();
      break;
    case 1:
      header.reply = some_request_id(choices);
      break;
    case 2:
      header.handler = choices.as<std::uint32_t>();
      break;
    case 3:
      header.source = choices.as<std::uint32_t>();
      break;
    case 4:
      header.epoch = choices.as<std::uint32_t>();
      break;
    case 5:
      header.kind = static_cast<message_kind>(choices.below(14));
      break;
    case 6:
      header.flags = static_cast<std::uint8_t>(choices.below(16));
      break;
    case 7:
      header.channel = static_cast<channel>(choices.below(4));
      break;
    case 8:
      header.hops = static_cast<std::uint8_t>(choices.number());
      break;
    default:
      break;
  }
}

inline message_ptr some_message(const victim& victim, choices& choices, std::uint32_t peer, bool within_bundle) {
  message_ptr m;
  switch (choices.below(within_bundle ? 6 : 8)) {
    case 0:
      m = packed_call<note>(message_kind::rank, std::string("a note"), std::vector<std::uint32_t>{1, 2});
      break;
    case 1:
      m = packed_call<ask_back>(message_kind::rank, choices.as<std::uint32_t>());
      break;
    case 2:
      m = packed_call<answer>(message_kind::rank, choices.as<std::uint32_t>());
      m->header.reply = choices.number();
      break;
    case 3:
      m = some_object_message(victim, choices);
      break;
    case 4:
      m = some_arrival(victim, choices, peer);
      break;
    case 5:
      m = make_message(choices.below(2) * 4);
      m->header.kind = message_kind::reply;
      m->header.reply = some_request_id(choices);
      break;
    case 6:
      m = some_module_message(victim, choices, peer);
      break;
    default:
      if (choices.below(2) == 0) {
        m = some_bundle(victim, choices, peer);
        break;
      }
      m = make_message(0);
      m->header.kind = message_kind::credit;
      m->header.channel = channel::system;
      m->header.handler = choices.below(4);
      m->header.sequence = choices.below(2);
      m->header.object = choices.number();
  }
  m->header.source = peer;
  m = damaged(std::move(m), choices);
  if (choices.one_in(3)) forge_header(m->header, choices);
  return m;
}

/// Sends forged messages of peers to a rank until it refuses one. Returns the number of messages that it accepted.
inline std::uint64_t forge_messages(choices& choices, std::vector<std::string>* refusals = nullptr) {
  [[maybe_unused]] const leaks_of_an_end permitted;
  victim victim(choices);
  while (!choices.over() && !victim.refused()) {
    const std::uint32_t peer = choices.below(ranks);
    victim.arrive(peer, some_message(victim, choices, peer, false));
    if (choices.below(3) != 0) victim.run_until_idle();
  }
  victim.run_until_idle();
  if (refusals != nullptr) *refusals = victim.refusals();
  return victim.taken();
}

/// Feeds bytes, cut anywhere, to a stream that a launcher, an agent or a rank reads.
template <class Stream>
void read_stream(choices& choices) {
  Stream stream;
  auto bytes = std::as_bytes(choices.rest());
  bool sound = true;
  while (!bytes.empty() && sound) {
    const std::size_t piece = std::min<std::size_t>(bytes.size(), 1 + std::to_integer<std::size_t>(bytes.front()) % 64);
    stream.received(bytes.first(piece));
    bytes = bytes.subspan(piece);
    for (;;) {
      const auto m = stream.pop();
      sound = m.has_value();
      if (!sound || !*m) break;
      stream.push(**m);  // a message that was read can be written again
    }
  }
}

inline void read_host_spec(choices& choices) {
  try {
    static_cast<void>(tool::unpack_host_spec(std::as_bytes(choices.rest())));
  } catch (const setup_error&) {
  }
}

/// The first byte chooses the reader of the rest.
inline void forge(std::span<const std::uint8_t> bytes) {
  choices choices(bytes);
  switch (choices.below(16)) {
    case 0:
      return read_stream<launch::control_stream>(choices);
    case 1:
      return read_stream<tool::host_stream>(choices);
    case 2:
      return read_host_spec(choices);
    default:
      static_cast<void>(forge_messages(choices));
  }
}

}  // namespace nacre::forgery
