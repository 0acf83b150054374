# SPDX-License-Identifier: Apache-2.0
# What is installed, if NACRE_INSTALL is on, in components: runtime (the command, machines), a module for each MPI and for UCX, shared (libnacre.so), dev
# (libnacre.a, headers, CMake package, nacre.pc), tools (programs to run), doc (documents and examples).
include(CMakePackageConfigHelpers)

# Folders of an installation are relative to its prefix: `cmake --install` may choose another one.
foreach(kind BIN LIB INCLUDE DATAROOT DATA)
  set(folder "${CMAKE_INSTALL_${kind}DIR}")
  if(IS_ABSOLUTE "${folder}")
    cmake_path(IS_PREFIX CMAKE_INSTALL_PREFIX "${folder}" NORMALIZE below)
    if(below)
      cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE CMAKE_INSTALL_${kind}DIR)
    elseif(NACRE_INSTALL)
      message(FATAL_ERROR "CMAKE_INSTALL_${kind}DIR is ${folder}, which is not below CMAKE_INSTALL_PREFIX, "
                          "${CMAKE_INSTALL_PREFIX} (a program finds modules, and a package its files, by paths inside the prefix): "
                          "name a folder below it, or a relative one")
    endif()
  endif()
endforeach()

set(NACRE_MODULE_SUBFOLDER ${CMAKE_INSTALL_LIBDIR}/nacre)  # in the prefix
file(RELATIVE_PATH NACRE_MODULES_FROM_PROGRAMS "/${CMAKE_INSTALL_BINDIR}" "/${NACRE_MODULE_SUBFOLDER}")
set(NACRE_DOCUMENTS_FOLDER ${CMAKE_INSTALL_DATAROOTDIR}/doc/nacre)

# One row for each library that the layers may link: target | how the package finds it | what the linker needs, or the name by
# which pkg-config knows that | Debian's package that has all. Header-only libraries that stay inside our sources have no row: a user never needs them.
set(NACRE_PACKAGE_ROWS
    "Threads::Threads|find_dependency(Threads)|-pthread|libc6-dev"
    "Boost::context|find_dependency(Boost COMPONENTS context)|-lboost_context|libboost-context-dev"
    "fmt::fmt|find_dependency(fmt)|-lfmt|libfmt-dev"
    "tl::expected|find_dependency(tl-expected)||libexpected-dev"
    "tomlplusplus::tomlplusplus|find_dependency(tomlplusplus)|-ltomlplusplus|libtomlplusplus-dev"
    "PkgConfig::sodium|nacre_find_by_pkg_config(sodium libsodium)|libsodium|libsodium-dev"
    "PkgConfig::zstd|nacre_find_by_pkg_config(zstd libzstd)|libzstd|libzstd-dev"
    "PkgConfig::hwloc|nacre_find_by_pkg_config(hwloc hwloc)|hwloc|libhwloc-dev")
set(NACRE_LIBRARIES_OF_USERS Threads::Threads tl::expected)
set(NACRE_BUILD_ONLY_LIBRARIES nlohmann_json::nlohmann_json CLI11::CLI11)

# The list of what is to be installed, and what stands behind `cmake --build` to build it. A generator of several configurations
# has a list for each.
set(NACRE_INSTALLED_FILES ${PROJECT_BINARY_DIR}/nacre_installed_files.txt)
set(NACRE_BUILD ${CMAKE_BINARY_DIR})
if(NACRE_MULTI_CONFIG)
  set(NACRE_INSTALLED_FILES ${PROJECT_BINARY_DIR}/nacre_installed_files_$<CONFIG>.txt)
  string(APPEND NACRE_BUILD " --config $<CONFIG>")
endif()

