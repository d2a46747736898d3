# SPDX-License-Identifier: Apache-2.0
# aist_module(NAME DEPS...): static library aist_NAME of all src/NAME/*.cc.
# aist_unit(NAME): gtest program unit_NAME of all tests/unit/NAME/*_test.cc.
function(aist_module name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cc)
  if(NOT sources)
    # A module without a .cc (yet) is an interface of its headers.
    add_library(aist_${name} INTERFACE)
    target_include_directories(aist_${name} INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
    target_link_libraries(aist_${name} INTERFACE ${ARGN})
    return()
  endif()
  add_library(aist_${name} STATIC ${sources})
  if(AISTATION_UNITY)
    # Several sources at once: the headers of protobuf and the like are read once, not for each file.
    set_target_properties(aist_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    # GCC takes anonymous namespaces of an included .cc for those of a header.
    target_compile_options(aist_${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
  target_include_directories(aist_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(aist_${name} PUBLIC ${ARGN} PRIVATE aist_flags)
endfunction()

function(aist_unit name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/unit/${name}/*_test.cc)
  if(NOT sources)
    return()
  endif()
  add_executable(unit_${name} ${sources})
  target_include_directories(unit_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_compile_definitions(unit_${name} PRIVATE
    AIST_SOURCE_DIR="${CMAKE_SOURCE_DIR}" AIST_BUILD_DIR="${CMAKE_BINARY_DIR}")
  target_link_libraries(unit_${name} PRIVATE aist_${name} aist_flags GTest::gmock GTest::gtest_main)
  add_test(NAME unit_${name} COMMAND unit_${name})
  set_tests_properties(unit_${name} PROPERTIES LABELS unit TIMEOUT 300)
endfunction()
