# Copies the headers that are to be installed from SOURCE to STAGE/isotherm, as
# isotherm_install_headers() says.
file(REMOVE_RECURSE ${STAGE})
list(JOIN ALL_LAYERS "|" names)

function(stage_header from to)
  file(READ ${from} text)
  string(REGEX REPLACE "#include \"(${names})/" "#include \"isotherm/internal/\\1/" text "${text}")
  file(WRITE ${STAGE}/isotherm/${to} "${text}")
endfunction()

foreach(header IN LISTS PUBLIC)
  stage_header(${SOURCE}/include/isotherm/${header} ${header})
endforeach()
foreach(layer IN LISTS LAYERS)
  file(GLOB_RECURSE headers RELATIVE ${SOURCE}/src ${SOURCE}/src/${layer}/*.hpp)
  foreach(header IN LISTS headers)
    stage_header(${SOURCE}/src/${header} internal/${header})
  endforeach()
endforeach()