# Before everything else is installed: says in one line what to build when a part is not built yet. Call it in front of the
# folders that install something.
function(nacre_check_before_install)
  if(NOT NACRE_INSTALL)
    return()
  endif()
  install(CODE "set(NACRE_INSTALLED_FILES \"${NACRE_INSTALLED_FILES}\")\nset(NACRE_BUILD \"${NACRE_BUILD}\")"
          ALL_COMPONENTS)
  install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/check_built.cmake ALL_COMPONENTS)
endfunction()

# Installs a program, module or library as part of a component; EXPORT and its name may follow. An installation of everything leaves out programs of the component
# tools that are not built, and says so.
function(nacre_install_target target component)
  set(optional "")
  if(component STREQUAL tools)
    set(optional OPTIONAL)
  endif()
  if(NACRE_INSTALL)
    install(TARGETS ${target} ${ARGN} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${component} ${optional}
                                      LIBRARY DESTINATION ${NACRE_MODULE_SUBFOLDER} COMPONENT ${component} ${optional}
                                      ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component} ${optional})
  endif()
  set_property(GLOBAL APPEND PROPERTY NACRE_INSTALLED_TARGETS "${component}|${target}")
endfunction()

# The target nacre_package builds the library, the command and the modules, nacre_tools the programs beside them. Call it
# behind the folders that install something.
function(nacre_finish_install)
  add_custom_target(nacre_package)
  add_custom_target(nacre_tools)
  get_property(rows GLOBAL PROPERTY NACRE_INSTALLED_TARGETS)
  set(files "")
  foreach(row IN LISTS rows)
    string(REPLACE "|" ";" row ${row})
    list(GET row 0 component)
    list(GET row 1 target)
    if(component STREQUAL tools)
      add_dependencies(nacre_tools ${target})
    else()
      add_dependencies(nacre_package ${target})
    endif()
    string(APPEND files "${component}|$<TARGET_FILE:${target}>\n")
  endforeach()
  file(GENERATE OUTPUT ${NACRE_INSTALLED_FILES} CONTENT "${files}")
endfunction()

# The documents and the examples, which are a project of their own there.
function(nacre_install_documents)
  if(NOT NACRE_INSTALL)
    return()
  endif()
  install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md
                ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${NACRE_DOCUMENTS_FOLDER} COMPONENT doc)
  foreach(folder src apps)  # whose overview the documents name
    install(FILES ${PROJECT_SOURCE_DIR}/${folder}/README.md DESTINATION ${NACRE_DOCUMENTS_FOLDER}/${folder} COMPONENT doc)
  endforeach()
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${NACRE_DOCUMENTS_FOLDER} COMPONENT doc PATTERN "*.in" EXCLUDE)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${NACRE_DOCUMENTS_FOLDER} COMPONENT doc)
endfunction()

# Installs libnacre.so as a component of its own; what the linker looks for, and the CMake package, come with the component dev.
function(nacre_install_shared_library target)
  if(NACRE_INSTALL)
    install(TARGETS ${target} EXPORT nacre-shared-targets
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT shared NAMELINK_COMPONENT dev)
    install(EXPORT nacre-shared-targets NAMESPACE nacre:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/nacre COMPONENT dev)
  endif()
  set_property(GLOBAL APPEND PROPERTY NACRE_INSTALLED_TARGETS "shared|${target}")
endfunction()

