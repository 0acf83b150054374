// SPDX-License-Identifier: Apache-2.0
// A trace as an OTF2 archive: activities of tracks as regions, migrations and traced messages as messages between
// locations.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <system_error>

#if defined(NACRE_WITH_OTF2)

#include <fmt/format.h>
#include <otf2/otf2.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "tool/report/phase_spans.hpp"
#include "tool/report/report.hpp"
#include "tool/report/segments.hpp"

namespace nacre::tool {
namespace {

constexpr std::uint64_t chunk_bytes = 1u << 20;

// Region 0 is free, because 0 is no handler's number.
enum fixed_region : std::uint32_t { idle_region = 0 };

OTF2_FlushType flush_always(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }
OTF2_TimeStamp no_time(void*, OTF2_FileType, OTF2_LocationRef) { return 0; }

// The communicators.
enum communicator : OTF2_CommRef { of_migrations = 0, of_messages = 1 };

/// A departure or an arrival, at one location, of a migrating object or of a message.
struct crossing {
  std::int64_t ns;
  bool leaves;
  std::uint32_t other;  // location
  communicator kind;
  std::uint32_t tag;  // handler of a message
  std::uint64_t bytes;
};

class otf2_writer {
 public:
  otf2_writer(const trace::trace_log& log, const std::string& folder) : log_(log), sums_(take_survey(log)) {
    archive_ = OTF2_Archive_Open(folder.c_str(), "traces", OTF2_FILEMODE_WRITE, chunk_bytes, chunk_bytes,
                                 OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (archive_ == nullptr) throw std::runtime_error("it cannot be opened");
    static constexpr OTF2_FlushCallbacks flush{flush_always, no_time};
    check(OTF2_Archive_SetFlushCallbacks(archive_, &flush, nullptr));
    check(OTF2_Archive_SetSerialCollectiveCallbacks(archive_));
  }
  otf2_writer(const otf2_writer&) = delete;
  otf2_writer& operator=(const otf2_writer&) = delete;

  /// Called once. When it throws the archive is neither whole nor closed: closing it would make the library fail again.
  void write() {
    collect_crossings();
    check(OTF2_Archive_OpenEvtFiles(archive_));
    for (std::size_t index = 0; index < log_.tracks().size(); ++index) write_track(index);
    check(OTF2_Archive_CloseEvtFiles(archive_));
    check(OTF2_Archive_OpenDefFiles(archive_));
    for (std::size_t index = 0; index < log_.tracks().size(); ++index) {
      check(OTF2_Archive_CloseDefWriter(archive_, OTF2_Archive_GetDefWriter(archive_, index)));
    }
    check(OTF2_Archive_CloseDefFiles(archive_));
    write_definitions();
    check(OTF2_Archive_Close(archive_));
  }

 private:
  static void check(OTF2_ErrorCode code) {
    if (code != OTF2_SUCCESS) throw std::runtime_error(OTF2_Error_GetDescription(code));
  }

  // Regions: 0 is idle; a handler has its number; main, runtime and the phases follow the last handler.
  [[nodiscard]] OTF2_RegionRef main_region() const { return static_cast<OTF2_RegionRef>(log_.job().handlers.size()); }
  [[nodiscard]] OTF2_RegionRef runtime_region() const { return main_region() + 1; }
  [[nodiscard]] OTF2_RegionRef phase_region(std::uint32_t phase) const { return runtime_region() + phase; }
  [[nodiscard]] OTF2_RegionRef region_of(const segment& one) const {
    if (one.handler != 0 && one.handler < log_.job().handlers.size()) return one.handler;
    if (one.kind == doing::idle) return idle_region;
    return one.kind == doing::main ? main_region() : runtime_region();
  }

  void collect_crossings() {
    crossings_.resize(log_.tracks().size());
    const auto add = [this](const passage& one, communicator kind) {
      crossings_[one.source].push_back(
          {one.begin_ns, true, static_cast<std::uint32_t>(one.target), kind, one.handler, one.bytes});
      crossings_[one.target].push_back(
          {one.end_ns, false, static_cast<std::uint32_t>(one.source), kind, one.handler, one.bytes});
    };
    for (const passage& one : sums_.migrations.kept) add(one, of_migrations);
    for (const passage& one : sums_.traced.kept) add(one, of_messages);
    for (auto& each : crossings_) {
      std::stable_sort(each.begin(), each.end(), [](const crossing& a, const crossing& b) { return a.ns < b.ns; });
    }
  }

  static OTF2_TimeStamp time_of(std::int64_t ns) { return static_cast<OTF2_TimeStamp>(std::max<std::int64_t>(ns, 0)); }

  void write_track(std::size_t index) {
    OTF2_EvtWriter* const target = OTF2_Archive_GetEvtWriter(archive_, index);
    const std::vector<crossing>& crossings = crossings_[index];
    std::size_t next = 0;
    phase_cutter phases(nested_phases(log_, index, [](const phase_span&) { return true; }));
    const auto cross_until = [&](std::int64_t ns) {
      for (; next < crossings.size() && crossings[next].ns <= ns; ++next) {
        const crossing& one = crossings[next];
        check(one.leaves
                  ? OTF2_EvtWriter_MpiSend(target, nullptr, time_of(one.ns), one.other, one.kind, one.tag, one.bytes)
                  : OTF2_EvtWriter_MpiRecv(target, nullptr, time_of(one.ns), one.other, one.kind, one.tag, one.bytes));
      }
    };
    const auto on_segment = [&](const segment& one) {
      if (one.kind == doing::nothing) return;
      cross_until(one.begin_ns - 1);
      check(OTF2_EvtWriter_Enter(target, nullptr, time_of(one.begin_ns), region_of(one)));
      phases.cut(one.begin_ns, one.end_ns, [&](std::int64_t ns, std::uint32_t phase, bool enters) {
        cross_until(ns);
        check(enters ? OTF2_EvtWriter_Enter(target, nullptr, time_of(ns), phase_region(phase))
                     : OTF2_EvtWriter_Leave(target, nullptr, time_of(ns), phase_region(phase)));
      });
      cross_until(one.end_ns);
      check(OTF2_EvtWriter_Leave(target, nullptr, time_of(one.end_ns), region_of(one)));
    };
    walk(log_, index, on_segment, [](const trace::event&) {});
    cross_until(log_.end_ns());
    std::uint64_t count = 0;
    check(OTF2_EvtWriter_GetNumberOfEvents(target, &count));
    events_.push_back(count);
    check(OTF2_Archive_CloseEvtWriter(archive_, target));
  }

  OTF2_StringRef text(const std::string& name) {
    const auto [entry, fresh] = texts_.emplace(name, static_cast<OTF2_StringRef>(texts_.size()));
    if (fresh) check(OTF2_GlobalDefWriter_WriteString(global_, entry->second, name.c_str()));
    return entry->second;
  }

  void write_region(OTF2_RegionRef region, const std::string& name, OTF2_RegionRole role) {
    const OTF2_StringRef named = text(name);
    check(OTF2_GlobalDefWriter_WriteRegion(global_, region, named, named, text(""), role, OTF2_PARADIGM_USER,
                                           OTF2_REGION_FLAG_NONE, text(""), 0, 0));
  }

  void write_definitions() {
    global_ = OTF2_Archive_GetGlobalDefWriter(archive_);
    check(OTF2_GlobalDefWriter_WriteClockProperties(global_, 1'000'000'000, 0, time_of(log_.end_ns()) + 1,
                                                    OTF2_UNDEFINED_TIMESTAMP));
    text("");
    write_region(idle_region, "idle", OTF2_REGION_ROLE_TASK_WAIT);
    for (std::uint32_t id = 1; id < log_.job().handlers.size(); ++id) {
      write_region(id, log_.job().handlers[id], OTF2_REGION_ROLE_FUNCTION);
    }
    write_region(main_region(), "main", OTF2_REGION_ROLE_FUNCTION);
    write_region(runtime_region(), "runtime", OTF2_REGION_ROLE_ARTIFICIAL);
    for (std::uint32_t phase = 1; phase < log_.phases().size(); ++phase) {
      write_region(phase_region(phase), log_.phases()[phase], OTF2_REGION_ROLE_CODE);
    }
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(global_, 0, text(log_.job().program), text("machine"),
                                                   OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (std::uint32_t rank = 0; rank < log_.job().ranks; ++rank) {
      check(OTF2_GlobalDefWriter_WriteLocationGroup(global_, rank, text(fmt::format("rank {}", rank)),
                                                    OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                    OTF2_UNDEFINED_LOCATION_GROUP));
    }
    std::vector<std::uint64_t> all(log_.tracks().size()), numbers(log_.tracks().size());
    for (std::size_t index = 0; index < all.size(); ++index) {
      const trace::track& track = log_.tracks()[index];
      const bool worker = track.kind == trace::track::role::worker;
      const std::string name = worker                                   ? fmt::format("worker {}", track.thread)
                               : track.kind == trace::track::role::main ? "main"
                                                                        : "poll loop";
      check(OTF2_GlobalDefWriter_WriteLocation(global_, index, text(name), OTF2_LOCATION_TYPE_CPU_THREAD,
                                               events_[index], track.rank));
      all[index] = numbers[index] = index;
    }
    const auto count = static_cast<std::uint32_t>(all.size());
    check(OTF2_GlobalDefWriter_WriteGroup(global_, 0, text("locations"), OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                          OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, count, all.data()));
    check(OTF2_GlobalDefWriter_WriteGroup(global_, 1, text("tracks"), OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                          OTF2_GROUP_FLAG_NONE, count, numbers.data()));
    check(OTF2_GlobalDefWriter_WriteComm(global_, of_migrations, text("migrations"), 1, OTF2_UNDEFINED_COMM,
                                         OTF2_COMM_FLAG_NONE));
    check(OTF2_GlobalDefWriter_WriteComm(global_, of_messages, text("messages"), 1, OTF2_UNDEFINED_COMM,
                                         OTF2_COMM_FLAG_NONE));
  }

  const trace::trace_log& log_;
  survey sums_;
  OTF2_Archive* archive_ = nullptr;
  OTF2_GlobalDefWriter* global_ = nullptr;
  std::vector<std::vector<crossing>> crossings_;  // by track
  std::vector<std::uint64_t> events_;             // by track
  std::map<std::string, OTF2_StringRef> texts_;
};

/// `first`, a string, gets the first error that the library finds: some functions hide theirs.
OTF2_ErrorCode note_complaint(void* first, const char*, std::uint64_t, const char*, OTF2_ErrorCode code,
                              const char* format, va_list arguments) {
  auto& complaint = *static_cast<std::string*>(first);
  if (!complaint.empty()) return code;
  std::array<char, 500> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  complaint = fmt::format("{} ({})", OTF2_Error_GetDescription(code), text.data());
  return code;
}

[[noreturn]] void refuse_archive(const std::string& problem) {
  throw setup_error({.problem = "the archive cannot be written: " + problem,
                     .why = "the library for OTF2 says so",
                     .remedy = "look whether there is room"});
}

/// Returns what has gone wrong; empty: nothing.
std::string write_here(const trace::trace_log& log, const std::string& folder) {
  std::string complaint;
  OTF2_Error_RegisterCallback(&note_complaint, &complaint);
  try {
    std::make_unique<otf2_writer>(log, folder).release()->write();  // never destroyed, see write
  } catch (const std::exception& error) {
    return complaint.empty() ? error.what() : complaint;
  }
  return complaint;
}

/// Writes in a child process, because the library may corrupt the heap and abort when there is no room. The child sends
/// what has gone wrong through a pipe.
std::string write_in_child(const trace::trace_log& log, const std::string& folder) {
  std::array<int, 2> ends{};
  std::fflush(nullptr);
  if (::pipe(ends.data()) != 0) return std::strerror(errno);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    // The C library writes a line when it aborts; the parent says that in its own words.
    if (std::freopen("/dev/null", "w", stderr) == nullptr) ::close(STDERR_FILENO);
    const std::string problem = write_here(log, folder);
    const bool told = ::write(ends[1], problem.data(), problem.size()) == static_cast<ssize_t>(problem.size());
    ::_exit(told && problem.empty() ? 0 : 1);
  }
  const int failed = errno;
  ::close(ends[1]);
  std::string problem;
  if (child < 0) problem = std::strerror(failed);
  std::array<char, 512> part{};
  while (child > 0) {
    const ssize_t bytes = ::read(ends[0], part.data(), part.size());
    if (bytes > 0) problem.append(part.data(), static_cast<std::size_t>(bytes));
    if (bytes == 0 || (bytes < 0 && errno != EINTR)) break;
  }
  ::close(ends[0]);
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (!problem.empty() || status == 0) return problem;
  return WIFSIGNALED(status) ? fmt::format("it ended by signal {}", WTERMSIG(status)) : "it ended early";
}

}  // namespace

void write_otf2(const trace::trace_log& log, const std::string& folder) {
  if (std::filesystem::exists(folder)) {
    throw setup_error({.problem = "'" + folder + "' exists",
                       .why = "the library does not write an archive over another one",
                       .remedy = "remove it, or name another place with --output"});
  }
  const std::string problem = write_in_child(log, folder);
  if (problem.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);  // a part of an archive, which nothing can read
  refuse_archive(problem);
}

}  // namespace nacre::tool

#endif
