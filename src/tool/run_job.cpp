// SPDX-License-Identifier: Apache-2.0
// The lives of a job: it starts again from its newest image.
#include "tool/run_job.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "base/print_error.hpp"
#include "images/image_error.hpp"
#include "runtime/last_image.hpp"
#include "tool/hosts/agent_startup.hpp"
#include "tool/lives.hpp"
#include "tool/running_job.hpp"

namespace nacre::tool {
namespace {

/// How a life has ended.
struct life_end {
  int code = 0;
  bool by_death = false, by_error = false, missed_image = false;
  bool by_reader = false;     ///< nobody reads the output any more, and a rank has ended that wrote to it
  bool by_host = false;       ///< it could not begin on a host
  supervisor::cause cause{};  ///< of a death or an error
};

/// In a later life a host that cannot be used counts as lost.
life_end run_life(const job_options& options, bool is_first = true) {
  try {
    running_job job(options);
    const int code = job.run();
    const supervisor& seen = job.supervised();
    const supervisor::cause cause = seen.cause_of_end().value_or(supervisor::cause{});
    const bool by_reader = job.has_lost_reader() && (seen.by_error() || (seen.by_death() && cause.signal == SIGPIPE));
    return {.code = code,
            .by_death = seen.by_death() && !by_reader,
            .by_error = seen.by_error() && !by_reader,
            .missed_image = seen.missed_image(),
            .by_reader = by_reader,
            .cause = cause};
  } catch (const interrupted_start& interrupted_start) {
    return {.code = 128 + interrupted_start.signal,  // as shells do
            .missed_image = interrupted_start.signal == options.image_signal};
  } catch (const host_failure& failure) {
    const auto lost = std::ranges::find(options.hosts, failure.host, &host_share::name);
    if (is_first || lost == options.hosts.end() || lost->ranks.empty()) throw;
    print_error("nacre run: {}\n", failure.what());
    return {.code = 2, .by_death = true, .by_host = true, .cause = {.rank = lost->ranks.front(), .host_lost = true}};
  }
}

/// Waits, but for a signal that ends the job; all that running_job watches are blocked. Returns that signal, or 0.
int wait_between_starts(std::chrono::milliseconds time, int image_signal) {
  sigset_t ending;
  ::sigemptyset(&ending);
  for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, image_signal}) {
    if (each != 0) ::sigaddset(&ending, each);
  }
  const auto until = std::chrono::steady_clock::now() + time;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::nanoseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0) return 0;
    const timespec wait{.tv_sec = left / 1'000'000'000, .tv_nsec = left % 1'000'000'000};
    const int signal = ::sigtimedwait(&ending, nullptr, &wait);
    if (signal == SIGTSTP) {
      ::raise(SIGSTOP);  // no rank is there that would have to stop, too
    } else if (signal > 0) {
      return signal;
    }
  }
}

/// Lets the job go on from an image, whatever its arguments or environment said of that before. An argument is replaced
/// where it stands, and none is added: programs read their own before they call nacre::run.
void restore_from(job_options& job, const std::string& folder) {
  const auto own_position =
      std::find(job.arguments.begin(), job.arguments.end(), "--");  // what follows is none of Nacre's
  for (auto each = job.arguments.begin(); each != own_position; ++each) {
    constexpr std::string_view option = "--nacre.restore=";
    if (each->starts_with(option)) *each = std::string(option) + folder;
  }
  job.restore = folder;
}

/// Where this process finds a path of the ranks, which run in a folder of their own on other hosts.
std::string path_here(const job_options& job, const std::string& path) {
  if (path.empty() || job.hosts.empty() || job.remote.folder.empty()) return path;
  return std::filesystem::path(job.remote.folder) / path;
}

/// The path by which the ranks, and the user, name the same file as this process does.
std::string path_of_ranks(const job_options& job, const std::string& path) {
  for (const std::string& text : {job.images, job.first_image}) {
    const std::string here = path_here(job, text);
    if (!text.empty() && path.starts_with(here)) return text + path.substr(here.size());
  }
  return path;
}

/// Takes a rank away, or the ranks of a lost host. The last rank stays, in place of the one that has died. Returns
/// false when no host is left.
bool shrink(job_options& job, const supervisor::cause& death) {
  const auto has_died = [&](const host_share& each) {
    return std::ranges::find(each.ranks, death.rank) != each.ranks.end();
  };
  if (death.host_lost) {
    std::erase_if(job.hosts, has_died);
    if (job.hosts.empty()) return false;
  } else if (job.ranks > 1) {
    --job.ranks;
    for (host_share& each : job.hosts) std::erase(each.ranks, death.rank);
    std::erase_if(job.hosts, [](const host_share& each) { return each.ranks.empty(); });
  }
  if (job.hosts.empty()) return true;
  std::map<std::uint32_t, std::uint32_t> numbers;  // by the earlier ones, in their order
  for (const host_share& each : job.hosts) {
    for (const std::uint32_t rank : each.ranks) numbers[rank] = 0;
  }
  std::uint32_t next = 0;
  for (auto& [earlier, number] : numbers) number = next++;
  for (host_share& each : job.hosts) {
    for (std::uint32_t& rank : each.ranks) rank = numbers[rank];
  }
  job.ranks = next;
  return true;
}

