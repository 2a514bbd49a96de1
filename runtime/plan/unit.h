/*
 * Properties of a container's systemd unit, as its D-Bus interface takes them. Data alone; cgroup/
 * sends it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "json/types.h"

enum unit_type {
	UNIT_BOOL,    /* b */
	UNIT_TEXT,    /* s */
	UNIT_NUMBER,  /* t; UINT64_MAX is "infinity" */
	UNIT_SIGNED,  /* i; none of them is negative */
	UNIT_BYTES,   /* ay: a set, bit n of it in byte n / 8 */
	UNIT_TEXTS,   /* as */
	UNIT_PAIRS,   /* a(ss) */
	UNIT_WEIGHTS, /* a(st) */
};

struct unit_pair {
	const char *name;
	const char *text;
	uint64_t number;
};

struct unit_property {
	const char *name;  /* "MemoryMax" */
	const char *field; /* of the config that asks for it; NULL: we do */
	bool chosen;	   /* by an annotation: it has no file that would say the same */
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

/* Letters and their like, and no more of them than systemd takes. */
bool unit_name_is_good(const char *name);

/* Annotations that choose a property (plan/unit_choice.c). */
bool unit_choice_is_one(const char *key);
/* The property's name; NULL: the annotation is none, or chooses what nobody may choose. */
const char *unit_choice_name(const char *key);
/* Is that a property that may be chosen at all? */
bool unit_choice_knows(const char *name);
/* key: one of them. */
int unit_choice_read(const char *key, const char *text, struct arena *a, struct unit_property *ret,
		     struct error *e);
