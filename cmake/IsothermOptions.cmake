# Build options, the compiler's settings, and the one list of outside packages.
option(ISOTHERM_BUILD_TESTS "Build the tests" ON)
option(ISOTHERM_BUILD_BENCH "Build the micro-benchmarks" ON)
set(ISOTHERM_COMMANDS serve ycsb tiers backends tlb trace device sort report top pages
    CACHE STRING "Subcommands of the tool, in the order of its help")
set(ISOTHERM_SANITIZER "" CACHE STRING "What -fsanitize= takes, or empty")

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # With precompiled headers ccache asks for these, and for -fno-pch-timestamp below.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

add_library(isotherm_settings INTERFACE)
target_compile_options(isotherm_settings INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Werror
  -fno-omit-frame-pointer -mcx16)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Warnings that gcc 12 gets wrong: it takes the unset half of an optional and the empty one of a
  # string's two representations for used (maybe-uninitialized, restrict), and warns of names and
  # `if`s that GoogleTest's macros bring in (shadow, dangling-else). clang checks shadowing
  # everywhere.
  target_compile_options(isotherm_settings INTERFACE
    -Wno-maybe-uninitialized -Wno-restrict -Wno-shadow -Wno-dangling-else)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(isotherm_settings INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
endif()
if(ISOTHERM_SANITIZER)
  target_compile_options(isotherm_settings INTERFACE -fsanitize=${ISOTHERM_SANITIZER}
                         -fno-sanitize-recover=all)
  target_link_options(isotherm_settings INTERFACE -fsanitize=${ISOTHERM_SANITIZER})
  target_compile_definitions(isotherm_settings INTERFACE ISOTHERM_TEST_HOOKS)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  find_program(LLD ld.lld-19)
  if(LLD)
    target_link_options(isotherm_settings INTERFACE -fuse-ld=lld)
  endif()
endif()

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(JEMALLOC REQUIRED IMPORTED_TARGET jemalloc)
pkg_check_modules(URING REQUIRED IMPORTED_TARGET liburing)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
