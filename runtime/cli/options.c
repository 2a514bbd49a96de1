/*
 * Flags as Go's flag package takes them, because engines write them so: --x v, --x=v, -x v, -x=v,
 * and long names behind one dash. A flag may be given as --x=true or --x=false. "--" ends options.
 * --help and -h are an option of every command.
 */
#include <string.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/foreign.h"
#include "cli/suggest.h"

static const struct cli_option help_option = CLI_OPTION(help, "help", 'h', CLI_FLAG, NULL, "");

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

/* Go's own words for true and false. */
static const struct {
	const char *word;
	bool value;
} flag_words[] = {
	{"true", true},	  {"True", true}, {"TRUE", true},   {"t", true},
	{"T", true},	  {"1", true},	  {"false", false}, {"False", false},
	{"FALSE", false}, {"f", false},	  {"F", false},	    {"0", false},
};

static int option_set_flag(struct cli *c, const struct cli_option *o, const char *value,
			   struct error *e)
{
	bool *field = (bool *)((char *)c + o->offset);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(flag_words); i++) {
		if (!value || str_eq(value, flag_words[i].word)) {
			*field = flag_words[i].value;
			return 0;
		}
	}
	return err_set(e, ERR_USAGE, "--%s: \"%s\" is neither true nor false", o->name, value);
}

static int option_set(struct cli *c, const struct cli_option *o, char *value, struct error *e)
{
	void *field = (char *)c + o->offset;
	uint32_t number;

	if (o->kind == CLI_FLAG)
		return option_set_flag(c, o, value, e);
	if (o->kind == CLI_MAYBE) {
		*(char **)field = value ? value : arena_strdup(c->arena, "default");
		return 0;
	}
	if (!value)
		return err_set(e, ERR_USAGE, "flag needs an argument: --%s", o->name);
	if (o->kind == CLI_TEXT) {
		/* An empty one is what scripts pass for none. Not of a user, though: none may well
		 * be root. */
		*(char **)field = *value || str_eq(o->name, "user") ? value : NULL;
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

/* Behind the words that box takes, an option is most likely one of the program's. */
static bool option_is_programs(const struct cli *c)
{
	return c->reading && str_eq(c->reading, "box") &&
	       ((c->n_args > 2 && str_eq(c->args[0], "exec")) ||
		(c->n_args > 3 && str_eq(c->args[0], "run")));
}

/* Says how the word behind it is read. Behind that word it can only be the program's: `exec ID sh
 * -c …`, `run ID python script.py --file data`. */
static bool option_is_of_code(const struct cli_option *o)
{
	return o->offset == offsetof(struct cli, is_code) ||
	       o->offset == offsetof(struct cli, is_file);
}

/* The error for one that is not in the table: where else it belongs, what it is called here, what
 * is like it, or all there are. */
static int option_unknown(struct cli *c, const char *word, const char *name, size_t len,
			  const struct cli_option *options, size_t n, struct error *e)
{
	struct suggest s = {.word = arena_strndup(c->arena, name, len)};
	struct buf all = buf_new(c->arena, sizeof(e->text));
	const char *here = c->reading ? foreign_option(c->reading, s.word) : NULL;
	int given = (int)(len + (size_t)(name - word));
	size_t i;

	if (option_is_programs(c))
		return err_set(e, ERR_USAGE,
			       "flag provided but not defined: %.*s (the program's own options "
			       "stand behind --)",
			       given, word);
	if (here)
		return err_set(e, ERR_USAGE, "flag provided but not defined: %.*s (%s)", given,
			       word, here);
	if (options != cli_globals && option_find(cli_globals, cli_n_globals, name, len))
		return err_set(e, ERR_USAGE,
			       "flag provided but not defined: %.*s (it stands before the command)",
			       given, word);
	for (i = 0; i < n; i++) {
		suggest_try(&s, options[i].name);
		buf_printf(&all, "%s--%s", i ? ", " : "", options[i].name);
	}
	if (s.best)
		return err_set(e, ERR_USAGE,
			       "flag provided but not defined: %.*s (did you mean --%s?)", given,
			       word, s.best);
	return err_set(e, ERR_USAGE, "flag provided but not defined: %.*s (there are %s)", given,
		       word, n ? all.data : "none");
}

static int option_read(struct cli *c, char **argv, size_t *at, const struct cli_option *options,
		       size_t n, struct error *e)
{
	char *word = argv[*at], *name = word + 1 + (word[1] == '-'), *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	const struct cli_option *o = option_find(options, n, name, len);
	char *value = equals ? equals + 1 : NULL;

	if (o && option_is_of_code(o) && option_is_programs(c))
		o = NULL;
	if (!o)
		o = option_find(&help_option, 1, name, len);
	if (!o)
		return option_unknown(c, word, name, len, options, n, e);
	if (o->kind != CLI_FLAG && o->kind != CLI_MAYBE && !value && (value = argv[*at + 1]))
		(*at)++;
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
			c->dashes = c->dashes || !c->n_args;
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
			 o->argument && o->kind != CLI_MAYBE ? " " : "",
			 o->argument ? o->argument : "");
		fprintf(out, "%-32s %s\n", left, o->help);
	}
}

int cli_print(const struct buf *b, struct error *e)
{
	if (b->overflow)
		return err_set(e, ERR_SYSTEM, "the output is too large");
	if (b->len && fd_write_all(STDOUT_FILENO, b->data, b->len) < 0)
		return err_sys(e, "write to standard output");
	return 0;
}
