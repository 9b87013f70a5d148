# isotherm_library(<layer> SOURCES ... [LINK ...] [PUBLIC_LINK ...])
# Makes isotherm_<layer> from files of src/<layer>; includes are written from src/, as in
# "sync/scope.hpp", or, for headers of users, from include/, as in <isotherm/guide.hpp>. A library
# lab_<folder> has its files in lab/; includes of these begin there ("lab/workload/driver.hpp").
function(isotherm_library layer)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;PUBLIC_LINK" ${ARGN})
  if(ARG_SOURCES)
    add_library(isotherm_${layer} STATIC ${ARG_SOURCES})
    set(scope PUBLIC)
    # The settings are ours alone: who links an installed isotherm chooses warnings and linker.
    target_link_libraries(isotherm_${layer}
                          PRIVATE $<BUILD_INTERFACE:isotherm_settings> ${ARG_LINK})
    if("nlohmann_json::nlohmann_json" IN_LIST ARG_LINK OR
       "nlohmann_json::nlohmann_json" IN_LIST ARG_PUBLIC_LINK)
      isotherm_precompile(isotherm_${layer} json)
    else()
      isotherm_precompile(isotherm_${layer} core)
    endif()
  else()
    add_library(isotherm_${layer} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(isotherm::${layer} ALIAS isotherm_${layer})
  set_target_properties(isotherm_${layer} PROPERTIES EXPORT_NAME ${layer})
  target_compile_features(isotherm_${layer} ${scope} cxx_std_23)
  target_include_directories(isotherm_${layer} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  if(layer MATCHES "^lab_")
    target_include_directories(isotherm_${layer} ${scope} ${PROJECT_SOURCE_DIR})
  endif()
  target_link_libraries(isotherm_${layer} ${scope} ${ARG_PUBLIC_LINK})
endfunction()
