// SPDX-License-Identifier: Apache-2.0
// A mark, a version, and one zstd frame that holds the length of the head, the head, and the cells.
#include "emulator/profile_file.hpp"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <nacre/error.hpp>
#include "base/output_file.hpp"
#include "emulator/block_profile.hpp"
#include "emulator/profile_cells.hpp"

namespace nacre::emulator {
namespace {

constexpr std::string_view mark = "NACREEMU";
constexpr std::uint32_t version = 2;

/// The first bytes of a file; numbers are little-endian.
std::array<char, 12> file_begin() {
  std::array<char, 12> begin{};
  std::copy(mark.begin(), mark.end(), begin.begin());
  for (std::size_t k = 0; k < 4; ++k) begin[8 + k] = static_cast<char>(version >> (8 * k) & 0xff);
  return begin;
}

std::vector<char> compressed(std::span<const std::byte> payload) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::vector<char> frame(ZSTD_compressBound(payload.size()));
  const std::size_t bytes = ZSTD_compress2(context.get(), frame.data(), frame.size(), payload.data(), payload.size());
  if (ZSTD_isError(bytes) != 0)
    throw setup_error(std::string("the profile cannot be compressed: ") + ZSTD_getErrorName(bytes));
  frame.resize(bytes);
  return frame;
}

std::optional<std::uint64_t> length_of_head(std::span<const std::byte> payload) {
  if (payload.size() < 8) return std::nullopt;
  std::uint64_t length = 0;
  for (std::size_t k = 0; k < 8; ++k) length |= static_cast<std::uint64_t>(payload[k]) << (8 * k);
  if (length > payload.size() - 8) return std::nullopt;
  return length;
}

/// The bytes that a profile takes at most by its head; 0 where that is not there, or cannot be.
std::uint64_t bytes_by_head(std::span<const std::byte> payload) {
  constexpr std::uint64_t cell_bytes_max = 10;
  const std::optional<std::uint64_t> length = length_of_head(payload);
  if (!length) return 0;
  profile_head head;
  reader packed(payload.subspan(8, *length));
  packed(head);
  if (!packed.finish()) return 0;
  try {
    check_machine(head.machine);
  } catch (const setup_error&) {
    return 0;
  }
  const std::uint64_t nodes = head.machine.nodes();
  if (head.bins > profile_bins(nodes)) return 0;
  return 8 + *length + nodes * (head.bins + 1) * cell_bytes_max;
}

/// Appends what one whole frame holds. Memory grows with what there is, not with what a damaged head promises. Returns
/// false for anything else, and for more than `bytes_max` that the head does not explain.
bool decompress(std::string_view frame, std::vector<std::byte>& target, std::uint64_t bytes_max) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), &ZSTD_freeDCtx);
  std::vector<std::byte> room(ZSTD_DStreamOutSize());
  ZSTD_inBuffer source{frame.data(), frame.size(), 0};
  bool is_by_head = false;
  for (std::size_t left = 1; left != 0;) {
    ZSTD_outBuffer destination{room.data(), room.size(), 0};
    const std::size_t index = source.pos;
    left = ZSTD_decompressStream(context.get(), &destination, &source);
    const bool stuck = source.pos == index && destination.pos == 0;
    if (ZSTD_isError(left) != 0 || stuck) return false;
    target.insert(target.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(destination.pos));
    if (target.size() <= bytes_max) continue;
    if (!std::exchange(is_by_head, true)) bytes_max = bytes_by_head(target);
    if (target.size() > bytes_max) return false;
  }
  return source.pos == frame.size();
}

}  // namespace

profile_output::profile_output(std::string path) : path_(std::move(path)) {
  check_output(path_, "the profile", "emulation_options::profile, --profile of emulate,");
}

void profile_output::write(const profile_head& head, const profile_content& content) const {
  writer packed;
  packed(head);
  cell_encoder encoder;
  for (std::size_t node = 0; node < content.handlers.size(); ++node) {
    encoder.put(content.handlers[node]);
    for (const std::uint64_t cell : content.cells.subspan(node * head.bins, head.bins)) encoder.put(cell);
  }
  const std::vector<std::byte> body = encoder.take();
  std::vector<std::byte> payload;
  const std::uint64_t length = packed.bytes().size();
  for (std::size_t k = 0; k < 8; ++k) payload.push_back(static_cast<std::byte>(length >> (8 * k)));
  payload.insert(payload.end(), packed.bytes().begin(), packed.bytes().end());
  payload.insert(payload.end(), body.begin(), body.end());
  const std::vector<char> frame = compressed(payload);
  const auto begin = file_begin();
  std::string text(begin.begin(), begin.end());
  text.append(frame.begin(), frame.end());
  const std::string problem = replace_output(path_, text);
  if (problem.empty()) return;
  throw setup_error({"the profile '" + path_ + "' cannot be written: " + problem,
                     "emulation_options::profile, --profile of emulate, asks for it",
                     "name a file in a folder that may be written, on a disk that has room"});
}

bool is_profile(const std::string& path) {
  std::array<char, mark.size()> begin{};
  std::ifstream file(path, std::ios::binary);
  return file.read(begin.data(), begin.size()) && std::string_view(begin.data(), begin.size()) == mark;
}

void profile_input::refuse(const std::string& problem) const {
  throw setup_error({"the profile '" + path_ + "' " + problem, "nothing can be drawn of it",
                     "run the emulation again with --profile=" + path_});
}

profile_input::profile_input(const std::string& path, std::size_t bytes_max) : path_(path) {
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto begin = file_begin();
  if (!content.starts_with(mark)) refuse(file ? "is none" : "cannot be read");
  if (content.compare(0, begin.size(), begin.data(), begin.size()) != 0) refuse("is of another version");
  const std::string_view frame = std::string_view(content).substr(begin.size());
  const std::optional<std::uint64_t> length =
      decompress(frame, payload_, bytes_max) ? length_of_head(payload_) : std::nullopt;
  if (!length) refuse("is damaged");
  reader head(std::span<const std::byte>(payload_).subspan(8, *length));
  head(head_);
  if (!head.finish() || head_.bins == 0 || head_.bin_ns == 0) refuse("is damaged");
  try {
    check_machine(head_.machine);
  } catch (const setup_error& error) {
    refuse(std::string("is of a machine that cannot be: ") + error.what());
  }
  if (head_.bins > profile_bins(head_.machine.nodes())) refuse("is damaged");
  cells_at_ = 8 + *length;
}

void profile_input::for_each(const std::function<void(const profile_row&)>& visit) const {
  cell_decoder cells(std::span<const std::byte>(payload_).subspan(cells_at_));
  std::vector<std::uint64_t> row(1 + head_.bins);  // the number of handlers, and the cells
  for (std::uint64_t node = 0; node < head_.machine.nodes(); ++node) {
    if (const std::uint64_t idle = cells.skip_rows(row.size()); idle != 0) {
      if (idle > head_.machine.nodes() - node) refuse("is damaged");
      node += idle - 1;
      continue;
    }
    for (std::uint64_t& cell : row) {
      const auto next = cells.next();
      if (!next) refuse("is damaged");
      cell = *next;
    }
    if (row.front() != 0) visit({node, row.front(), std::span(row).subspan(1)});
  }
  if (!cells.ended()) refuse("is damaged");
}

}  // namespace nacre::emulator
