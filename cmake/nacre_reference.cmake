# SPDX-License-Identifier: Apache-2.0
# The target `reference` makes pages of the public headers' comments with Doxygen; a test checks that none is missing.
find_package(Doxygen QUIET)
if(DOXYGEN_FOUND)
  configure_file(${PROJECT_SOURCE_DIR}/docs/Doxyfile.in ${PROJECT_BINARY_DIR}/Doxyfile @ONLY)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  add_custom_target(reference COMMAND ${DOXYGEN_EXECUTABLE} ${PROJECT_BINARY_DIR}/Doxyfile
                    COMMENT "Reference: ${PROJECT_BINARY_DIR}/reference/html/index.html" VERBATIM)
  add_test(NAME reference_is_made COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target reference)
  set_tests_properties(reference_is_made PROPERTIES FIXTURES_SETUP reference)
  add_test(NAME reference_is_complete
           COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/reference_check.py ${PROJECT_BINARY_DIR}/reference/xml)
  set_tests_properties(reference_is_complete PROPERTIES FIXTURES_REQUIRED reference)
else()
  message(STATUS "Doxygen: not found; no target `reference`")
endif()
