# SPDX-License-Identifier: Apache-2.0
# Tests of the repository as a whole: its rules (tools/tidy) and the package it installs.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(tidy ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/tidy)

add_test(NAME tidy COMMAND ${tidy})
add_test(NAME format COMMAND sh ${PROJECT_SOURCE_DIR}/tools/format.sh --check)
set_tests_properties(format PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
add_test(NAME tidy_headers_compile_alone
         COMMAND ${tidy} --headers --compiler ${CMAKE_CXX_COMPILER} --cache ${PROJECT_BINARY_DIR}/tidy_headers.json)
add_test(NAME tidy_rules_fire COMMAND ${Python3_EXECUTABLE} -m unittest discover -s ${PROJECT_SOURCE_DIR}/tools -p tidy*_test.py)
set_tests_properties(tidy_rules_fire PROPERTIES ENVIRONMENT "CXX=${CMAKE_CXX_COMPILER}")
add_test(NAME site_pages_are_written COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/site_pages_test.py)
foreach(tool install_deps papers register_suites test_summary virtual_tables)
  add_test(NAME ${tool}_works COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/${tool}_test.py)
endforeach()

# libnacre.so exports what the public headers declare, and nothing else; the examples see no other headers.
set(exported_names ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/exported_names.py)
add_test(NAME exported_names_are_those_of_the_headers COMMAND ${exported_names} --check)
if(TARGET nacre_shared)
  get_property(examples DIRECTORY ${PROJECT_SOURCE_DIR}/examples PROPERTY BUILDSYSTEM_TARGETS)
  list(FILTER examples INCLUDE REGEX "^example_")
  list(TRANSFORM examples REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  add_test(NAME exported_symbols_are_those_of_the_list
           COMMAND ${exported_names} --library $<TARGET_FILE:nacre_shared> ${examples} COMMAND_EXPAND_LISTS)
endif()

# What virtual time makes of the programs is what the documents say; the target nightly has the tables that take minutes.
if(NOT NACRE_SANITIZER AND TARGET incast AND TARGET example_tutorial_6)
  set(virtual_tables ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/virtual_tables.py --build ${PROJECT_BINARY_DIR})
  add_test(NAME virtual_tables COMMAND ${virtual_tables})
  set_tests_properties(virtual_tables PROPERTIES TIMEOUT 3600)
  set(papers ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/bench/papers --build ${PROJECT_BINARY_DIR})
  add_test(NAME papers COMMAND ${papers})
  set_tests_properties(papers PROPERTIES TIMEOUT 1800)
  add_custom_target(nightly_virtual_tables COMMAND ${virtual_tables} --nightly USES_TERMINAL VERBATIM)
  add_custom_target(nightly_papers COMMAND ${papers} --nightly USES_TERMINAL VERBATIM)
  foreach(program clam_mesh emulate example_tutorial_5 example_tutorial_6 hops incast location_choice mesh2d mesh3d nacre_command
                  netsort prema_table1 prema_table2 synthetic task_trees uts uts_study)
    if(TARGET ${program})
      add_dependencies(nightly_virtual_tables ${program})
      add_dependencies(nightly_papers ${program})
    endif()
  endforeach()
  add_dependencies(nightly nightly_virtual_tables nightly_papers)
endif()

add_test(NAME mutants_fit COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/mutants --check)
set_tests_properties(tidy tidy_headers_compile_alone tidy_rules_fire mutants_fit PROPERTIES TIMEOUT 900)
set_tests_properties(tidy_headers_compile_alone PROPERTIES PROCESSORS 2)

if(EXISTS ${PROJECT_SOURCE_DIR}/include/nacre/nacre.hpp AND NOT NACRE_MULTI_CONFIG)
  add_test(NAME package_out_of_tree COMMAND sh ${PROJECT_SOURCE_DIR}/tests/package/run.sh ${PROJECT_BINARY_DIR})
  set_tests_properties(package_out_of_tree PROPERTIES TIMEOUT 600 ENVIRONMENT "CXX=${CMAKE_CXX_COMPILER}")
  add_test(NAME package_in_another_project COMMAND sh ${PROJECT_SOURCE_DIR}/tests/package/subproject.sh ${PROJECT_SOURCE_DIR})
  set_tests_properties(package_in_another_project PROPERTIES TIMEOUT 600)
  add_test(NAME package_is_built_by_demo COMMAND sh ${PROJECT_SOURCE_DIR}/tests/package/demo.sh ${PROJECT_BINARY_DIR})
endif()
