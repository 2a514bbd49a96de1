/* The command that asks whether this host can run sbxrun. */
#include <stdio.h>

#include "base/str.h"
#include "cli/cli.h"
#include "doctor/doctor.h"
#include "json/json.h"

enum { DOCTOR_MAX = 1 << 20, FAILED = 2 };

struct printing {
	struct buf json;
	size_t n;
	size_t warnings;
};

static void say_beginning(void *context, const char *title, int seconds)
{
	(void)context;
	fflush(stdout);
	fprintf(stderr, "%s: tried if it knows sbxrun, which may take %d s\n", title, seconds);
}

static void print_finding(void *context, const struct doctor_finding *f)
{
	struct printing *p = context;

	printf("%-5s %-34s %s\n", doctor_status_word(f->status), f->title, f->found);
	if (f->remedy && f->status != DOCTOR_OK)
		printf("          %s\n", f->remedy);
	p->warnings += f->status == DOCTOR_WARN;
}

static void add_member(struct buf *b, const char *key, const char *value)
{
	buf_printf(b, "%s\"%s\": ", *key == 'i' ? "" : ", ", key);
	if (value)
		json_write_string(b, value);
	else
		buf_str(b, "null");
}

static void add_finding(void *context, const struct doctor_finding *f)
{
	struct printing *p = context;

	buf_str(&p->json, p->n++ ? ",\n\t\t{" : "\n\t\t{");
	add_member(&p->json, "id", f->id);
	add_member(&p->json, "status", doctor_status_word(f->status));
	add_member(&p->json, "found", f->found);
	add_member(&p->json, "remedy", f->remedy);
	buf_char(&p->json, '}');
}

static void print_summary(const struct printing *p, size_t missing)
{
	printf("\n");
	if (missing)
		printf("%zu missing that %s needed", missing, missing > 1 ? "are" : "is");
	else
		printf("all that is needed is there");
	if (p->warnings)
		printf(", %zu warning%s", p->warnings, p->warnings > 1 ? "s" : "");
	printf(" (asked as %s)\n", doctor_caller());
}

static int run_json(struct cli *c, struct doctor_options *o, struct printing *p,
		    size_t *ret_missing, struct error *e)
{
	buf_str(&p->json, "{\n\t\"caller\": ");
	json_write_string(&p->json, doctor_caller());
	buf_str(&p->json, ",\n\t\"checks\": [");
	o->found = add_finding;
	if (doctor_run(o, c->arena, ret_missing, e) < 0)
		return -1;
	buf_str(&p->json, "\n\t]\n}\n");
	return cli_print(&p->json, e);
}

static int doctor_command(struct cli *c, struct error *e)
{
	struct printing p = {.json = buf_new(c->arena, DOCTOR_MAX)};
	struct doctor_options o = {.root = c->root,
				   .try_engines = c->try_engines,
				   .begins = say_beginning,
				   .found = print_finding,
				   .context = &p};
	size_t missing;

	if (c->json) {
		if (run_json(c, &o, &p, &missing, e) < 0)
			return -1;
	} else {
		if (doctor_run(&o, c->arena, &missing, e) < 0)
			return -1;
		print_summary(&p, missing);
		if (fflush(stdout) < 0 || ferror(stdout))
			return err_sys(e, "write to standard output");
	}
	c->status = missing ? 1 : 0;
	return 0;
}

/* clang-format off */
static const struct cli_option doctor_options[] = {
	CLI_OPTION(json, "json", 0, CLI_FLAG, NULL, "print the answers as JSON"),
	CLI_OPTION(try_engines, "try", 0, CLI_FLAG, NULL, "run a container through each engine that knows sbxrun"),
};
/* clang-format on */

const struct cli_command cli_doctor = {"doctor",
				       "",
				       "say whether this host can run sbxrun, and what would help",
				       doctor_options,
				       ARRAY_SIZE(doctor_options),
				       0,
				       0,
				       false,
				       doctor_command,
				       .failure = FAILED,
				       .diagnoses = true};
