# SPDX-License-Identifier: Apache-2.0
# Installs library, public headers, CMake package and nacre.pc. Include it after the target `nacre` is complete.
include(CMakePackageConfigHelpers)

set(NACRE_MODULE_SUBFOLDER ${CMAKE_INSTALL_LIBDIR}/nacre)  # in the prefix

# One row for each library that the layers may link: target | how the package finds it | what the linker needs.
# Header-only libraries that stay inside our sources have no row: a user never needs them.
set(NACRE_PACKAGE_ROWS
    "Threads::Threads|find_dependency(Threads)|-pthread"
    "Boost::context|find_dependency(Boost COMPONENTS context)|-lboost_context"
    "fmt::fmt|find_dependency(fmt)|-lfmt"
    "tl::expected|find_dependency(tl-expected)|"
    "tomlplusplus::tomlplusplus|find_dependency(tomlplusplus)|-ltomlplusplus"
    "PkgConfig::sodium|nacre_find_by_pkg_config(sodium libsodium)|-lsodium"
    "PkgConfig::zstd|nacre_find_by_pkg_config(zstd libzstd)|-lzstd"
    "PkgConfig::hwloc|nacre_find_by_pkg_config(hwloc hwloc)|-lhwloc")
set(NACRE_BUILD_ONLY_LIBRARIES nlohmann_json::nlohmann_json CLI11::CLI11)

set(NACRE_INSTALLED_FILES ${PROJECT_BINARY_DIR}/nacre_installed_files.txt)

# Before everything else is installed: says in one line what to build when a part is not built yet. Call it in front of the
# folders that install something.
function(nacre_check_before_install)
  install(CODE "set(NACRE_INSTALLED_FILES \"${NACRE_INSTALLED_FILES}\")\nset(NACRE_BUILD \"${PROJECT_BINARY_DIR}\")")
  install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/check_built.cmake)
endfunction()

# The target nacre_package builds all that is installed. Call it behind those folders.
function(nacre_finish_install)
  get_property(targets GLOBAL PROPERTY NACRE_INSTALLED_TARGETS)
  add_custom_target(nacre_package)
  add_dependencies(nacre_package ${targets})
  list(TRANSFORM targets REPLACE "(.+)" "$<TARGET_FILE:\\1>")
  list(JOIN targets "\n" files)
  file(GENERATE OUTPUT ${NACRE_INSTALLED_FILES} CONTENT "${files}\n")
endfunction()

# Links `libraries` into the exported target and writes the package files that find them again.
function(nacre_install_package target libraries)
  set(find_dependencies "")
  set(link_flags "")
  foreach(library IN LISTS libraries)
    if(library IN_LIST NACRE_BUILD_ONLY_LIBRARIES)
      continue()
    endif()
    set(row ${NACRE_PACKAGE_ROWS})
    list(FILTER row INCLUDE REGEX "^${library}\\|")
    if(NOT row)
      message(FATAL_ERROR "a layer links ${library}, which the installed package would not find: "
                          "add its row to NACRE_PACKAGE_ROWS in cmake/nacre_install.cmake")
    endif()
    string(REPLACE "|" ";" row "${row}")
    list(GET row 1 find)
    list(GET row 2 flag)
    string(APPEND find_dependencies "${find}\n")
    string(APPEND link_flags " ${flag}")
    target_link_libraries(${target} PRIVATE ${library})
  endforeach()
  target_link_libraries(${target} PUBLIC Threads::Threads tl::expected)

  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/nacre)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/nacre-config.cmake.in nacre-config.cmake
                                INSTALL_DESTINATION ${package_dir})
  write_basic_package_version_file(nacre-config-version.cmake COMPATIBILITY SameMinorVersion)
  # Relative to the file itself: the prefix is known only to `cmake --install`.
  file(RELATIVE_PATH pc_up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" pc_prefix "\${pcfiledir}/${pc_up}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/nacre.pc.in nacre.pc @ONLY)

  set_property(GLOBAL APPEND PROPERTY NACRE_INSTALLED_TARGETS ${target})
  install(TARGETS ${target} EXPORT nacre-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT nacre-targets NAMESPACE nacre:: DESTINATION ${package_dir})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/nacre DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/nacre-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/nacre-config-version.cmake
          DESTINATION ${package_dir})
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/nacre.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
