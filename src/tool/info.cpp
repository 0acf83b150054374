// SPDX-License-Identifier: Apache-2.0
// The text of `nacre info`: this build and this machine.
#include "tool/info.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <set>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include <nacre/run.hpp>

#include "base/cgroup_limits.hpp"
#include "base/clock.hpp"
#include "base/sanitized.hpp"
#include "exec/placement.hpp"
#include "exec/thread_binding.hpp"
#include "transport/mpi/loader.hpp"
#include "transport/transport.hpp"
#include "transport/ucx/loader.hpp"

namespace nacre::tool {
namespace {

std::string build_text() {
  std::string result =
#if defined(__clang__)
      fmt::format("clang {}.{}", __clang_major__, __clang_minor__);
#else
      fmt::format("gcc {}.{}", __GNUC__, __GNUC_MINOR__);
#endif
#if defined(__OPTIMIZE__)
  result += ", optimised";
#else
  result += ", not optimised";
#endif
#if defined(NACRE_SLOW_ASSERTS)
  result += ", with all assertions";
#endif
#if NACRE_UNDER_ASAN
  result += ", address sanitizer";
#elif NACRE_UNDER_TSAN
  result += ", thread sanitizer";
#endif
  return result;
}

std::string processor_text() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

/// The processor features that Nacre and its applications use, or by which machines can be told apart.
std::string features_text() {
#if defined(__x86_64__)
  static constexpr std::array wanted{"sse4_2", "aes",    "avx2",         "avx512f",
                                     "bmi2",   "sha_ni", "constant_tsc", "nonstop_tsc"};
  std::ifstream file("/proc/cpuinfo");
  std::string flags;
  for (std::string line; flags.empty() && std::getline(file, line);) {
    if (line.starts_with("flags")) flags = line + " ";
  }
  std::string result;
  for (const std::string_view each : wanted) {
    if (flags.find(fmt::format(" {} ", each)) != std::string::npos) result += fmt::format("{} ", each);
  }
  return result;
#else
  return "";
#endif
}

/// The cores that --nacre.bind shares out.
std::string binding_text() {
  const host_cores cores = cores_of_this_host();
  std::size_t threads = 0;
  std::set<std::uint32_t> domains;
  for (const host_core& each : cores) {
    threads += each.processors.size();
    domains.insert(each.domain);
  }
  const std::string processors = text_of(processors_of_this_thread());
  if (!host_describes_its_processors()) {
    return fmt::format(
        "{} cores with {} hardware threads: processors {}; NUMA domains are unknown, since /sys does "
        "not describe the processors here",
        cores.size(), threads, processors);
  }
  return fmt::format("{} cores with {} hardware threads in {} NUMA domain{}: processors {}", cores.size(), threads,
                     domains.size(), domains.size() == 1 ? "" : "s", processors);
}

/// Empty where no control group bounds the process.
std::string limits_text() {
  const cgroup_limits limits = limits_of_this_process();
  std::string text;
  if (limits.processors) text = fmt::format("{:.4g} processors", *limits.processors);
  if (limits.memory_bytes)
    text += fmt::format("{}{:.4g} GiB of memory", text.empty() ? "" : ", ", double(*limits.memory_bytes) / (1 << 30));
  return text.empty() ? text : text + " by control groups";
}

/// Whether a transport is here as far as its module, which is installed apart from the library, is where programs look.
bool has_its_module(std::string_view name) {
  if (name == "ucx") return transport::ucx::has_module({});
  if (name == "mpi") return transport::mpi::has_module({});
  return true;
}

}  // namespace

std::string version_text() { return version(); }

std::string info_text() {
  std::string text = fmt::format("nacre      {}\nbuild      {}\n", version_text(), build_text());
  const char* heading = "transports";
  for (const transport::backend& each : transport::backends()) {
    text += fmt::format("{:<10} {:<7} {}{}\n", heading, each.name, each.help,
                        has_its_module(each.name) ? "" : " (not here: its module is not installed)");
    heading = "";
  }
  text += fmt::format("processor  {}\n", processor_text());
  if (const std::string features = features_text(); !features.empty()) text += fmt::format("features   {}\n", features);
  text += fmt::format("cores      {} usable of {}\n", processors_of_this_thread().size(),
                      std::thread::hardware_concurrency());
  if (const std::string limits = limits_text(); !limits.empty()) text += fmt::format("limits     {}\n", limits);
  text += fmt::format("binding    {}\n", binding_text());
  text +=
      fmt::format("clock      {}\n", ticks_are_steady() ? "the processor's counter, which is steady"
                                                        : "clock_gettime, since the processor's counter is not steady");
  return text;
}

}  // namespace nacre::tool
