# SPDX-License-Identifier: Apache-2.0
# What the sanitizer builds test before each commit: the layers, what has threads, and what reads the bytes of others.
# The target nightly builds and runs all that a sanitizer can see (NACRE_SANITIZE_ALL).
set(NACRE_SANITIZER "")  # address (and undefined behaviour), thread, or none
if("${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_DEBUG}" MATCHES "-fsanitize=([a-z]+)")
  set(NACRE_SANITIZER ${CMAKE_MATCH_1})
endif()

# Patterns of the programs in apps/, and of the test programs in tests/, that are not built; of those tests that alone
# are; and of the programs of which only the files that match the last pattern are compiled and tested.
set(NACRE_APPS_LEFT_OUT "^$")
set(NACRE_APPS_IN_PART "^$")
set(NACRE_PARTS_OF_APPS ".")
set(NACRE_TESTS_LEFT_OUT "^$")
set(NACRE_TESTS_KEPT ".")
set(NACRE_EXAMPLES_LEFT_OUT FALSE)
if(NACRE_SANITIZER)
  # What counts time of processors or bytes of the heap, what tests other tests or other people's launchers.
  string(APPEND NACRE_TESTS_LEFT_OUT "|^(oversubscription_mp|campaign_canary|foreign_launchers_mp|simulated_memory)_test$")
endif()
if(NACRE_SANITIZER STREQUAL "thread")
  # Those that start no thread: of simulations and decoders it sees nothing.
  string(APPEND NACRE_TESTS_LEFT_OUT
    "|^(campaign|deadlock|location|location_cache|model|own_costs|balancing|candidates|forgery|idle_ranks)_test$"
    "|^(memory_caller|memory_peer|options_doc|section_contributions|key_text|machines|progress_line)_test$")
endif()
if(NACRE_SANITIZER AND NOT NACRE_SANITIZE_ALL)
  # Programs whose handlers do what those of others do, whose kernels take a sanitizer minutes to compile, or which none
  # of the tests below starts.
  set(NACRE_EXAMPLES_LEFT_OUT TRUE)
  string(APPEND NACRE_APPS_LEFT_OUT "|^(emulate|netsort|synthetic|waves)$")
  # Handlers, objects, arrays and messages of every kind, which live and end at every time, on threads and in jobs.
  set(kept access api_edges arrays array_floods array_senders cancelled communication communication_mp contributions extensions
           flow_control groups images images_resized images_town job_faults_mp keyed_arrays keyed_forgetting lambdas main_messages messages
           outliving own_bundles own_messages phase runtime submitter unreliable user_exceptions_mp worn_objects)
  if(NACRE_SANITIZER STREQUAL "thread")  # and what several threads of a rank, or of a program, do at a time
    string(APPEND NACRE_APPS_LEFT_OUT "|^(mesh[23]d|nbody)$")
    list(APPEND kept arrays_balanced flow_order_mp held_parts held_town large_objects_mp load_recording loads one_sided_mp stepping
                stop_mp submitter_mp time trace_mp)
  else()  # and what reads what strangers, files or liars say, or goes into memory of others
    set(NACRE_APPS_IN_PART "^(mesh[23]d|nbody)$")
    string(CONCAT NACRE_PARTS_OF_APPS "/(mesh2d/((geometry|input)/|size/([^p]|pgm_raster))|mesh3d/(geometry|surface)/|"
                                      "nbody/(models/|output/(hdf5_file|snapshot)))")
    list(APPEND kept alignment backlog campaign extensions_files extensions_mp forgery images_mp launcher_mp memory_caller
                memory_faults_mp memory_peer options_doc section_contributions serialization unpackable_mp)
  endif()
  list(JOIN kept "|" kept)
  set(NACRE_TESTS_KEPT "^(${kept})_test$")
endif()
