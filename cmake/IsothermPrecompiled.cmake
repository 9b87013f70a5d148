# isotherm_precompile(<target> <set>)
# Compiles <target> with headers of other projects that are parsed once for all targets of the set.
# Parsing them takes most of the time of a small source.
#
#   core      libraries: the standard library and fmt
#   json      libraries that read or write JSON: core and nlohmann-json
#   programs  json, for programs
#   tests     test programs: core, GoogleTest and GoogleMock
#   tests_unoptimized   the same, compiled without optimisation
#
# A source still includes each header that it uses. `make tidy` compiles src/, and `make test-gcc`
# its programs, with ISOTHERM_PRECOMPILE=OFF and so find an include that is missing there.
option(ISOTHERM_PRECOMPILE "Parse the headers of other projects once" ON)

set(ISOTHERM_CORE_HEADERS
  <algorithm> <array> <atomic> <bit> <cerrno> <charconv> <chrono> <cmath> <condition_variable>
  <cstddef> <cstdint> <cstdio> <cstdlib> <cstring> <deque> <exception> <expected> <filesystem>
  <fstream> <functional> <initializer_list> <iterator> <latch> <limits> <list> <map> <memory>
  <mutex> <new> <numeric> <optional> <semaphore> <set> <shared_mutex> <span> <sstream>
  <stop_token> <string> <string_view> <thread> <tuple> <type_traits> <unordered_map>
  <unordered_set> <utility> <variant> <vector> <fmt/format.h>)
set(ISOTHERM_JSON_HEADERS ${ISOTHERM_CORE_HEADERS} <nlohmann/json.hpp>)
set(ISOTHERM_PROGRAMS_HEADERS ${ISOTHERM_JSON_HEADERS})
set(ISOTHERM_TESTS_HEADERS ${ISOTHERM_CORE_HEADERS} <gtest/gtest.h> <gmock/gmock.h>)
set(ISOTHERM_TESTS_UNOPTIMIZED_HEADERS ${ISOTHERM_TESTS_HEADERS})
set(ISOTHERM_JSON_PACKAGES nlohmann_json::nlohmann_json)
set(ISOTHERM_PROGRAMS_PACKAGES nlohmann_json::nlohmann_json)
set(ISOTHERM_TESTS_PACKAGES GTest::gtest GTest::gmock)
set(ISOTHERM_TESTS_UNOPTIMIZED_PACKAGES ${ISOTHERM_TESTS_PACKAGES})

function(isotherm_precompile target set)
  if(NOT ISOTHERM_PRECOMPILE)
    return()
  endif()
  set(owner isotherm_precompiled_${set})
  if(NOT TARGET ${owner})
    isotherm_make_precompiled(${owner} ${set})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

# Libraries and programs cannot share: their code is position-independent in different ways.
function(isotherm_make_precompiled owner set)
  set(source ${PROJECT_BINARY_DIR}/precompiled/${set}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "int main() {}\n")
  if(set MATCHES "programs|tests")
    add_executable(${owner} EXCLUDE_FROM_ALL ${source})
  else()
    add_library(${owner} STATIC EXCLUDE_FROM_ALL ${source})
  endif()
  string(TOUPPER ${set} upper)
  target_compile_features(${owner} PRIVATE cxx_std_23)
  target_link_libraries(${owner} PRIVATE isotherm_settings fmt::fmt ${ISOTHERM_${upper}_PACKAGES})
  if(set MATCHES "unoptimized")
    target_compile_options(${owner} PRIVATE -O0)
  endif()
  target_precompile_headers(${owner} PRIVATE ${ISOTHERM_${upper}_HEADERS})
endfunction()
