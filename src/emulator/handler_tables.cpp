// SPDX-License-Identifier: Apache-2.0
// Collects the rows in lists while static objects are initialised, and sorts them by name once.
#include "emulator/handler_tables.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <nacre/error.hpp>
#include "emulator/event.hpp"

namespace nacre {
namespace {

constinit detail::emulated_handler* handlers = nullptr;
constinit detail::emulated_state* states = nullptr;

constexpr detail::emulated_handler wake_row{nullptr, nullptr, "a waiting message", 0, 0};
constexpr detail::emulated_handler resume_row{nullptr, nullptr, "a coroutine", 1, 8};
constexpr detail::emulated_handler depart_row{nullptr, nullptr, "a packet that departs", 0, 0};
constexpr detail::emulated_handler router_row{nullptr, nullptr, "a packet that asks for a link", 0, 0};

template <class Row>
void sort_by_name(std::vector<Row*>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row* a, const Row* b) { return a->name < b->name; });
}

std::vector<const detail::emulated_handler*> number_handlers() {
  std::vector<detail::emulated_handler*> rows;
  for (auto* row = handlers; row != nullptr; row = row->next) rows.push_back(row);
  sort_by_name(rows);
  constexpr std::size_t rows_max = 60'000;
  if (rows.size() > rows_max) {
    throw setup_error({"the program has more than 60,000 handlers of emulated nodes",
                       "an event names its handler in 16 bits", "give handlers a number as an argument"});
  }
  std::vector<const detail::emulated_handler*> table{&wake_row, &resume_row, &depart_row, &router_row};
  for (auto* row : rows) {
    row->id = static_cast<std::uint16_t>(table.size());
    table.push_back(row);
  }
  return table;
}

std::vector<const detail::emulated_state*> number_states() {
  std::vector<detail::emulated_state*> rows;
  for (auto* row = states; row != nullptr; row = row->next) rows.push_back(row);
  sort_by_name(rows);
  for (std::size_t k = 0; k < rows.size(); ++k) rows[k]->id = static_cast<std::uint32_t>(k);
  return {rows.begin(), rows.end()};
}

}  // namespace

namespace detail {

emulated_registration::emulated_registration(emulated_handler& row) noexcept {
  row.next = std::exchange(handlers, &row);
}

emulated_state_registration::emulated_state_registration(emulated_state& row) noexcept {
  row.next = std::exchange(states, &row);
}

}  // namespace detail

namespace emulator {

std::span<const detail::emulated_handler* const> handler_table() {
  static const std::vector<const detail::emulated_handler*> table = number_handlers();
  return table;
}

std::span<const detail::emulated_state* const> state_table() {
  static const std::vector<const detail::emulated_state*> table = number_states();
  return table;
}

}  // namespace emulator
}  // namespace nacre
