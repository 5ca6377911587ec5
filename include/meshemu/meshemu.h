/* All of the public interface. */
#ifndef MESHEMU_MESHEMU_H
#define MESHEMU_MESHEMU_H

#include <meshemu/comm.h>
#include <meshemu/finding.h>
#include <meshemu/launch.h>
#include <meshemu/mesh.h>
#include <meshemu/status.h>

#define EMU_VERSION "0.1.0"

#endif
