// SPDX-License-Identifier: Apache-2.0
// A job that was started by a launcher that speaks PMIx: srun --mpi=pmix, prterun, mpirun of OpenMPI.
#include "join/launch/pmix_job.hpp"

#include <nacre/error.hpp>

#if defined(NACRE_WITH_PMIX)

#include <pmix.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/core_fingerprint.hpp"
#include "base/loaded_library.hpp"

namespace nacre::launch {
namespace {

constexpr const char* address_key = "nacre.address";
constexpr const char* secret_key = "nacre.secret";
constexpr const char* cores_key = "nacre.cores";
constexpr const char* library_name = "libpmix.so.2";

[[noreturn]] void give_up_on_pmix(const std::string& problem, const std::string& remedy) {
  throw setup_error(
      {.problem = problem, .why = "the launcher speaks PMIx, by which the ranks find each other", .remedy = remedy});
}

/// The functions of libpmix that are used here.
struct library {
  decltype(&PMIx_Init) init = nullptr;
  decltype(&PMIx_Finalize) finalize = nullptr;
  decltype(&PMIx_Put) put = nullptr;
  decltype(&PMIx_Commit) commit = nullptr;
  decltype(&PMIx_Fence_nb) fence = nullptr;
  decltype(&PMIx_Get) get = nullptr;
  decltype(&PMIx_Error_string) error_string = nullptr;
};

template <class Function>
void find(const loaded_library& libpmix, const char* name, Function*& function) {
  if (!libpmix.find(name, function)) {
    give_up_on_pmix(std::string(library_name) + " has no function " + name,
                    "install a PMIx library of version 3 or later");
  }
}

/// Loaded for the rest of the process: its threads may outlive a job.
const library& pmix() {
  static const library loaded = [] {
    const loaded_library libpmix(library_name, RTLD_GLOBAL);
    if (!libpmix) {
      give_up_on_pmix(
          std::string("cannot load ") + library_name + ": " + ::dlerror(),
          "install it on every host (Debian: libpmix2), put its folder into LD_LIBRARY_PATH, or use nacre run");
    }
    library result;
    find(libpmix, "PMIx_Init", result.init);
    find(libpmix, "PMIx_Finalize", result.finalize);
    find(libpmix, "PMIx_Put", result.put);
    find(libpmix, "PMIx_Commit", result.commit);
    find(libpmix, "PMIx_Fence_nb", result.fence);
    find(libpmix, "PMIx_Get", result.get);
    find(libpmix, "PMIx_Error_string", result.error_string);
    return result;
  }();
  return loaded;
}

void check(pmix_status_t status, const std::string& action) {
  if (status == PMIX_SUCCESS) return;
  give_up_on_pmix("PMIx could not " + action + ": " + pmix().error_string(status),
                  "look for lines of the launcher, and whether its PMIx fits to libpmix of this host");
}

pmix_proc_t process(const std::string& job, pmix_rank_t rank) {
  pmix_proc_t result{};
  std::strncpy(result.nspace, job.c_str(), sizeof result.nspace - 1);
  result.rank = rank;
  return result;
}

struct value_deleter {
  void operator()(pmix_value_t* value) const noexcept {
    if (value->type == PMIX_STRING) {
      ::explicit_bzero(value->data.string, std::strlen(value->data.string));  // it may be the secret
      std::free(value->data.string);
    }
    std::free(value);
  }
};
using value_ptr = std::unique_ptr<pmix_value_t, value_deleter>;

value_ptr get(const pmix_proc_t& process, const char* key) {
  pmix_value_t* value = nullptr;
  check(pmix().get(&process, key, nullptr, 0, &value), std::string("tell ") + key);
  return value_ptr(value);
}

std::uint32_t get_number(const pmix_proc_t& process, const char* key) {
  const value_ptr value_ptr = get(process, key);
  if (value_ptr->type != PMIX_UINT32)
    give_up_on_pmix(std::string("PMIx tells no number for ") + key, "use another launcher");
  return value_ptr->data.uint32;
}

std::string get_text(const pmix_proc_t& process, const char* key) {
  const value_ptr value_ptr = get(process, key);
  if (value_ptr->type != PMIX_STRING)
    give_up_on_pmix(std::string("PMIx tells no text for ") + key, "use another launcher");
  return value_ptr->data.string;
}

void put_text(const char* key, std::string text) {
  pmix_value_t value{};
  value.type = PMIX_STRING;
  value.data.string = text.data();
  check(pmix().put(PMIX_GLOBAL, key, &value), std::string("publish ") + key);
  ::explicit_bzero(text.data(), text.size());
}

void on_fence(pmix_status_t status, void* subject) {
  const std::unique_ptr<std::promise<pmix_status_t>> done(static_cast<std::promise<pmix_status_t>*>(subject));
  done->set_value(status);
}

/// Waits until every rank has committed and has the values of the others. PMIx's blocking call has no time-out, so this
/// uses the other one.
void fence(const std::string& job, net::time_point deadline) {
  auto done = std::make_unique<std::promise<pmix_status_t>>();
  std::future<pmix_status_t> outcome = done->get_future();
  const pmix_proc_t all = process(job, PMIX_RANK_WILDCARD);
  pmix_info_t collect{};
  std::strncpy(collect.key, PMIX_COLLECT_DATA, sizeof collect.key - 1);
  collect.value.type = PMIX_BOOL;
  collect.value.data.flag = true;
  const pmix_status_t begun = pmix().fence(&all, 1, &collect, 1, &on_fence, done.get());
  if (begun == PMIX_OPERATION_SUCCEEDED) return;
  check(begun, "begin the exchange of addresses");
  static_cast<void>(done.release());  // on_fence owns it, however late PMIx calls that
  if (outcome.wait_until(deadline) != std::future_status::ready) {
    give_up_on_pmix("not all ranks have joined the job in time",
                    "look for errors of other ranks, or give them more time with --nacre.tcp.connect_timeout");
  }
  check(outcome.get(), "exchange addresses");
}

}  // namespace

pmix_job::pmix_job() {
  pmix_proc_t self{};
  check(pmix().init(&self, nullptr, 0), "reach the launcher");
  job_ = self.nspace;
  rank_ = rank_id(self.rank);
  const pmix_proc_t all = process(job_, PMIX_RANK_WILDCARD);
  size_ = get_number(all, PMIX_JOB_SIZE);
  ranks_on_host_ = get_number(all, PMIX_LOCAL_SIZE);
  if (rank_.value() >= size_) give_up_on_pmix("PMIx tells a rank beyond the size of the job", "use another launcher");
}

pmix_job::~pmix_job() { static_cast<void>(pmix().finalize(nullptr, 0)); }

std::uint32_t pmix_job::count_ranks_sharing_cores(net::time_point deadline) {
  const std::string own_cores = fmt::format("{:016x}", fingerprint_of_cores());
  put_text(cores_key, own_cores);
  check(pmix().commit(), "publish the cores of this rank");
  fence(job_, deadline);
  try {
    const std::string peers = get_text(process(job_, PMIX_RANK_WILDCARD), PMIX_LOCAL_PEERS);  // "0,1,4"
    std::uint32_t count = 0;
    for (const char *digits = peers.c_str(), *end = digits; *digits != 0; digits = *end == 0 ? end : end + 1) {
      const auto rank = static_cast<pmix_rank_t>(std::strtoul(digits, const_cast<char**>(&end), 10));
      if (end == digits) return ranks_on_host_;
      count += get_text(process(job_, rank), cores_key) == own_cores ? 1 : 0;
    }
    return std::max(count, 1U);
  } catch (const setup_error&) {  // a launcher that does not tell: only the default of workers depends on it
    return ranks_on_host_;
  }
}

pmix_job::exchange_result pmix_job::exchange(const std::string& own_address, net::time_point deadline) {
  put_text(address_key, own_address);
  if (rank_.value() == 0) put_text(secret_key, job_secret::generate().to_hex());
  check(pmix().commit(), "publish where this rank listens");
  fence(job_, deadline);
  std::string digits = get_text(process(job_, 0), secret_key);
  const auto secret = job_secret::from_hex(digits);
  ::explicit_bzero(digits.data(), digits.size());
  if (!secret) give_up_on_pmix("rank 0 has published no secret", "run one version of Nacre in all ranks");
  exchange_result result{.secret = *secret, .addresses = {}};
  for (std::uint32_t rank = 0; rank < size_; ++rank) {
    result.addresses.push_back(get_text(process(job_, rank), address_key));
  }
  return result;
}

}  // namespace nacre::launch

#else

namespace nacre::launch {

pmix_job::pmix_job() {
  throw setup_error({.problem = "this Nacre was built without PMIx",
                     .why = "the launcher speaks PMIx, by which the ranks find each other",
                     .remedy = "install libpmix-dev and build Nacre again, or use nacre run"});
}
pmix_job::~pmix_job() = default;
std::uint32_t pmix_job::count_ranks_sharing_cores(net::time_point) { throw setup_error("no PMIx"); }
pmix_job::exchange_result pmix_job::exchange(const std::string&, net::time_point) { throw setup_error("no PMIx"); }

}  // namespace nacre::launch

#endif
