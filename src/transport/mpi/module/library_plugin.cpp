// SPDX-License-Identifier: Apache-2.0
// Inside a module: the beginning and the end of MPI in this process.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "transport/mpi/module.hpp"
#include "transport/mpi/module/mesh.hpp"

namespace nacre::transport::mpi {
namespace {

/// Runs when the process exits, if Nacre has initialised MPI: only then MPI is certainly not needed any more.
void end_with_process();

class mpi_library final : public library {
 public:
  mpi_library() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    name_.assign(text.data(), static_cast<std::size_t>(length));
    // "Open MPI v4.1.4, package: ..." and "MPICH Version:      4.0.2\nMPICH Release date: ..."
    name_.resize(std::min(name_.find_first_of(",\n"), name_.size()));
  }

  const char* name() const noexcept override { return name_.c_str(); }

  bool started() noexcept override {
    int yes = 0;
    return MPI_Initialized(&yes) == MPI_SUCCESS && yes != 0;
  }

  bool start() noexcept override {
    int excess = 0;
    MPI_Finalized(&excess);
    if (excess != 0) return fail("MPI_Finalize has been called already, and MPI cannot begin again");
    int level = MPI_THREAD_SINGLE;
    if (started()) {
      MPI_Query_thread(&level);
      if (level >= MPI_THREAD_SERIALIZED) return true;
      return fail(
          "the program has initialised MPI for one thread only: call MPI_Init_thread with MPI_THREAD_SERIALIZED, or "
          "with MPI_THREAD_MULTIPLE if it uses MPI while Nacre runs");
    }
    const int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
    if (code != MPI_SUCCESS) return fail(words_of("MPI_Init_thread", code));
    whole_.began_here = true;
    std::atexit(&end_with_process);
    return level >= MPI_THREAD_SERIALIZED || fail("this MPI does not let several threads take turns in calling it");
  }

  mesh* join(const std::int64_t* communicator, const slot_shape& shape) noexcept override {
    const MPI_Comm all = communicator == nullptr ? MPI_COMM_WORLD : MPI_Comm_f2c(static_cast<MPI_Fint>(*communicator));
    auto result = std::make_unique<mpi_mesh>(whole_, shape);
    return result->join(all) ? result.release() : refuse(*result);
  }

  mesh* make_local(std::uint32_t ranks, const slot_shape& shape) noexcept override {
    auto result = std::make_unique<mpi_mesh>(whole_, shape);
    return result->make_local(ranks) ? result.release() : refuse(*result);
  }

  const char* error() const noexcept override { return error_.c_str(); }
  [[nodiscard]] const usage& whole() const noexcept { return whole_; }

 private:
  bool fail(std::string reason) {
    error_ = std::move(reason);
    return false;
  }
  mesh* refuse(const mesh& unfinished) {
    error_ = unfinished.error();
    return nullptr;
  }

  usage whole_;
  std::string name_;
  std::string error_;
};

mpi_library& this_library() {
  static mpi_library* const only = new mpi_library;  // never destroyed: end_with_process uses it
  return *only;
}

void end_with_process() {
  int excess = 0;
  MPI_Finalized(&excess);
  if (excess != 0) return;
  const usage& whole = this_library().whole();
  if (whole.open != 0 || whole.unquiet_job) {
    // Other ranks may wait for this one, and not every mpirun ends a job when a rank exits with code 0. The reason has
    // been printed by now.
    MPI_Abort(MPI_COMM_WORLD, 1);
  } else if (!whole.unquiet_process) {
    MPI_Finalize();
  }
}

}  // namespace
}  // namespace nacre::transport::mpi

extern "C" __attribute__((visibility("default"))) void* nacre_mpi_module(std::uint32_t version) {
  namespace mpi = nacre::transport::mpi;
  return version == mpi::module_version ? static_cast<mpi::library*>(&mpi::this_library()) : nullptr;
}
