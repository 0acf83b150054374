// SPDX-License-Identifier: Apache-2.0
// Decides whether the processor's counter can be trusted, and how fast it runs.
#include "base/clock.hpp"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <limits>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/spin.hpp"

namespace nacre {
namespace {

std::int64_t monotonic_ns() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

/// The values of both clocks at one moment.
struct moment {
  std::uint64_t ticks;
  std::int64_t nanoseconds;
};

/// Reads both clocks several times, and returns the reading with the least time between the counter's values before and
/// after.
moment read_both() noexcept {
  moment best{};
  std::uint64_t narrowest = std::numeric_limits<std::uint64_t>::max();
  for (int attempt = 0; attempt < 8; ++attempt) {
    const std::uint64_t previous = ticks();
    const std::int64_t now = monotonic_ns();
    const std::uint64_t width = ticks() - previous;
    if (width >= narrowest) continue;
    narrowest = width;
    best = {previous + width / 2, now};
  }
  return best;
}

double measure_ticks_per_second() {
  constexpr std::int64_t window_ns = 3'000'000;
  const moment first = read_both();
  while (monotonic_ns() - first.nanoseconds < window_ns) cpu_relax();
  const moment last = read_both();
  return static_cast<double>(last.ticks - first.ticks) * 1e9 /
         static_cast<double>(last.nanoseconds - first.nanoseconds);
}

#if defined(__x86_64__)

struct cpuid_leaf {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

cpuid_leaf read_cpuid(unsigned leaf) noexcept {
  cpuid_leaf result;
  __cpuid(leaf, result.eax, result.ebx, result.ecx, result.edx);
  return result;
}

bool counter_is_invariant() noexcept {
  constexpr unsigned power_leaf = 0x80000007;
  constexpr unsigned invariant_tsc = 1U << 8;
  return read_cpuid(0x80000000).eax >= power_leaf && (read_cpuid(power_leaf).edx & invariant_tsc) != 0;
}

/// Returns the frequency that KVM and VMware state in a CPUID leaf of their own; 0 when there is none.
double hypervisor_ticks_per_second() noexcept {
  constexpr unsigned hypervisor_present = 1U << 31;
  constexpr unsigned frequency_leaf = 0x40000010;
  constexpr unsigned kvm = 0x4b4d564b;  // the first letters of their signatures
  constexpr unsigned vmware = 0x61774d56;
  if ((read_cpuid(1).ecx & hypervisor_present) == 0) return 0;
  const cpuid_leaf signature = read_cpuid(0x40000000);
  if (signature.eax < frequency_leaf || (signature.ebx != kvm && signature.ebx != vmware)) return 0;
  return read_cpuid(frequency_leaf).eax * 1e3;
}

/// Returns the frequency that the hypervisor or the processor states; 0 when neither states one.
double stated_ticks_per_second() noexcept {
  if (const double stated = hypervisor_ticks_per_second(); stated > 0) return stated;
  if (read_cpuid(0).eax >= 0x15) {
    const cpuid_leaf crystal = read_cpuid(0x15);
    if (crystal.eax != 0 && crystal.ebx != 0 && crystal.ecx != 0) {
      return static_cast<double>(crystal.ecx) * crystal.ebx / crystal.eax;
    }
  }
  return 0;
}

/// The kernel watches the counter, and switches to a slower clock when it finds the counter wrong.
bool kernel_trusts_counter() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  if (!(file >> name)) return true;
  return name != "hpet" && name != "acpi_pm" && name != "jiffies" && name != "refined-jiffies";
}

#endif

double find_ticks_per_second() {
#if defined(__x86_64__)
  const double stated = stated_ticks_per_second();
  return stated > 0 ? stated : measure_ticks_per_second();
#elif defined(__aarch64__)
  std::uint64_t frequency;
  asm("mrs %0, cntfrq_el0" : "=r"(frequency));
  return frequency != 0 ? static_cast<double>(frequency) : measure_ticks_per_second();
#else
  return 1e9;
#endif
}

}  // namespace

double ticks_per_second() {
  static const double frequency = find_ticks_per_second();
  return frequency;
}

bool ticks_are_steady() {
#if defined(__x86_64__)
  static const bool steady = counter_is_invariant() && kernel_trusts_counter();
  return steady;
#else
  return true;
#endif
}

steady_clock_source::steady_clock_source() {
  if (!ticks_are_steady()) return;
  scale_ = static_cast<std::uint64_t>(1e9 / ticks_per_second() * 0x1p32);
  const moment start = read_both();
  origin_ticks_ = start.ticks;
  origin_ = std::chrono::nanoseconds(start.nanoseconds);
}

std::chrono::nanoseconds steady_clock_source::now() {
  if (scale_ == 0) return std::chrono::nanoseconds(monotonic_ns());
  __extension__ using wide = unsigned __int128;
  // A thread that moved to a core with a counter a few ticks behind must not see a time before the origin.
  const std::uint64_t passed = std::max(ticks(), origin_ticks_) - origin_ticks_;
  return origin_ + std::chrono::nanoseconds(static_cast<std::int64_t>((static_cast<wide>(passed) * scale_) >> 32));
}

}  // namespace nacre
