# isotherm_test(<name> SOURCES ... [LINK ...] [LABELS ...] [ARGUMENTS ...] [TIMEOUT seconds]
#               [UNOPTIMIZED] [SLOW])
# A GoogleTest program, registered as one ctest entry per program. A test that hangs is ended after
# the time that CMakePresets.json gives all of them; it is no statement about speed.
#
# Two labels have a meaning beside naming: `make test` runs tests labelled `concurrency` also under
# ThreadSanitizer and tests labelled `memory` also under AddressSanitizer and
# UndefinedBehaviorSanitizer, the library's and the programs' in two of the eight turns: `memory`
# stands for `memory-library` and `memory-programs` too. For each label there is a target
# tests-<label> that builds the programs that carry it and nothing else.
#
# UNOPTIMIZED: the program's own sources compile without optimisation, in half the time. For tests
# of what a library's sources define: those are optimised as ever. Not for tests of templates and
# inline functions, nor for those that compute much themselves.
#
# Each program also gets the label `quick`, which `make check-quick` runs, unless it is SLOW: its
# optimised build computes or waits for more than some 1.5 seconds. The label `nightly` keeps an
# entry out of `make test-release` and `make test-tsan`; `make test-nightly` runs it.
foreach(label concurrency memory memory-library memory-programs quick)
  if(NOT TARGET tests-${label})
    add_custom_target(tests-${label})
  endif()
endforeach()

# Folders of the library isotherm, and of its compiler plugin.
set(ISOTHERM_LIBRARY_TESTS base os sync device heap guide collector live index placement compiler)

function(isotherm_test name)
  cmake_parse_arguments(ARG "UNOPTIMIZED;SLOW" "TIMEOUT" "SOURCES;LINK;LABELS;ARGUMENTS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE isotherm_settings ${ARG_LINK}
                                        GTest::gtest_main GTest::gmock)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  if(ARG_UNOPTIMIZED AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    isotherm_precompile(${name} tests_unoptimized)
    target_compile_options(${name} PRIVATE -O0)
  else()
    isotherm_precompile(${name} tests)
  endif()
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGUMENTS})
  if(NOT ARG_SLOW)
    list(APPEND ARG_LABELS quick)
  endif()
  if(memory IN_LIST ARG_LABELS)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/tests ${CMAKE_CURRENT_SOURCE_DIR})
    string(REGEX REPLACE "/.*" "" folder ${folder})
    if(folder IN_LIST ISOTHERM_LIBRARY_TESTS)
      list(APPEND ARG_LABELS memory-library)
    else()
      list(APPEND ARG_LABELS memory-programs)
    endif()
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
  if(ARG_TIMEOUT)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
  endif()
  foreach(label IN LISTS ARG_LABELS)
    if(TARGET tests-${label})
      add_dependencies(tests-${label} ${name})
    endif()
  endforeach()
endfunction()
