// SPDX-License-Identifier: Apache-2.0
// Forged messages to the modules of a rank: well formed but with false arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "balance/balancing.hpp"
#include "forgery/forged_rank.hpp"

namespace nacre::forgery {

inline object_id some_object(const victim& at, choices& from) {
  switch (from.below(8)) {
    case 6:
      return at.grid()[{0, from.below(4)}].id();
    case 7:
      return object_id(rank_id(from.below(ranks)), object_id::first_element + at.grid().first() + from.below(20));
    case 0:
      return at.leaving();
    case 1:
      return object_id::from_value((std::uint64_t{from.below(ranks)} << object_id::index_bits) | from.below(4));
    case 2:
      return object_id::from_value(from.number());
    default:
      return at.staying();
  }
}

inline std::vector<std::byte> some_bytes(choices& from) {
  std::vector<std::byte> bytes(from.below(32));
  for (std::byte& each : bytes) each = static_cast<std::byte>(from.byte());
  return bytes;
}

/// Mostly one of the first numbers in the form that the rank gives to calls and transfers; sometimes any number.
inline std::uint64_t some_request_id(choices& from) {
  return from.one_in(8) ? from.number() : (std::uint64_t{1} << 32) | from.below(4);
}

inline memory_request some_request(const victim& at, choices& from) {
  memory_request asked{.name = at.memory(),
                       .token = some_request_id(from),
                       .offset = from.number(),
                       .length = from.number(),
                       .at = from.number(),
                       .bytes = from.number()};
  if (from.one_in(8)) asked.name.key[0] ^= 1;
  if (from.one_in(8)) asked.name.segment = from.as<std::uint32_t>();
  return asked;
}

inline collective_message some_contribution(choices& from) {
  collective_message m{.number = from.one_in(4) ? from.as<std::uint32_t>() : 0,
                       .root = from.one_in(4) ? from.as<std::uint32_t>() : 0,
                       .type = detail::type_mark<double>(),
                       .kind = static_cast<collective_kind>(from.below(9)),
                       .result = from.below(2) == 1,
                       .value = {}};
  switch (from.below(4)) {
    case 0:
      m.type = detail::type_mark<std::string>();
      m.value = pack(std::string("value"));
      break;
    case 1:
      m.type = 0;
      if (m.kind == collective_kind::end_of_main && !from.one_in(4)) m.value = {std::byte{1}};
      break;
    case 2:
      m.value = pack(1.5);
      break;
    default:
      m.type = detail::type_mark<int>();
      m.value = some_bytes(from);
  }
  if (m.kind == collective_kind::broadcast && !from.one_in(4)) m.root = 3;
  return m;
}

template <auto F, class... Args>
message_ptr to_module(Args&&... args) {
  message_ptr m = packed_form(detail::make_typed<F>(std::forward<Args>(args)...));
  m->header.kind = message_kind::module;
  m->header.channel = channel::system;
  m->header.flags = flag_communication;
  return m;
}

inline message_ptr some_colocation_message(const victim& at, choices& from) {
  const std::uint64_t number = from.number();
  const object_id object = some_object(at, from);
  switch (from.below(3)) {
    case 0:
      return to_module<&colocation_space::on_news>(
          colocate_news{number, object, static_cast<colocate_step>(from.below(5)), from.one_in(2), from.number()});
    case 1:
      return to_module<&colocation_space::on_order>(number, object, from.as<std::uint32_t>());
    default: {
      const std::uint32_t meets =
          detail::colocated_function<meet, detail::param_list<cell, cell>, detail::param_list<std::uint32_t>>::row.id
              .value();
      return to_module<&colocation_space::on_function>(
          colocate_call{number,
                        from.one_in(4) ? from.as<std::uint32_t>() : meets,
                        some_request_id(from),
                        {object, some_object(at, from)},
                        from.one_in(2) ? pack(std::uint32_t{7}) : some_bytes(from)});
    }
  }
}

/// A message to all elements of an array, as a caller sends it to the root or a rank to its children.
inline message_ptr some_array_message(const victim& at, choices& from, std::uint32_t peer) {
  broadcast_header order{.first = at.grid().first(),
                         .reply = from.below(2) * some_request_id(from),
                         .answer_to = from.one_in(8) ? from.as<std::uint32_t>() : peer,
                         .number = from.below(3),
                         .end = from.one_in(8) ? from.as<std::uint32_t>() : ranks};
  switch (from.below(4)) {
    case 0:
      break;  // destroys the elements
    case 1:
      order.handler = detail::make_typed<&cell::count, cell>()->header.handler;
      order.fold = from.one_in(2) ? detail::fold_of<std::size_t, std::plus<>>() : 0;
      break;
    case 2:
      order.handler = from.as<std::uint32_t>();
      order.fold = from.as<std::uint32_t>();
      break;
    default:
      order.handler = detail::make_typed<&cell::add, cell>(std::uint32_t{1})->header.handler;
  }
  if (from.one_in(8)) order.first = from.number();
  if (from.one_in(8)) order.flags = from.byte();
  if (from.one_in(8)) order.channel = static_cast<channel>(from.below(4));
  const std::vector<std::byte> arguments = from.one_in(4) ? some_bytes(from) : pack(std::uint32_t{5});
  const std::span<const std::byte> view(arguments);
  if (from.one_in(2)) return to_module<&array_space::on_call>(order, view);
  return to_module<&array_space::on_broadcast>(order, view);
}

inline message_ptr some_news(const victim& at, choices& from) {
  std::vector<object_news> all(from.below(4));
  for (object_news& each : all) {
    each = {.object = some_object(at, from).value(),
            .epoch = from.as<std::uint32_t>(),
            .policy = static_cast<std::uint8_t>(from.below(8)),
            .gone = static_cast<std::uint8_t>(from.below(3))};
  }
  return to_module<&location_updates::on_news>(all);
}

inline message_ptr some_module_message(const victim& at, choices& from, std::uint32_t peer) {
  switch (from.below(13)) {
    case 12:
      return some_news(at, from);
    case 10:
      return some_array_message(at, from, peer);
    case 11:
      return to_module<&message_forwarding::on_collect_answered>(some_object(at, from).value(),
                                                                 from.as<std::uint32_t>(), from.one_in(2));
    case 0:
      return to_module<&location_updates::on_location>(
          some_object(at, from).value(), from.one_in(4) ? from.as<std::uint32_t>() : peer, from.as<std::uint32_t>(),
          static_cast<std::uint8_t>(from.below(8)));
    case 1:
      return to_module<&object_ends::on_gone>(some_object(at, from).value());
    case 2:
      if (from.one_in(2)) return some_colocation_message(at, from);
      return to_module<&delivery_errors::on_undeliverable>(some_object(at, from).value(), from.as<std::uint32_t>());
    case 3: {
      const std::vector<std::byte> data(from.below(32) * 8u);
      return to_module<&memory_module::on_put>(some_request(at, from), memory_bytes(data));
    }
    case 4:
      return to_module<&memory_module::on_get>(some_request(at, from), memory_bytes());
    case 5:
      return to_module<&memory_module::on_done>(some_request_id(from), static_cast<memory_status>(from.below(8)));
    case 6: {
      const std::vector<std::byte> data(from.one_in(2) ? 64 : from.below(200));
      return to_module<&memory_module::on_data>(some_request_id(from), memory_bytes(data));
    }
    case 7:
      return to_module<&quiescence_module::on_detector_message>(quiescence::detector_message{
          .sums = {.created = from.number(), .done = from.number(), .lying = from.number(), .taken_up = from.number()},
          .wave = from.as<std::uint32_t>(),
          .kind = static_cast<std::uint16_t>(from.below(5)),
          .flags = static_cast<std::uint16_t>(from.below(4))});
    case 8:
      return to_module<&balancing::on_balancer_message>(some_bytes(from));
    default:
      return to_module<&collectives_module::on_collective_message>(some_contribution(from));
  }
}

}  // namespace nacre::forgery
