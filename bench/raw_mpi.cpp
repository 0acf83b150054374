// SPDX-License-Identifier: Apache-2.0
// What does an active message cost over MPI? MPI by itself, in two ways, and Nacre on the same two ranks, in turns.
// Prints one line of JSON for each variant and size: nanoseconds of a round trip, and MiB/s one way. With --idle, what
// it costs to ask for messages when there are none, beside a SHA-1 block: see raw_mpi_idle.hpp.
#include <nacre/mpi.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>
#include <program_options.hpp>

#include "calibration/schedule.hpp"
#include "ladder/parts/payloads.hpp"
#include "raw_mpi_idle.hpp"

namespace {

using nacre::calibration::answer_bytes;
using nacre::calibration::batches_of;
using nacre::calibration::stream_of;
using nacre::calibration::streams_of;
using nacre::calibration::trips_of;

constexpr int standing = 16;  // receives that stand ready

int own_rank = 0;

struct figures {
  double round_trip_seconds = 1e9;
  double one_way_seconds = 1e9;  // of a message in a stream
};

/// Rank 0 measures; `exchange(count, times)` sends `count` messages there for each one back, so many times.
figures measure(std::size_t bytes, const std::function<void(int, int)>& exchange) {
  figures best;
  const int trips = trips_of(bytes);
  const int messages = streams_of(bytes) * stream_of(bytes);
  for (int batch = 0; batch < batches_of(bytes); ++batch) {
    double start = MPI_Wtime();
    exchange(1, trips);
    best.round_trip_seconds = std::min(best.round_trip_seconds, (MPI_Wtime() - start) / trips);
    start = MPI_Wtime();
    exchange(stream_of(bytes), streams_of(bytes));
    best.one_way_seconds = std::min(best.one_way_seconds, (MPI_Wtime() - start) / messages);
  }
  return best;
}

/// Sends as one does by hand: short messages at once, the long ones of a stream all together.
class sending {
 public:
  explicit sending(std::size_t bytes) : payloads_(bytes) {}
  void send(std::size_t bytes, int position) {
    const auto count = static_cast<int>(bytes);
    if (bytes < at_once_below) {
      MPI_Send(payloads_.at(position), count, MPI_BYTE, 1 - own_rank, 0, MPI_COMM_WORLD);
    } else {
      MPI_Isend(payloads_.at(position), count, MPI_BYTE, 1 - own_rank, 0, MPI_COMM_WORLD, &requests_.emplace_back());
    }
  }
  void finish() {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
  }

 private:
  static constexpr std::size_t at_once_below = 16384;

  ladder::payloads payloads_;
  std::vector<MPI_Request> requests_;
};

/// Receives with a probe first, as programs do that do not know what comes.
class probing : public sending {
 public:
  explicit probing(std::size_t bytes) : sending(bytes), room_(std::max(bytes, answer_bytes)), buffer_(bytes) {}
  void receive() {
    int present_count = 0;
    MPI_Status status;
    while (present_count == 0) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &present_count, &status);
    MPI_Recv(buffer_.at(0), static_cast<int>(room_), MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  }

