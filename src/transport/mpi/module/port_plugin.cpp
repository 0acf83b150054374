// SPDX-License-Identifier: Apache-2.0
// Inside a module: the requests of one rank at MPI.
#include "transport/mpi/module/port.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace nacre::transport::mpi {
namespace {

/// The requests that one call of `completed` tests: it must stay cheap with hundreds of transfers.
constexpr std::size_t window_max = 32;

/// Open MPI matches on each communicator separately. The device ucx of MPICH searches one list for the receives of all
/// communicators, those of the application, too, so each posted receive costs every message time.
#ifdef MPICH_VERSION
constexpr std::uint32_t best_slots = 4;
#else
constexpr std::uint32_t best_slots = 16;
#endif

/// How often a cancelled receive is tested before it is left to MPI.
constexpr int cancel_tests_max = 1000;

[[nodiscard]] slot_shape complete(slot_shape shape) noexcept {
  if (shape.slots == 0) shape.slots = best_slots;
  return shape;
}

[[nodiscard]] int tag_of_payload(std::uint32_t sender, std::uint32_t channel_index) noexcept {
  return static_cast<int>(sender * channels_per_peer + channel_index);
}

}  // namespace

std::string words_of(const char* call, int code) {
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) length = 0;
  std::string words(text.data(), static_cast<std::size_t>(length));
  std::replace(words.begin(), words.end(), '\n', ' ');
  return std::string(call) + ": " + (words.empty() ? "error " + std::to_string(code) : words);
}

mpi_port::mpi_port(const wiring& job, std::uint32_t own_index, const slot_shape& shape)
    : job_(job),
      own_index_(own_index),
      shape_(complete(shape)),
      memory_(std::make_unique<std::byte[]>(std::size_t{channels_per_peer} * shape_.slots * shape_.bytes)) {
  for (auto& ring : rings_) ring.assign(shape_.slots, MPI_REQUEST_NULL);
}

bool mpi_port::start() {
  const communicator_set& set = job_.set_of(own_index_);
  for (std::uint32_t channel_index = 0; channel_index < channels_per_peer; ++channel_index) {
    for (std::uint32_t index = 0; index < shape_.slots; ++index) {
      MPI_Request& request = rings_[channel_index][index];
      int code = MPI_Recv_init(slot(channel_index, index), static_cast<int>(shape_.bytes), MPI_BYTE, MPI_ANY_SOURCE,
                               MPI_ANY_TAG, set.channels[channel_index], &request);
      if (code != MPI_SUCCESS) return fail("MPI_Recv_init", code) == outcome::done;
      code = MPI_Start(&request);
      if (code != MPI_SUCCESS) return fail("MPI_Start", code) == outcome::done;
    }
    asked_[channel_index] = rings_[channel_index].front();
  }
  return true;
}

