# SPDX-License-Identifier: Apache-2.0
# What the sanitizer builds test before each commit: what has threads, and what reads the bytes of others. The target nightly
# builds and runs all that a sanitizer can see (NACRE_SANITIZE_ALL).
set(NACRE_SANITIZER "")  # address (and undefined behaviour), thread, or none
if("${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_DEBUG}" MATCHES "-fsanitize=([a-z]+)")
  set(NACRE_SANITIZER ${CMAKE_MATCH_1})
endif()

# Patterns of the programs in apps/, and of the test programs in tests/, that are not built.
set(NACRE_APPS_LEFT_OUT "^$")
set(NACRE_TESTS_LEFT_OUT "^$")
set(NACRE_EXAMPLES_LEFT_OUT FALSE)
if(NACRE_SANITIZER)
  # What counts time of processors or bytes of the heap, what tests other tests or other people's launchers.
  string(APPEND NACRE_TESTS_LEFT_OUT "|^(oversubscription_mp|campaign_canary|foreign_launchers_mp|simulated_memory)_test$")
  if(NOT NACRE_SANITIZE_ALL)  # programs whose handlers do what those of others do
    set(NACRE_EXAMPLES_LEFT_OUT TRUE)
    string(APPEND NACRE_APPS_LEFT_OUT "|^(netsort|synthetic)$")
    string(APPEND NACRE_TESTS_LEFT_OUT "|^(nbody|netsort|programs|report)_mp_test$")
  endif()
endif()
if(NACRE_SANITIZER STREQUAL "thread")
  # Those that start no thread: of simulations and decoders it sees nothing.
  string(APPEND NACRE_TESTS_LEFT_OUT
    "|^(campaign|deadlock|location|location_cache|model|own_costs|balancing|candidates|forgery|idle_ranks)_test$"
    "|^(memory_caller|memory_peer|options_doc|section_contributions|key_text|machines|progress_line)_test$")
  if(NOT NACRE_SANITIZE_ALL)  # command lines, and programs that differ from uts and emulate by their handlers alone
    string(APPEND NACRE_APPS_LEFT_OUT "|^mesh[23]d$")
    string(APPEND NACRE_TESTS_LEFT_OUT "|^(calibrate|emulate_published|mesh2d|mesh3d|nacre_command)_mp_test$")
  endif()
endif()
