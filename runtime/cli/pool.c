/* sbxrun pool: boxes that wait for their code (box/pool.h). */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "box/pool.h"
#include "cli/cli.h"
#include "cli/do.h"
#include "json/json.h"
#include "sys/loop.h"

enum { OUTPUT_MAX = 1 << 20, SHOWN = 12 };

/* ---- start ---- */

static int pool_request(struct cli *c, struct box_request *q, struct error *e)
{
	if (do_begin(c, q, e) < 0)
		return -1;
	q->output = OUTPUT_KEEP;
	q->build = cli_version;
	q->language = box_language_find(c->args[0]);
	if (!q->language)
		return err_set(
			e, ERR_USAGE,
			"there is no language \"%s\" (see sbxrun help do); pool list and pool "
			"stop are for pools that are there",
			c->args[0]);
	return do_limits(c, q, e) < 0 || do_volumes(c, q, e) < 0 || do_ulimits(c, q, e) < 0 ||
			       do_env(c, q, e) < 0 || do_user(c, q, e) < 0 ||
			       do_denials(c, q, e) < 0 || do_profile(c, q, e) < 0 ?
		       -1 :
		       0;
}

static void pool_tell(const struct pool_view *v)
{
	fprintf(stderr, "sbxrun: pool of %s: %u of %u boxes wait\n", v->language, v->ready,
		v->size);
}

static int pool_show(const struct cli *c, const struct pool_view *v, struct error *e)
{
	struct buf b = buf_new(c->arena, OUTPUT_MAX);

	if (c->json) {
		pool_write(v, &b);
		buf_char(&b, '\n');
	} else {
		buf_printf(&b, "pool %.*s: %u boxes of %s wait\n", SHOWN, v->id, v->ready,
			   v->language);
	}
	return cli_print(&b, e);
}

static int pool_begin(struct cli *c, struct error *e)
{
	struct pool_start s = {.size = POOL_SIZE, .stays = c->foreground, .tell = pool_tell};
	struct box_request q;
	struct pool_view v;

	if (c->n_args != 1)
		return err_set(
			e, ERR_USAGE,
			"usage: sbxrun pool [OPTION…] LANGUAGE (its boxes wait for `sbxrun do "
			"LANGUAGE CODE` with these options)");
	if (c->size && (!str_to_u32(c->size, &s.size) || !s.size || s.size > POOL_MOST))
		return err_set(e, ERR_USAGE,
			       "--size: \"%s\" is no number from 1 to %d (pool stop ends a pool)",
			       c->size, POOL_MOST);
	if (pool_request(c, &q, e) < 0 || pool_start(&q, &s, c->arena, &v, e) < 0)
		return -1;
	return s.stays ? 0 : pool_show(c, &v, e);
}

/* ---- list, stop ---- */

static int pool_show_list(struct cli *c, struct error *e)
{
	struct buf b = buf_new(c->arena, OUTPUT_MAX);
	struct pool_view *v;
	size_t n, i;

	if (pool_list(c->root, c->arena, &v, &n, e) < 0)
		return -1;
	buf_str(&b, c->json ? "[" : "");
	if (!c->json)
		buf_printf(&b, "%-14s%-12s%-7s%-7s%-9s%s\n", "ID", "LANGUAGE", "READY", "SIZE",
			   "SERVED", "ROOTFS");
	for (i = 0; i < n; i++) {
		if (c->json) {
			buf_str(&b, i ? "," : "");
			pool_write(&v[i], &b);
			continue;
		}
		buf_printf(&b, "%-14.*s%-12s%-7u%-7u%-9u%s%s%s\n", SHOWN, v[i].id, v[i].language,
			   v[i].ready, v[i].size, v[i].served, json_show(v[i].rootfs).text,
			   *v[i].failure && v[i].ready < v[i].size ? "  " : "",
			   *v[i].failure && v[i].ready < v[i].size ? v[i].failure : "");
	}
	buf_str(&b, c->json ? "]\n" : "");
	return cli_print(&b, e);
}

/* By language, or by the first characters of its id. */
static bool pool_is_meant(const struct pool_view *v, const char *word)
{
	const struct box_language *l = box_language_find(word);

	return l ? str_eq(v->language, l->name) : *word && str_after(v->id, word) != NULL;
}

