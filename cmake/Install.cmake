# Installation: headers, library, tool, CMake package and pkg-config file. Components, for packagers:
# tool, library, recorder, python.

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/entrain)

install(
  TARGETS entrain
  EXPORT entrainTargets
  RUNTIME COMPONENT library
  LIBRARY COMPONENT library
  ARCHIVE COMPONENT library
  FILE_SET HEADERS COMPONENT library)
if(TARGET entrain_cli)
  # An installed tool finds a shared library beside it, wherever the tree lies.
  file(RELATIVE_PATH tool_to_library /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR})
  set_target_properties(entrain_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${tool_to_library}")
  install(TARGETS entrain_cli COMPONENT tool)

  # Manual pages and completions are what the tool says of itself.
  find_package(Python3 QUIET COMPONENTS Interpreter)
  if(Python3_FOUND AND NOT CMAKE_CROSSCOMPILING)
    set(generated ${PROJECT_BINARY_DIR}/packaging)
    add_custom_command(
      OUTPUT ${generated}/man1/entrain.1
      COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/packaging/generate $<TARGET_FILE:entrain_cli>
              ${generated}
      DEPENDS entrain_cli ${PROJECT_SOURCE_DIR}/packaging/generate
      COMMENT "Making manual pages and completions"
      VERBATIM)
    add_custom_target(entrain_pages ALL DEPENDS ${generated}/man1/entrain.1)
    install(DIRECTORY ${generated}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT tool)
    install(FILES ${generated}/bash/entrain COMPONENT tool
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${generated}/zsh/_entrain COMPONENT tool
            DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${generated}/fish/entrain.fish COMPONENT tool
            DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  endif()
endif()
install(EXPORT entrainTargets NAMESPACE entrain:: DESTINATION ${package_dir} COMPONENT library)

# A static library's own libraries become the business of whoever links it.
get_target_property(entrain_type entrain TYPE)
if(entrain_type STREQUAL "STATIC_LIBRARY")
  set(ENTRAIN_STATIC_DEPENDENCIES "find_dependency(fmt)\nfind_dependency(simdjson)\nfind_dependency(ZLIB)\nfind_dependency(Threads)")
  string(APPEND ENTRAIN_STATIC_DEPENDENCIES
         "\nfind_library(ZSTD_LIBRARY zstd REQUIRED)\nif(NOT TARGET entrain_zstd)\n  add_library(entrain_zstd UNKNOWN IMPORTED)\n  set_target_properties(entrain_zstd PROPERTIES IMPORTED_LOCATION \${ZSTD_LIBRARY})\nendif()")
  set(ENTRAIN_PC_REQUIRES "fmt simdjson zlib libzstd")
  if(TARGET PkgConfig::babeltrace2)
    string(APPEND ENTRAIN_STATIC_DEPENDENCIES
           "\nfind_dependency(PkgConfig)\npkg_check_modules(babeltrace2 REQUIRED QUIET IMPORTED_TARGET babeltrace2)")
    string(APPEND ENTRAIN_PC_REQUIRES " babeltrace2")
  endif()
  set(ENTRAIN_PC_LIBS "-pthread")
endif()

configure_package_config_file(cmake/entrainConfig.cmake.in entrainConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(entrainConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/entrainConfig.cmake
              ${PROJECT_BINARY_DIR}/entrainConfigVersion.cmake DESTINATION ${package_dir}
        COMPONENT library)

# The prefix as seen from the pkg-config file, so that an installed tree can be moved.
file(RELATIVE_PATH ENTRAIN_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" ENTRAIN_PC_PREFIX "${ENTRAIN_PC_PREFIX}")
configure_file(cmake/entrain.pc.in entrain.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/entrain.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT library)
