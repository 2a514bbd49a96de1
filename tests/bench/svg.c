/*
 * svg.c: the figures as a picture: a panel for each label, a bar for each contestant (its median,
 * the tenth percentile as a line in it), every panel in its own scale.
 */
#include "report.h"

#include <string.h>

enum {
	COLUMNS = 3,
	PANEL_W = 300,
	BAR_H = 13,
	TITLE_H = 30,
	NAME_W = 74,
	VALUE_W = 62,
	MARGIN = 14
};
enum { HEAD_H = 46, BAR_W = PANEL_W - NAME_W - VALUE_W };

/* Shown, in this order; the rest is in the table. */
static const char *const shown[] = {
	"run_docker",	 "run_spec", "create",		       "start",
	"exec",		 "state",    "kill",		       "delete",
	"list_of_1000",	 "2_at_once", "8_at_once",	       "run_docker_1000_mounts",
};
enum { SHOWN = sizeof(shown) / sizeof(shown[0]) };

static bool is_ours(const char *name)
{
	return strcmp(name, "sbxrun") == 0;
}

static double longest(const struct report *r, const char *label)
{
	double most = 0;

	for (size_t i = 0; i < r->nnames; i++) {
		const struct row *row = row_of(r, r->name[i], label);

		if (row && median(row) > most)
			most = median(row);
	}
	return most;
}

static void bar_write(const struct row *row, double most, int x, int y, FILE *out)
{
	double w = median(row) / most * BAR_W, mark = p10(row) / most * BAR_W;
	const char *class = is_ours(row->name) ? "us" : "them";

	fprintf(out, "<text class=\"%s-name\" x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n",
		class, x + NAME_W - 5, y + BAR_H - 4, row->name);
	fprintf(out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n", class,
		x + NAME_W, y, w < 1 ? 1 : w, BAR_H - 3);
	if (mark < w)
		fprintf(out,
			"<rect class=\"mark\" x=\"%.1f\" y=\"%d\" width=\"1\" height=\"%d\"/>\n",
			x + NAME_W + mark, y, BAR_H - 3);
	fprintf(out, "<text x=\"%.1f\" y=\"%d\">%.*f%s</text>\n", x + NAME_W + w + 4, y + BAR_H - 4,
		median(row) < 10 ? 1 : 0, median(row), row->rate ? "/s" : " ms");
}

static void panel_write(const struct report *r, const char *label, int x, int y, FILE *out)
{
	double most = longest(r, label);
	int line = y + TITLE_H;

	fprintf(out, "<text class=\"title\" x=\"%d\" y=\"%d\">%s</text>\n", x, y + TITLE_H - 9,
		label_text(label));
	for (size_t i = 0; i < r->nnames && most > 0; i++) {
		const struct row *row = row_of(r, r->name[i], label);

		if (!row)
			continue;
		bar_write(row, most, x, line, out);
		line += BAR_H;
	}
}

static int panel_height(const struct report *r, const char *label)
{
	int n = 0;

	for (size_t i = 0; i < r->nnames; i++)
		n += row_of(r, r->name[i], label) != NULL;
	return n ? TITLE_H + n * BAR_H + 4 : 0;
}

void svg_write(const struct report *r, FILE *out)
{
	const char *label[SHOWN];
	int top[SHOWN], y = HEAD_H, n = 0, width = COLUMNS * (PANEL_W + MARGIN) + MARGIN;

	for (size_t i = 0; i < SHOWN; i++)
		if (panel_height(r, shown[i]))
			label[n++] = shown[i];
	for (int i = 0; i < n; i += COLUMNS) {
		int high = 0;

		for (int k = i; k < i + COLUMNS && k < n; k++) {
			top[k] = y;
			if (panel_height(r, label[k]) > high)
				high = panel_height(r, label[k]);
		}
		y += high;
	}
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\""
		" font-family=\"sans-serif\" font-size=\"10\" fill=\"#444\">\n"
		"<style>.us{fill:#1a7f5a}.them{fill:#b4bac2}.mark{fill:#fff}.us-name{font-weight:bold;"
		"fill:#1a7f5a}.title{font-size:12px;font-weight:bold;fill:#222}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		width, y + MARGIN, width);
	fprintf(out, "<text x=\"%d\" y=\"20\" class=\"title\">Medians (the white line is the tenth"
		     " percentile); shorter is faster, but for runs a second</text>\n",
		MARGIN);
	fprintf(out, "<text x=\"%d\" y=\"35\">%s</text>\n", MARGIN, r->facts);
	for (int i = 0; i < n; i++)
		panel_write(r, label[i], MARGIN + i % COLUMNS * (PANEL_W + MARGIN), top[i], out);
	fputs("</svg>\n", out);
}
