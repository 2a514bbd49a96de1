/* The field types that rows know besides C's own: values that may be absent, and lists. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct opt_i64 { bool set; int64_t v; };
struct opt_u64 { bool set; uint64_t v; };
struct opt_u32 { bool set; uint32_t v; };
struct opt_i32 { bool set; int32_t v; };
struct opt_bool { bool set; bool v; };

struct strings { size_t n; char **v; }; /* as read from JSON: v[n] is NULL, v itself if empty */
struct ids { size_t n; uint32_t *v; };
struct pair { char *key; char *value; };
struct pairs { size_t n; struct pair *v; };

/* An array of objects of one kind. */
#define LIST(type) struct { size_t n; type *v; }
