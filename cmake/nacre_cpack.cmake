# SPDX-License-Identifier: Apache-2.0
# Debian packages, one for each component: cmake --build BUILD --target nacre_package nacre_tools && (cd BUILD && cpack -G DEB)
set(CPACK_PACKAGE_CONTACT "The authors of Nacre <nacre@example.org>" CACHE STRING "Who answers for the packages: NAME <ADDRESS>")
set(CPACK_PACKAGE_VENDOR "Nacre")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                                                WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/deb_files.cmake)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # what programs and modules are linked with
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE ${PROJECT_HOMEPAGE_URL})
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(same_version "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")  # ranks, launcher and modules of a job have one version

# nacre_deb(<component> <package> <title> <words>): the package's description is the title and, below, words.
set(CPACK_COMPONENTS_ALL "")
macro(nacre_deb component package title words)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${title}\n${words}")
endmacro()

nacre_deb(runtime nacre "runtime for irregular, adaptive parallel programs: command and machines"
          "The command nacre starts a program on several processes and hosts, tells what this machine has, and draws what a program did. Files of machines are for emulations and simulations.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "openssh-client")
get_property(targets GLOBAL PROPERTY NACRE_INSTALLED_TARGETS)
set(modules "")
foreach(row IN ITEMS "ucx|UCX|" "openmpi|Open MPI|openmpi-bin" "mpich|MPICH|mpich")
  string(REPLACE "|" ";" row "${row}")
  list(GET row 0 module)
  list(GET row 1 title)
  list(GET row 2 starter)
  if("${targets}" MATCHES "(^|;)${module}\\|")
    nacre_deb(${module} nacre-${module} "runtime for irregular, adaptive parallel programs: module for ${title}"
              "Programs that use Nacre load this module to send their messages over ${title}.")
    string(TOUPPER ${module} upper)
    set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "nacre ${same_version}")
    set(CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS "${starter}")
    list(APPEND modules nacre-${module})
  endif()
endforeach()
list(JOIN modules ", " CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS)

set(packages "nacre ${same_version}" "pkg-config | pkgconf")
if(NACRE_SHARED)
  set(shared_package libnacre${PROJECT_VERSION})  # each version has a soname of its own
  nacre_deb(shared ${shared_package} "runtime for irregular, adaptive parallel programs: shared library"
            "The library for programs, plugins and modules of Python that share one runtime in a process.")
  set(CPACK_DEBIAN_SHARED_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_SHARED_PACKAGE_SUGGESTS "nacre")
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)  # packages of programs that are linked with it learn its name
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=")
  list(APPEND packages "${shared_package} ${same_version}")
endif()
nacre_deb(dev libnacre-dev "runtime for irregular, adaptive parallel programs: development files"
          "The static library, headers, and the files by which CMake and pkg-config find them and the shared library.")
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
get_property(libraries GLOBAL PROPERTY NACRE_PACKAGE_LIBRARIES)
foreach(library IN LISTS libraries)
  set(row ${NACRE_PACKAGE_ROWS})
  list(FILTER row INCLUDE REGEX "^${library}\\|")
  if(row)
    string(REGEX REPLACE ".*\\|" "" package "${row}")
    list(APPEND packages ${package})
  endif()
endforeach()
list(REMOVE_DUPLICATES packages)
list(JOIN packages ", " CPACK_DEBIAN_DEV_PACKAGE_DEPENDS)
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "nacre-doc, cmake, g++")

nacre_deb(tools nacre-tools "runtime for irregular, adaptive parallel programs: programs"
          "Programs that are written with Nacre: meshes of triangles (mesh2d) and of tetrahedra (mesh3d), an emulator of machines of many threads (emulate), unbalanced trees (uts), and several senders on one link (incast).")
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "nacre ${same_version}")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "iproute2")

nacre_deb(doc nacre-doc "runtime for irregular, adaptive parallel programs: documents"
          "Documents, and examples with the files that build them.")
set(CPACK_DEBIAN_DOC_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DOC_PACKAGE_SUGGESTS "libnacre-dev")
include(CPack)
