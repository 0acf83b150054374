// SPDX-License-Identifier: Apache-2.0
// Sums and spans of phases for a page.
#include "tool/report/page_phases.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "tool/report/base64.hpp"
#include "tool/report/page_numbers.hpp"
#include "tool/report/phase_spans.hpp"

namespace nacre::tool {

nlohmann::ordered_json page_phases(const trace::trace_log& log, const survey& sums,
                                   const std::vector<std::size_t>& tracks, std::size_t spans_max) {
  auto list = nlohmann::ordered_json::array();
  for (const std::uint32_t id : phases_by_time(sums)) {
    const phase_sums& one = sums.phases[id];
    const rank_share share = share_of(one, log.job().ranks);
    list.push_back({id, log.phases()[id], one.count, one.own_time, one.whole, one.longest, share.mean_ns, share.most_ns,
                    share.most_rank});
  }
  length_counts lengths;
  for (const std::size_t track : tracks) {
    walk_phases(log, track, [&](const phase_span& one) {
      if (one.length() > 0) lengths.add(one.length());
    });
  }
  const std::size_t least = lengths.least_class(spans_max);
  std::string out;
  std::vector<std::size_t> ends;
  for (const std::size_t track : tracks) {
    std::int64_t last = 0;
    const auto keep = [&](const phase_span& one) {
      return one.begin_ns >= 0 && length_counts::class_of(one.length()) >= least;
    };
    for (const phase_span& one : nested_phases(log, track, keep)) {
      put_number(out, static_cast<std::uint64_t>(one.begin_ns - last));
      put_number(out, static_cast<std::uint64_t>(one.length()));
      put_number(out, one.phase);
      last = one.begin_ns;
    }
    ends.push_back(out.size());
  }
  return {{"list", std::move(list)}, {"ends", ends}, {"bytes", base64(out)}};
}

}  // namespace nacre::tool
