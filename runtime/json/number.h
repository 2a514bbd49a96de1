/* Digits to integers of a row's type; nothing passes through floating point. */
#pragma once

#include "json/json.h"

bool json_number_type(enum json_type type);

/* Stores a JSON number in a field of the type. NULL, or what is wrong ("is out of range …"). */
const char *json_number_store(enum json_type type, const char *digits, size_t len, void *slot);
