# The files of `cmake --install` and `make package`: the runtime and sorting as libraries (headers,
# static archives, find_package and pkg-config files) and the tool.
include(CMakePackageConfigHelpers)

# Layers of isotherm::isotherm, in link order: users before the layers that they use.
set(ISOTHERM_RUNTIME_LAYERS collector guide heap sync os base)
set(ISOTHERM_RUNTIME_HEADERS abi.h compiler.hpp fetch.hpp guide.hpp runtime.hpp scope.hpp)
# Layers of isotherm::sorting beside the runtime's lower ones.
set(ISOTHERM_SORTING_LAYERS sort device)
set(ISOTHERM_SORTING_HEADERS sort.hpp split.hpp index_map.hpp)

# Installs public headers and those of `layers`, which they need, as isotherm/internal/LAYER/...;
# by that name they include each other, so that they and a user's own folder "base" or "heap" are
# not in each other's way.
function(isotherm_install_headers public layers)
  string(MAKE_C_IDENTIFIER "headers_${public}" stage)
  set(stage ${PROJECT_BINARY_DIR}/${stage})
  install(CODE "
    set(SOURCE \"${PROJECT_SOURCE_DIR}\")
    set(STAGE \"${stage}\")
    set(PUBLIC \"${public}\")
    set(LAYERS \"${layers}\")
    set(ALL_LAYERS \"${ISOTHERM_RUNTIME_LAYERS}\")
    include(\"${PROJECT_SOURCE_DIR}/cmake/stage_headers.cmake\")")
  install(DIRECTORY ${stage}/isotherm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endfunction()

function(isotherm_install_runtime)
  list(TRANSFORM ISOTHERM_RUNTIME_LAYERS PREPEND isotherm_ OUTPUT_VARIABLE archives)
  foreach(archive IN LISTS archives)
    if(NOT TARGET ${archive})
      return()
    endif()
  endforeach()

  add_library(isotherm_runtime INTERFACE)
  add_library(isotherm::isotherm ALIAS isotherm_runtime)
  set_target_properties(isotherm_runtime PROPERTIES EXPORT_NAME isotherm)
  target_link_libraries(isotherm_runtime INTERFACE ${archives} Threads::Threads)

  install(TARGETS isotherm_runtime ${archives} EXPORT isotherm-targets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  isotherm_install_headers("${ISOTHERM_RUNTIME_HEADERS}" "${ISOTHERM_RUNTIME_LAYERS}")

  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/isotherm)
  install(EXPORT isotherm-targets NAMESPACE isotherm:: DESTINATION ${package_dir})
  set(ISOTHERM_PLUGIN_INSTALLED "")
  if(TARGET isotherm_clang)
    set(ISOTHERM_PLUGIN_INSTALLED ${CMAKE_INSTALL_LIBDIR}/isotherm/isotherm-clang.so)
  endif()
  configure_package_config_file(cmake/isothermConfig.cmake.in isothermConfig.cmake
                                INSTALL_DESTINATION ${package_dir})
  write_basic_package_version_file(isothermConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/isothermConfig.cmake
                ${PROJECT_BINARY_DIR}/isothermConfigVersion.cmake
                cmake/IsothermInstrument.cmake DESTINATION ${package_dir})

  # The archives' flags for pkg-config, and the way back from its file to the prefix.
  list(TRANSFORM ISOTHERM_RUNTIME_LAYERS PREPEND -lisotherm_ OUTPUT_VARIABLE flags)
  list(JOIN flags " " ISOTHERM_PC_LIBS)
  file(RELATIVE_PATH ISOTHERM_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  configure_file(cmake/isotherm.pc.in isotherm.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/isotherm.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# isotherm::sorting needs libraries that the runtime's users need not have: a component of its own.
function(isotherm_install_sorting)
  add_library(isotherm_sorting INTERFACE)
  add_library(isotherm::sorting ALIAS isotherm_sorting)
  set_target_properties(isotherm_sorting PROPERTIES EXPORT_NAME sorting)
  list(TRANSFORM ISOTHERM_SORTING_LAYERS PREPEND isotherm_ OUTPUT_VARIABLE archives)
  target_link_libraries(isotherm_sorting INTERFACE ${archives})
  install(TARGETS isotherm_sorting ${archives} EXPORT isotherm-sorting-targets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  isotherm_install_headers("${ISOTHERM_SORTING_HEADERS}" "")
  install(EXPORT isotherm-sorting-targets NAMESPACE isotherm::
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/isotherm)
  configure_file(cmake/isotherm-sorting.pc.in isotherm-sorting.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/isotherm-sorting.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# isotherm::live is a component of its own, too: it needs a library for HTTP.
function(isotherm_install_live)
  install(TARGETS isotherm_live EXPORT isotherm-live-targets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  isotherm_install_headers(live.hpp "")
  install(EXPORT isotherm-live-targets NAMESPACE isotherm::
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/isotherm)
  configure_file(cmake/isotherm-live.pc.in isotherm-live.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/isotherm-live.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

include(IsothermInstrument)
isotherm_install_runtime()
if(TARGET isotherm_runtime AND TARGET isotherm_live)
  isotherm_install_live()
endif()
if(TARGET isotherm_runtime AND TARGET isotherm_sort)
  isotherm_install_sorting()
endif()

# The tool's own install rule stands in src/cli.
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES docs/isotherm.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_NAME isotherm)
set(CPACK_PACKAGE_VENDOR Isotherm)
set(CPACK_PACKAGE_CONTACT "The Isotherm authors <isotherm@localhost>")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_OUTPUT_FILE_PREFIX ${PROJECT_SOURCE_DIR}/dist)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libjemalloc-dev, liburing-dev")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
    "libfmt-dev, libhwy-dev, liblz4-dev, libmicrohttpd-dev, libzstd-dev, qemu-user, zlib1g-dev")
include(CPack)