# Sets the results to the options by which a compiler finds the library and the headers of `target`, where it does not by itself.
function(nacre_options_of_folders target library_result header_result)
  set(libraries "")
  get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
  foreach(configuration IN ITEMS "" ${configurations})
    string(REGEX REPLACE "(.+)" "_\\1" suffix "${configuration}")
    get_target_property(file ${target} IMPORTED_LOCATION${suffix})
    if(file)
      cmake_path(GET file PARENT_PATH folder)
      file(REAL_PATH "${folder}" real)
      if(NOT folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES AND NOT real IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
        set(libraries " -L${folder}")
      endif()
    endif()
  endforeach()
  set(headers "")
  get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    cmake_path(NORMAL_PATH folder)
    if(IS_ABSOLUTE "${folder}" AND NOT folder IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
      string(APPEND headers " -I${folder}")
    endif()
  endforeach()
  set(${library_result} "${libraries}" PARENT_SCOPE)
  set(${header_result} "${headers}" PARENT_SCOPE)
endfunction()

# nacre_pkg_config(<name> <flags>): <name>.pc, whose prefix is known only to `cmake --install`. Of a path that is relative to the
# file a linker would make a run path through the folder of the file, which programs need not have.
function(nacre_pkg_config name pc_library)
  set(prefix "@prefix@")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/nacre.pc.in ${name}.pc.in @ONLY)
  if(NACRE_INSTALL)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc)
    install(CODE "cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX OUTPUT_VARIABLE prefix)
configure_file(\"${file}.in\" \"${file}\" @ONLY)" COMPONENT dev)
    install(FILES ${file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
  endif()
endfunction()

# Links `libraries` into the exported targets and writes the package files that find them again.
function(nacre_install_package targets libraries)
  set(find_dependencies "")  # of the archive
  set(find_dependencies_of_users "")  # of both libraries, whose headers or options name them
  set(link_flags "")
  set(pc_requires "")
  list(APPEND libraries ${NACRE_LIBRARIES_OF_USERS})
  list(REMOVE_DUPLICATES libraries)
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
    get_target_property(type ${library} TYPE)
    get_target_property(linked ${library} INTERFACE_LINK_LIBRARIES)
    if(flag MATCHES "^-l" AND type STREQUAL INTERFACE_LIBRARY AND NOT linked)
      set(flag "")  # headers alone, as toml++ is outside of Debian
    endif()
    if(library IN_LIST NACRE_LIBRARIES_OF_USERS)
      string(APPEND find_dependencies_of_users "${find}\n")
    else()
      string(APPEND find_dependencies "  ${find}\n")
    endif()
    if(flag MATCHES "^[^-]")
      list(APPEND pc_requires ${flag})
    else()
      nacre_options_of_folders(${library} folder_flags ignored)
      string(APPEND link_flags "${folder_flags} ${flag}")
    endif()
    foreach(target IN LISTS targets)
      target_link_libraries(${target} PRIVATE ${library})
    endforeach()
  endforeach()
  foreach(target IN LISTS targets)
    target_link_libraries(${target} PUBLIC ${NACRE_LIBRARIES_OF_USERS})
  endforeach()
  set(library_of_package static)  # which nacre::nacre is
  if(BUILD_SHARED_LIBS AND NACRE_SHARED)
    set(library_of_package shared)
  endif()

  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/nacre)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/nacre-config.cmake.in nacre-config.cmake
                                INSTALL_DESTINATION ${package_dir})
  write_basic_package_version_file(nacre-config-version.cmake COMPATIBILITY SameMinorVersion)
  list(JOIN pc_requires ", " pc_requires)
  nacre_options_of_folders(tl::expected ignored pc_headers)  # which the public headers include
  nacre_pkg_config(nacre "-l:libnacre.a${link_flags}")  # by its whole name: -lnacre is the shared library where there is one

  set_property(GLOBAL PROPERTY NACRE_PACKAGE_LIBRARIES ${libraries})
  nacre_install_target(nacre dev EXPORT nacre-targets)
  if(NACRE_SHARED)
    nacre_install_shared_library(nacre_shared)
    set(pc_requires "")
    nacre_pkg_config(nacre-shared "-lnacre -pthread -Wl,-rpath,\${libdir}")
  endif()
  if(NOT NACRE_INSTALL)
    return()
  endif()
  install(EXPORT nacre-targets NAMESPACE nacre:: DESTINATION ${package_dir} COMPONENT dev)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/nacre DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/nacre-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/nacre-config-version.cmake
          DESTINATION ${package_dir} COMPONENT dev)
endfunction()
