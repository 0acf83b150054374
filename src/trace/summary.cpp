// SPDX-License-Identifier: Apache-2.0
// The summary as text and as JSON.
#include "trace/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>

namespace nacre::trace {
namespace {

constexpr std::size_t rows_shown_max = 16;

void add_worker(std::string& out, const worker_row& row) {
  const double all = std::max(1e-12, row.handler_seconds + row.runtime_seconds + row.idle_seconds);
  fmt::format_to(std::back_inserter(out), "  {:>5} {:>6} {:>11.4f} {:>11.4f} {:>11.4f} {:>6.1f} {:>12} {:>9}\n",
                 row.rank, row.worker, row.handler_seconds, row.runtime_seconds, row.idle_seconds,
                 100 * row.handler_seconds / all, row.handlers, row.steals);
}

void add_rank(std::string& out, const rank_row& row) {
  fmt::format_to(std::back_inserter(out),
                 "  {:>5} {:>12} {:>12} {:>14} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} "
                 "{:>10.4f} {:>10.4f} {:>10.4f}\n",
                 row.rank, row.did.messages_local, row.did.messages_sent, row.did.bytes_sent, row.did.hops,
                 row.did.forwards, row.did.updates_sent, row.did.migrations_out, row.did.migrations_in, row.objects,
                 row.looks, row.look_seconds, row.resting_look_seconds, row.migration_seconds);
}

/// Adds all rows if they are few; else the first and the last few, and a line with the number of rows left out.
template <class Row, class Add>
void add_rows(std::string& out, const std::vector<Row>& rows, Add add) {
  if (rows.size() <= rows_shown_max) {
    for (const Row& row : rows) add(out, row);
    return;
  }
  for (std::size_t index = 0; index < rows_shown_max / 2; ++index) add(out, rows[index]);
  fmt::format_to(std::back_inserter(out), "  ... {} more ...\n", rows.size() - rows_shown_max);
  for (std::size_t index = rows.size() - rows_shown_max / 2; index < rows.size(); ++index) add(out, rows[index]);
}

/// The sums over the ranks of messages to objects elsewhere, with their forwards and carried messages.
struct ways {
  explicit ways(const std::vector<rank_row>& rows) {
    for (const rank_row& row : rows) {
      messages += row.did.hops - row.did.forwards;
      forwards += row.did.forwards;
      carried += row.did.carried;
    }
  }
  [[nodiscard]] double a_message(std::uint64_t count) const {
    return static_cast<double>(count) / static_cast<double>(std::max<std::uint64_t>(messages, 1));
  }
  std::uint64_t messages = 0, forwards = 0, carried = 0;
};

double mean_of_ranks(const phase_row& row, const summary& summary) {
  return row.seconds / static_cast<double>(std::max<std::size_t>(summary.ranks.size(), 1));
}
/// The most seconds of a rank over the mean of all ranks.
double imbalance(const phase_row& row, double mean) { return mean > 0 ? row.most_seconds / mean : 1; }

/// The phases, those with the most time first; nothing if there are none.
std::string phases_text(const summary& summary) {
  if (summary.phases.empty()) return {};
  std::vector<phase_row> rows = summary.phases;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const phase_row& a, const phase_row& b) { return a.seconds > b.seconds; });
  std::string out =
      "      phases       seconds    with inner    with waits   mean a rank   most a rank (rank)  imbalance  phase\n";
  for (const phase_row& row : rows) {
    const double mean = mean_of_ranks(row, summary);
    fmt::format_to(std::back_inserter(out),
                   "  {:>10} {:>13.6f} {:>13.6f} {:>13.6f} {:>13.6f} {:>13.6f} {:>6} {:>10.2f}  {}\n", row.count,
                   row.seconds, row.whole_seconds, row.elapsed_seconds, mean, row.most_seconds, row.most_rank,
                   imbalance(row, mean), row.name);
  }
  return out;
}

nlohmann::ordered_json phases_json(const summary& summary) {
  auto all = nlohmann::ordered_json::array();
  for (const phase_row& row : summary.phases) {
    const double mean = mean_of_ranks(row, summary);
    all.push_back({{"name", row.name},
                   {"count", row.count},
                   {"seconds", row.seconds},
                   {"whole_seconds", row.whole_seconds},
                   {"elapsed_seconds", row.elapsed_seconds},
                   {"mean_seconds", mean},
                   {"most_seconds", row.most_seconds},
                   {"most_rank", row.most_rank},
                   {"imbalance", imbalance(row, mean)}});
  }
  return all;
}

/// One line that says which processors the ranks are bound to; none when they are not bound.
std::string bound_text(const std::vector<rank_row>& rows) {
  std::string text;
  std::size_t shown = 0;
  for (const rank_row& row : rows) {
    if (row.processors.empty() || row.processors == "any") continue;
    if (++shown > rows_shown_max) break;
    text +=
        fmt::format("{} {} on {}", text.empty() ? "  bound to processors: rank" : "; rank", row.rank, row.processors);
  }
  if (shown > rows_shown_max) text += "; ...";
  return text.empty() ? text : text + '\n';
}

