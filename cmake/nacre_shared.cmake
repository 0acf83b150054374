# SPDX-License-Identifier: Apache-2.0
# libnacre.so, of the same objects as libnacre.a. What it exports stands in src/exported_names.txt; all else is hidden.

# Options of all sources of the libraries. Nobody replaces a function of libnacre.so, so that calls inside it are direct and may be
# inlined. Variables of threads lie where those of the program lie (initial-exec), as a call to find one costs more than its use.
# What is exported is visible also where the project around, or CXXFLAGS, hide everything by default.
function(nacre_compile_for_shared target)
  if(NACRE_SHARED)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_options(${target} PRIVATE -fno-semantic-interposition -ftls-model=initial-exec -fvisibility=default
                                             -fno-visibility-inlines-hidden)
  endif()
endfunction()

# Writes the version script `file`: names A::B() of the list become mangled ones of all functions of this name, names A::B those of a class's members, its
# table of virtual functions and its type_info.
function(nacre_version_script file)
  set(list ${PROJECT_SOURCE_DIR}/src/exported_names.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} names REGEX "^nacre::")
  set(patterns "")
  foreach(name IN LISTS names)
    string(REGEX REPLACE "\\(\\)$" "" plain "${name}")
    string(REPLACE "::" ";" parts "${plain}")
    set(mangled "")
    foreach(part IN LISTS parts)
      string(LENGTH "${part}" length)
      string(APPEND mangled "${length}${part}")
    endforeach()
    if(plain STREQUAL name)
      string(APPEND patterns "    _ZN${mangled}*;\n    _ZNK${mangled}*;\n    _ZT[ISV]N${mangled}E;\n")
    else()
      string(APPEND patterns "    _ZN${mangled}[EB]*;\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${file} CONTENT "NACRE_@PROJECT_VERSION@ {\n  global:\n@patterns@  local:\n    *;\n};\n" @ONLY)
endfunction()

# nacre_shared_library(<objects>): the target nacre_shared, nacre::shared for users. Each version has a soname of its own: programs compile parts of the
# inside in. It is never unloaded, as threads may outlive exit.
function(nacre_shared_library)
  add_library(nacre_shared SHARED ${ARGN})
  set(script ${CMAKE_CURRENT_BINARY_DIR}/nacre.map)
  nacre_version_script(${script})
  set_target_properties(nacre_shared PROPERTIES
    OUTPUT_NAME nacre EXPORT_NAME shared LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION}
    LINK_DEPENDS ${script})
  target_link_options(nacre_shared PRIVATE LINKER:--version-script=${script} LINKER:-Bsymbolic-functions LINKER:-z,nodelete
                                           LINKER:-z,defs)
  target_include_directories(nacre_shared PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(nacre_shared PUBLIC cxx_std_20)
  target_link_libraries(nacre_shared PRIVATE ${CMAKE_DL_LIBS})
  add_library(nacre::shared ALIAS nacre_shared)
endfunction()
