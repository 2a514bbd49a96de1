/* The program sbxrun-net, as bytes: no code of ours, and never mapped as such. */
#pragma once

#include "base/err.h"

/* A sealed file in memory that can be executed. */
int network_image_open(struct error *e);
