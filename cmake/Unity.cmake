# Unity builds: the files of a target are compiled several at once, which takes less than half of the
# time for a build from nothing, as most of it is spent on headers. Names in unnamed namespaces then
# must differ within a room.
#
# A batch holds ENTRAIN_UNITY_BATCH files of one room, and is the unit that is compiled after a change.
# Seconds of one core: room match in `release` 36.7 file by file, 22.8 in batches of 8, 20.8 of 16, 21.5
# of 32; room engine with -O2 42.6 in batches of 8, 32.7 of 16. Who works on a room may want less:
# -DENTRAIN_UNITY_BATCH=4.
#
# The preset `includes` compiles every file by itself, without precompiled headers, which shows where
# an #include is missing.
option(ENTRAIN_UNITY "Compile the files of a target several at once" ON)
set(ENTRAIN_UNITY_BATCH 16 CACHE STRING "Files that are compiled at once with ENTRAIN_UNITY")
if(ENTRAIN_UNITY)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE ${ENTRAIN_UNITY_BATCH})
endif()
