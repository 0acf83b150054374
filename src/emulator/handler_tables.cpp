// SPDX-License-Identifier: Apache-2.0
// Collects the rows in lists while static objects are initialised, and sorts them by name where a job begins.
#include "emulator/handler_tables.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "am/handler_table.hpp"
#include "am/row_list.hpp"
#include "emulator/event.hpp"

namespace nacre {
namespace {

/// Never destroyed, as rows of the program end at exit.
struct emulated_rows_of_process {
  std::mutex mutex;
  row_list<detail::emulated_handler> handlers;
  row_list<detail::emulated_state> states;
  bool is_changed = true;  // since they were numbered
};
constinit emulated_rows_of_process emulated_rows;

/// The tables of the jobs that run. Only where none runs they are made anew.
struct emulated_tables {
  std::vector<const detail::emulated_handler*> handlers;
  std::vector<const detail::emulated_state*> states;
};
emulated_tables& tables() {
  static auto* const all = new emulated_tables;
  return *all;
}

constexpr detail::emulated_handler wake_row{nullptr, nullptr, "a waiting message", 0, 0};
constexpr detail::emulated_handler resume_row{nullptr, nullptr, "a coroutine", 1, 8};
constexpr detail::emulated_handler depart_row{nullptr, nullptr, "a packet that departs", 0, 0};
constexpr detail::emulated_handler router_row{nullptr, nullptr, "a packet that asks for a link", 0, 0};

template <class Row>
void sort_by_name(std::vector<Row*>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row* a, const Row* b) { return a->name < b->name; });
}

std::vector<const detail::emulated_handler*> number_handlers() {
  std::vector<detail::emulated_handler*> rows = emulated_rows.handlers.rows();
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
  std::vector<detail::emulated_state*> rows = emulated_rows.states.rows();
  sort_by_name(rows);
  for (std::size_t k = 0; k < rows.size(); ++k) rows[k]->id = static_cast<std::uint32_t>(k);
  return {rows.begin(), rows.end()};
}

void number_rows_of_emulations() {
  const std::scoped_lock lock(emulated_rows.mutex);
  if (!std::exchange(emulated_rows.is_changed, false)) return;
  tables() = {number_handlers(), number_states()};
}
const numbered_with_handlers numbering(&number_rows_of_emulations);

/// Of a test without a job, too.
emulated_tables& numbered_tables() {
  static const bool is_numbered = (number_rows_of_emulations(), true);
  static_cast<void>(is_numbered);
  return tables();
}

template <class Row>
void enlist_emulated(row_list<Row>& list, Row& row) noexcept {
  const std::scoped_lock lock(emulated_rows.mutex);
  list.add(row);
  emulated_rows.is_changed = true;
}
template <class Row>
void strike_emulated(row_list<Row>& list, const Row& row) noexcept {
  const std::scoped_lock lock(emulated_rows.mutex);
  list.remove(row);
  emulated_rows.is_changed = true;
}

}  // namespace

namespace detail {

emulated_registration::emulated_registration(emulated_handler& row) noexcept : row_(row) {
  enlist_emulated(emulated_rows.handlers, row);
}
emulated_registration::~emulated_registration() { strike_emulated(emulated_rows.handlers, row_); }

emulated_state_registration::emulated_state_registration(emulated_state& row) noexcept : row_(row) {
  enlist_emulated(emulated_rows.states, row);
}
emulated_state_registration::~emulated_state_registration() { strike_emulated(emulated_rows.states, row_); }

}  // namespace detail

namespace emulator {

std::span<const detail::emulated_handler* const> handler_table() { return numbered_tables().handlers; }

std::span<const detail::emulated_state* const> state_table() { return numbered_tables().states; }

void all_must_be_numbered() {
  const std::scoped_lock lock(emulated_rows.mutex);
  const auto is_known = [](const auto& table) {
    return [&table](const auto* row) { return std::ranges::find(table, row) != table.end(); };
  };
  if (!emulated_rows.is_changed) return;
  if (std::ranges::all_of(emulated_rows.handlers.rows(), is_known(tables().handlers)) &&
      std::ranges::all_of(emulated_rows.states.rows(), is_known(tables().states)))
    return;
  throw usage_error(
      "emulate with a library that was loaded while the job ran and has handlers or states of emulated nodes (the "
      "ranks "
      "agree on their numbers when a job begins): load it before nacre::run");
}

}  // namespace emulator
}  // namespace nacre
