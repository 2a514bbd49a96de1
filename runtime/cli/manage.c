/* The commands that manage running containers: argument checks, and the call of the verb. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/ps.h"
#include "cli/stats.h"
#include "cli/units.h"
#include "life/life.h"
#include "oci/oci.h"

enum { OUTPUT_MAX = 64 << 20, RESOURCES_MAX = 1 << 20, EVENT_MAX = 4 << 20 };

/* ---- pause, resume ---- */

static int pause_run(struct cli *c, struct error *e)
{
	return life_pause(c->root, c->args[0], c->arena, e);
}

const struct cli_command cli_pause = {
	"pause", "ID", "freeze all processes of a container", NULL, 0, 1, 1, .run = pause_run};

static int resume_run(struct cli *c, struct error *e)
{
	return life_resume(c->root, c->args[0], c->arena, e);
}

const struct cli_command cli_resume = {
	"resume", "ID", "let a paused container go on", NULL, 0, 1, 1, .run = resume_run};

/* ---- ps ---- */

static int ps_run(struct cli *c, struct error *e)
{
	bool json = c->format && str_eq(c->format, "json");
	struct buf b = buf_new(c->arena, OUTPUT_MAX);

	if (c->format && !json && !str_eq(c->format, "table"))
		return err_set(e, ERR_USAGE, "--format: \"%s\" is neither table nor json",
			       c->format);
	if (ps_print(c, json, &b, e) < 0)
		return -1;
	return cli_print(&b, e);
}

static const struct cli_option ps_options[] = {
	CLI_OPTION(format, "format", 'f', CLI_TEXT, "table|json", "how to print (default: table)"),
};
const struct cli_command cli_ps = {
	"ps",
	"ID [ARGUMENT…]",
	"list the processes of a container, as the host's ps prints them",
	ps_options,
	ARRAY_SIZE(ps_options),
	1,
	SIZE_MAX,
	.run = ps_run,
	.program = true,
	.answers = true};

/* ---- update ---- */

enum update_kind { UPDATE_SIZE, UPDATE_I64, UPDATE_U64, UPDATE_U32, UPDATE_TEXT };

#define UPDATE(field, name, kind, to)                                                              \
	{                                                                                          \
		name, offsetof(struct cli, field), kind, offsetof(struct oci_resources, to)        \
	}

static const struct update_row {
	const char *name;
	size_t from; /* a char * in struct cli */
	enum update_kind kind;
	size_t to; /* in struct oci_resources */
} update_rows[] = {
	UPDATE(blkio_weight, "blkio-weight", UPDATE_U32, block_io.weight),
	UPDATE(cpu_period, "cpu-period", UPDATE_U64, cpu.period),
	UPDATE(cpu_quota, "cpu-quota", UPDATE_I64, cpu.quota),
	UPDATE(cpu_burst, "cpu-burst", UPDATE_U64, cpu.burst),
	UPDATE(cpu_share, "cpu-share", UPDATE_U64, cpu.shares),
	UPDATE(cpu_rt_period, "cpu-rt-period", UPDATE_U64, cpu.realtime_period),
	UPDATE(cpu_rt_runtime, "cpu-rt-runtime", UPDATE_I64, cpu.realtime_runtime),
	UPDATE(cpu_idle, "cpu-idle", UPDATE_I64, cpu.idle),
	UPDATE(cpuset_cpus, "cpuset-cpus", UPDATE_TEXT, cpu.cpus),
	UPDATE(cpuset_mems, "cpuset-mems", UPDATE_TEXT, cpu.mems),
	UPDATE(memory, "memory", UPDATE_SIZE, memory.limit),
	UPDATE(memory_reservation, "memory-reservation", UPDATE_SIZE, memory.reservation),
	UPDATE(memory_swap, "memory-swap", UPDATE_SIZE, memory.swap),
	UPDATE(pids_limit, "pids-limit", UPDATE_I64, pids_limit),
};

