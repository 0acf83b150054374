# SPDX-License-Identifier: Apache-2.0
# Run after a test executable was linked, by nacre_register_suites: writes CTEST_FILE, which registers each suite of the
# executable with CTest as one test, <target>.<suite>, and a large suite as several, <target>.<suite>.<part>. An executable
# without any test is an error; one whose tests FILTER leaves out altogether is not.
#
#   cmake -D TARGET=... -D EXECUTABLE=... -D FILTER=... -D COST=... -D TIMEOUT=... -D CTEST_FILE=... -P this_file
set(cases_max 40)  # of one test

# Sets `result` to what the executable lists. Brackets and semicolons mean something in CMake's lists.
function(list_tests result)
  execute_process(COMMAND ${EXECUTABLE} ${ARGN} --gtest_list_tests OUTPUT_VARIABLE listing RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${EXECUTABLE} does not list its tests (exit code ${code}):\n${listing}")
  endif()
  string(REGEX REPLACE "[][;\\]" "," listing "${listing}")
  set(${result} "${listing}" PARENT_SCOPE)
endfunction()

set(suite_line "([A-Za-z_][^ \n]*)[.]")  # "name." or "prefix/name.  # TypeParam = ...", without indentation
set(filter_option "")
if(FILTER)
  set(filter_option "--gtest_filter=${FILTER}")
endif()
list_tests(listing ${filter_option})
if(NOT "\n${listing}" MATCHES "\n${suite_line}[^\n]*\n  ")
  list_tests(all)
  if(NOT "\n${all}" MATCHES "\n${suite_line}[^\n]*\n  ")
    message(FATAL_ERROR "${EXECUTABLE} has no test:\n${all}")
  endif()
endif()
string(REGEX MATCH "-.*" left_out "${FILTER}")  # behind its minus; the filter of a suite leaves the same out

set(suite "")
set(tests "")
macro(finish_suite)
  if(NOT suite STREQUAL "")  # a suite may be called off
    math(EXPR parts "(${cases} + ${cases_max} - 1) / ${cases_max}")
    foreach(part RANGE 1 ${parts})
      set(name "${TARGET}.${suite}")
      set(environment "")
      if(parts GREATER 1)
        string(APPEND name ".${part}")
        math(EXPR index "${part} - 1")
        set(environment " ENVIRONMENT [=[GTEST_TOTAL_SHARDS=${parts};GTEST_SHARD_INDEX=${index}]=]")
      endif()
      string(APPEND tests "add_test([=[${name}]=] [=[${EXECUTABLE}]=] [=[--gtest_filter=${suite}.*${left_out}]=])\n"
             "set_tests_properties([=[${name}]=] PROPERTIES TIMEOUT ${TIMEOUT} COST ${COST}${environment})\n")
    endforeach()
  endif()
endmacro()

# The lines below that of a suite are its cases.
string(REPLACE "\n" ";" lines "${listing}")
foreach(line IN LISTS lines)
  if(line MATCHES "^${suite_line}( |$)")
    set(next_suite ${CMAKE_MATCH_1})
    finish_suite()
    set(suite ${next_suite})
    set(cases 0)
  elseif(line MATCHES "^  ")
    math(EXPR cases "${cases} + 1")
  endif()
endforeach()
finish_suite()
file(WRITE ${CTEST_FILE} "${tests}")
