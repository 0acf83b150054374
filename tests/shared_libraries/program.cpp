// SPDX-License-Identifier: Apache-2.0
// A program that shares the runtime in libnacre.so with a plugin: `shared_program MODE PLUGIN OTHER_PLUGIN`.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <mutex>

#include "shared_libraries/own_part.hpp"

namespace {

void* load(const char* file) {
  void* const handle = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) std::printf("%s\n", ::dlerror());
  expect(handle != nullptr);
  return handle;
}

template <class Function>
Function* find(void* handle, const char* name) {
  auto* const match = reinterpret_cast<Function*>(::dlsym(handle, name));
  expect(match != nullptr);
  return match;
}

/// A job that the program and the plugins of the handles share.
void run_together(nacre::runtime& rt, std::initializer_list<void*> plugins) {
  counts table(rt);
  things all{.common = {}, .table = &table};
  if (rt.rank().value() == 0) all.common = rt.create<cell>();
  all.common = rt.broadcast(all.common, nacre::rank_id{0});
  take_part(rt, all, 0);
  for (void* const each : plugins) find<void(nacre::runtime&, const things&)>(each, "plugin_part")(rt, all);
  rt.wait_quiescence();
  const int parts = static_cast<int>(rt.size()) * (1 + static_cast<int>(plugins.size()));
  expect(rt.call<&cell::get>(all.common).get() == 1111 * parts);
  expect(table.size() == static_cast<std::size_t>(parts));
  for (void* const each : plugins) {
    try {
      find<void(nacre::runtime&)>(each, "plugin_error")(rt);
      expect(false);
    } catch (const nacre::usage_error&) {
    }
  }
  rt.barrier();
}

int job(int& argc, char** argv, const std::function<void(nacre::runtime&)>& main) {
  return nacre::run(argc, argv, main);
}

/// Twice the same file is one library; another file with handlers of the same names is another.
int share(int argc, char** argv) {
  void* const plugin = load(argv[2]);
  expect(load(argv[2]) == plugin);
  void* const other = load(argv[3]);
  return job(argc, argv, [&](nacre::runtime& rt) { run_together(rt, {plugin, other}); });
}

/// Libraries come and go between jobs.
int load_again(int argc, char** argv) {
  for (int round = 0; round < 3; ++round) {
    void* const first = load(argv[2 + round % 2]);
    if (const int code = job(argc, argv, [&](nacre::runtime& rt) { run_together(rt, {first}); }); code != 0)
      return code;
    void* const second = load(argv[3 - round % 2]);
    ::dlclose(first);
    if (const int code = job(argc, argv, [&](nacre::runtime& rt) { run_together(rt, {second}); }); code != 0)
      return code;
    ::dlclose(second);
  }
  return job(argc, argv, [&](nacre::runtime& rt) { run_together(rt, {}); });
}

/// A library that is closed while a job runs stays until the job is over.
int close_in_job(int argc, char** argv) {
  std::once_flag closed;
  void* const plugin = load(argv[2]);
  const int code = job(argc, argv, [&](nacre::runtime& rt) {
    std::call_once(closed, [&] { ::dlclose(plugin); });  // once in each process
    rt.barrier();
    run_together(rt, {plugin});
  });
  const bool is_gone = ::dlopen(argv[2], RTLD_NOW | RTLD_NOLOAD) == nullptr;
  std::puts(is_gone ? "gone" : "still there");
  return code;
}

/// A library that is loaded while a job runs has no place in it, but may run jobs of its own.
int load_in_job(int argc, char** argv) {
  const bool is_alone = std::getenv("NACRE_JOB_RANK") == nullptr;  // a launched process is a rank of one job
  return job(argc, argv, [&](nacre::runtime& rt) {
    void* const plugin = load(argv[2]);
    try {
      find<void(nacre::runtime&)>(plugin, "plugin_makes_object")(rt);
      expect(false);
    } catch (const nacre::usage_error& error) {
      std::puts(error.what());
    }
    rt.barrier();
    if (is_alone) expect(find<int(int)>(plugin, "plugin_job")(2) == 0);
    rt.barrier();
    try {  // its numbers are those of that job alone
      find<void(nacre::runtime&)>(plugin, "plugin_makes_object")(rt);
      expect(false);
    } catch (const nacre::usage_error&) {
    }
    run_together(rt, {});
    std::fflush(stdout);
    rt.barrier();
    find<void(nacre::runtime&)>(plugin, "plugin_calls")(rt);
  });
}

/// Jobs of two libraries in turn.
int own_jobs(int argc, char** argv) {
  for (int round = 0; round < 2; ++round) {
    for (const char* file : {argv[2], argv[3]}) {
      void* const plugin = load(file);
      expect(find<int(int)>(plugin, "plugin_job")(1 + round) == 0);
      ::dlclose(plugin);
    }
  }
  return job(argc, argv, [&](nacre::runtime& rt) { run_together(rt, {}); });
}

}  // namespace

int main(int argc, char** argv) {
  const struct {
    const char* name;
    int (*run)(int, char**);
  } modes[] = {{"share", &share},
               {"load_again", &load_again},
               {"close_in_job", &close_in_job},
               {"load_in_job", &load_in_job},
               {"own_jobs", &own_jobs}};
  if (argc < 4) return 2;
  for (const auto& mode : modes) {
    if (std::strcmp(argv[1], mode.name) != 0) continue;
    const int code = mode.run(argc, argv);
    if (code == 0) std::puts("well");
    return code;
  }
  return 2;
}
