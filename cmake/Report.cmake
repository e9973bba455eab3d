# The page of `entrain report`: web/ is bundled by npm into one template, which is compiled into the
# tool. A tree that holds web/prebuilt/report.html (the archive of `make dist`) needs no npm and no
# network. Without both the tool builds, and says that it has no pages.

set(ENTRAIN_REPORT AUTO CACHE STRING
    "Build the page of `entrain report`: AUTO (if npm is found, or the page was built before), ON, OFF")

set(web ${PROJECT_SOURCE_DIR}/web)
set(prebuilt ${web}/prebuilt/report.html)
set(embed ${PROJECT_SOURCE_DIR}/cmake/EmbedReport.cmake)
set(source ${PROJECT_BINARY_DIR}/page_template.cpp)
set(ENTRAIN_HAS_REPORT OFF)

if(ENTRAIN_REPORT AND EXISTS ${prebuilt})
  set(page ${prebuilt})
  set(ENTRAIN_HAS_REPORT ON)
elseif(ENTRAIN_REPORT)
  find_program(ENTRAIN_NPM npm)
  if(ENTRAIN_NPM)
    set(ENTRAIN_HAS_REPORT ON)
    set(page ${PROJECT_BINARY_DIR}/web/report.html)
    file(GLOB parts CONFIGURE_DEPENDS ${web}/src/* ${web}/*.json ${web}/*.mjs)
    add_custom_command(
      OUTPUT ${page}
      COMMAND
        ${CMAKE_COMMAND} -DNPM=${ENTRAIN_NPM} -DWEB=${web} -DBUILD=${PROJECT_BINARY_DIR}/web
        -DPAGE=${page} -DREQUIRED=$<STREQUAL:${ENTRAIN_REPORT},ON> -P
        ${PROJECT_SOURCE_DIR}/cmake/BuildReport.cmake
      DEPENDS ${parts} ${PROJECT_SOURCE_DIR}/cmake/BuildReport.cmake
      COMMENT "Bundling the page of entrain report"
      VERBATIM)
  elseif(ENTRAIN_REPORT STREQUAL "ON")
    message(FATAL_ERROR "ENTRAIN_REPORT=ON needs npm (Debian: nodejs npm)")
  endif()
endif()
if(NOT ENTRAIN_HAS_REPORT)
  set(page)
endif()
add_custom_target(entrain_page_template DEPENDS ${page})

add_custom_command(
  OUTPUT ${source}
  COMMAND ${CMAKE_COMMAND} "-DPAGE=${page}" -DSOURCE=${source} -P ${embed}
  DEPENDS ${page} ${embed}
  COMMENT "Embedding the page of entrain report"
  VERBATIM)
target_sources(entrain_page_html_objects PRIVATE ${source})
