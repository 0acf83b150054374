# SPDX-License-Identifier: Apache-2.0
# Kernels are compiled for each instruction set. libhdf5 reads and writes files as GADGET does.
set(kernel_options -O3 -ffp-contract=fast -fno-math-errno -fno-trapping-math -Wno-psabi)
if(NACRE_SANITIZER)  # a check at each operation of unrolled loops takes clang minutes to compile
  list(REMOVE_ITEM kernel_options -O3)
  if(NOT NACRE_SANITIZE_ALL)
    list(APPEND kernel_options -fno-sanitize=undefined)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  list(APPEND kernel_options -Wno-maybe-uninitialized -Wno-uninitialized)  # what gcc 12 says of its own intrinsics
endif()
set(avx2_options -mavx2 -mfma)
set(avx512_options ${avx2_options} -mavx512f -mavx512dq -mavx512vl)
foreach(kernels portable avx2 avx512)
  set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/nbody/numerics/kernels_${kernels}.cpp
    PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS "${kernel_options};${${kernels}_options}")
endforeach()
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  get_target_property(sources nbody_app SOURCES)
  list(FILTER sources EXCLUDE REGEX "/kernels_avx")
  set_target_properties(nbody_app PROPERTIES SOURCES "${sources}")
endif()
target_link_libraries(nbody_app PUBLIC pictures)
if(hdf5_FOUND)
  target_link_libraries(nbody_app PUBLIC PkgConfig::hdf5)
  target_compile_definitions(nbody_app PUBLIC NBODY_HAS_HDF5)
endif()
