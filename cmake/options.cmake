# Flags of every target, and emu_folder(): one library a folder, which sees lower folders only.

add_library(emu_flags INTERFACE)
target_compile_definitions(emu_flags INTERFACE _GNU_SOURCE)
# Reports name our own call-sites: as paths inside the repository, whichever folder that is in.
target_compile_options(emu_flags INTERFACE -ffp-contract=off -g
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/emu/=emu/)
target_include_directories(emu_flags INTERFACE ${PROJECT_SOURCE_DIR}/emu ${PROJECT_SOURCE_DIR}/include)
if(EMU_SANITIZE)
  target_compile_options(emu_flags INTERFACE -O1 -fsanitize=${EMU_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=undefined)
  target_link_options(emu_flags INTERFACE -fsanitize=${EMU_SANITIZE})
endif()

add_library(emu_warnings INTERFACE)
target_compile_options(emu_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wvla
  $<$<BOOL:${EMU_WERROR}>:-Werror>)

# emu_folder(NAME [USES folder...] [LIBS target...]): object library emu_NAME from emu/NAME/*.c
function(emu_folder name)
  cmake_parse_arguments(F "" "" "USES;LIBS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/emu/${name}/*.c)
  if(NOT sources)
    add_library(emu_${name} INTERFACE)
    set(kind INTERFACE)
  else()
    add_library(emu_${name} STATIC ${sources})
    set(kind PUBLIC)
    target_link_libraries(emu_${name} PRIVATE emu_warnings)
  endif()
  target_link_libraries(emu_${name} ${kind} emu_flags)
  foreach(used IN LISTS F_USES)
    target_link_libraries(emu_${name} ${kind} emu_${used})
  endforeach()
  target_link_libraries(emu_${name} ${kind} ${F_LIBS})
endfunction()
