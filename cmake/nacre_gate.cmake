# SPDX-License-Identifier: Apache-2.0
# Each test runs in that build of .ci/run where it finds most. A release build with NACRE_GATE leaves out what stands
# here, a sanitizer build what cmake/nacre_sanitizers.cmake says; the target nightly has all of both.

# Pattern of the layers whose tests in src/ are not built: the address sanitizer runs the same tests, and the thread
# sanitizer those that start threads. The layers base, exec and mobile stay: some of their tests ask what a sanitizer
# changes (how memory is mapped, which bytes are in use), threads are to race at full speed, too, and of the schedules of
# a protocol that tests of mobile go through a sanitizer has the time for some only.
set(NACRE_LAYER_TESTS_LEFT_OUT "^$")

# Pattern of the folders in bench/ whose programs are not built: no test runs them.
set(NACRE_BENCH_LEFT_OUT "^$")

# Tests that are built and not run, as <program>:<gtest pattern>.
set(NACRE_TESTS_NOT_RUN "")
if(NACRE_SANITIZER)
  if(NOT NACRE_SANITIZE_ALL)  # of the matrix one number of ranks for each transport, of ranks in one process one or two
    list(APPEND NACRE_TESTS_NOT_RUN
      communication_mp_test:over/*_8_ranks communication_test:*_on_inproc_1_ranks_* communication_test:*_on_sim_4_ranks_*
      user_exceptions_mp_test:over/*/tcp mesh3d_tests:ends/Thin.*)
    if(NACRE_SANITIZER STREQUAL "address")  # the thread sanitizer has them
      list(APPEND NACRE_TESTS_NOT_RUN communication_test:*_on_inproc_4_ranks_* user_exceptions_mp_test:over/*/inproc)
    endif()
  endif()
elseif(NACRE_GATE)
  string(APPEND NACRE_LAYER_TESTS_LEFT_OUT
    "|^(am|backplane|balance|calibration|emulator|images|join|machine|program_options|quiescence|runtime|tool)$"
    "|^(trace|transport|wire)$")
  string(APPEND NACRE_BENCH_LEFT_OUT
    "|^(channels|containers|coroutines|directory|emulation|ladder|looks|objects|one_sided|oversubscription|pools)$"
    "|^(predictions|submitters|sweep|uts_speed)$")
  foreach(transport tcp auto ucx openmpi mpich)  # of the matrix the fewest and the most ranks; over shm any number
    list(APPEND NACRE_TESTS_NOT_RUN communication_mp_test:over/*/${transport}_3_ranks
         communication_mp_test:over/*/${transport}_4_ranks)
  endforeach()
endif()

# Sets `result` to the gtest filter `filter`, but without the tests of `target` that are not run.
function(nacre_gate_filter target filter result)
  set(patterns ${NACRE_TESTS_NOT_RUN})
  list(FILTER patterns INCLUDE REGEX "^${target}:")
  if(patterns)
    list(TRANSFORM patterns REPLACE "^${target}:" "")
    list(JOIN patterns ":" patterns)
    if(filter MATCHES "-")
      string(APPEND filter ":")
    else()
      string(APPEND filter "-")
    endif()
    string(APPEND filter "${patterns}")
  endif()
  set(${result} "${filter}" PARENT_SCOPE)
endfunction()
