# SPDX-License-Identifier: Apache-2.0
# What takes longer than the tests of a commit: cmake --build --preset release --target nightly.
if(NACRE_GATE)  # the build of .ci/run, which lacks what some of the targets run
  add_custom_target(nightly
    COMMAND ${CMAKE_COMMAND} -E echo "This build lacks tests (NACRE_GATE): run `cmake --preset release` first."
    COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
  return()
endif()
add_custom_target(nightly)

# Every test of a release build, whose tests .ci/run divides between it and the sanitizer builds.
set(every_test ${PROJECT_BINARY_DIR}/every_test)
add_custom_target(nightly_every_test
  COMMAND ${CMAKE_COMMAND} --preset release -S ${PROJECT_SOURCE_DIR} -B ${every_test}
  COMMAND ${CMAKE_COMMAND} --build ${every_test}
  COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${every_test} --output-on-failure -j 4
  USES_TERMINAL VERBATIM)
add_dependencies(nightly nightly_every_test)

if(TARGET campaign_test)
  # The long campaign: other seeds than those of the tests, in pieces, so that one that hangs is named soon, each of which
  # is long enough to take every marked branch.
  set(nightly_pieces "")
  foreach(first RANGE 100000 116000 4000)
    list(APPEND nightly_pieces COMMAND campaign_test --gtest_filter=*random* --seed ${first} --seeds 4000)
  endforeach()
  list(APPEND nightly_pieces COMMAND campaign_test --gtest_filter=*random* --seed 120000 --seeds 50 --crowd 100000)
  foreach(kind keyed_arrays section_contributions)
    string(REGEX REPLACE "_.*" "" word ${kind})
    string(TOUPPER ${word} word)
    list(APPEND nightly_pieces COMMAND ${CMAKE_COMMAND} -E env NACRE_${word}_SEEDS=20000 $<TARGET_FILE:${kind}_test>
                                       --gtest_filter=*random*)
  endforeach()
  add_custom_target(nightly_campaign ${nightly_pieces} VERBATIM)
  add_custom_target(nightly_model COMMAND model_test --large --gtest_filter=*broadcast_update* VERBATIM)
  add_custom_target(nightly_mutants COMMAND ${PROJECT_SOURCE_DIR}/tools/mutants --folder ${PROJECT_BINARY_DIR}/mutants
                    USES_TERMINAL VERBATIM)
  add_custom_target(nightly_flow COMMAND ${CMAKE_COMMAND} -E env NACRE_FLOW_SEEDS=20000 $<TARGET_FILE:backplane_tests>
                                         --gtest_filter=flow/campaign* VERBATIM)
  if(TARGET mesh2d_random_test)
    add_custom_target(nightly_mesh2d COMMAND ${CMAKE_COMMAND} -E env NACRE_MESH2D_SEEDS=2000
                                             $<TARGET_FILE:mesh2d_random_test> VERBATIM)
    add_dependencies(nightly nightly_mesh2d)
  endif()
  if(TARGET mesh3d_random_test)
    add_custom_target(nightly_mesh3d COMMAND ${CMAKE_COMMAND} -E env NACRE_MESH3D_SEEDS=2000
                                             $<TARGET_FILE:mesh3d_random_test> VERBATIM)
    add_dependencies(nightly nightly_mesh3d)
  endif()
  add_dependencies(nightly nightly_campaign nightly_flow nightly_model nightly_mutants)
endif()

# Programs of others beside nbody and waves, as far as Python finds them (NACRE_PEERS_PYTHON: that of a venv with them).
find_program(NACRE_PEERS_PYTHON python3)
foreach(program nbody waves)
  if(TARGET ${program})
    add_custom_target(nightly_${program} COMMAND ${NACRE_PEERS_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/oracles/${program}_peers.py
                                                 $<TARGET_FILE:${program}> USES_TERMINAL VERBATIM)
    add_dependencies(nightly_${program} ${program})
    add_dependencies(nightly nightly_${program})
  endif()
endforeach()

if(TARGET submitter_mp_test)
  add_custom_target(nightly_submitters COMMAND ${CMAKE_COMMAND} -E env NACRE_SUBMITTER_SENDS=1000000
                                               $<TARGET_FILE:submitter_mp_test> --gtest_filter=*run_all* VERBATIM)
  add_dependencies(nightly nightly_submitters)
endif()

if(TARGET kills_mp_test)
  add_custom_target(nightly_kills COMMAND ${CMAKE_COMMAND} -E env NACRE_KILLS=20 $<TARGET_FILE:kills_mp_test> VERBATIM)
  add_dependencies(nightly nightly_kills)
endif()

# What each operation costs with ever more of what it is about; one that grows faster than it may fails it.
if(TARGET sweep)
  add_custom_target(nightly_sweep COMMAND sweep --most 1000000 --json sweep.json VERBATIM)
  add_dependencies(nightly nightly_sweep)
endif()

# The tests that the thread sanitizer leaves out start no thread (cmake/nacre_one_thread.cmake).
if(NACRE_TESTS)
  add_library(no_threads MODULE no_threads.cpp)
  set(one_thread_runs "")
  foreach(target am_tests balance_tests emulator_tests mesh2d_tests mobile_tests transport_tests uts_tests)
    nacre_one_thread_tests(${target} patterns)
    if(TARGET ${target} AND patterns)
      list(APPEND one_thread_runs COMMAND ${CMAKE_COMMAND} -E env LD_PRELOAD=$<TARGET_FILE:no_threads>
                                          $<TARGET_FILE:${target}> --gtest_brief=1 --gtest_filter=${patterns})
    endif()
  endforeach()
  add_custom_target(nightly_one_thread ${one_thread_runs} VERBATIM)
  add_dependencies(nightly nightly_one_thread)
endif()

# The largest trees take minutes: cmake --build --preset release --target nightly. A wrong count fails it.
foreach(tree T1XL T1XXL T3XXL)
  add_custom_target(nightly_${tree} COMMAND uts --quiet --tree ${tree} USES_TERMINAL VERBATIM)
  add_dependencies(nightly nightly_${tree})
endforeach()

# The other builds compile sources together; here each has to name all that it needs.
set(apart ${PROJECT_BINARY_DIR}/apart)
add_custom_target(nightly_apart
  COMMAND ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR} -B ${apart} -G ${CMAKE_GENERATOR} -DCMAKE_BUILD_TYPE=RelWithDebInfo
          -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DNACRE_UNITE=OFF -DNACRE_WERROR=ON -DNACRE_TESTS=OFF
  COMMAND ${CMAKE_COMMAND} --build ${apart}
  USES_TERMINAL VERBATIM)
add_dependencies(nightly nightly_apart)

# All checks of undefined behaviour, and all programs and tests: the presets leave out many (cmake/nacre_sanitizers.cmake),
# and asan three checks that take long to compile.
set(undefined ${PROJECT_BINARY_DIR}/undefined)
add_custom_target(nightly_undefined
  COMMAND ${CMAKE_COMMAND} --preset asan -S ${PROJECT_SOURCE_DIR} -B ${undefined} -DNACRE_SANITIZE_ALL=ON
          "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"
  COMMAND ${CMAKE_COMMAND} --build ${undefined}
  COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${undefined} --output-on-failure -j 4
  USES_TERMINAL VERBATIM)
set(threads ${PROJECT_BINARY_DIR}/threads)
add_custom_target(nightly_threads
  COMMAND ${CMAKE_COMMAND} --preset tsan -S ${PROJECT_SOURCE_DIR} -B ${threads} -DNACRE_SANITIZE_ALL=ON
  COMMAND ${CMAKE_COMMAND} --build ${threads}
  COMMAND ${CMAKE_COMMAND} -E env TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
          ${CMAKE_CTEST_COMMAND} --test-dir ${threads} --output-on-failure -j 4
  USES_TERMINAL VERBATIM)
add_dependencies(nightly nightly_undefined nightly_threads)

# The Debian packages, in a fresh root.
if(NACRE_REPOSITORY_TESTS)
  add_custom_target(nightly_deb COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/package/deb.sh ${PROJECT_BINARY_DIR} USES_TERMINAL VERBATIM)
  add_dependencies(nightly_deb nacre_package nacre_tools)
  add_dependencies(nightly nightly_deb)
endif()

# What newcomers see on the distributions that are named in README.md: `make demo` and `make test` in fresh roots.
find_program(NACRE_DEBOOTSTRAP debootstrap PATHS /usr/sbin /sbin)
if(NACRE_DEBOOTSTRAP)
  foreach(suite bookworm trixie testing)
    add_custom_target(nightly_${suite} COMMAND ${PROJECT_SOURCE_DIR}/tools/fresh_root.sh ${suite} USES_TERMINAL VERBATIM)
    add_dependencies(nightly nightly_${suite})
  endforeach()
endif()