/// Seconds since the image was taken.
double age_of(const images::found_image& image) {
  std::error_code fault;
  const auto taken = std::filesystem::last_write_time(image.path + "/manifest.json", fault);
  if (fault) return 0;
  return std::max(0.0, std::chrono::duration<double>(decltype(taken)::clock::now() - taken).count());
}

/// A job with images, over all its lives.
class living_job {
 public:
  explicit living_job(const job_options& options)
      : now_(options),
        mark_(fmt::format("{:08x}{:08x}", std::random_device()(), std::random_device()())),
        lives_(path_here(options, options.images), mark_, path_here(options, options.first_image), options.restarts) {
    now_.mark = mark_;
  }

  int run() {
    int code = 1;
    try {
      code = run_lives();
    } catch (const images::damaged_error& error) {
      print_error("nacre run: the job ends: {}\n", error.what());
    }
    if (lives_.started() > 1)
      print_error("nacre run: {} starts, {:.1f} s of work lost\n", lives_.started(), lost_seconds_);
    return code;
  }

 private:
  int run_lives() {
    for (;;) {
      const life_end end = run_reachable_life();
      if (end.missed_image && end.code != 0 && end.code != exit_behind_image) return code_without_image(end.code);
      if (end.code == exit_refused && previous_options_) {
        go_back();
        continue;
      }
      if (end.by_reader && now_.survive.deaths)
        print_error("nacre run: the reader of the output has gone, so the job is not started again\n");
      const bool again = (end.by_death && now_.survive.deaths) || (end.by_error && now_.survive.errors);
      if (!again || !go_on(end)) return end.code;
      if (const auto stopped = pause(lives_.pause())) return *stopped;
    }
  }

  /// A host that cannot be used in a later life may be about to boot: it has `--host-timeout` in all. A job that
  /// shrinks does without it.
  life_end run_reachable_life() {
    using std::chrono::steady_clock;
    std::optional<steady_clock::time_point> until;
    for (std::chrono::seconds wait{1};; wait = std::min(2 * wait, std::chrono::seconds(10))) {
      life_end end = run_life(now_, lives_.started() == 1);
      if (!end.by_host || now_.survive.shrinks) return end;
      if (!until) until = steady_clock::now() + now_.remote.start_time;
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - steady_clock::now());
      if (left.count() <= 0) return end;
      if (const auto stopped = pause(std::min<std::chrono::milliseconds>(wait, left))) return {.code = *stopped};
    }
  }

  /// Returns the exit code of the job if a signal ends it meanwhile.
  std::optional<int> pause(std::chrono::milliseconds time) const {
    if (time.count() == 0) return std::nullopt;
    print_error("nacre run: the next try follows in {:.1f} s\n", std::chrono::duration<double>(time).count());
    const int signal = wait_between_starts(time, now_.image_signal);
    if (signal == 0) return std::nullopt;
    const int code = 128 + signal;  // as shells do
    return signal == now_.image_signal ? code_without_image(code) : code;
  }

  int code_without_image(int code) const {
    const std::optional<images::found_image> image = lives_.newest();
    if (!image) {
      print_error("nacre run: the job has no image to go on from\n");
      return code;
    }
    print_error("nacre run: the job can go on from the image before: --restore {}\n",
                path_of_ranks(now_, lives_.path_for(*image)));
    return exit_behind_image;
  }

  /// The image is refused on fewer ranks.
  void go_back() {
    now_ = *previous_options_;
    previous_options_.reset();
    now_.survive.shrinks = false;
    print_error("nacre run: the job goes back to {} ranks, and stays there\n", now_.ranks);
  }

  /// Prepares the next life; false: there is none.
  bool go_on(const life_end& end) {
    const std::optional<images::found_image> image = lives_.after_death();
    if (!image) {
      print_error("nacre run: the job ends, as it has no {}image to go on from\n",
                  lives_.started() > 1 ? "newer " : "");
      return false;
    }
    // No other one, and no start from the beginning.
    restore_from(now_, path_of_ranks(now_, image->path));
    now_.life = lives_.started();
    previous_options_.reset();
    if (now_.survive.shrinks && end.by_death) {
      previous_options_ = now_;
      if (!shrink(now_, end.cause)) {
        print_error("nacre run: the job ends, as no host is left\n");
        return false;
      }
    }
    const double ran = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    const double lost = std::min(age_of(*image), ran);
    lost_seconds_ += lost;
    print_error("nacre run: start {} on {} ranks, from {}, {:.1f} s into the job; {:.1f} s are lost\n",
                lives_.started(), now_.ranks, image->path, image->description.seconds, lost);
    return true;
  }

  job_options now_;
  std::optional<job_options> previous_options_;  // of a job that has just shrunk
  const std::string mark_;
  lives lives_;
  double lost_seconds_ = 0;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

int run_job(const job_options& options) {
  return options.images.empty() ? run_life(options).code : living_job(options).run();
}

}  // namespace nacre::tool
