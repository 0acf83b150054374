// SPDX-License-Identifier: Apache-2.0
// The files of a trace: finding them, and checking and unpacking their blocks.
#include "trace/trace_parts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include <nacre/error.hpp>

namespace nacre::trace {
namespace {

template <class T>
T bytes_as(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// The lowest N of the files PATH.N, or nothing if there is no such file.
std::optional<std::uint32_t> first_rank_with_file(const std::filesystem::path& path) {
  const std::string begin = path.filename().string() + ".";
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::optional<std::uint32_t> first;
  std::error_code error;
  for (const auto& each : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = each.path().filename().string();
    if (!name.starts_with(begin)) continue;
    std::uint32_t rank = 0;
    const auto [end, problem] = std::from_chars(name.data() + begin.size(), name.data() + name.size(), rank);
    const bool whole = problem == std::errc{} && end == name.data() + name.size();
    if (whole && (!first || rank < *first)) first = rank;
  }
  return first;
}

}  // namespace

void refuse(const std::string& problem, const std::string& reason, const std::string& remedy) {
  throw setup_error({.problem = problem, .why = reason, .remedy = remedy});
}

void refuse_damaged(const std::string& path, std::size_t place, const std::string& name) {
  refuse(fmt::format("the trace '{}' is damaged at byte {}: {}", path, place, name),
         "what stands there is not what was written", "run the program again");
}

trace_log::part::part(std::string name) : path(std::move(name)) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || ::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    const std::string reason = file < 0 ? std::strerror(errno) : "it is no regular file";
    if (file >= 0) ::close(file);
    refuse(fmt::format("the trace '{}' cannot be read: {}", path, reason), "a report shows what it holds",
           "name what --nacre.trace has named");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const position = size == 0 ? nullptr : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  ::close(file);
  if (position == MAP_FAILED)
    refuse(fmt::format("the trace '{}' cannot be read", path), std::strerror(errno), "try again");
  bytes = {static_cast<const std::byte*>(position), size};
}

trace_log::part::~part() {
  if (!bytes.empty()) ::munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

/// A job of one process writes PATH, one of several PATH.0 and so on. Where both are there, that counts which was
/// written last.
bool trace_log::is_single(const std::string& path) {
  const std::string first = path + ".0";
  if (!std::filesystem::exists(path) || !std::filesystem::exists(first)) return std::filesystem::exists(path);
  const bool is_newer = std::filesystem::last_write_time(path) > std::filesystem::last_write_time(first);
  notes_.push_back(fmt::format("There are {} and {}, of two jobs: this is {}, which was written last.", path, first,
                               is_newer ? path : first));
  return is_newer;
}

void trace_log::open_parts(const std::string& path) {
  const bool single = is_single(path);
  if (!single && !std::filesystem::exists(path + ".0")) {
    if (const auto other = first_rank_with_file(path)) {
      refuse(fmt::format("there is no '{}.0': the file of rank 0 is missing beside '{}.{}'", path, path, *other),
             "a report of a job begins with it",
             fmt::format("bring the files of all hosts together, or name one, {}.{}", path, *other));
    }
    refuse(fmt::format("there is no trace '{}', nor '{}.0'", path, path),
           "a report shows what a traced run has written", fmt::format("run the program with --nacre.trace={}", path));
  }
  parts_.push_back(std::make_unique<part>(single ? path : path + ".0"));
  scan(*parts_.front());
  for (std::uint32_t rank = 1; !single && rank < job_.ranks; ++rank) {
    const std::string name = fmt::format("{}.{}", path, rank);
    if (!std::filesystem::exists(name)) {
      notes_.push_back(fmt::format("There is no file {}: rank {} is missing.", name, rank));
      ranks_[rank].has_no_file = true;
      continue;
    }
    parts_.push_back(std::make_unique<part>(name));
    scan(*parts_.back());
  }
}

void trace_log::scan(part& part) {
  const std::span<const std::byte> bytes = part.bytes;
  if (bytes.size() < sizeof(file_head) || bytes_as<file_head>(bytes).magic != file_magic) {
    refuse(fmt::format("'{}' is no trace of Nacre", part.path), "it does not begin like one",
           "name what --nacre.trace has named");
  }
  if (const auto version = bytes_as<file_head>(bytes).version; version != file_version) {
    refuse(fmt::format("the trace '{}' has format {}", part.path, version),
           fmt::format("this program reads format {}", file_version),
           "use the nacre command that belongs to the program");
  }
  std::size_t place = sizeof(file_head);
  while (place < bytes.size()) {
    const bool whole_head = bytes.size() - place >= sizeof(block_head);
    const auto head = whole_head ? bytes_as<block_head>(bytes.subspan(place)) : block_head{};
    if (whole_head && head.check != check_of(head)) refuse_damaged(part.path, place, "no block begins here");
    if (!whole_head || bytes.size() - place - sizeof head < head.stored_bytes) {
      notes_.push_back(fmt::format("{} breaks off; what comes later is missing.", part.path));
      part.breaks_off = true;
      break;
    }
    if (head.raw_bytes > block_bytes_max || head.rank >= ranks_max || head.thread >= threads_max) {
      refuse_damaged(part.path, place, "no block is like this");
    }
    const block one{&part, place, head};
    if (head.kind != block_kind::events) {
      take_text(part, one);
    } else if (head.rank >= ranks_.size() || head.thread >= ranks_[head.rank].thread_contexts) {
      refuse_damaged(part.path, place, "events of a thread that there is not");
    } else {
      blocks_.resize(std::max<std::size_t>(blocks_.size(), 1));
      blocks_.front().push_back(one);  // all in one row until the tracks are known
    }
    place += sizeof head + head.stored_bytes;
  }
  if (part.job_text.empty()) refuse_damaged(part.path, sizeof(file_head), "it ends before it says of what job it is");
}

std::vector<std::byte> trace_log::unpack(const block& block) const {
  std::vector<std::byte> raw(block.head.raw_bytes);
  const auto stored = block.source->bytes.subspan(block.place + sizeof block.head, block.head.stored_bytes);
  const std::size_t got = ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size());
  if (ZSTD_isError(got) != 0 || got != raw.size()) {
    refuse_damaged(block.source->path, block.place,
                   ZSTD_isError(got) != 0 ? ZSTD_getErrorName(got) : "a block is too short");
  }
  return raw;
}

}  // namespace nacre::trace
