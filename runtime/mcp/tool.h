/*
 * The tools: what clients are told of them, and what is started for a call. A tool is a row of
 * tools.c; what its arguments become is a function of words.c.
 */
#pragma once

#include "approve/approve.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "json/json.h"
#include "json/span.h"
#include "json/types.h"

enum { STEPS_MAX = 3, BOX_NAME_SIZE = 64 };

/* Arguments of all tools. */
struct tool_args {
	char *language, *code, *sandbox_id, *package, *registry, *file_path, *content, *path;
	char *approval_id, *session, *snapshot;
	struct opt_u32 timeout, memory_mb, cpu_percent, disk_mb;
	struct opt_bool network_enabled, keep, remove;
	struct strings allowed_domains, command, hosts;
	struct json_span given; /* as they came */
};

enum answer_kind {
	ANSWER_OBJECT, /* what the child printed */
	ANSWER_RUN,    /* the same, shortened: a result of code */
	ANSWER_BOX,
	ANSWER_LIST,
	ANSWER_SNAPSHOTS,
	ANSWER_LINES,
	ANSWER_DONE, /* it prints nothing */
	ANSWER_IMAGE,
	ANSWER_FILE, /* of resources/read */
	ANSWER_FILES,
	ANSWER_ROOTS, /* of resources/list */
};

/* One child. */
struct step {
	struct strings argv; /* from the command on */
	const char *input;
	size_t input_len;
	bool creates, destroys; /* the call's box */
};

struct job {
	const char *box; /* NULL: none */
	bool new_box, keep;
	uint32_t timeout_s; /* of the program in it */
	enum answer_kind answer;
	size_t n;
	struct step steps[STEPS_MAX];
};

struct tool {
	const char *name, *title, *description;
	const char *input;		      /* JSON Schema: properties and what is required */
	const char *output;		      /* the same; NULL: none */
	bool reads, destroys, repeats, opens; /* annotations: all four are always told */
	const struct json_table *args;
	enum answer_kind answer;
	/* -1: the arguments are wrong, in words for a model */
	int (*plan)(const struct tool *t, const struct tool_args *a, bool redact, struct job *ret,
		    struct arena *arena, struct error *e);
};

extern const struct tool tools[];
extern const size_t n_tools;

const struct tool *tool_find(const char *name);

/* As a client is told of it. */
void tool_write(const struct tool *t, struct buf *b);

/* Arguments of a call become a job. Trust: they are a model's. */
int tool_plan(const struct tool *t, struct json_span arguments, bool redact, struct tool_args *ret,
	      struct job *ret_job, struct arena *a, struct error *e);

/* ---- spelling.c ---- */

/* Pure. The parameters of a call for whom judges it. */
void spelling_read(const struct tool_args *g, const struct pairs *given, struct approve_call *ret,
		   struct arena *a);

/* ---- words.c ---- */

int plan_execute(const struct tool *t, const struct tool_args *g, bool redact, struct job *ret,
		 struct arena *a, struct error *e);
int plan_install(const struct tool *t, const struct tool_args *g, bool redact, struct job *ret,
		 struct arena *a, struct error *e);
int plan_create(const struct tool *t, const struct tool_args *g, bool redact, struct job *ret,
		struct arena *a, struct error *e);
int plan_command(const struct tool *t, const struct tool_args *g, bool redact, struct job *ret,
		 struct arena *a, struct error *e);
int plan_hosts(const struct tool *t, const struct tool_args *g, bool redact, struct job *ret,
	       struct arena *a, struct error *e);
int plan_snapshot(const struct tool *t, const struct tool_args *g, bool redact, struct job *ret,
		  struct arena *a, struct error *e);
int plan_fork(const struct tool *t, const struct tool_args *g, bool redact, struct job *ret,
	      struct arena *a, struct error *e);
int plan_file(const struct tool *t, const struct tool_args *g, bool redact, struct job *ret,
	      struct arena *a, struct error *e);
int plan_box(const struct tool *t, const struct tool_args *g, bool redact, struct job *ret,
	     struct arena *a, struct error *e);
