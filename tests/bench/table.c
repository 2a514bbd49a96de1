/* table.c: the figures as Markdown: times, ratios, goals, processor time and memory. */
#include "report.h"

#include <string.h>

#define OURS "sbxrun"

enum against { CRUN, RUNC, OURSELVES };

// clang-format off
static const struct goal {
	const char *label;
	enum against against;
	const char *base;  /* another row than that of the label; our own, against ourselves */
	double limit;	   /* at most; for rates: at least */
} goals[] = {
	{ "run_docker",		    CRUN,      NULL,	     0.40 },
	{ "run_docker",		    RUNC,      NULL,	     0.20 },
	{ "run_docker_oci",	    CRUN,      "run_docker", 0.32 },
	{ "state",		    CRUN,      NULL,	     0.30 },
	{ "start",		    CRUN,      NULL,	     0.30 },
	{ "kill",		    CRUN,      NULL,	     0.30 },
	{ "exec",		    CRUN,      NULL,	     0.40 },
	{ "exec_oci",		    CRUN,      "exec",	     0.22 },
	{ "run_systemd",	    CRUN,      NULL,	     0.50 },
	{ "8_at_once",		    CRUN,      NULL,	     1.60 },
	{ "list_of_1000",	    CRUN,      NULL,	     1.00 },
	{ "run_docker",		    OURSELVES, "run_docker_oci", 1.05 },
	{ "run_docker_code",	    OURSELVES, "run_docker_oci", 1.05 },
	{ "run_strict_rows",	    OURSELVES, "run_strict_oci", 1.05 },
	{ "state_of_1000",	    OURSELVES, "state",	     1.10 },
	{ "run_docker_200_mounts",  OURSELVES, "run_docker", 1.10 },
	{ "run_docker_1000_mounts", OURSELVES, "run_docker", 1.10 },
};
// clang-format on
enum { GOALS = sizeof(goals) / sizeof(goals[0]), RSS_GOAL_KB = 2048 };

static void head_write(const struct report *r, FILE *out, const char *first)
{
	fprintf(out, "| %s |", first);
	for (size_t i = 0; i < r->nnames; i++)
		fprintf(out, " %s |", r->name[i]);
}

static void rule_write(FILE *out, size_t columns)
{
	fputs("\n|---|", out);
	while (columns--)
		fputs("---|", out);
	fputc('\n', out);
}

static void cell_ratio(const struct row *ours, const struct row *other, FILE *out)
{
	if (ours && other)
		fprintf(out, " %.2f / %.2f |", p10(ours) / p10(other),
			median(ours) / median(other));
	else
		fputs(" |", out);
}

static bool label_is_rate(const struct report *r, const char *label)
{
	for (size_t i = 0; i < r->nnames; i++)
		if (row_of(r, r->name[i], label))
			return row_of(r, r->name[i], label)->rate;
	return false;
}

static void block_write(const struct report *r, FILE *out, bool rates)
{
	head_write(r, out, rates ? "runs a second" : "ms");
	fprintf(out, " of %s | of %s |", r->crun, r->runc);
	rule_write(out, r->nnames + 2);
	for (size_t i = 0; i < r->nlabels; i++) {
		const char *label = r->label[i];

		if (label_is_rate(r, label) != rates)
			continue;
		fprintf(out, "| %s |", label_text(label));
		for (size_t k = 0; k < r->nnames; k++) {
			const struct row *row = row_of(r, r->name[k], label);

			if (row)
				fprintf(out, rates ? " %.0f / %.0f |" : " %.2f / %.2f |", p10(row),
					median(row));
			else
				fputs(" |", out);
		}
		cell_ratio(row_of(r, OURS, label), row_of(r, r->crun, label), out);
		cell_ratio(row_of(r, OURS, label), row_of(r, r->runc, label), out);
		fputc('\n', out);
	}
}

static void costs_write(const struct report *r, FILE *out)
{
	head_write(r, out, "CPU ms, largest MB");
	rule_write(out, r->nnames);
	for (size_t i = 0; i < r->nlabels; i++) {
		if (label_is_rate(r, r->label[i]))
			continue;
		fprintf(out, "| %s |", label_text(r->label[i]));
		for (size_t k = 0; k < r->nnames; k++) {
			const struct row *row = row_of(r, r->name[k], r->label[i]);

			if (row)
				fprintf(out, " %.1f, %.1f |", row->cpu / (double)row->n,
					row->rss / 1024);
			else
				fputs(" |", out);
		}
		fputc('\n', out);
	}
}

static void goal_write(const struct report *r, const struct goal *g, FILE *out)
{
	const char *rivals[] = {[CRUN] = r->crun, [RUNC] = r->runc, [OURSELVES] = OURS};
	const struct row *ours = row_of(r, OURS, g->label);
	const struct row *base = row_of(r, rivals[g->against], g->base ? g->base : g->label);
	double a, b;
	bool met;

	if (!ours || !base)
		return;
	a = p10(ours) / p10(base);
	b = median(ours) / median(base);
	met = ours->rate ? a >= g->limit && b >= g->limit : a <= g->limit && b <= g->limit;
	fprintf(out, "| %s |", label_text(g->label));
	fprintf(out, " %s | %s %.2f | %.2f / %.2f | %s |\n",
		g->against == OURSELVES ? label_text(g->base) : base->name, ours->rate ? "≥" : "≤",
		g->limit, a, b, met ? "met" : "**missed**");
}

static void goals_write(const struct report *r, FILE *out)
{
	double rss = 0;

	fputs("| | share of | goal | p10 / median | |\n|---|---|---|---|---|\n", out);
	for (size_t i = 0; i < GOALS; i++)
		goal_write(r, &goals[i], out);
	for (size_t i = 0; i < r->nrows; i++)
		if (strcmp(r->row[i].name, OURS) == 0 && r->row[i].rss > rss)
			rss = r->row[i].rss;
	/* The program carries another, and what the kernel has mapped around a page counts, too. */
	fprintf(out,
		"| largest resident set (the program has sbxrun-net inside) | | ≤ %.0f MB | %.2f MB | %s |\n",
		RSS_GOAL_KB / 1024.0, rss / 1024, rss <= RSS_GOAL_KB ? "met" : "**missed**");
}

static void failures_write(const struct report *r, FILE *out)
{
	for (size_t i = 0; i < r->nrows; i++)
		if (r->row[i].failed)
			fprintf(out, "%s: %s failed %zu times.\n", r->row[i].name,
				label_text(r->row[i].label), r->row[i].failed);
}

void table_write(const struct report *r, FILE *out)
{
	fprintf(out,
		"%s. Random order; p10 / median; shares of others' times below 1 are faster.\n\n",
		r->facts);
	block_write(r, out, false);
	fputs("\nRuns a second, best / median of the rounds; above 1 is faster.\n\n", out);
	block_write(r, out, true);
	fputc('\n', out);
	goals_write(r, out);
	fputc('\n', out);
	costs_write(r, out);
	fputc('\n', out);
	failures_write(r, out);
}
