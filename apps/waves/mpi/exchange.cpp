// SPDX-License-Identifier: Apache-2.0
// Non-blocking messages between neighbours.
#include "exchange.hpp"

#include <utility>

namespace waves {

int owner_of(const cut& patches, int at_y, int at_z, int ranks) noexcept {
  const long long number = at_y + static_cast<long long>(patches.y()) * at_z;
  return static_cast<int>(number * ranks / patches.patches());
}

rows& halo_exchange::field_of(subdomain& subdomain, field quantity) {
  return quantity == field::acceleration ? subdomain.acceleration() : subdomain.displacement();
}

halo_exchange::halo_exchange(std::vector<local_patch>& patches, const cut& cut) : patches_(patches) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (std::size_t patch = 0; patch < patches.size(); ++patch) {
    for (std::size_t number = 0; number < directions.size(); ++number) {
      const int y = patches[patch].at_y + directions[number].y, z = patches[patch].at_z + directions[number].z;
      if (!cut.contains(y, z)) continue;
      const int sender = patches[patch].at_y + cut.y() * patches[patch].at_z, receiver = y + cut.y() * z;
      link next{patch,
                number,
                owner_of(cut, y, z, ranks),
                8 * receiver + static_cast<int>(opposite(number)),
                8 * sender + static_cast<int>(number),
                0,
                {},
                {}};
      const rows& sample = patches[patch].fields->acceleration();
      if (next.rank != rank) {
        next.out.resize(packed_size(rows_to(patches[patch].fields->box(), directions[number]), sample));
        next.in.resize(packed_size(rows_from(patches[patch].fields->box(), directions[number]), sample));
        remote_.push_back(std::move(next));
        continue;
      }
      while (patches[next.neighbour].at_y != y || patches[next.neighbour].at_z != z) ++next.neighbour;
      local_.push_back(std::move(next));
    }
  }
  receives_.resize(remote_.size(), MPI_REQUEST_NULL);
  sends_.resize(remote_.size(), MPI_REQUEST_NULL);
}

void halo_exchange::post() {
  for (std::size_t k = 0; k < remote_.size(); ++k) {
    link& connection = remote_[k];
    MPI_Irecv(connection.in.data(), static_cast<int>(connection.in.size()), MPI_DOUBLE, connection.rank,
              connection.receive_tag, MPI_COMM_WORLD, &receives_[k]);
  }
}

void halo_exchange::send(std::size_t patch, field quantity) {
  for (std::size_t k = 0; k < remote_.size(); ++k) {
    link& connection = remote_[k];
    if (connection.patch != patch) continue;
    subdomain& fields = *patches_[patch].fields;
    pack(field_of(fields, quantity), rows_to(fields.box(), directions[connection.number]), connection.out);
    MPI_Isend(connection.out.data(), static_cast<int>(connection.out.size()), MPI_DOUBLE, connection.rank,
              connection.send_tag, MPI_COMM_WORLD, &sends_[k]);
  }
}

void halo_exchange::finish(field quantity) {
  for (const link& each : local_) {
    subdomain &source = *patches_[each.patch].fields, &target = *patches_[each.neighbour].fields;
    copy_rows(field_of(source, quantity), rows_to(source.box(), directions[each.number]), field_of(target, quantity),
              rows_from(target.box(), directions[opposite(each.number)]));
  }
  for (std::size_t left = remote_.size(); left > 0; --left) {
    int k = MPI_UNDEFINED;
    MPI_Waitany(static_cast<int>(receives_.size()), receives_.data(), &k, MPI_STATUS_IGNORE);
    link& connection = remote_[static_cast<std::size_t>(k)];
    subdomain& fields = *patches_[connection.patch].fields;
    unpack(connection.in, field_of(fields, quantity), rows_from(fields.box(), directions[connection.number]));
  }
  MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
}

}  // namespace waves
