# What users get: the library meshemu::meshemu and the program meshemu.
file(GLOB cli_main CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/emu/cli/main.c)
