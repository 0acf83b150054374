// SPDX-License-Identifier: Apache-2.0
// A library to be preloaded under mpirun: counts the requests that a process has open in MPI, by MPI's profiling
// interface, and tells at MPI_Finalize how many are left. MPI requires that there are none (UTS-MPI section 3.2.2).
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <map>
#include <mutex>
#include <vector>

namespace {

/// MPI may give several requests that are complete at once the same handle, so handles are counted.
class open_requests {
 public:
  void add(MPI_Request handle) {
    const std::scoped_lock lock(mutex_);
    ++counts_[handle];
    most_ = std::max(most_, ++all_);
  }
  void remove(MPI_Request handle) {
    const std::scoped_lock lock(mutex_);
    const auto place = counts_.find(handle);
    if (place == counts_.end()) return;
    --all_;
    if (--place->second == 0) counts_.erase(place);
  }
  void tell() {
    const std::scoped_lock lock(mutex_);
    std::fprintf(stderr, "MPI_Finalize: %ld open requests, at most %ld\n", all_, most_);
  }

 private:
  std::mutex mutex_;
  std::map<MPI_Request, long> counts_;
  long all_ = 0, most_ = 0;
};

open_requests& requests() {
  static open_requests* const only = new open_requests;  // never destroyed: MPI may end after static objects
  return *only;
}

}  // namespace

extern "C" {

int MPI_Isend(const void* bytes, int count, MPI_Datatype type, int target, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  const int code = PMPI_Isend(bytes, count, type, target, tag, communicator, request);
  if (code == MPI_SUCCESS) requests().add(*request);
  return code;
}

int MPI_Issend(const void* bytes, int count, MPI_Datatype type, int target, int tag, MPI_Comm communicator,
               MPI_Request* request) {
  const int code = PMPI_Issend(bytes, count, type, target, tag, communicator, request);
  if (code == MPI_SUCCESS) requests().add(*request);
  return code;
}

int MPI_Irecv(void* bytes, int count, MPI_Datatype type, int source, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  const int code = PMPI_Irecv(bytes, count, type, source, tag, communicator, request);
  if (code == MPI_SUCCESS) requests().add(*request);
  return code;
}

int MPI_Start(MPI_Request* request) {
  const int code = PMPI_Start(request);
  if (code == MPI_SUCCESS) requests().add(*request);
  return code;
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  const MPI_Request handle = *request;
  const int code = PMPI_Test(request, flag, status);
  if (code == MPI_SUCCESS && *flag != 0) requests().remove(handle);
  return code;
}

int MPI_Testsome(int count, MPI_Request all[], int* done, int indices[], MPI_Status statuses[]) {
  const std::vector<MPI_Request> handles(all, all + count);
  const int code = PMPI_Testsome(count, all, done, indices, statuses);
  for (int index = 0; code == MPI_SUCCESS && *done != MPI_UNDEFINED && index < *done; ++index) {
    requests().remove(handles[static_cast<std::size_t>(indices[index])]);
  }
  return code;
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const MPI_Request handle = *request;
  const int code = PMPI_Wait(request, status);
  if (code == MPI_SUCCESS) requests().remove(handle);
  return code;
}

int MPI_Finalize() {
  requests().tell();
  return PMPI_Finalize();
}

}  // extern "C"
