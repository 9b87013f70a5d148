# isotherm_instrument(<target> [REPORT <folder>])
# Compiles the C++ sources of <target> with isotherm-clang.so (docs/compiler.md) and links
# isotherm::isotherm. With REPORT a file for each source in <folder> says what was instrumented, and
# why. Where the plugin is missing, or was built for another compiler, a notice says so and marked
# pointers stay plain.
#
# ISOTHERM_PLUGIN, ISOTHERM_PLUGIN_CLANG: the plugin's file, and the major version of clang that
# loads it; set by whoever includes this file.
function(isotherm_instrument target)
  cmake_parse_arguments(ARG "" "REPORT" "" ${ARGN})
  target_link_libraries(${target} PRIVATE isotherm::isotherm)
  string(REGEX MATCH "^[0-9]+" major "${CMAKE_CXX_COMPILER_VERSION}")
  if(NOT ISOTHERM_PLUGIN)
    set(missing "isotherm was built without its compiler plugin")
  elseif(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR NOT major EQUAL ISOTHERM_PLUGIN_CLANG)
    set(missing "the plugin is for clang ${ISOTHERM_PLUGIN_CLANG}")
    string(APPEND missing ", not for ${CMAKE_CXX_COMPILER_ID} ${major}")
  endif()
  if(missing)
    message(NOTICE "isotherm_instrument(${target}): marked pointers stay plain, since ${missing}")
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-attributes=isotherm::>
      $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-unknown-attributes>)
    return()
  endif()

  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-fplugin=${ISOTHERM_PLUGIN}>
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include isotherm/compiler.hpp>")
  target_compile_definitions(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:ISOTHERM_INSTRUMENTED>)
  # A precompiled header is made without the plugin.
  set_target_properties(${target} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
  if(TARGET isotherm_clang)
    add_dependencies(${target} isotherm_clang)
  endif()
  # When all sources have been added: each is compiled anew when the plugin changes.
  set(arguments "[[${target}]] [[${ISOTHERM_PLUGIN}]] [[${ARG_REPORT}]]")
  cmake_language(EVAL CODE
    "cmake_language(DEFER CALL _isotherm_instrument_sources ${arguments})")
endfunction()

function(_isotherm_instrument_sources target plugin report)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(source MATCHES "\\$<")
      continue()
    endif()
    set_property(SOURCE ${source} TARGET_DIRECTORY ${target} APPEND
                 PROPERTY OBJECT_DEPENDS ${plugin})
    if(report AND source MATCHES "\\.(cc|cpp|cxx|C)$")
      file(MAKE_DIRECTORY ${report})
      string(MAKE_C_IDENTIFIER "${source}" name)
      set_property(SOURCE ${source} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS
                   -fplugin-arg-isotherm-report=${report}/${name}.txt)
    endif()
  endforeach()
endfunction()
