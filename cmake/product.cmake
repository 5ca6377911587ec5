# What users get: the library meshemu::meshemu, the program meshemu, and what is installed with them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

file(STRINGS include/meshemu/meshemu.h version_line REGEX "define EMU_VERSION")
if(NOT version_line MATCHES "\"${PROJECT_VERSION}\"")
  message(FATAL_ERROR "EMU_VERSION in include/meshemu/meshemu.h is not ${PROJECT_VERSION}")
endif()

# --- calls -------------------------------------------------------------------------------------
# What a call passes, compiled as one: the folders seg and comm, but for the kernels. On two cores a
# barrier of two ranks takes 0.75 to 0.95 of the time, of 32 and 128 up to a twentieth less: less
# code to run, and fewer pages that the next rank finds cold. The tests link the folders as they are.
set(call_files)
foreach(folder seg comm)
  get_target_property(files emu_${folder} SOURCES)
  list(FILTER files INCLUDE REGEX "^(.*/)?emu/${folder}/[a-z_]+\\.c$")
  list(FILTER files EXCLUDE REGEX "_kernels\\.c$")
  list(APPEND call_files ${files})
endforeach()
set(calls ${PROJECT_BINARY_DIR}/generated/calls.c)
list(TRANSFORM call_files REPLACE "(.+)" "#include \"\\1\"" OUTPUT_VARIABLE call_lines)
list(JOIN call_lines "\n" call_text)
file(CONFIGURE OUTPUT ${calls} CONTENT "${call_text}\n")
add_library(emu_calls OBJECT ${calls})
# Tables of jumps lie in pages of their own.
target_compile_options(emu_calls PRIVATE -fno-jump-tables)
target_compile_options(emu_mesh PRIVATE -fno-jump-tables)
target_link_libraries(emu_calls PRIVATE emu_flags) # its files have been warned of one by one

# --- the library -------------------------------------------------------------------------------
# The objects of these folders, hidden but for what EMU_PUBLIC exports.
set(library_objects $<TARGET_OBJECTS:emu_calls>)
foreach(folder base os mesh config ledger plan comm nn train check fault run report launch)
  get_target_property(type emu_${folder} TYPE)
  if(folder STREQUAL comm)
    list(APPEND library_objects $<FILTER:$<TARGET_OBJECTS:emu_comm>,INCLUDE,_kernels>)
  elseif(type STREQUAL STATIC_LIBRARY)
    list(APPEND library_objects $<TARGET_OBJECTS:emu_${folder}>)
  endif()
endforeach()

# emu_library(TARGET KIND EXPORT_NAME)
function(emu_library target kind export_name)
  add_library(${target} ${kind} ${library_objects})
  add_library(meshemu::${export_name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME meshemu EXPORT_NAME ${export_name}
    LINKER_LANGUAGE C VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

emu_library(meshemu_shared SHARED meshemu)
target_link_libraries(meshemu_shared PRIVATE $<BUILD_INTERFACE:emu_flags>
  PkgConfig::YAML PkgConfig::XXHASH Threads::Threads rt m)
if(NOT EMU_SANITIZE)
  target_link_options(meshemu_shared PRIVATE -Wl,--no-undefined)
endif()

emu_library(meshemu_static STATIC static)
target_link_libraries(meshemu_static INTERFACE yaml xxhash rt m pthread)

# --- the program -------------------------------------------------------------------------------
# main.c belongs to the program alone: in a library it would take the place of a test's main.
get_target_property(cli_sources emu_cli SOURCES)
list(FILTER cli_sources EXCLUDE REGEX "/main\\.c$")
set_property(TARGET emu_cli PROPERTY SOURCES ${cli_sources})

add_executable(meshemu emu/cli/main.c)
target_link_libraries(meshemu PRIVATE emu_calls emu_cli emu_warnings)

# Manual page and completion come from the program's own table of options.
set(generated ${PROJECT_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${generated})
add_custom_command(OUTPUT ${generated}/meshemu.1 ${generated}/meshemu.bash
  COMMAND meshemu --man > ${generated}/meshemu.1
  COMMAND meshemu --completion bash > ${generated}/meshemu.bash
  DEPENDS meshemu
  VERBATIM)
add_custom_target(emu_manual ALL DEPENDS ${generated}/meshemu.1 ${generated}/meshemu.bash)

# --- installation ------------------------------------------------------------------------------
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/meshemu)
file(RELATIVE_PATH EMU_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" EMU_PC_TO_PREFIX "${EMU_PC_TO_PREFIX}")
configure_file(cmake/meshemu.pc.in ${generated}/meshemu.pc @ONLY)
configure_package_config_file(cmake/meshemu-config.cmake.in ${generated}/meshemu-config.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${generated}/meshemu-config-version.cmake
  COMPATIBILITY SameMinorVersion)

install(TARGETS meshemu)
install(TARGETS meshemu_shared meshemu_static EXPORT meshemu-targets)
install(EXPORT meshemu-targets NAMESPACE meshemu:: DESTINATION ${package_folder})
install(FILES ${generated}/meshemu-config.cmake ${generated}/meshemu-config-version.cmake
  DESTINATION ${package_folder})
install(DIRECTORY include/meshemu DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${generated}/meshemu.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${generated}/meshemu.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${generated}/meshemu.bash RENAME meshemu
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
