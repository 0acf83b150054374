// SPDX-License-Identifier: Apache-2.0
// A program for mpirun: it uses MPI itself while Nacre runs beside it, or one of its ranks goes wrong; argv[1] tells.
#include <nacre/mpi.hpp>

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

namespace {

constexpr int app_tag = 7;
constexpr int hops_each = 30;
constexpr int walkers_each = 4;
constexpr int rounds = 25;

/// An object that goes from rank to rank and counts its steps, with a load that is too long for one piece.
struct walker {
  int steps = 0;
  std::vector<double> load = std::vector<double>(2000, 1.0);
  void step(nacre::context& ctx, int left) {
    ++steps;
    if (left == 0) return;
    const auto self = ctx.self<walker>();
    ctx.migrate(self, nacre::rank_id{(ctx.rank().value() + 1) % ctx.size()});
    ctx.send<&walker::step>(self, left - 1);
  }
  int count() const { return load.size() == 2000 && load.back() == 1.0 ? steps : -1; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(steps, load);
  }
};

void require(bool holds, const char* name) {
  if (!holds) throw std::runtime_error(std::string("broken: ") + name);
}

/// Nothing of Nacre's may show in the application's communicator.
void expect_silence() {
  int present_count = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &present_count, &status);
  require(present_count == 0, "a probe on MPI_COMM_WORLD sees what the application has not sent");
}

/// Everything that an application does, in rounds whose parts are told apart by barriers.
void use_mpi(int rank, int size) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  for (int round = 0; round < rounds; ++round) {
    int sum = 0;
    const int value = rank + round;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    require(sum == size * (size - 1) / 2 + size * round, "MPI_Allreduce is wrong");
    expect_silence();
    MPI_Barrier(MPI_COMM_WORLD);
    const int sent = 1000 * rank + round;
    int got = -1;
    MPI_Request request;
    MPI_Isend(&sent, 1, MPI_INT, next, app_tag, MPI_COMM_WORLD, &request);
    MPI_Status status;
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    require(status.MPI_SOURCE == previous && status.MPI_TAG == app_tag, "a probe sees a message of somebody else");
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    require(got == 1000 * previous + round, "a message of the application has changed");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/// The steps of all walkers of all ranks, which walk while `meanwhile` runs.
int walk(nacre::runtime& rt, const std::function<void()>& meanwhile) {
  std::vector<nacre::mobile_ptr<walker>> objects;
  for (int i = 0; i < walkers_each; ++i) objects.push_back(rt.create<walker>());
  for (const auto& each : objects) rt.send<&walker::step>(each, hops_each);
  meanwhile();
  rt.wait_quiescence();
  int steps = 0;
  for (const auto& each : objects) steps += rt.call<&walker::count>(each).get();
  return rt.all_reduce(steps, std::plus<>{});
}

int beside(int argc, char** argv) {
  int level = 0, rank = 0, size = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  require(level == MPI_THREAD_MULTIPLE, "this MPI has no MPI_THREAD_MULTIPLE");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int steps = 0;
  nacre::config configuration = nacre::mpi_config(MPI_COMM_WORLD, argc, argv);
  configuration.set("workers", "1");
  const int code = nacre::run(configuration, [&](nacre::runtime& rt) {
    require(rt.rank().value() == static_cast<unsigned>(rank), "ranks of Nacre are those of the communicator");
    steps = walk(rt, [&] { use_mpi(rank, size); });
  });
  if (code != 0) return code;
  require(steps == size * walkers_each * (hops_each + 1), "a step of a walker is lost or doubled");
  expect_silence();

  // A second job, on a part of the ranks in another order.
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  int half_rank = 0, half_size = 0, half_steps = 0;
  MPI_Comm_rank(half, &half_rank);
  MPI_Comm_size(half, &half_size);
  nacre::config part = nacre::mpi_config(half);
  part.set("workers", "1");
  const int second = nacre::run(part, [&](nacre::runtime& rt) {
    require(rt.rank().value() == static_cast<unsigned>(half_rank), "ranks of the half");
    half_steps = walk(rt, [] {});
  });
  require(half_steps == half_size * walkers_each * (hops_each + 1), "a step in the half is lost or doubled");
  MPI_Comm_free(&half);
  use_mpi(rank, size);
  MPI_Finalize();
  if (rank == 0) std::printf("both ran: %d steps\n", steps);
  return second;
}

/// The application's MPI knows of one thread only, which Nacre must refuse.
int single(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = nacre::run(nacre::mpi_config(MPI_COMM_WORLD), [](nacre::runtime&) {});
  MPI_Finalize();
  return code;
}

/// The least that an application does, as docs/running.md shows it.
int shortest(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);  // SERIALIZED, if it leaves MPI alone meanwhile
  const int code = nacre::run(nacre::mpi_config(MPI_COMM_WORLD, argc, argv), [](nacre::runtime& rt) {
    if (rt.rank().value() == 0) std::printf("%u ranks\n", rt.size());
  });
  MPI_Finalize();
  return code;
}

