# SPDX-License-Identifier: Apache-2.0
# Every operation is rounded as it is written, so that results do not depend on the instruction set. The stages of rows are
# compiled apart: they name the same things for each set, and vectors that a function without it cannot return.
target_compile_options(waves_app PRIVATE -ffp-contract=off -Wno-psabi)
target_link_libraries(waves_app PUBLIC pictures tomlplusplus::tomlplusplus)
get_target_property(sources waves_app SOURCES)
list(FILTER sources EXCLUDE REGEX "/waves/mpi/")
set_target_properties(waves_app PROPERTIES SOURCES "${sources}")
file(GLOB kernels CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/waves/numerics/kernels_*.cpp)
set_source_files_properties(${kernels} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# mpi/main.cpp is bin/waves_mpi_<flavour> for each MPI that has a module, of the same objects; bin/waves_mpi is one of them.
get_property(flavours GLOBAL PROPERTY NACRE_MPI_FLAVOURS)
foreach(flavour IN LISTS flavours)
  set(waves_mpi waves_mpi_${flavour})
  add_executable(${waves_mpi} waves/mpi/main.cpp waves/mpi/exchange.cpp)
  set_target_properties(${waves_mpi} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${NACRE_BIN_DIR})
  target_compile_definitions(${waves_mpi} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_link_libraries(${waves_mpi} PRIVATE waves_app PkgConfig::${flavour})
  if(flavour STREQUAL openmpi OR NOT TARGET waves_mpi)
    add_custom_target(waves_mpi COMMAND ${CMAKE_COMMAND} -E create_symlink ${waves_mpi} ${NACRE_BIN_DIR}/waves_mpi)
    add_dependencies(waves_mpi ${waves_mpi})
  endif()
endforeach()
