# SPDX-License-Identifier: Apache-2.0
include(CMakePackageConfigHelpers)
install(TARGETS aistation EXPORT aistationTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/aistation DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.proto")
install(DIRECTORY src/accel/catalogue src/job/rules DESTINATION ${CMAKE_INSTALL_DATADIR}/aistation
        FILES_MATCHING PATTERN "*.jsonc")
install(EXPORT aistationTargets NAMESPACE aistation:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/aistation)
configure_package_config_file(cmake/aistationConfig.cmake.in ${CMAKE_BINARY_DIR}/aistationConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/aistation)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/aistationConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/aistationConfig.cmake ${CMAKE_BINARY_DIR}/aistationConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/aistation)
# Relative, so that an installed tree can be moved.
file(RELATIVE_PATH AISTATION_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" AISTATION_PC_UP ${AISTATION_PC_UP})
configure_file(cmake/aistation.pc.in ${CMAKE_BINARY_DIR}/aistation.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/aistation.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
