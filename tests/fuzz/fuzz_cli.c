/* The command line: a word a line. The first byte chooses the command, or a value with a unit. */
#include "cli/cli.h"
#include "cli/units.h"
#include "fuzz.h"
#include "oci/names.h"

enum { WORDS_MAX = 64 };

static const struct cli_command *const commands[] = {
	&cli_create, &cli_start,  &cli_run,  &cli_state,  &cli_kill,
	&cli_delete, &cli_list,	  &cli_exec, &cli_spec,	  &cli_plan,
	&cli_pause,  &cli_resume, &cli_ps,   &cli_update, &cli_events,
};

static void read_units(const char *text)
{
	int64_t v;
	int sig, number;

	if (units_duration(text, &v))
		DEMAND(v >= 0);
	if (units_size(text, &v))
		DEMAND(v >= -1);
	sig = oci_signal_number(text);
	DEMAND(sig >= -1 && sig <= 64);
	DEMAND(sig != 0 || *text == '0');
	if (sig > 0 && oci_signal_name(sig))
		DEMAND(oci_signal_number(oci_signal_name(sig)) == sig);
	number = oci_cap_number(text);
	if (number >= 0)
		DEMAND(str_eq(oci_cap_name(number), text));
	DEMAND(oci_rlimit_number(text) >= -1);
}

void fuzz_one(char *text, size_t len, struct arena *a)
{
	struct bytes b = {text, len};
	uint32_t which = bytes_choose(&b, ARRAY_SIZE(commands) + 4);
	struct cli c = {.arena = a, .args = arena_array(a, WORDS_MAX + 1, char *)};
	char **argv = arena_array(a, WORDS_MAX + 1, char *);
	size_t n = 0, at = 0;
	struct error e = {0};

	if (which >= ARRAY_SIZE(commands)) {
		read_units(bytes_string(&b, a));
		return;
	}
	while (b.left && n < WORDS_MAX)
		argv[n++] = bytes_string(&b, a);
	if (cli_read_options(&c, argv, &at, commands[which]->options, commands[which]->n_options,
			     commands[which]->program ? 1 : SIZE_MAX, &e) < 0)
		fuzz_check_error(&e);
	else
		DEMAND(at == n && c.n_args <= n);
}