/// Nobody has initialised MPI, and rank 1 goes wrong in one way or the other.
int goes_wrong(const std::string& mode, int argc, char** argv) {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank == nullptr) rank = std::getenv("PMI_RANK");
  const bool odd_one = rank != nullptr && std::strcmp(rank, "1") == 0;
  nacre::config configuration = nacre::read_config(argc, argv);
  configuration.set("workers", "1");
  if (odd_one && mode == "refused") configuration.set("balancer", "no_such_balancer");
  if (odd_one && mode == "mismatch") configuration.set("mpi.slot", "8KiB");
  return nacre::run(configuration, [&](nacre::runtime& rt) {
    rt.barrier();
    if (odd_one && mode == "killed") std::raise(SIGKILL);
    if (odd_one && mode == "leaves") std::exit(0);
    if (odd_one && mode == "throws") throw std::runtime_error("rank 1 has had enough");
    if (mode != "well") rt.barrier();  // nobody gets past this one
  });
}

/// Whether calls of Open MPI that find nothing give up the core: while Nacre runs, and afterwards. The application has
/// begun MPI, or nobody has.
int tells_of_yields(bool begun, int argc, char** argv) {
  int level = 0;
  if (begun) MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  const auto set = reinterpret_cast<bool (*)(bool)>(dlsym(RTLD_DEFAULT, "opal_progress_set_yield_when_idle"));
  require(set != nullptr, "this is no Open MPI");
  const auto yields = [set] {
    const bool yes = set(false);
    set(yes);
    return yes ? "yields" : "keeps the core";
  };
  nacre::config configuration = begun ? nacre::mpi_config(MPI_COMM_WORLD, argc, argv) : nacre::read_config(argc, argv);
  configuration.set("workers", "1");
  const char* bound = "";
  const int code = nacre::run(configuration, [&](nacre::runtime& rt) {
    rt.barrier();
    bound = yields();
    rt.barrier();
  });
  std::printf("within: %s, afterwards: %s\n", bound, yields());
  if (begun) MPI_Finalize();
  return code;
}

// Jobs whose mains return while very much is under way.
constexpr int jobs = 8, requests_each = 500, relays = 3;
std::atomic<long> sent{0}, handled{0};  // requests of this process, over all jobs

/// A request that goes on to the next rank some times; every eighth is too long for one piece.
void on_request(nacre::context& ctx, std::vector<double> load, int left) {
  ++handled;
  if (left == 0) return;
  ++sent;
  ctx.send<&on_request>(nacre::rank_id{(ctx.rank().value() + 1) % ctx.size()}, std::move(load), left - 1);
}
double on_call(nacre::context&, std::vector<double> load) {
  ++handled;
  return load.back();
}

void leave_requests(nacre::runtime& rt) {
  for (int request = 0; request < requests_each; ++request) {
    const nacre::rank_id target{(rt.rank().value() + 1 + static_cast<unsigned>(request)) % rt.size()};
    const std::vector<double> load(request % 8 == 0 ? 20'000 : 4, 1.0);
    sent += 2;
    rt.send<&on_request>(target, load, relays);
    static_cast<void>(rt.call<&on_call>(target, load));  // nobody waits for the result
  }
}

/// The application has begun MPI, or Nacre does.
int leaves_requests(bool begun, int argc, char** argv) {
  int level = 0;
  if (begun) MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  long left_open = 0;
  for (int job = 0; job < jobs; ++job) {
    nacre::config configuration =
        begun ? nacre::mpi_config(MPI_COMM_WORLD, argc, argv) : nacre::read_config(argc, argv);
    configuration.set("workers", "1");
    const int code = nacre::run(configuration, [&](nacre::runtime& rt) {
      leave_requests(rt);
      left_open += sent - handled;
    });
    if (code != 0) return code;
  }
  const std::array<long, 3> mine{sent, handled, left_open};
  std::array<long, 3> all{};
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(mine.data(), all.data(), 3, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  expect_silence();
  require(all[0] == all[1], "a request is lost or doubled");
  if (rank == 0) std::printf("%ld requests, %ld of them open when mains returned\n", all[0], all[2]);
  if (begun) MPI_Finalize();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "beside";
  try {
    if (mode == "beside") return beside(argc, argv);
    if (mode == "shortest") return shortest(argc, argv);
    if (mode == "single") return single(argc, argv);
    if (mode == "leaves_requests" || mode == "leaves_requests_beside") {
      return leaves_requests(mode != "leaves_requests", argc, argv);
    }
    if (mode == "yields" || mode == "yields_beside") return tells_of_yields(mode != "yields", argc, argv);
    return goes_wrong(mode, argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
