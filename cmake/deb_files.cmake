# SPDX-License-Identifier: Apache-2.0
# Part of `cpack`, when all is in its folders and no package is made yet: adds what Debian wants in each package.
if(NOT CPACK_GENERATOR STREQUAL DEB)
  # An archive is unpacked anywhere: its files of pkg-config name the prefix by their own place.
  file(GLOB_RECURSE pc_files ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*.pc)
  foreach(file IN LISTS pc_files)
    file(READ ${file} text)
    string(REGEX MATCH "prefix=([^\n]*)" ignored "${text}")
    cmake_path(GET file PARENT_PATH folder)
    file(RELATIVE_PATH up ${folder} ${CMAKE_MATCH_1})
    string(REGEX REPLACE "/$" "" up ${up})
    string(REPLACE "prefix=${CMAKE_MATCH_1}" "prefix=\${pcfiledir}/${up}" text "${text}")
    file(WRITE ${file} "${text}")
  endforeach()
  return()
endif()
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  set(usr ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr)
  file(WRITE ${usr}/share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME}/copyright
       "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
       "Upstream-Name: ${CPACK_PACKAGE_NAME}\nSource: ${CPACK_DEBIAN_PACKAGE_HOMEPAGE}\n\n"
       "Files: *\nCopyright: the authors of Nacre\nLicense: Apache-2.0\n"
       " On Debian systems the text of this license is in /usr/share/common-licenses/Apache-2.0.\n")
endforeach()
# CPack installs below a folder of its own, which the files of pkg-config name as their prefix.
file(GLOB_RECURSE pc_files ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/dev/*.pc)
foreach(file IN LISTS pc_files)
  file(READ ${file} text)
  string(REGEX REPLACE "prefix=[^\n]*/dev/usr\n" "prefix=/usr\n" text "${text}")
  file(WRITE ${file} "${text}")
endforeach()
file(GLOB_RECURSE archives ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/dev/*.a)
foreach(archive IN LISTS archives)
  execute_process(COMMAND strip --strip-debug --enable-deterministic-archives ${archive} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
