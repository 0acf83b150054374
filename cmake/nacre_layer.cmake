# SPDX-License-Identifier: Apache-2.0
# nacre_layer: one folder of src/ becomes one library and one test executable; files enrol by their names.
#
#   x.cpp                 source of the layer (main.cpp: of the executable that a layer may bring)
#   x_test.cpp, x_fuzz.cpp   gtest cases, all in the executable <layer>_tests
#   x_plugin.cpp          part of a shared object that is loaded at run time, see the folder's CMakeLists.txt
#   x_libfuzzer.cpp       built by tools/libfuzzer.sh only

# Splits the *.cpp files below `folder` into `<prefix>_sources` and `<prefix>_tests` of the caller.
function(nacre_glob prefix folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_(test|fuzz)\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(_(test|fuzz|libfuzzer|plugin)|/main)\\.cpp$")
  set(${prefix}_sources ${sources} PARENT_SCOPE)
  set(${prefix}_tests ${tests} PARENT_SCOPE)
endfunction()

# For tests and examples of release builds, four fifths of which would be line tables: hundreds of programs fill a disk,
# and an eighth of the time that tests take to compile is for those tables.
function(nacre_without_lines target)
  if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" AND NOT NACRE_SANITIZER)
    target_compile_options(${target} PRIVATE -g0)
    target_link_options(${target} PRIVATE LINKER:--strip-debug)
  endif()
endfunction()

# For examples: they take two thirds of the time to compile, and what they show is as it was.
function(nacre_optimise_nothing target)
  target_compile_options(${target} PRIVATE -O0)
endfunction()

# For tests, some of which compute for long, and for what waits for people, files and processes.
function(nacre_optimise_little target)
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    nacre_optimise_nothing(${target})
  else()
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

include(${CMAKE_CURRENT_LIST_DIR}/nacre_one_thread.cmake)

# Registers every TEST of the executable `target` with CTest as <target>.<suite>.<title>, or those that a gtest filter
# selects. One thread runs a simulation, so that its tests are left out where ONE_THREAD is.
function(nacre_register_tests target)
  nacre_gate_filter(${target} "${ARGN}" filter)
  if(NACRE_SANITIZER STREQUAL "thread")
    if(filter MATCHES "-")
      string(APPEND filter ":")
    else()
      string(APPEND filter "-")
    endif()
    nacre_one_thread_tests(${target} one_thread)
    string(APPEND filter "*_on_sim_*:*simulated*:${one_thread}")
  endif()
  set(cost 0)
  if(target MATCHES "^(campaign|communication_mp|user_exceptions_mp|mesh3d)_tests?$")
    set(cost 100)  # takes longest, and so begins first: what is left at the end must not be one test that takes minutes
  endif()
  nacre_optimise_little(${target})
  nacre_without_lines(${target})
  if(NACRE_SANITIZER AND NOT target MATCHES "_mp_test$")  # each case of those starts processes anyway
    nacre_register_suites(${target} "${filter}" ${cost})
  else()
    gtest_discover_tests(${target} TEST_FILTER "${filter}" TEST_PREFIX "${target}." DISCOVERY_TIMEOUT 60
                         PROPERTIES TIMEOUT 600 COST ${cost})
  endif()
endfunction()

# Registers each suite of `target` as one test <target>.<suite>: a process that a sanitizer watches takes a tenth of a second
# to begin, so that some thousands of them, one for each case, take minutes.
function(nacre_register_suites target filter cost)
  set(tests_file ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake)
  set(script ${PROJECT_SOURCE_DIR}/cmake/nacre_register_suites.cmake)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${script})
  add_custom_command(
    TARGET ${target} POST_BUILD BYPRODUCTS ${tests_file} VERBATIM
    COMMAND ${CMAKE_COMMAND} -D TARGET=${target} -D EXECUTABLE=$<TARGET_FILE:${target}> -D "FILTER=${filter}" -D COST=${cost}
            -D TIMEOUT=900 -D CTEST_FILE=${tests_file} -P ${script})
  file(CONFIGURE OUTPUT ${tests_file}.include @ONLY CONTENT [[
if(EXISTS "@tests_file@")
  include("@tests_file@")
else()
  add_test(@target@_NOT_BUILT @target@_NOT_BUILT)
endif()
]])
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${tests_file}.include)
endfunction()

