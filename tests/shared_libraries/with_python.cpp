// SPDX-License-Identifier: Apache-2.0
// A program that contains Python: its own part, a plugin's and a Python module's make one job.
// `shared_with_python FOLDER PLUGIN`
#include <Python.h>
// Python's macros come first, as its manual demands.
#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "shared_libraries/own_part.hpp"

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  Py_Initialize();
  const std::string load = "import sys; sys.path.insert(0, '" + std::string(argv[1]) + "'); import shared_module";
  if (PyRun_SimpleString(load.c_str()) != 0) return 3;
  PyObject* const module = PyImport_ImportModule("shared_module");
  PyObject* const address = PyObject_GetAttrString(module, "part");
  const auto of_module = reinterpret_cast<part_of_job>(PyLong_AsVoidPtr(address));
  void* const plugin = ::dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr || ::dlopen(argv[2], RTLD_NOW | RTLD_LOCAL) != plugin) return 4;
  const auto of_plugin = reinterpret_cast<part_of_job>(::dlsym(plugin, "plugin_part"));
  const int code = nacre::run(argc, argv, [&](nacre::runtime& rt) {
    counts table(rt);
    things all{.common = {}, .table = &table};
    if (rt.rank().value() == 0) all.common = rt.create<cell>();
    all.common = rt.broadcast(all.common, nacre::rank_id{0});
    take_part(rt, all, 0);
    of_plugin(rt, all);
    of_module(rt, all);
    rt.wait_quiescence();
    const int parts = static_cast<int>(rt.size()) * 3;
    expect(rt.call<&cell::get>(all.common).get() == 1111 * parts);
    expect(table.size() == static_cast<std::size_t>(parts));
    rt.barrier();
    if (rt.rank().value() == 0) std::puts("well");
  });
  Py_DECREF(address);
  Py_DECREF(module);
  return Py_FinalizeEx() == 0 ? code : 5;
}
