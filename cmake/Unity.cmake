# Files of a target are compiled several at once with ENTRAIN_UNITY: a build from nothing takes less
# than half of the time, and one after a small change a little longer. Names in unnamed namespaces
# must then differ within a room; the files of cmake/apart.txt use names that others use too, and
# are compiled each by itself. The preset `release` compiles every file by itself, which shows
# where an #include is missing.
option(ENTRAIN_UNITY "Compile the files of a target several at once" OFF)
if(ENTRAIN_UNITY)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
endif()

# Properties of files hold in one folder of the build only: each folder calls this.
function(entrain_compile_apart)
  if(NOT ENTRAIN_UNITY)
    return()
  endif()
  file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/apart.txt files REGEX "^[^#]")
  list(TRANSFORM files PREPEND ${PROJECT_SOURCE_DIR}/)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
                                         ${PROJECT_SOURCE_DIR}/cmake/apart.txt)
  foreach(file IN LISTS files)
    set_property(SOURCE ${file} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
endfunction()
