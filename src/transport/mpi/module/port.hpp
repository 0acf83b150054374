// SPDX-License-Identifier: Apache-2.0
// Inside a module: the requests of one rank at MPI.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transport/mpi/module.hpp"

namespace nacre::transport::mpi {

/// The communicators that one rank receives on: one for each channel, and one for the payloads of all channels. Ranks
/// that are processes share one set; the ranks of one process have a set each, which tells them apart.
struct communicator_set {
  std::array<MPI_Comm, channels_per_peer> channels{MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL};
  MPI_Comm payloads = MPI_COMM_NULL;
};

/// The communicators and the places of a job's ranks.
struct wiring {
  bool one_process = false;
  bool words = false;                  // tags have room for words
  std::vector<communicator_set> sets;  // one, or by rank
  std::uint32_t rank = 0;
  std::uint32_t size = 0;

  [[nodiscard]] const communicator_set& set_of(std::uint32_t peer) const noexcept {
    return sets[one_process ? peer : 0];
  }
  [[nodiscard]] int process_of(std::uint32_t peer) const noexcept { return one_process ? 0 : static_cast<int>(peer); }
};

/// "MPI_Isend: MPI_ERR_RANK: invalid rank".
[[nodiscard]] std::string words_of(const char* call, int code);

/// Each channel has a ring of persistent receives, from any source, with any tag. Invariant: fragments arrive in ring
/// order, because MPI matches a fragment with the receive that was started first. So only the receive at the head of
/// each ring is tested. A receive that was read is started again at the next poll.
///
/// The tag of a fragment is its word. The tag of a payload is the sender's rank and the channel. Between ranks of one
/// process the word has the sender's rank above it.
class mpi_port final : public port {
 public:
  mpi_port(const wiring& job, std::uint32_t own_index, const slot_shape& shape);
  ~mpi_port() override;

  /// Starts the receives; false: see error().
  [[nodiscard]] bool start();

  outcome next(arrived_fragment& fragment, std::uint32_t channel_index) noexcept override;
  void take(const arrived_fragment& fragment, std::byte* target) noexcept override;
  [[nodiscard]] bool carries_words() const noexcept override { return job_.words; }
  outcome send(const transfer_request& request, std::span<const std::byte> fragment,
               completion completion) noexcept override;
  outcome send_payload(const transfer_request& request, std::span<const std::byte> payload) noexcept override;
  outcome receive_payload(const transfer_request& request, std::span<std::byte> payload) noexcept override;
  completions completed(std::span<std::uint64_t> request_ids) noexcept override;
  [[nodiscard]] const char* error() const noexcept override { return error_.c_str(); }

 private:
  [[nodiscard]] outcome start_again() noexcept;
  [[nodiscard]] int tag_of_fragment(std::uint32_t word) const noexcept;
  [[nodiscard]] arrived_fragment fragment_of(std::uint32_t channel_index, const MPI_Status& status) const noexcept;
  [[nodiscard]] std::byte* slot(std::uint32_t channel_index, std::uint32_t index) noexcept {
    return memory_.get() + (std::size_t{channel_index} * shape_.slots + index) * shape_.bytes;
  }
  outcome fail(const char* call, int code) noexcept;
  outcome keep(MPI_Request request, std::uint64_t request_id) noexcept;

  const wiring& job_;
  std::uint32_t own_index_;
  slot_shape shape_;
  std::unique_ptr<std::byte[]> memory_;                            // of the slots
  std::array<std::vector<MPI_Request>, channels_per_peer> rings_;  // by channel and slot
  std::array<std::uint32_t, channels_per_peer> heads_{};           // the slot that is filled next
  std::array<MPI_Request, channels_per_peer> asked_{MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                                                    MPI_REQUEST_NULL};  // of the heads
  bool read_ = false;                                                   // the head of that ring is to be started again
  std::uint32_t read_from_ = 0;
  std::vector<MPI_Request> pending_;  // transfers in progress, and their request ids
  std::vector<std::uint64_t> request_ids_;
  std::size_t next_tested_ = 0;  // where `completed` continues
  std::string error_;
};

}  // namespace nacre::transport::mpi
