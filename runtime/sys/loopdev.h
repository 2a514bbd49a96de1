/* Block devices made of files. */
#pragma once

#include <stdbool.h>

enum { LOOPDEV_NAME = 32 };

/* A device whose content is the file. It goes away with its last user: who holds the descriptor, or
 * has it mounted. Its path is written to name. -1 with errno. */
int loopdev_open(int file_fd, bool readonly, char name[LOOPDEV_NAME]);
