/*
 * A worker's own side (worker/worker.h): it makes one container for the server at the other end of
 * a socket, and keeps it until it is told to remove it, or the server is gone.
 */
#pragma once

#include "base/err.h"

/* Serves until there is nothing left to serve. -1 if the conversation did not end as it should, or
 * the container could not be removed. */
int keeper_serve(int sock, struct error *e);
