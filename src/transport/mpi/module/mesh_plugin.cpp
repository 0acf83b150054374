// SPDX-License-Identifier: Apache-2.0
// Inside a module: the communicators of a job.
#include "transport/mpi/module/mesh.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

/// Internal to Open MPI; returns the former value. Null in another MPI.
extern "C" bool opal_progress_set_yield_when_idle(bool yes) __attribute__((weak));

namespace nacre::transport::mpi {
namespace {

/// Where ranks share cores, each call of Open MPI that finds no message yields the core, MPI_Test, too. That suits a
/// program that waits in MPI. Nacre waits elsewhere, and polls between two tasks, under a lock that its other
/// threads need: it would lose the core for milliseconds. So calls of MPI do not yield while there are ports, unless
/// the application uses MPI.
void stop_yielding(usage& whole) noexcept {
  if (opal_progress_set_yield_when_idle == nullptr || !whole.began_here || whole.yielded) return;
  whole.yielded = opal_progress_set_yield_when_idle(false);
}

void yield_again(usage& whole) noexcept {
  if (!whole.yielded) return;
  opal_progress_set_yield_when_idle(*whole.yielded);
  whole.yielded.reset();
}

}  // namespace

bool mpi_mesh::succeeded(const char* call, int code) {
  if (code != MPI_SUCCESS) error_ = words_of(call, code);
  return code == MPI_SUCCESS;
}

bool mpi_mesh::duplicate(MPI_Comm subject, communicator_set& set) {
  for (MPI_Comm* each : {&set.channels[0], &set.channels[1], &set.channels[2], &set.payloads}) {
    if (!succeeded("MPI_Comm_dup", MPI_Comm_dup(subject, each))) return false;
    if (!succeeded("MPI_Comm_set_errhandler", MPI_Comm_set_errhandler(*each, MPI_ERRORS_RETURN))) return false;
  }
  return true;
}

bool mpi_mesh::check_tags() {
  const int* highest = nullptr;
  int found_count = 0;
  const int code =
      MPI_Comm_get_attr(job_.sets.front().payloads, MPI_TAG_UB, static_cast<void*>(&highest), &found_count);
  if (!succeeded("MPI_Comm_get_attr", code)) return false;
  const std::uint64_t tags = found_count == 0 ? std::uint64_t{1} << 31 : static_cast<std::uint64_t>(*highest) + 1;
  job_.words = std::uint64_t{job_.one_process ? job_.size : 1} << word_bits <= tags;
  if (job_.size * channels_per_peer < tags) return true;
  error_ = "this MPI has tags up to " + std::to_string(*highest) + " only, too few for " + std::to_string(job_.size) +
           " ranks";
  return false;
}

bool mpi_mesh::join(MPI_Comm all) {
  int rank = 0;
  int size = 0;
  if (!succeeded("MPI_Comm_rank", MPI_Comm_rank(all, &rank))) return false;
  if (!succeeded("MPI_Comm_size", MPI_Comm_size(all, &size))) return false;
  job_.rank = static_cast<std::uint32_t>(rank);
  job_.size = static_cast<std::uint32_t>(size);
  job_.sets.resize(1);
  return duplicate(all, job_.sets.front()) && check_tags();
}

bool mpi_mesh::make_local(std::uint32_t ranks) {
  job_.one_process = true;
  job_.size = ranks;
  job_.sets.resize(ranks);
  for (communicator_set& set : job_.sets) {
    if (!duplicate(MPI_COMM_SELF, set)) return false;
  }
  return check_tags();
}

mpi_mesh::~mpi_mesh() {
  if (--whole_.open == 0) yield_again(whole_);
  if (!quiet_) {
    (job_.one_process ? whole_.unquiet_process : whole_.unquiet_job) = true;
    return;
  }
  for (communicator_set& set : job_.sets) {
    for (MPI_Comm* each : {&set.channels[0], &set.channels[1], &set.channels[2], &set.payloads}) {
      if (*each != MPI_COMM_NULL) MPI_Comm_free(each);
    }
  }
}

bool mpi_mesh::gather(std::span<const std::byte> own_bytes, std::span<std::byte> all) noexcept {
  const int bytes = static_cast<int>(own_bytes.size());
  return succeeded("MPI_Allgather", MPI_Allgather(own_bytes.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE,
                                                  job_.sets.front().payloads));
}

port* mpi_mesh::open(std::uint32_t rank) noexcept {
  stop_yielding(whole_);
  auto result = std::make_unique<mpi_port>(job_, rank, shape_);
  if (result->start()) return result.release();
  error_ = result->error();
  return nullptr;
}

}  // namespace nacre::transport::mpi
