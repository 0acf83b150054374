// SPDX-License-Identifier: Apache-2.0
// A module of Python that shares the runtime in libnacre.so: `shared_module.part` is its share of a program's job, and
// `shared_module.run([plugin handle...])` a job of its own, in which plugins take part.
#include <Python.h>
// Python's macros come first, as its manual demands.
#include <dlfcn.h>

#include <cstddef>
#include <vector>

#include "shared_libraries/own_part.hpp"

namespace {

constexpr int module_key = 9;

void module_part(nacre::runtime& rt, const things& all) { take_part(rt, all, module_key); }

void run_with(nacre::runtime& rt, const std::vector<part_of_job>& parts) {
  counts table(rt);
  things all{.common = {}, .table = &table};
  if (rt.rank().value() == 0) all.common = rt.create<cell>();
  all.common = rt.broadcast(all.common, nacre::rank_id{0});
  for (const part_of_job each : parts) each(rt, all);
  rt.wait_quiescence();
  const int count = static_cast<int>(rt.size() * parts.size());
  expect(rt.call<&cell::get>(all.common).get() == 1111 * count);
  expect(table.size() == static_cast<std::size_t>(count));
  rt.barrier();
}

PyObject* run_job(PyObject*, PyObject* arguments) {
  std::vector<part_of_job> parts{&module_part};
  PyObject* handles = nullptr;
  if (PyArg_ParseTuple(arguments, "O!", &PyList_Type, &handles) == 0) return nullptr;
  for (Py_ssize_t i = 0; i < PyList_Size(handles); ++i) {
    void* const handle = PyLong_AsVoidPtr(PyList_GetItem(handles, i));
    parts.push_back(reinterpret_cast<part_of_job>(::dlsym(handle, "plugin_part")));
  }
  char name[] = "python3";
  char* argv[] = {name, nullptr};
  int argc = 1;
  int code = 0;
  Py_BEGIN_ALLOW_THREADS;
  code = nacre::run(argc, argv, [&](nacre::runtime& rt) { run_with(rt, parts); });
  Py_END_ALLOW_THREADS;
  return PyLong_FromLong(code);
}

PyMethodDef methods[] = {{"run", &run_job, METH_VARARGS, "Runs a job; returns its exit code."},
                         {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "shared_module", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_shared_module() {
  PyObject* const module = PyModule_Create(&definition);
  if (module != nullptr) PyModule_AddObject(module, "part", PyLong_FromVoidPtr(reinterpret_cast<void*>(&module_part)));
  return module;
}
