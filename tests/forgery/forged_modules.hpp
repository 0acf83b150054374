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

inline object_id some_object(const victim& victim, choices& choices) {
  switch (choices.below(8)) {
    case 6:
      return victim.grid()[{0, choices.below(4)}].id();
    case 7:
      return object_id(rank_id(choices.below(ranks)),
                       object_id::first_element + victim.grid().first() + choices.below(20));
    case 0:
      return victim.leaving();
    case 1:
      return object_id::from_value((std::uint64_t{choices.below(ranks)} << object_id::index_bits) | choices.below(4));
    case 2:
      return object_id::from_value(choices.number());
    default:
      return victim.staying();
  }
}

inline std::vector<std::byte> some_bytes(choices& choices) {
  std::vector<std::byte> bytes(choices.below(32));
  for (std::byte& each : bytes) each = static_cast<std::byte>(choices.byte());
  return bytes;
}

/// Mostly one of the first numbers in the form that the rank gives to calls and transfers; sometimes any number.
inline std::uint64_t some_request_id(choices& choices) {
  return choices.one_in(8) ? choices.number() : (std::uint64_t{1} << 32) | choices.below(4);
}

inline memory_request some_request(const victim& victim, choices& choices) {
  memory_request asked{.name = victim.memory(),
                       .token = some_request_id(choices),
                       .offset = choices.number(),
                       .length = choices.number(),
                       .piece_offset = choices.number(),
                       .bytes = choices.number()};
  if (choices.one_in(8)) asked.name.key[0] ^= 1;
  if (choices.one_in(8)) asked.name.segment = choices.as<std::uint32_t>();
  return asked;
}