/* false: value is not of the row's kind. */
static bool update_set(const struct update_row *row, char *value, struct oci_resources *r)
{
	void *to = (char *)r + row->to;
	struct opt_i64 i64 = {.set = true};
	struct opt_u64 u64 = {.set = true};
	struct opt_u32 u32 = {.set = true};

	switch (row->kind) {
	case UPDATE_TEXT:
		*(char **)to = value;
		return true;
	case UPDATE_U32:
		if (!str_to_u32(value, &u32.v))
			return false;
		*(struct opt_u32 *)to = u32;
		return true;
	case UPDATE_U64:
		if (!str_to_u64(value, UINT64_MAX, &u64.v))
			return false;
		*(struct opt_u64 *)to = u64;
		return true;
	case UPDATE_I64:
	case UPDATE_SIZE:
		break;
	}
	if (row->kind == UPDATE_SIZE ? !units_size(value, &i64.v) : !str_to_i64(value, &i64.v))
		return false;
	*(struct opt_i64 *)to = i64;
	return true;
}

static int update_flags(const struct cli *c, struct oci_resources *r, struct error *e)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(update_rows); i++) {
		const struct update_row *row = &update_rows[i];
		char *value = *(char *const *)((const char *)c + row->from);

		/* An empty one is what scripts pass for none. */
		if (value && *value && !update_set(row, value, r))
			return err_set(e, ERR_USAGE, "--%s: invalid value \"%s\"", row->name,
				       value);
	}
	return 0;
}

static int update_read(const char *path, struct arena *a, struct oci_resources *r, struct error *e)
{
	bool standard = str_eq(path, "-");
	autoclose int fd =
		standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	const char *what = standard ? "standard input" : path;
	size_t len;
	char *text;

	if (fd < 0)
		return err_sys(e, "--resources: open %s", what);
	text = fd_read_all(fd, RESOURCES_MAX, a, &len);
	if (!text)
		return err_sys(e, "--resources: read %s", what);
	if (json_read("--resources", text, len, &oci_resources_table, &json_default_limits, r, a,
		      e) < 0)
		return -1;
	/* Since 1.3 of the specification a limit, but in documents engines send it
	 * for "not given". */
	if (r->pids_limit.set && r->pids_limit.v == 0)
		r->pids_limit.set = false;
	return 0;
}

static int update_run(struct cli *c, struct error *e)
{
	struct oci_resources *r = arena_new(c->arena, struct oci_resources);
	struct oci_intel_rdt rdt = {.l3_cache_schema = c->l3_cache_schema,
				    .mem_bw_schema = c->mem_bw_schema};

	if (c->kernel_memory || c->kernel_memory_tcp)
		log_warn("--%s: has no effect",
			 c->kernel_memory ? "kernel-memory" : "kernel-memory-tcp");
	if (c->resources && update_read(c->resources, c->arena, r, e) < 0)
		return -1;
	if (update_flags(c, r, e) < 0)
		return -1;
	return life_update(c->root, c->args[0], r, &rdt, &cli_noter, c->arena, e);
}