mpi_port::~mpi_port() {
  bool given_back = true;
  for (auto& ring : rings_) {
    for (MPI_Request& request : ring) {
      if (request == MPI_REQUEST_NULL) continue;
      const bool idle = read_ && request == asked_[read_from_];
      int ended = idle || MPI_Cancel(&request) != MPI_SUCCESS ? 1 : 0;
      for (int look = 0; ended == 0 && look < cancel_tests_max; ++look) {
        if (MPI_Test(&request, &ended, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
      }
      given_back &= ended != 0;
      if (ended != 0) MPI_Request_free(&request);
    }
  }
  // MPI keeps the requests in progress, those in pending_, too: to free an active request is allowed, but MPICH 4.0
  // keeps no reference of its own to a send to its own process, and would give the request to another caller.
  if (!given_back) static_cast<void>(memory_.release());  // MPI may still write there
}

outcome mpi_port::fail(const char* call, int code) noexcept {
  error_ = words_of(call, code);
  return outcome::failed;
}

/// Testing one request is cheaper than three, and MPI_Test, unlike MPI_Testany, tests again after it has moved bytes.
outcome mpi_port::next(arrived_fragment& fragment, std::uint32_t channel_index) noexcept {
  if (read_ && start_again() == outcome::failed) return outcome::failed;
  int arrived = 0;
  MPI_Status status;
  const int code = MPI_Test(&asked_[channel_index], &arrived, &status);
  if (code != MPI_SUCCESS) return fail("MPI_Test", code);
  if (arrived == 0) return outcome::nothing;
  fragment = fragment_of(channel_index, status);
  return outcome::done;
}

int mpi_port::tag_of_fragment(std::uint32_t word) const noexcept {
  if (!job_.one_process) return static_cast<int>(word);
  return static_cast<int>(job_.words ? own_index_ << word_bits | word : own_index_);
}

arrived_fragment mpi_port::fragment_of(std::uint32_t channel_index, const MPI_Status& status) const noexcept {
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  arrived_fragment fragment{.channel_index = channel_index,
                            .source = static_cast<std::uint32_t>(status.MPI_SOURCE),
                            .byte_count = static_cast<std::uint32_t>(bytes),
                            .word = static_cast<std::uint32_t>(status.MPI_TAG)};
  if (job_.one_process) {
    const std::uint32_t bits = job_.words ? word_bits : 0;
    fragment.source = fragment.word >> bits;
    fragment.word &= (1u << bits) - 1;
  }
  return fragment;
}

void mpi_port::take(const arrived_fragment& fragment, std::byte* target) noexcept {
  std::memcpy(target, slot(fragment.channel_index, heads_[fragment.channel_index]), fragment.byte_count);
  read_ = true;
  read_from_ = fragment.channel_index;
}

outcome mpi_port::start_again() noexcept {
  std::uint32_t& head = heads_[read_from_];
  const int code = MPI_Start(&rings_[read_from_][head]);
  if (code != MPI_SUCCESS) return fail("MPI_Start", code);
  head = head + 1 == shape_.slots ? 0 : head + 1;
  asked_[read_from_] = rings_[read_from_][head];
  read_ = false;
  return outcome::done;
}

outcome mpi_port::send(const transfer_request& transfer_request, std::span<const std::byte> fragment,
                       completion moment) noexcept {
  const MPI_Comm communicator = job_.set_of(transfer_request.peer).channels[transfer_request.channel_index];
  const int process = job_.process_of(transfer_request.peer);
  const int tag = tag_of_fragment(transfer_request.word);
  const int bytes = static_cast<int>(fragment.size());
  MPI_Request request = MPI_REQUEST_NULL;
  if (moment == completion::matched) {
    const int code = MPI_Issend(fragment.data(), bytes, MPI_BYTE, process, tag, communicator, &request);
    return code == MPI_SUCCESS ? keep(request, transfer_request.request_id) : fail("MPI_Issend", code);
  }
  const int code = MPI_Isend(fragment.data(), bytes, MPI_BYTE, process, tag, communicator, &request);
  if (code != MPI_SUCCESS) return fail("MPI_Isend", code);
  // A short fragment has usually left at once, and one test costs less than an entry in a list.
  int left = 0;
  const int tested = MPI_Test(&request, &left, MPI_STATUS_IGNORE);
  if (tested != MPI_SUCCESS) return fail("MPI_Isend", tested);
  return left != 0 ? outcome::done : keep(request, transfer_request.request_id);
}

outcome mpi_port::send_payload(const transfer_request& transfer_request, std::span<const std::byte> payload) noexcept {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code =
      MPI_Isend(payload.data(), static_cast<int>(payload.size()), MPI_BYTE, job_.process_of(transfer_request.peer),
                tag_of_payload(own_index_, transfer_request.channel_index), job_.set_of(transfer_request.peer).payloads,
                &request);
  return code == MPI_SUCCESS ? keep(request, transfer_request.request_id) : fail("MPI_Isend", code);
}

outcome mpi_port::receive_payload(const transfer_request& transfer_request, std::span<std::byte> payload) noexcept {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code =
      MPI_Irecv(payload.data(), static_cast<int>(payload.size()), MPI_BYTE, job_.process_of(transfer_request.peer),
                tag_of_payload(transfer_request.peer, transfer_request.channel_index), job_.set_of(own_index_).payloads,
                &request);
  return code == MPI_SUCCESS ? keep(request, transfer_request.request_id) : fail("MPI_Irecv", code);
}

outcome mpi_port::keep(MPI_Request request, std::uint64_t request_id) noexcept {
  pending_.push_back(request);
  request_ids_.push_back(request_id);
  return outcome::pending;
}

port::completions mpi_port::completed(std::span<std::uint64_t> request_ids) noexcept {
  const std::size_t window = std::min({window_max, pending_.size(), request_ids.size()});
  if (window == 0) return {};
  if (next_tested_ + window > pending_.size()) next_tested_ = pending_.size() - window;
  const std::size_t first = next_tested_;
  next_tested_ =
      first == 0 ? pending_.size() : first - std::min(first, window);  // downwards, so that every request is tested

  std::array<int, window_max> indices;
  std::array<MPI_Status, window_max> states;
  int count = 0;
  const int code =
      MPI_Testsome(static_cast<int>(window), pending_.data() + first, &count, indices.data(), states.data());
  if (count == MPI_UNDEFINED || count < 0) count = 0;
  const auto ended = indices.begin() + count;
  // Successful requests first, then failed ones.
  const auto failed = [&](int index) {
    const auto state = static_cast<std::size_t>(std::find(indices.begin(), ended, index) - indices.begin());
    return code == MPI_ERR_IN_STATUS && states[state].MPI_ERROR != MPI_SUCCESS;
  };
  completions result;
  for (const bool wanted : {false, true}) {
    for (auto position = indices.begin(); position != ended; ++position) {
      if (failed(*position) != wanted) continue;
      if (wanted) {
        ++result.failed;
        error_ = words_of("MPI_Testsome", states[static_cast<std::size_t>(position - indices.begin())].MPI_ERROR);
      }
      request_ids[result.count++] = request_ids_[first + static_cast<std::size_t>(*position)];
    }
  }
  // From the end, so that the entry that moves into a gap has not ended.
  std::sort(indices.begin(), ended, std::greater<>());
  for (auto position = indices.begin(); position != ended; ++position) {
    const std::size_t gap = first + static_cast<std::size_t>(*position);
    pending_[gap] = pending_.back();
    request_ids_[gap] = request_ids_.back();
    pending_.pop_back();
    request_ids_.pop_back();
  }
  return result;
}

}  // namespace nacre::transport::mpi
