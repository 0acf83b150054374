// SPDX-License-Identifier: Apache-2.0
// An emulation as a page and as text.
#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <string>

#include "tool/report/emulation_page.hpp"
#include "tool/report/html.hpp"
#include "tool/report/page_text.hpp"

namespace nacre::tool {
namespace {

double microseconds(std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1e3; }

std::string path_text(const critical_path& path) {
  if (!path.known) return "critical path: not recorded (--critical-path of emulate records it)\n";
  std::string out =
      fmt::format("critical path: {} handlers run for {:.3f} us, {:.3f} us between them; {} waited for a thread\n",
                  path.handlers, microseconds(path.running), microseconds(path.under_way), path.waits);
  for (const critical_step& each : path.longest) {
    out += fmt::format(
        "{:>14.3f} us: runs {:.3f} us, {} on ({}, {}, {}) thread {}: {}\n", microseconds(each.start),
        microseconds(each.cost),
        each.waited ? "waited for its thread" : fmt::format("{:.3f} us before it", microseconds(each.before)),
        each.at.x, each.at.y, each.at.z, each.thread, each.handler);
  }
  return out;
}

}  // namespace

void write_emulation_html(const emulator::profile_input& profile, const std::string& plane, const std::string& path) {
  write_page({emulation_page_text(), emulation_page_script()},
             emulation_page_data(profile, slice_of(plane, profile.head().machine.grid)), path);
}

std::string emulation_text(const emulator::profile_input& profile) {
  const emulator::profile_head& head = profile.head();
  const emulated_machine& m = head.machine;
  const emulation_sums sums = sums_of(profile);
  const double whole = microseconds(head.counts.end) * 1e3 * static_cast<double>(m.nodes()) * m.threads;
  std::string out = head.title.empty() ? "" : head.title + ": ";
  out += fmt::format("{:.3f} us of virtual time on {} x {} x {} nodes of {} threads\n", microseconds(head.counts.end),
                     m.grid.x, m.grid.y, m.grid.z, m.threads);
  out += fmt::format("{} handlers, {} packets, {} hops\n", head.counts.events, head.counts.messages, head.counts.hops);
  if (head.machine.contention) {
    out += fmt::format("packets had to wait for {} of their links, for {:.3f} us together\n", head.counts.link_waits,
                       microseconds(head.counts.link_wait));
  }
  out += fmt::format("{} nodes of {} ran handlers, one of them {}; all threads were busy for {:.4f} % of the time\n",
                     sums.nodes_that_work, m.nodes(), sums.most_handlers,
                     whole > 0 ? 100 * static_cast<double>(sums.busy_ns) / whole : 0);
  out += fmt::format("{:>12} {:>14}\n", "hops", "packets");
  for (std::size_t hops = 0; hops < head.counts.by_hops.size(); ++hops) {
    if (head.counts.by_hops[hops] != 0) out += fmt::format("{:>12} {:>14}\n", hops, head.counts.by_hops[hops]);
  }
  return out + path_text(head.path);
}

}  // namespace nacre::tool