// clang-format off
static const struct cli_option update_options[] = {
	CLI_OPTION(resources, "resources", 'r', CLI_TEXT, "FILE|-", "linux.resources as JSON; flags go over it"),
	CLI_OPTION(blkio_weight, "blkio-weight", 0, CLI_TEXT, "N", "share of disk time, 10 to 1000"),
	CLI_OPTION(cpu_period, "cpu-period", 0, CLI_TEXT, "US", "period of the quota, in microseconds"),
	CLI_OPTION(cpu_quota, "cpu-quota", 0, CLI_TEXT, "US", "CPU time a period; -1: no limit"),
	CLI_OPTION(cpu_burst, "cpu-burst", 0, CLI_TEXT, "US", "unused time that may be saved up"),
	CLI_OPTION(cpu_share, "cpu-share", 0, CLI_TEXT, "N", "weight against other containers, 2 to 262144"),
	CLI_OPTION(cpu_rt_period, "cpu-rt-period", 0, CLI_TEXT, "US", "period of realtime (cgroup v1)"),
	CLI_OPTION(cpu_rt_runtime, "cpu-rt-runtime", 0, CLI_TEXT, "US", "realtime a period (cgroup v1)"),
	CLI_OPTION(cpu_idle, "cpu-idle", 0, CLI_TEXT, "0|1", "1: run only when nothing else does"),
	CLI_OPTION(cpuset_cpus, "cpuset-cpus", 0, CLI_TEXT, "LIST", "CPUs to use: 0-3,7"),
	CLI_OPTION(cpuset_mems, "cpuset-mems", 0, CLI_TEXT, "LIST", "memory nodes to use"),
	CLI_OPTION(kernel_memory, "kernel-memory", 0, CLI_TEXT, "SIZE", "accepted for compatibility, without effect"),
	CLI_OPTION(kernel_memory_tcp, "kernel-memory-tcp", 0, CLI_TEXT, "SIZE", "accepted, without effect"),
	CLI_OPTION(memory, "memory", 0, CLI_TEXT, "SIZE", "memory limit: bytes, or with k, m, g; -1: none"),
	CLI_OPTION(memory_reservation, "memory-reservation", 0, CLI_TEXT, "SIZE", "memory that it keeps when memory is short"),
	CLI_OPTION(memory_swap, "memory-swap", 0, CLI_TEXT, "SIZE", "limit of memory and swap together; -1: none"),
	CLI_OPTION(pids_limit, "pids-limit", 0, CLI_TEXT, "N", "most processes; -1: no limit"),
	CLI_OPTION(l3_cache_schema, "l3-cache-schema", 0, CLI_TEXT, "L3:…", "cache of its class of service (Intel RDT)"),
	CLI_OPTION(mem_bw_schema, "mem-bw-schema", 0, CLI_TEXT, "MB:…", "memory bandwidth of its class"),
};
// clang-format on
const struct cli_command cli_update = {"update",
				       "ID",
				       "change limits of a container; those not given stay",
				       update_options,
				       ARRAY_SIZE(update_options),
				       1,
				       1,
				       .run = update_run};

/* ---- events ---- */

struct events_out {
	const char *id;
	struct error *e;
};

static int events_print(void *context, const struct life_event *v)
{
	const struct events_out *out = context;
	struct arena a = {0}; /* of this line: they may come for months */
	struct buf b = buf_new(&a, EVENT_MAX);
	int result;

	if (v->kind == LIFE_EVENT_STATS)
		stats_write(out->id, &v->stats->cgroup, &v->stats->rdt, v->stats->net_dev, &b);
	else
		stats_write_oom(out->id, &b);
	result = cli_print(&b, out->e);
	arena_free(&a);
	/* The reader left just now. */
	return result < 0 && out->e->sys == EPIPE ? 1 : result;
}

static int events_run(struct cli *c, struct error *e)
{
	struct events_out out = {.id = c->args[0], .e = e};
	struct events_options o = {
		.root = c->root,
		.id = c->args[0],
		.interval_ns = 5000000000,
		.reader_fd = STDOUT_FILENO,
		.each = events_print,
		.context = &out,
	};
	struct life_stats *stats = arena_new(c->arena, struct life_stats);

	if (c->interval && !units_duration(c->interval, &o.interval_ns))
		return err_set(e, ERR_USAGE,
			       "--interval: \"%s\" is no duration such as 5s or 500ms",
			       c->interval);
	if (o.interval_ns <= 0)
		return err_set(e, ERR_USAGE, "--interval: must be greater than 0");
	if (!c->stats)
		return life_events(&o, c->arena, e);
	if (life_stats(c->root, c->args[0], c->arena, stats, e) < 0)
		return -1;
	return events_print(&out, &(struct life_event){.kind = LIFE_EVENT_STATS, .stats = stats}) <
			       0 ?
		       -1 :
		       0;
}

static const struct cli_option events_options[] = {
	CLI_OPTION(interval, "interval", 0, CLI_TEXT, "DURATION",
		   "between statistics (default: 5s)"),
	CLI_OPTION(stats, "stats", 0, CLI_FLAG, NULL, "print the statistics once"),
};
const struct cli_command cli_events = {
	"events",
	"ID",
	"print statistics and out-of-memory events as JSON, a line each",
	events_options,
	ARRAY_SIZE(events_options),
	1,
	1,
	.run = events_run};
