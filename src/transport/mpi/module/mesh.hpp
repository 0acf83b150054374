// SPDX-License-Identifier: Apache-2.0
// Inside a module: the communicators of a job.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "transport/mpi/module.hpp"
#include "transport/mpi/module/port.hpp"

namespace nacre::transport::mpi {

/// The state that the meshes of this process leave behind; it decides how MPI ends with the process.
struct usage {
  int open = 0;                  ///< meshes that live
  bool unquiet_job = false;      ///< a mesh with other processes ended with transfers in progress
  bool unquiet_process = false;  ///< a mesh within this process did
  bool began_here = false;       ///< Nacre has called MPI_Init, so it is the only user of MPI
  std::optional<bool> yielded;   ///< while there are ports: whether calls of MPI yielded the core before
};

/// Duplicates of the application's communicator, or of MPI_COMM_SELF for each of several ranks in one process.
class mpi_mesh final : public mesh {
 public:
  mpi_mesh(usage& whole, const slot_shape& shape) : whole_(whole), shape_(shape) { ++whole_.open; }
  ~mpi_mesh() override;

  [[nodiscard]] bool join(MPI_Comm all);
  [[nodiscard]] bool make_local(std::uint32_t ranks);

  std::uint32_t rank() const noexcept override { return job_.rank; }
  std::uint32_t size() const noexcept override { return job_.size; }
  bool gather(std::span<const std::byte> own_bytes, std::span<std::byte> all) noexcept override;
  port* open(std::uint32_t rank) noexcept override;
  void retire() noexcept override { quiet_ = true; }
  const char* error() const noexcept override { return error_.c_str(); }

 private:
  [[nodiscard]] bool duplicate(MPI_Comm subject, communicator_set& set);
  [[nodiscard]] bool check_tags();
  [[nodiscard]] bool succeeded(const char* call, int code);

  usage& whole_;
  slot_shape shape_;
  wiring job_;
  bool quiet_ = false;
  std::string error_;
};

}  // namespace nacre::transport::mpi
