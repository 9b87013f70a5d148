# isotherm_instrument(<target> [REPORT <folder>])
# Compiles the C++ sources of <target> with isotherm-clang.so (docs/compiler.md) and links
# isotherm::isotherm. An INTERFACE library stands for the sources of the targets that link it. With
# REPORT a file for each source in <folder>/<target> says what was instrumented, and why. Where the
# plugin is missing, or was built for another compiler, a notice says so and marked pointers stay
# plain.
#
# A target that links <target> and includes its marked classes is to be instrumented too: the header
# isotherm/compiler.hpp says so where it is not.
#
# ISOTHERM_PLUGIN, ISOTHERM_PLUGIN_CLANG: the plugin's file, and the major version of clang that
# loads it; set by the file that includes this one.
function(isotherm_instrument target)
  cmake_parse_arguments(ARG "" "REPORT" "" ${ARGN})
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    set(own INTERFACE)
    set(linked INTERFACE)
    if(ARG_REPORT)
      message(FATAL_ERROR "isotherm_instrument(${target} REPORT): an INTERFACE library has no "
                          "sources to report of; ask for reports of the targets that link it")
    endif()
  else()
    set(own PRIVATE)
    set(linked PUBLIC)
  endif()
  target_link_libraries(${target} ${linked} isotherm::isotherm)
  string(REGEX MATCH "^[0-9]+" major "${CMAKE_CXX_COMPILER_VERSION}")
  if(NOT ISOTHERM_PLUGIN)
    set(missing "isotherm was built without its compiler plugin")
  elseif(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR NOT major EQUAL ISOTHERM_PLUGIN_CLANG)
    set(missing "the plugin is for clang ${ISOTHERM_PLUGIN_CLANG}")
    string(APPEND missing ", not for ${CMAKE_CXX_COMPILER_ID} ${major}")
  endif()
  if(missing)
    message(NOTICE "isotherm_instrument(${target}): marked pointers stay plain, since ${missing}")
    target_compile_options(${target} ${own}
      $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-attributes=isotherm::>
      $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-unknown-attributes>)
    return()
  endif()

  # A source, or a precompiled header, is compiled anew when the plugin changes.
  target_compile_options(${target} ${own}
    $<$<COMPILE_LANGUAGE:CXX>:-fplugin=${ISOTHERM_PLUGIN}>
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fdepfile-entry=${ISOTHERM_PLUGIN}>"
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include isotherm/compiler.hpp>")
  target_compile_definitions(${target} ${own} $<$<COMPILE_LANGUAGE:CXX>:ISOTHERM_INSTRUMENTED>)
  if(own STREQUAL "PRIVATE")
    target_compile_definitions(${target} INTERFACE
                               $<$<COMPILE_LANGUAGE:CXX>:ISOTHERM_LINKS_INSTRUMENTED>)
  endif()
  if(TARGET isotherm_clang)
    add_dependencies(${target} isotherm_clang)
  endif()
  # When all sources have been added.
  cmake_language(EVAL CODE
    "cmake_language(DEFER CALL _isotherm_instrument_sources [[${target}]] [[${ARG_REPORT}]])")
endfunction()

function(_isotherm_instrument_sources target report)
  get_target_property(modules ${target} CXX_MODULE_SETS)
  if(modules)
    message(FATAL_ERROR "isotherm_instrument(${target}): C++20 modules cannot be instrumented: "
                        "put marked classes into headers, or the module into another target")
  endif()
  get_target_property(precompiled_by ${target} PRECOMPILE_HEADERS_REUSE_FROM)
  if(precompiled_by)  # without the plugin
    set_target_properties(${target} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
  endif()
  if(NOT report)
    return()
  endif()
  file(MAKE_DIRECTORY ${report}/${target})
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "^[^$]*\\.(cc|cpp|cxx|C)$")
  foreach(source IN LISTS sources)
    string(MAKE_C_IDENTIFIER "${source}" name)
    # Not in other targets that have the same source.
    set(is_of_this "$<STREQUAL:$<TARGET_PROPERTY:NAME>,${target}>")
    set_property(SOURCE ${source} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS
                 $<${is_of_this}:-fplugin-arg-isotherm-report=${report}/${target}/${name}.txt>)
  endforeach()
endfunction()