static int pool_end(struct cli *c, struct error *e)
{
	const char *word = c->n_args > 1 ? c->args[1] : NULL;
	struct pool_view *v;
	size_t n, i, ended = 0;

	if (c->n_args > 2 || (word != NULL) == c->all)
		return err_set(e, ERR_USAGE, "usage: sbxrun pool stop LANGUAGE|ID, or --all");
	if (pool_list(c->root, c->arena, &v, &n, e) < 0)
		return -1;
	for (i = 0; i < n; i++) {
		if (word && !pool_is_meant(&v[i], word))
			continue;
		if (pool_stop(c->root, v[i].id, e) < 0)
			return -1;
		ended++;
	}
	return ended || c->all ? 0 :
				 err_set(e, ERR_NOT_FOUND, "there is no pool %s (sbxrun pool list)",
					 json_show(word).text);
}

static int pool_run(struct cli *c, struct error *e)
{
	if (str_eq(c->args[0], "stop"))
		return pool_end(c, e);
	if (!str_eq(c->args[0], "list"))
		return pool_begin(c, e);
	return c->n_args == 1 ? pool_show_list(c, e) :
				err_set(e, ERR_USAGE, "usage: sbxrun pool list [--json]");
}

/* clang-format off */
static const struct cli_option pool_options[] = {
	CLI_OPTION(size, "size", 'n', CLI_TEXT, "NUMBER", "boxes that wait (default: 4)"),
	CLI_OPTION(foreground, "foreground", 0, CLI_FLAG, NULL, "stay, until a signal comes: for a service"),
	CLI_OPTION(rootfs, "rootfs", 0, CLI_TEXT, "NAME|DIR|FILE", "the root filesystem, as of do"),
	CLI_OPTION(volumes, "volume", 'v', CLI_LIST, "SOURCE:TARGET[:ro]", "show a directory or file of the host in the boxes"),
	CLI_OPTION(env, "env", 'e', CLI_LIST, "NAME[=VALUE]", "a variable of their environment"),
	CLI_OPTION(env_file, "env-file", 0, CLI_TEXT, "FILE", "variables, one a line"),
	CLI_OPTION(user, "user", 'u', CLI_TEXT, "UID[:GID]", "who programs are inside (default: 65534)"),
	CLI_OPTION(preset, "preset", 0, CLI_TEXT, "NAME", "limits of another system, as of do"),
	CLI_OPTION(memory, "memory", 'm', CLI_TEXT, "SIZE", "memory, without swap (default: 512m)"),
	CLI_OPTION(cpus, "cpus", 0, CLI_TEXT, "NUMBER", "processors (default: 1)"),
	CLI_OPTION(pids_limit, "pids-limit", 0, CLI_TEXT, "NUMBER", "processes and threads (default: 64)"),
	CLI_OPTION(cpu_time, "cpu-time", 0, CLI_TEXT, "SECONDS", "time on processors, all together"),
	CLI_OPTION(disk, "disk", 0, CLI_TEXT, "SIZE", "of /workspace, in memory (default: half of the memory, at most 256m)"),
	CLI_OPTION(tmpfs, "tmpfs", 0, CLI_TEXT, "SIZE", "of /tmp (default: 64m)"),
	CLI_OPTION(file_size, "file-size", 0, CLI_TEXT, "SIZE", "of a file that is written"),
	CLI_OPTION(ulimits, "ulimit", 0, CLI_LIST, "NAME=SOFT[:HARD]", "another resource limit"),
	CLI_OPTION(profile, "profile", 0, CLI_TEXT, "NAME", "system calls, as of do"),
	CLI_OPTION(profile_add, "profile-add", 0, CLI_LIST, "FILE", "and those that a file names, one a line"),
	CLI_OPTION(strict_limits, "strict-limits", 0, CLI_FLAG, NULL, "fail if a limit can't be held on this host"),
	CLI_OPTION(denials, "denials", 0, CLI_TEXT, "full|calls|none", "which refusals to watch for (default: full)"),
	CLI_OPTION(all, "all", 'a', CLI_FLAG, NULL, "stop: all of them"),
	CLI_OPTION(json, "json", 0, CLI_FLAG, NULL, "print JSON, and nothing else"),
};
/* clang-format on */
const struct cli_command cli_pool = {
	"pool", "LANGUAGE | list | stop LANGUAGE|ID",
	"keep boxes whose interpreter waits already, one for each call", pool_options,
	ARRAY_SIZE(pool_options), 1, 2, true, pool_run, .failure = DO_FAILURE, .passing = false};
