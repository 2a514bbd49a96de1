/*
 * What systemd is told of a container's unit: properties, as its D-Bus interface takes them. Data
 * alone; cgroup/ sends it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/types.h"

enum unit_type {
	UNIT_BOOL,	/* b */
	UNIT_TEXT,	/* s */
	UNIT_NUMBER,	/* t; UINT64_MAX is "infinity" */
	UNIT_BYTES,	/* ay: a set, bit n of it in byte n / 8 */
	UNIT_TEXTS,	/* as */
	UNIT_PAIRS,	/* a(ss) */
	UNIT_WEIGHTS,	/* a(st) */
};

struct unit_pair {
	const char *name;
	const char *text;
	uint64_t number;
};

struct unit_property {
	const char *name;  /* "MemoryMax" */
	const char *field; /* of the config that asks for it; NULL: we do */
	enum unit_type type;
	union {
		bool yes;
		const char *text;
		uint64_t number;
		struct {
			const uint8_t *v;
			size_t n;
		} bytes;
		struct strings texts;
		struct {
			const struct unit_pair *v;
			size_t n;
		} pairs;
	};
};

struct unit_properties {
	size_t n;
	struct unit_property *v; /* in order: DeviceAllow clears, allows, allows again */
};