# More than half of the time that a small file takes to compile is that of the headers of others: those of all tests and
# benchmarks are precompiled, and in debug and sanitizer builds those of libraries. gcc 12 takes precompiled system headers
# for the project's own and warns of what it inlines from them, so these warnings are left to the libraries of release
# builds, which precompile nothing. After the target come headers of its own, or the target that it shares the headers of.
function(nacre_precompile target)
  if(CMAKE_BUILD_TYPE STREQUAL "Debug" OR target MATCHES "_tests?$" OR ARGN MATCHES "^nacre_precompiled_for_")
    if(ARGN MATCHES "^nacre_precompiled_for_")
      target_precompile_headers(${target} REUSE_FROM ${ARGN})
    elseif(ARGN)
      target_precompile_headers(${target} PRIVATE ${ARGN})
    elseif(target MATCHES "_tests?$")
      nacre_precompiled(nacre_precompiled_for_tests <gtest/gtest.h> <filesystem> <fstream> <random> <thread>)
      target_precompile_headers(${target} REUSE_FROM nacre_precompiled_for_tests)
    else()
      nacre_precompiled(nacre_precompiled_for_layers <algorithm> <chrono> <cmath> <filesystem> <fstream> <functional> <map>
                        <memory> <mutex> <optional> <random> <sstream> <string> <thread> <unordered_map> <vector>)
      target_precompile_headers(${target} REUSE_FROM nacre_precompiled_for_layers)
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      target_compile_options(
        ${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-maybe-uninitialized)
    endif()
  endif()
endfunction()

# Up to eight sources of a target are compiled at a time, of debug and sanitizer builds sixteen: what they have in common, headers and the templates that all of
# them use, is paid for once. So in one target no two sources may give one name to different things, not even without
# linkage; a local variable may have the name of what another file declares. The preset debug compiles all sources apart:
# each names all that it needs.
function(nacre_unite target)
  if(NACRE_UNITE)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
    if(CMAKE_BUILD_TYPE STREQUAL "Debug")
      set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 16)
    endif()
    target_compile_options(${target} PRIVATE -Wno-shadow)
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)  # what is in no header looks as if it were
    endif()
  endif()
endfunction()

# The target `name`, whose precompiled headers all that are compiled with the same options share.
function(nacre_precompiled name)
  if(NOT TARGET ${name})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${name}.cpp CONTENT "// Only its headers matter.\n")
    add_library(${name} OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/${name}.cpp)
    target_precompile_headers(${name} PRIVATE ${ARGN})
    if(name STREQUAL nacre_precompiled_for_layers)
      nacre_compile_for_shared(${name})
    elseif(name MATCHES "_tests$")
      target_link_libraries(${name} PRIVATE GTest::gtest)
      nacre_optimise_little(${name})
      nacre_without_lines(${name})
    endif()
  endif()
endfunction()

# nacre_layer(<name> DEPENDS <layers> LIBRARIES <targets> [TEST_FILTER <gtest filter>] [WAITS] [ONE_THREAD]
#             [PRECOMPILE <headers>] [APART <sources>] [HOT <sources>])
# Library nacre_<name>; a layer that has no source yet is an interface only. DEPENDS must stand left of it in src/README.md.
# A layer that WAITS, for people, files and processes, is optimised little, and not at all in debug and sanitizer builds: the
# templates of command lines and of JSON take half the time to compile then. Its headers to PRECOMPILE there are its own.
# The tests of a layer with ONE_THREAD start no thread. Sources APART are never united: a test replaces their functions when it
# is linked, which it can where no caller is compiled with them. Sources that are HOT, at most eight of them, are compiled
# together, whatever their paths: they call each other for every message.
function(nacre_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "WAITS;ONE_THREAD" "TEST_FILTER" "DEPENDS;LIBRARIES;PRECOMPILE;APART;HOT")
  nacre_glob(layer ${CMAKE_CURRENT_SOURCE_DIR})
  if(layer_HOT)
    list(TRANSFORM layer_HOT PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    list(REMOVE_ITEM layer_sources ${layer_HOT})
    list(PREPEND layer_sources ${layer_HOT})
  endif()
  list(TRANSFORM layer_DEPENDS PREPEND nacre_)
  set(scope INTERFACE)
  if(layer_sources)
    set(scope PUBLIC)
    add_library(nacre_${name} STATIC ${layer_sources})
    set_property(GLOBAL APPEND PROPERTY NACRE_LAYERS_WITH_SOURCES nacre_${name})
    nacre_compile_for_shared(nacre_${name})
    if(layer_WAITS)
      nacre_optimise_little(nacre_${name})
    endif()
    nacre_precompile(nacre_${name} ${layer_PRECOMPILE})
    nacre_unite(nacre_${name})
    set_source_files_properties(${layer_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  else()
    add_library(nacre_${name} INTERFACE)
  endif()
  target_include_directories(nacre_${name} ${scope} ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(nacre_${name} ${scope} cxx_std_20)
  target_link_libraries(nacre_${name} ${scope} ${layer_DEPENDS} ${layer_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY NACRE_LAYER_LIBRARIES ${layer_LIBRARIES})

  if(NACRE_TESTS AND layer_tests AND NOT (layer_ONE_THREAD AND NACRE_SANITIZER STREQUAL "thread") AND
     NOT name MATCHES "${NACRE_LAYER_TESTS_LEFT_OUT}")
    add_executable(${name}_tests ${layer_tests})
    target_link_libraries(${name}_tests PRIVATE nacre_${name} GTest::gtest_main)
    nacre_precompile(${name}_tests)
    nacre_unite(${name}_tests)
    get_target_property(united nacre_${name} UNITY_BUILD)
    if(united)  # what a test needs of its layer comes with sources beside it, which may need higher layers
      target_link_libraries(${name}_tests PRIVATE nacre)
    endif()
    nacre_register_tests(${name}_tests ${layer_TEST_FILTER})
  endif()
endfunction()
