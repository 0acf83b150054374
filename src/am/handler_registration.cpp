// SPDX-License-Identifier: Apache-2.0
// Keeps the list of rows as libraries come and go, and numbers them where a job begins.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "am/handler_table.hpp"
#include "am/row_list.hpp"

namespace nacre {
namespace {

constexpr const char* late_library =
    " of a library that was loaded while the job ran (the ranks agree on the numbers of handlers and classes when a "
    "job "
    "begins): load it before nacre::run";
constexpr std::uint32_t no_number = std::numeric_limits<std::uint32_t>::max();

/// Never destroyed: threads of a job may outlive exit, and rows of the program end then.
struct rows_of_process {
  std::mutex mutex;
  row_list<detail::handler_info> handlers;
  row_list<detail::object_type> types;
  std::uint64_t changes = 1;                // of the lists
  std::uint64_t numbered = 0;               // the value of `changes` that the table shows
  int jobs = 0;                             // that run
  const handler_table* replaced = nullptr;  // objects that outlive their job may look into the last table for a moment
  numbered_with_handlers* others = nullptr;
};
constinit rows_of_process listed;
/// The newest table. The store in number_rows releases its contents to readers, which acquire.
constinit std::atomic<const handler_table*> newest{nullptr};

template <class Row>
void enlist(row_list<Row>& list, Row& row, const void* key) noexcept {
  row.id = decltype(row.id)(no_number);
  row.own_key = key;
  const std::scoped_lock lock(listed.mutex);
  list.add(row);
  ++listed.changes;
}

template <class Row>
void strike(row_list<Row>& list, const Row& row) noexcept {
  const std::scoped_lock lock(listed.mutex);
  list.remove(row);
  ++listed.changes;
}

/// With the lock. The table in use, where there is one, stays what it is.
void renew_table(const handler_table::listed_rows& all) {
  const handler_table* const table = newest.load(std::memory_order_relaxed);
  if (listed.jobs == 0) {
    auto fresh = std::make_unique<const handler_table>(all);
    delete std::exchange(listed.replaced, table);
    newest.store(fresh.release(), std::memory_order_release);
  } else {
    newest.store(new handler_table(all, std::unique_ptr<const handler_table>(table)), std::memory_order_release);
  }
  listed.numbered = listed.changes;
}

/// Gives numbers to rows that have none, and counts a job that begins. Returns the libraries with rows, which are held
/// without the lock: the initialisation of a library takes it, and the loader has a lock of its own.
std::vector<held_library> number_rows(int beginning_jobs) {
  for (;;) {
    std::vector<held_library> held;
    std::unique_lock lock(listed.mutex);
    const std::uint64_t seen = listed.changes;
    const bool is_known = listed.numbered == seen;
    handler_table::listed_rows all{.handlers = {}, .types = {}, .files = {}};
    std::vector<std::string> libraries;
    if (is_known) {
      libraries = newest.load(std::memory_order_relaxed)->libraries();
    } else {
      all.handlers = listed.handlers.rows();
      all.types = listed.types.rows();
    }
    lock.unlock();
    const std::vector<loaded_file> files = is_known ? std::vector<loaded_file>() : loaded_files();
    all.files = files;
    for (const loaded_file& each : files) {
      const auto holds = [&](const auto* row) { return each.holds(row); };
      if (!each.is_program() && (std::ranges::any_of(all.handlers, holds) || std::ranges::any_of(all.types, holds)))
        libraries.push_back(each.path);
    }
    for (const std::string& each : libraries) held.emplace_back(each);
    lock.lock();
    if (listed.changes != seen) {
      lock.unlock();  // before libraries are given up
      continue;
    }
    if (!is_known) renew_table(all);
    listed.jobs += beginning_jobs;
    return held;
  }
}

}  // namespace

namespace detail {
handler_registration::handler_registration(handler_info& row) noexcept : row_(row) {
  enlist(listed.handlers, row, row.own_key != nullptr ? row.own_key : row.target_key);
}
handler_registration::~handler_registration() { strike(listed.handlers, row_); }
type_registration::type_registration(object_type& row) noexcept : row_(row) {
  enlist(listed.types, row, row.own_key != nullptr ? row.own_key : row.key);
}
type_registration::~type_registration() { strike(listed.types, row_); }
}  // namespace detail

const handler_table& handler_table::get() {
  const handler_table* table = newest.load(std::memory_order_acquire);
  if (table == nullptr) {
    static_cast<void>(number_rows(0));
    table = newest.load(std::memory_order_acquire);
  }
  return *table;
}

handler_use::handler_use() : held_(number_rows(1)) {
  const std::scoped_lock lock(listed.mutex);
  if (listed.jobs != 1) return;
  try {
    for (const auto* each = listed.others; each != nullptr; each = each->next_) each->renew_();
  } catch (...) {
    --listed.jobs;
    throw;
  }
}

handler_use::~handler_use() {
  const std::scoped_lock lock(listed.mutex);
  --listed.jobs;
}

numbered_with_handlers::numbered_with_handlers(void (*renew)()) noexcept : renew_(renew) {
  const std::scoped_lock lock(listed.mutex);
  next_ = std::exchange(listed.others, this);
}

std::string why_no_handler(std::uint32_t id, std::string_view plain, std::string_view late) {
  const bool came_later = id == no_number || handler_table::get().handler(id) != nullptr;
  return came_later ? std::string(late) + late_library : std::string(plain);
}

void must_be_numbered(const handler_table& of_job, const detail::object_type& type) {
  if (of_job.type(type.id.value()) != &type) throw usage_error(std::string(type.name) + ", a class" + late_library);
}

void must_be_numbered(std::uint32_t handler) {
  if (handler == no_number) throw usage_error(std::string("a handler") + late_library);
}

}  // namespace nacre