inline collective_message some_contribution(choices& choices) {
  collective_message m{.number = choices.one_in(4) ? choices.as<std::uint32_t>() : 0,
                       .root = choices.one_in(4) ? choices.as<std::uint32_t>() : 0,
                       .type = detail::type_mark<double>(),
                       .kind = static_cast<collective_kind>(choices.below(9)),
                       .result = choices.below(2) == 1,
                       .value = {}};
  switch (choices.below(4)) {
    case 0:
      m.type = detail::type_mark<std::string>();
      m.value = pack(std::string("value"));
      break;
    case 1:
      m.type = 0;
      if (m.kind == collective_kind::end_of_main && !choices.one_in(4)) m.value = {std::byte{1}};
      break;
    case 2:
      m.value = pack(1.5);
      break;
    default:
      m.type = detail::type_mark<int>();
      m.value = some_bytes(choices);
  }
  if (m.kind == collective_kind::broadcast && !choices.one_in(4)) m.root = 3;
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

inline message_ptr some_colocation_message(const victim& victim, choices& choices) {
  const std::uint64_t number = choices.number();
  const object_id object = some_object(victim, choices);
  switch (choices.below(3)) {
    case 0:
      return to_module<&colocations::on_news>(colocate_news{
          number, object, static_cast<colocate_step>(choices.below(5)), choices.one_in(2), choices.number()});
    case 1:
      return to_module<&colocations::on_order>(number, object, choices.as<std::uint32_t>());
    default: {
      const std::uint32_t meets =
          detail::colocated_function<meet, detail::param_list<cell, cell>, detail::param_list<std::uint32_t>>::row.id
              .value();
      return to_module<&colocations::on_function>(
          colocate_call{number,
                        choices.one_in(4) ? choices.as<std::uint32_t>() : meets,
                        some_request_id(choices),
                        {object, some_object(victim, choices)},
                        choices.one_in(2) ? pack(std::uint32_t{7}) : some_bytes(choices)});
    }
  }
}

/// A message to all elements of an array, as a caller sends it to the root or a rank to its children.
inline message_ptr some_array_message(const victim& victim, choices& choices, std::uint32_t peer) {
  broadcast_header order{.first = victim.grid().first(),
                         .reply = choices.below(2) * some_request_id(choices),
                         .answer_to = choices.one_in(8) ? choices.as<std::uint32_t>() : peer,
                         .number = choices.below(3),
                         .end = choices.one_in(8) ? choices.as<std::uint32_t>() : ranks};
  switch (choices.below(4)) {
    case 0:
      break;  // destroys the elements
    case 1:
      order.handler = detail::make_typed<&cell::count, cell>()->header.handler;
      order.fold = choices.one_in(2) ? detail::fold_of<std::size_t, std::plus<>>() : 0;
      break;
    case 2:
      order.handler = choices.as<std::uint32_t>();
      order.fold = choices.as<std::uint32_t>();
      break;
    default:
      order.handler = detail::make_typed<&cell::add, cell>(std::uint32_t{1})->header.handler;
  }
  if (choices.one_in(8)) order.first = choices.number();
  if (choices.one_in(8)) order.flags = choices.byte();
  if (choices.one_in(8)) order.channel = static_cast<channel>(choices.below(4));
  const std::vector<std::byte> arguments = choices.one_in(4) ? some_bytes(choices) : pack(std::uint32_t{5});
  const std::span<const std::byte> view(arguments);
  if (choices.one_in(2)) return to_module<&broadcasts::on_call>(order, view);
  return to_module<&broadcasts::on_broadcast>(order, view);
}

inline message_ptr some_news(const victim& victim, choices& choices) {
  std::vector<object_news> all(choices.below(4));
  for (object_news& each : all) {
    each = {.object = some_object(victim, choices).value(),
            .epoch = choices.as<std::uint32_t>(),
            .policy = static_cast<std::uint8_t>(choices.below(8)),
            .gone = static_cast<std::uint8_t>(choices.below(3))};
  }
  return to_module<&location_updates::on_news>(all);
}

inline message_ptr some_module_message(const victim& victim, choices& choices, std::uint32_t peer) {
  switch (choices.below(13)) {
    case 12:
      return some_news(victim, choices);
    case 10:
      return some_array_message(victim, choices, peer);
    case 11:
      return to_module<&entry_review::on_collect_answered>(some_object(victim, choices).value(),
                                                           choices.as<std::uint32_t>(), choices.one_in(2));
    case 0:
      return to_module<&location_updates::on_location>(
          some_object(victim, choices).value(), choices.one_in(4) ? choices.as<std::uint32_t>() : peer,
          choices.as<std::uint32_t>(), static_cast<std::uint8_t>(choices.below(8)));
    case 1:
      return to_module<&delivery_errors::on_gone>(some_object(victim, choices).value());
    case 2:
      if (choices.one_in(2)) return some_colocation_message(victim, choices);
      return to_module<&delivery_errors::on_undeliverable>(some_object(victim, choices).value(),
                                                           choices.as<std::uint32_t>());
    case 3: {
      const std::vector<std::byte> data(choices.below(32) * 8u);
      return to_module<&memory_module::on_put>(some_request(victim, choices), memory_bytes(data));
    }
    case 4:
      return to_module<&memory_module::on_get>(some_request(victim, choices), memory_bytes());
    case 5:
      return to_module<&memory_module::on_done>(some_request_id(choices), static_cast<memory_status>(choices.below(8)));
    case 6: {
      const std::vector<std::byte> data(choices.one_in(2) ? 64 : choices.below(200));
      return to_module<&memory_module::on_data>(some_request_id(choices), memory_bytes(data));
    }
    case 7:
      return to_module<&quiescence_module::on_detector_message>(
          quiescence::detector_message{.sums = {.created = choices.number(),
                                                .done = choices.number(),
                                                .lying = choices.number(),
                                                .taken_up = choices.number()},
                                       .wave = choices.as<std::uint32_t>(),
                                       .kind = static_cast<std::uint16_t>(choices.below(5)),
                                       .flags = static_cast<std::uint16_t>(choices.below(4))});
    case 8:
      return to_module<&balancing::on_balancer_message>(some_bytes(choices));
    default:
      return to_module<&collectives_module::on_collective_message>(some_contribution(choices));
  }
}

}  // namespace nacre::forgery