/// One line that says how many messages were the runtime's own questions; none if no rank has asked anything.
std::string runtime_messages_text(const std::vector<rank_row>& rows) {
  std::uint64_t all = 0, balancers = 0, detectors = 0;
  for (const rank_row& row : rows) {
    all += row.did.messages_sent;
    balancers += row.balancer_messages;
    detectors += row.quiescence_messages;
  }
  if (balancers + detectors == 0) return {};
  return fmt::format("  of {} messages {} were the balancers' and {} those of the detectors of quiescence\n", all,
                     balancers, detectors);
}

/// One line; none in a run that has nothing to do with images.
std::string images_text(const image_row& row) {
  std::string text;
  if (row.count != 0) {
    text = fmt::format("  {} images of {:.0f} bytes in the mean, {:.4f} s each\n", row.count,
                       static_cast<double>(row.bytes) / static_cast<double>(row.count),
                       row.seconds / static_cast<double>(row.count));
  }
  if (!row.restored.empty())
    text += fmt::format("  went on from {}, {:.3f} s into the job\n", row.restored, row.restored_seconds);
  return text;
}

}  // namespace

void merge(std::vector<phase_row>& sums, const std::vector<phase_row>& more) {
  for (const phase_row& row : more) {
    const auto place = std::lower_bound(sums.begin(), sums.end(), row,
                                        [](const phase_row& a, const phase_row& b) { return a.name < b.name; });
    if (place == sums.end() || place->name != row.name) {
      sums.insert(place, row);
      continue;
    }
    place->count += row.count;
    place->seconds += row.seconds;
    place->whole_seconds += row.whole_seconds;
    place->elapsed_seconds += row.elapsed_seconds;
    if (row.most_seconds <= place->most_seconds) continue;
    place->most_seconds = row.most_seconds;
    place->most_rank = row.most_rank;
  }
}

std::string as_text(const summary& summary) {
  std::string out = fmt::format("nacre: {:.3f} s on {} ranks ({}, balancer {}), {} workers\n", summary.seconds,
                                summary.ranks.size(), summary.transport, summary.balancer, summary.workers.size());
  out += "   rank worker   handler s   runtime s      idle s  busy%     handlers    steals\n";
  add_rows(out, summary.workers, add_worker);
  double least = 1e300, most = 0, sum = 0;
  for (const worker_row& row : summary.workers) {
    least = std::min(least, row.handler_seconds);
    most = std::max(most, row.handler_seconds);
    sum += row.handler_seconds;
  }
  if (!summary.workers.empty() && sum > 0) {
    const double mean = sum / static_cast<double>(summary.workers.size());
    out += fmt::format("  handler seconds a worker: least {:.4f}, mean {:.4f}, most {:.4f}; imbalance {:.2f}\n", least,
                       mean, most, most / mean);
  }
  out +=
      "   rank        local     messages          bytes       hops   forwards    updates  moved out   moved in    "
      "objects      "
      "looks  looking s  s at rest   moving s\n";
  add_rows(out, summary.ranks, add_rank);
  const ways ways(summary.ranks);
  if (ways.messages != 0) {
    out += fmt::format("  {} messages to objects elsewhere: {:.2f} forwards each, {:.2f} taken along\n", ways.messages,
                       ways.a_message(ways.forwards), ways.a_message(ways.carried));
  }
  return out + runtime_messages_text(summary.ranks) + images_text(summary.images) + phases_text(summary) +
         bound_text(summary.ranks);
}

std::string as_json(const summary& summary) {
  nlohmann::ordered_json all;
  all["seconds"] = summary.seconds;
  all["transport"] = summary.transport;
  all["balancer"] = summary.balancer;
  const ways ways(summary.ranks);
  all["forwards_a_message"] = ways.a_message(ways.forwards);
  all["carried_a_message"] = ways.a_message(ways.carried);
  for (const worker_row& row : summary.workers) {
    all["workers"].push_back({{"rank", row.rank},
                              {"worker", row.worker},
                              {"handler_seconds", row.handler_seconds},
                              {"runtime_seconds", row.runtime_seconds},
                              {"idle_seconds", row.idle_seconds},
                              {"handlers", row.handlers},
                              {"steals", row.steals}});
  }
  for (const rank_row& row : summary.ranks) {
    all["ranks"].push_back({{"rank", row.rank},
                            {"messages_local", row.did.messages_local},
                            {"messages_sent", row.did.messages_sent},
                            {"bytes_sent", row.did.bytes_sent},
                            {"hops", row.did.hops},
                            {"forwards", row.did.forwards},
                            {"carried", row.did.carried},
                            {"updates_sent", row.did.updates_sent},
                            {"updates_received", row.did.updates_received},
                            {"migrations_out", row.did.migrations_out},
                            {"migrations_in", row.did.migrations_in},
                            {"objects", row.objects},
                            {"looks", row.looks},
                            {"look_seconds", row.look_seconds},
                            {"resting_look_seconds", row.resting_look_seconds},
                            {"migration_seconds", row.migration_seconds},
                            {"balancer_messages", row.balancer_messages},
                            {"quiescence_messages", row.quiescence_messages},
                            {"processors", row.processors}});
  }
  all["images"] = {{"count", summary.images.count},
                   {"bytes", summary.images.bytes},
                   {"seconds", summary.images.seconds},
                   {"restored", summary.images.restored},
                   {"restored_seconds", summary.images.restored_seconds}};
  all["phases"] = phases_json(summary);
  return all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace nacre::trace