 private:
  std::size_t room_;
  ladder::payloads buffer_;
};

/// Receives by persistent requests that stand ready.
class standing_ready : public sending {
 public:
  explicit standing_ready(std::size_t payload) : sending(payload), in_(standing) {
    const std::size_t bytes = std::max(payload, answer_bytes);
    for (int i = 0; i < standing; ++i) {
      in_[i].resize(bytes);
      MPI_Recv_init(in_[i].data(), static_cast<int>(bytes), MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &requests_[i]);
      MPI_Start(&requests_[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  standing_ready(const standing_ready&) = delete;
  standing_ready& operator=(const standing_ready&) = delete;
  ~standing_ready() {
    MPI_Barrier(MPI_COMM_WORLD);
    for (MPI_Request& each : requests_) {
      MPI_Cancel(&each);
      MPI_Wait(&each, MPI_STATUS_IGNORE);
      MPI_Request_free(&each);
    }
  }
  void receive() {
    int present_count = 0;
    while (present_count == 0) MPI_Test(&requests_[head_], &present_count, MPI_STATUS_IGNORE);
    MPI_Start(&requests_[head_]);
    head_ = (head_ + 1) % standing;
  }

 private:
  std::vector<std::vector<char>> in_;
  std::array<MPI_Request, standing> requests_{};
  std::size_t head_ = 0;
};

template <class Way>
figures measure_raw(std::size_t bytes) {
  Way way(bytes);
  return measure(bytes, [&](int count, int times) {
    for (int i = 0; i < times; ++i) {
      for (int k = 0; k < count; ++k) own_rank == 0 ? way.send(bytes, k) : way.receive();
      own_rank == 0 ? way.finish() : way.send(count == 1 ? bytes : answer_bytes, 0);
      own_rank == 0 ? way.receive() : way.finish();
    }
  });
}

// The same by active messages, whose handlers run in the poll loop.
constexpr nacre::with quickly{.category = nacre::category::communication};

/// What rank 0 still has to measure; handlers of the poll loop, one at a time, are the only ones that use it.
struct session {
  figures best;
  std::vector<char> payload;
  int batches_left = 0;
  bool streaming = false;
  double start = 0;
};

/// `position` is the length of the stream at its last message, which is answered, and 0 before.
void take(nacre::context& ctx, std::uint64_t index, std::uint32_t left, std::uint32_t position,
          std::span<const char> payload);

session& at(std::uint64_t index) { return *reinterpret_cast<session*>(index); }

void give(nacre::context& ctx, std::uint64_t index, std::uint32_t left, std::span<const char> payload) {
  const int count = at(index).streaming ? stream_of(payload.size()) : 1;
  for (int k = 1; k <= count; ++k)
    ctx.send<take>(quickly, nacre::rank_id{1}, index, left, k == count ? static_cast<std::uint32_t>(count) : 0,
                   payload);
}

/// One batch of round trips, then one of streams, and so on.
void begin_batch(nacre::context& ctx, std::uint64_t index) {
  const std::span<const char> payload(at(index).payload);
  const int trips = at(index).streaming ? streams_of(payload.size()) : trips_of(payload.size());
  at(index).start = MPI_Wtime();
  give(ctx, index, static_cast<std::uint32_t>(trips), payload);
}

void answered(nacre::context& ctx, std::uint64_t index, std::uint32_t left, std::span<const char>) {
  session& session = at(index);
  const std::span<const char> payload(session.payload);
  if (left > 1) return give(ctx, index, left - 1, payload);
  const double seconds = MPI_Wtime() - session.start;
  const std::size_t bytes = payload.size();
  if (session.streaming) {
    const int messages = streams_of(bytes) * stream_of(bytes);
    session.best.one_way_seconds = std::min(session.best.one_way_seconds, seconds / messages);
    --session.batches_left;
  } else {
    session.best.round_trip_seconds = std::min(session.best.round_trip_seconds, seconds / trips_of(bytes));
  }
  session.streaming = !session.streaming;
  if (session.batches_left > 0) begin_batch(ctx, index);
}

void take(nacre::context& ctx, std::uint64_t index, std::uint32_t left, std::uint32_t position,
          std::span<const char> payload) {
  if (position == 0) return;
  // A stream is answered by a few bytes, a single message by as many as it has.
  if (position > 1) payload = payload.first(std::min(payload.size(), answer_bytes));
  ctx.send<answered>(quickly, nacre::rank_id{0}, index, left, payload);
}

figures measure_nacre(std::size_t bytes) {
  session session{.best = {}, .payload = std::vector<char>(bytes), .batches_left = batches_of(bytes)};
  nacre::config configuration = nacre::mpi_config(MPI_COMM_WORLD);
  configuration.set("workers", "1");
  configuration.set("spin", "10ms");  // the question is what a message costs, not what waking costs
  nacre::run(configuration, [&](nacre::runtime& rt) {
    rt.barrier();
    if (rt.rank().value() == 0) {
      rt.send<begin_batch>(quickly, nacre::rank_id{0}, reinterpret_cast<std::uint64_t>(&session));
    }
    rt.wait_quiescence();
  });
  return session.best;
}

struct variant {
  const char* name;
  figures (*run)(std::size_t);
  std::vector<double> round_trips{}, one_ways{};
};

/// The medians of one variant, as a line of JSON.
void print(variant& variant, std::size_t bytes, int runs) {
  std::sort(variant.round_trips.begin(), variant.round_trips.end());
  std::sort(variant.one_ways.begin(), variant.one_ways.end());
  const auto middle = static_cast<std::size_t>(runs / 2);
  std::printf(
      "{\"variant\":\"%s\",\"bytes\":%zu,\"round_trip_ns\":%.0f,\"min_ns\":%.0f,\"max_ns\":%.0f,"
      "\"one_way_ns\":%.1f,\"mib_per_second\":%.1f,\"runs\":%d}\n",
      variant.name, bytes, variant.round_trips[middle] * 1e9, variant.round_trips.front() * 1e9,
      variant.round_trips.back() * 1e9, variant.one_ways[middle] * 1e9,
      static_cast<double>(bytes) / variant.one_ways[middle] / (1 << 20), runs);
  std::fflush(stdout);
}

/// Runs the variants in turns, so that they meet the same noise.
void compare(std::size_t bytes, const std::vector<std::string>& only, int runs) {
  std::array variants{variant{"mpi_iprobe", measure_raw<probing>},
                      variant{"mpi_persistent", measure_raw<standing_ready>}, variant{"active_message", measure_nacre}};
  for (int run = 0; run < runs; ++run) {
    for (variant& each : variants) {
      if (!only.empty() && std::find(only.begin(), only.end(), each.name) == only.end()) continue;
      MPI_Barrier(MPI_COMM_WORLD);
      const figures got = each.run(bytes);
      each.round_trips.push_back(got.round_trip_seconds);
      each.one_ways.push_back(got.one_way_seconds);
    }
  }
  for (variant& each : variants) {
    if (own_rank == 0 && !each.round_trips.empty()) print(each, bytes, runs);
  }
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0, size = 0, runs = 3;
  bool only_idle = false;
  std::vector<std::string> only;
  std::vector<std::size_t> sizes{8, 512, 4096, 65536, 1u << 20};
  nacre::program_options options("raw_mpi",
                                 "What an active message costs over MPI, beside MPI by itself: mpirun -n 2.");
  options.add("--runs", runs, "Runs of each variant, in turns").between(1, 1000);
  options.add("--only", only, "Only these variants").one_of({"mpi_iprobe", "mpi_persistent", "active_message"});
  options.add("--bytes", sizes, "Sizes of a message").of_bytes().between(1, 1e9);
  options.add("--idle", only_idle, "What it costs to ask for messages when there are none, instead");
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (only_idle) {
    idle::measure(own_rank, runs);
    MPI_Finalize();
    return 0;
  }
  if (size != 2) {
    if (own_rank == 0) std::fprintf(stderr, "raw_mpi measures between 2 ranks: mpirun -n 2 %s\n", argv[0]);
    MPI_Finalize();
    return 2;
  }
  for (const std::size_t bytes : sizes) compare(bytes, only, runs);
  MPI_Finalize();
}
