// SPDX-License-Identifier: Apache-2.0
// A plugin that a program or a Python script loads: takes part in their jobs, and runs jobs of its own.
#include <functional>
#include <string>

#include "shared_libraries/own_part.hpp"

extern "C" {

[[gnu::visibility("default")]] void plugin_part(nacre::runtime& rt, const things& all) {
  take_part(rt, all, PLUGIN_KEY);
}

/// Returns 0 where a job of so many ranks in this process has gone well.
[[gnu::visibility("default")]] int plugin_job(int ranks) {
  nacre::config settings;
  settings.set("transport", "inproc");
  settings.set("ranks", std::to_string(ranks));
  settings.set("workers", "1");
  int sum = 0;
  const int code = nacre::run(settings, [&](nacre::runtime& rt) {
    const auto mine = rt.create<own>();
    const int local_count =
        rt.call<&own::grow>(mine, 2).get() + rt.call<tripled>(nacre::rank_id{rt.size() - 1}, 1).get();
    const int all = rt.all_reduce(local_count, std::plus<>{});
    if (rt.rank().value() == 0) sum = all;
  });
  return code == 0 && sum == 5 * ranks ? 0 : 1;
}

/// An error of the runtime, for a program that catches it by its type.
[[gnu::visibility("default")]] void plugin_error(nacre::runtime& rt) { rt.send<tripled>(nacre::rank_id{rt.size()}, 1); }

/// Uses a class, then a handler, whatever the job knows of them.
[[gnu::visibility("default")]] void plugin_makes_object(nacre::runtime& rt) { static_cast<void>(rt.create<own>()); }
[[gnu::visibility("default")]] void plugin_calls(nacre::runtime& rt) { rt.call<tripled>(rt.rank(), 5).get(); }
}
