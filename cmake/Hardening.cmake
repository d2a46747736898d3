# SPDX-License-Identifier: Apache-2.0
# Flags that all own targets share, as the interface target aist_flags.
find_program(AISTATION_CCACHE ccache)
if(AISTATION_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${AISTATION_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${AISTATION_CCACHE})
endif()

add_library(aist_flags INTERFACE)
target_compile_options(aist_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Werror
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.
  -fstack-protector-strong -fno-semantic-interposition)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64")
  target_compile_options(aist_flags INTERFACE -fcf-protection)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(aist_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique> -fstack-clash-protection)
endif()
target_compile_definitions(aist_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:_GLIBCXX_ASSERTIONS>)
if(AISTATION_SANITIZE)
  string(REPLACE ";" "," sanitizers "${AISTATION_SANITIZE}")
  add_compile_options(-fsanitize=${sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${sanitizers})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 warns falsely inside its own headers when sanitizers add code paths.
    target_compile_options(aist_flags INTERFACE -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-restrict)
    if(AISTATION_SANITIZE STREQUAL "thread")
      # Asio has fences that ThreadSanitizer does not understand; each connection has its own io_context here.
      target_compile_options(aist_flags INTERFACE -Wno-tsan)
    endif()
  endif()
else()
  target_compile_options(aist_flags INTERFACE -Wframe-larger-than=16384)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(aist_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
endif()
if(AISTATION_BUILD_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
