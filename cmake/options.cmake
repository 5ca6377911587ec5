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

# Kernels are compiled again for each variant of the processor (base/cpu_variant.h), on x86-64 alone.
include(CheckCSourceCompiles)
check_c_source_compiles("#ifndef __x86_64__\n#error\n#endif\nint main(void) { return 0; }" EMU_X86_64)
if(EMU_X86_64)
  target_compile_definitions(emu_flags INTERFACE EMU_CPU_VARIANTS)
endif()
set(EMU_VARIANT_FLAGS_avx2 -mavx2)
set(EMU_VARIANT_FLAGS_avx512 -mavx2 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)
# Loops without a known length are vectorised from -O3 on, and no kernel reads errno.
set(EMU_KERNEL_FLAGS $<$<NOT:$<CONFIG:Debug>>:-O3> -fno-math-errno)

# The files emu/FOLDER/KERNEL.c once more for each variant, as the list `out`; all of them are tuned.
function(emu_kernel_variants out folder)
  set(made_all)
  foreach(kernel IN LISTS ARGN)
    set(file ${PROJECT_SOURCE_DIR}/emu/${folder}/${kernel}.c)
    set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${EMU_KERNEL_FLAGS}")
    if(NOT EMU_X86_64)
      continue()
    endif()
    foreach(variant avx2 avx512)
      set(made ${PROJECT_BINARY_DIR}/variants/${folder}/${kernel}_${variant}.c)
      file(CONFIGURE OUTPUT ${made} CONTENT "#define EMU_VARIANT _${variant}\n#include \"${folder}/${kernel}.c\"\n")
      set_source_files_properties(${made} PROPERTIES
        COMPILE_OPTIONS "${EMU_KERNEL_FLAGS};${EMU_VARIANT_FLAGS_${variant}}" OBJECT_DEPENDS ${file})
      list(APPEND made_all ${made})
    endforeach()
  endforeach()
  set(${out} ${made_all} PARENT_SCOPE)
endfunction()

# emu_folder(NAME [USES folder...] [LIBS target...] [VARIANTS file...]): library emu_NAME from
# emu/NAME/*.c; the files of VARIANTS (without .c) are kernels, see above.
function(emu_folder name)
  cmake_parse_arguments(F "" "" "USES;LIBS;VARIANTS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/emu/${name}/*.c)
  emu_kernel_variants(variants ${name} ${F_VARIANTS})
  list(APPEND sources ${variants})
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
