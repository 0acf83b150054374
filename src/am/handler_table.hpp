// SPDX-License-Identifier: Apache-2.0
// The numbers of handlers and object types: equal in every process of one binary with the same libraries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nacre/handler.hpp>
#include <nacre/object_type.hpp>

#include "base/fnv1a.hpp"
#include "base/loaded_files.hpp"

namespace nacre {

/// Every handler and object type that the program and its libraries mention, numbered in the order of their names from
/// 1. It is link-time data, equal for all ranks, and so the one table that ranks of a process share. A process has at
/// most 65,535 object types. Where a job begins while no other one runs, all rows are numbered anew, if libraries have
/// come or gone. Where one begins inside another, new rows get numbers behind those of the table that is in use.
class handler_table {
 public:
  /// The newest table. Jobs that began with earlier ones may use it: it differs from theirs by further rows.
  static const handler_table& get();

  /// Null for a number that no handler has. Numbers in messages are input: check.
  [[nodiscard]] const detail::handler_info* handler(std::uint32_t id) const noexcept {
    return id < handlers_.size() ? handlers_[id] : nullptr;
  }
  [[nodiscard]] const detail::object_type* type(std::uint32_t id) const noexcept {
    return id < types_.size() ? types_[id] : nullptr;
  }
  /// One more than the largest number of a handler, and of a class.
  [[nodiscard]] std::size_t handlers() const noexcept { return handlers_.size(); }
  [[nodiscard]] std::size_t types() const noexcept { return types_.size(); }
  /// A hash of all names in order, and of the libraries that have rows or the runtime. Peers must agree on it.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept { return fingerprint_.value(); }
  /// The shared libraries that have rows, as loaded_file::path.
  [[nodiscard]] const std::vector<std::string>& libraries() const noexcept { return libraries_; }

  /// The rows that registrations have listed, in the order of their initialisation, and the files that hold them.
  struct listed_rows {
    std::vector<detail::handler_info*> handlers;
    std::vector<detail::object_type*> types;
    std::span<const loaded_file> files;
  };
  /// Numbers all rows. With a table `table`, which jobs use, its rows keep their numbers; rows that are gone leave a
  /// gap. Throws setup_error.
  explicit handler_table(const listed_rows& all, std::unique_ptr<const handler_table> table = nullptr);

 private:
  void add_names(std::string_view name, std::string_view identity);
  void add_files(const listed_rows& all);

  std::unique_ptr<const handler_table> previous_;  // jobs may hold a reference to it
  std::vector<const detail::handler_info*> handlers_;
  std::vector<const detail::object_type*> types_;
  std::vector<std::string> libraries_;
  fnv1a<std::uint64_t> fingerprint_;
};

/// While an object of this class lives, a job runs in the process. What has been registered before has numbers; what
/// libraries register later has none until the next job. Libraries with rows stay loaded, also where they are closed.
class handler_use {
 public:
  handler_use();
  handler_use(const handler_use&) = delete;
  handler_use& operator=(const handler_use&) = delete;
  ~handler_use();

 private:
  std::vector<held_library> held_;
};

/// A further table, as that of emulated nodes' handlers, is numbered anew by `renew` where a job begins while no other
/// one runs. `renew` starts nothing and takes no lock under which libraries are loaded. While static objects are
/// initialised.
class numbered_with_handlers {
 public:
  explicit numbered_with_handlers(void (*renew)()) noexcept;

 private:
  friend class handler_use;
  void (*renew_)();
  numbered_with_handlers* next_;
};

/// The line for a message with a handler unknown to the job: `plain`, or, for a library that has come too late, `late`
/// with the remedy.
[[nodiscard]] std::string why_no_handler(std::uint32_t id, std::string_view plain = "names no handler",
                                         std::string_view late = "names a handler");

/// Throw usage_error for a class, or a handler, of a library that was loaded while the job of this table ran.
void must_be_numbered(const handler_table& of_job, const detail::object_type& type);
void must_be_numbered(std::uint32_t handler);

}  // namespace nacre
