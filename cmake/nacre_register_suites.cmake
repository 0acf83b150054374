# SPDX-License-Identifier: Apache-2.0
# Run after a test executable was linked, by nacre_register_suites: writes CTEST_FILE, which registers each suite of the
# executable with CTest as one test, <target>.<suite>.
#
#   cmake -D TARGET=... -D EXECUTABLE=... -D FILTER=... -D COST=... -D TIMEOUT=... -D CTEST_FILE=... -P this_file
set(filter_option "")
if(FILTER)
  set(filter_option "--gtest_filter=${FILTER}")
endif()
execute_process(COMMAND ${EXECUTABLE} ${filter_option} --gtest_list_tests OUTPUT_VARIABLE listing RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${EXECUTABLE} does not list its tests (exit code ${code}):\n${listing}")
endif()

# A line without indentation is a suite, "name." or "prefix/name.  # TypeParam = ..."; those below it are its tests.
string(REPLACE ";" "," listing "${listing}")
string(REPLACE "[" "(" listing "${listing}")
string(REPLACE "]" ")" listing "${listing}")
string(REPLACE "\n" ";" lines "${listing}")
set(tests "")
foreach(line IN LISTS lines)
  if(line MATCHES "^([A-Za-z_][^ ]*)[.]( |$)")
    set(suite ${CMAKE_MATCH_1})
    # The filter of the whole executable says what of the suite is left out: all behind its minus.
    string(REGEX MATCH "-.*" left_out "${FILTER}")
    string(APPEND tests "add_test([=[${TARGET}.${suite}]=] [=[${EXECUTABLE}]=] [=[--gtest_filter=${suite}.*${left_out}]=] --gtest_brief=1)\n"
           "set_tests_properties([=[${TARGET}.${suite}]=] PROPERTIES TIMEOUT ${TIMEOUT} COST ${COST})\n")
  endif()
endforeach()
file(WRITE ${CTEST_FILE} "${tests}")
