/*
 * Flags as Go's flag package takes them, because engines write them so: --x v, --x=v, -x v, -x=v, and
 * long names behind one dash. A flag may be given as --x=true or --x=false. "--" ends options.
 */
#include <string.h>

#include "base/str.h"
#include "cli/cli.h"

static const struct cli_option *option_find(const struct cli_option *options, size_t n,
					    const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < n; i++)
		if ((strlen(options[i].name) == len && strncmp(options[i].name, name, len) == 0) ||
		    (len == 1 && options[i].letter == name[0]))
			return &options[i];
	return NULL;
}

static int option_set_flag(struct cli *c, const struct cli_option *o, const char *value,
			   struct error *e)
{
	bool *field = (bool *)((char *)c + o->offset);

	if (!value || str_eq(value, "true"))
		*field = true;
	else if (str_eq(value, "false"))
		*field = false;
	else
		return err_set(e, ERR_USAGE, "--%s: \"%s\" is neither true nor false", o->name, value);
	return 0;
}

static int option_set(struct cli *c, const struct cli_option *o, char *value, struct error *e)
{
	void *field = (char *)c + o->offset;
	uint32_t number;

	if (o->kind == CLI_FLAG)
		return option_set_flag(c, o, value, e);
	if (o->kind == CLI_TEXT) {
		*(char **)field = value;
		return 0;
	}
	if (o->kind == CLI_LIST) {
		struct strings *list = field;
		size_t cap = list->n; /* copied each time; command lines are short */

		list->v = arena_grow(c->arena, list->v, &cap, list->n + 2, sizeof(char *));
		list->v[list->n++] = value;
		return 0;
	}
	if (!str_to_u32(value, &number))
		return err_set(e, ERR_USAGE, "--%s: \"%s\" is not a number", o->name, value);
	*(unsigned int *)field = number;
	return 0;
}

static int option_read(struct cli *c, char **argv, size_t *at, const struct cli_option *options,
		       size_t n, struct error *e)
{
	char *word = argv[*at], *name = word + 1 + (word[1] == '-'), *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	const struct cli_option *o = option_find(options, n, name, len);
	char *value = equals ? equals + 1 : NULL;

	if (!o)
		return err_set(e, ERR_USAGE, "flag provided but not defined: %.*s (see --help)",
			       (int)(len + (size_t)(name - word)), word);
	if (o->kind != CLI_FLAG && !value) {
		value = argv[*at + 1];
		if (!value)
			return err_set(e, ERR_USAGE, "flag needs an argument: --%s", o->name);
		(*at)++;
	}
	(*at)++;
	return option_set(c, o, value, e);
}

int cli_read_options(struct cli *c, char **argv, size_t *at, const struct cli_option *options,
		     size_t n, size_t words, struct error *e)
{
	bool only_words = false;

	while (argv[*at]) {
		char *word = argv[*at];

		if (only_words || word[0] != '-' || word[1] == '\0') {
			if (words == 0)
				return 0;
			c->args[c->n_args++] = word;
			(*at)++;
			only_words |= c->n_args >= words;
		} else if (str_eq(word, "--")) {
			only_words = true;
			(*at)++;
		} else if (option_read(c, argv, at, options, n, e) < 0) {
			return -1;
		}
	}
	return 0;
}

void cli_print_options(FILE *out, const struct cli_option *options, size_t n)
{
	char left[64];
	size_t i;

	for (i = 0; i < n; i++) {
		const struct cli_option *o = &options[i];
		int len = o->letter ? snprintf(left, sizeof(left), "  -%c, ", o->letter) :
				      snprintf(left, sizeof(left), "      ");

		snprintf(left + len, sizeof(left) - (size_t)len, "--%s%s%s", o->name,
			 o->argument ? " " : "", o->argument ? o->argument : "");
		fprintf(out, "%-32s %s\n", left, o->help);
	}
}
