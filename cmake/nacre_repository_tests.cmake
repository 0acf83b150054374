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
add_test(NAME tidy_document_rules_fire COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/tidy_documents_test.py)
add_test(NAME site_pages_are_written COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/site_pages_test.py)
add_test(NAME mutants_fit COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/mutants --check)
set_tests_properties(tidy tidy_headers_compile_alone tidy_rules_fire mutants_fit PROPERTIES TIMEOUT 900)
set_tests_properties(tidy_headers_compile_alone PROPERTIES PROCESSORS 2)

if(EXISTS ${PROJECT_SOURCE_DIR}/include/nacre/nacre.hpp)
  add_test(NAME package_out_of_tree COMMAND sh ${PROJECT_SOURCE_DIR}/tests/package/run.sh ${PROJECT_BINARY_DIR})
  set_tests_properties(package_out_of_tree PROPERTIES TIMEOUT 600 ENVIRONMENT "CXX=${CMAKE_CXX_COMPILER}")
  add_test(NAME package_is_built_by_demo COMMAND sh ${PROJECT_SOURCE_DIR}/tests/package/demo.sh ${PROJECT_BINARY_DIR})
endif()
