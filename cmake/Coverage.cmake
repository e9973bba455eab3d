# ENTRAIN_COVERAGE: counts which lines and branches run, for `make coverage`. Counters are atomic, as
# threads share them.
option(ENTRAIN_COVERAGE "Count which lines and branches run" OFF)
if(ENTRAIN_COVERAGE)
  set(ENTRAIN_COVERAGE_FLAGS --coverage -fprofile-update=atomic)
  target_compile_definitions(standard_settings INTERFACE ENTRAIN_COVERAGE)
  target_compile_options(standard_settings INTERFACE ${ENTRAIN_COVERAGE_FLAGS})
  target_link_options(standard_settings INTERFACE --coverage)
endif()
