/* The pure parts of ps, update and events: units, filtering, statistics from sample files. */
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "cgroup/stats.h"
#include "cgroup/write.h"
#include "cli/units.h"
#include "cli/ps.h"
#include "cli/stats.h"
#include "unit.h"

static struct arena arena;

/* ---- units ---- */

static long long duration(const char *s)
{
	int64_t ns;

	return units_duration(s, &ns) ? ns : -1;
}

TEST(durations_are_go_s)
{
	CHECK_INT(duration("5s"), 5000000000);
	CHECK_INT(duration("500ms"), 500000000);
	CHECK_INT(duration("1m30s"), 90000000000);
	CHECK_INT(duration("1.5h"), 5400000000000);
	CHECK_INT(duration(".5s"), 500000000);
	CHECK_INT(duration("1.s"), 1000000000);
	CHECK_INT(duration("7ns"), 7);
	CHECK_INT(duration("2us"), 2000);
	CHECK_INT(duration("2\xc2\xb5s"), 2000);
	CHECK_INT(duration("0"), 0);
	CHECK_INT(duration("0s"), 0);
	CHECK_INT(duration("0.000000000000000000000000001s"), 0);
}

TEST(what_is_no_duration_is_refused)
{
	static const char *const words[] = {"",
					    "5",
					    "s",
					    ".s",
					    "-5s",
					    "+5s",
					    "5 s",
					    "5s ",
					    "5sec",
					    "1d",
					    "1.2.3s",
					    "9999999999999h",
					    "99999999999999999999s"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (duration(words[i]) != -1)
			FAIL("\"%s\" is taken", words[i]);
}

static long long size(const char *s)
{
	int64_t v;

	return units_size(s, &v) ? v : -2;
}

TEST(sizes_have_units_or_none)
{
	CHECK_INT(size("67108864"), 67108864);
	CHECK_INT(size("64m"), 67108864);
	CHECK_INT(size("64M"), 67108864);
	CHECK_INT(size("64MB"), 67108864);
	CHECK_INT(size("64MiB"), 67108864);
	CHECK_INT(size("64 mb"), 67108864);
	CHECK_INT(size("1.5k"), 1536);
	CHECK_INT(size("2g"), 2147483648);
	CHECK_INT(size("1t"), 1099511627776);
	CHECK_INT(size("12b"), 12);
	CHECK_INT(size("0"), 0);
	CHECK_INT(size("-1"), -1);
	CHECK_INT(size("9223372036854775807"), INT64_MAX);
}

TEST(what_is_no_size_is_refused)
{
	static const char *const words[] = {"",
					    "m",
					    "-2",
					    "-1m",
					    "1x",
					    "1mm",
					    "1mi",
					    "1ib",
					    "1 ",
					    "0x10",
					    "1e3",
					    "1,5k",
					    "9223372036854775808",
					    "8388608t",
					    "99999999p"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (size(words[i]) != -2)
			FAIL("\"%s\" is taken", words[i]);
}

/* ---- ps ---- */

static const char *filtered(const char *text, const pid_t *pids, size_t n)
{
	struct buf b = buf_new(&arena, 1 << 16);
	static struct error e;

	if (ps_filter(arena_strdup(&arena, text), pids, n, &b, &e) < 0)
		return e.text;
	return b.data;
}

TEST(ps_keeps_title_and_own_lines)
{
	static const pid_t pids[] = {7, 77, 4194304};

	CHECK_STR(filtered("UID          PID    PPID  CMD\n"
			   "root           7       1  /sbin/7\n"
			   "root          77       7  sh -c x y\n"
			   "root         777       7  no\n"
			   "root     4194304       7  yes\n",
			   pids, 3),
		  "UID          PID    PPID  CMD\n"
		  "root           7       1  /sbin/7\n"
		  "root          77       7  sh -c x y\n"
		  "root     4194304       7  yes\n");
}

TEST(ps_finds_the_column_wherever_it_is)
{
	static const pid_t pids[] = {7};

	CHECK_STR(filtered("    PID\n      7\n      8\n", pids, 1), "    PID\n      7\n");
	CHECK_STR(filtered("PPID CMD PID\n7 a 8\n1 b 7\n", pids, 1), "PPID CMD PID\n1 b 7\n");
	CHECK_STR(filtered("PID\n7x\n-7\n99999999999999999999\n\nx\n7\n", pids, 1), "PID\n7\n");
	CHECK_STR(filtered("PID\n7\n", pids, 0), "PID\n");
}

TEST(ps_needs_a_pid_column)
{
	CHECK_STR(filtered("PPID CMD\n1 x\n", NULL, 0), "ps: couldn't find PID field in ps output");
	CHECK_STR(filtered("", NULL, 0), "ps: couldn't find PID field in ps output");
}

/* ---- update ---- */

static const char *back(const char *file, const char *written, const char *old)
{
	const char *value = cgroup_write_back(file, written, old, &arena);

	return value ? value : "(none)";
}

TEST(old_values_come_back)
{
	CHECK_STR(back("memory.max", "1000", "max"), "max");
	CHECK_STR(back("cpu.max", "50000 100000", "max 100000"), "max 100000");
	CHECK_STR(back("cpuset.cpus", "0-1", ""), "\n");
	CHECK_STR(back("memory.oom_control", "1", "oom_kill_disable 0\nunder_oom 0\noom_kill 0"),
		  "0");
	CHECK_STR(back("memory.oom_control", "1", "oom_kill_disable 1\nunder_oom 0"), "1");
}

TEST(old_lines_come_back)
{
	const char *old = "8:0 rbps=100 wbps=max riops=max wiops=max\n8:16 rbps=7 wbps=max";

	CHECK_STR(back("io.max", "8:16 rbps=1", old), "8:16 rbps=7 wbps=max");
	CHECK_STR(back("io.max", "8:1 rbps=1", old), "8:1 rbps=max wbps=max riops=max wiops=max");
	CHECK_STR(back("io.max", "8:1 rbps=1", ""), "8:1 rbps=max wbps=max riops=max wiops=max");
	CHECK_STR(back("io.weight", "default 200", "default 100\n8:0 50"), "default 100");
	CHECK_STR(back("io.weight", "8:1 200", "default 100"), "8:1 default");
	CHECK_STR(back("blkio.throttle.read_bps_device", "8:0 5", ""), "8:0 0");
	CHECK_STR(back("blkio.throttle.read_bps_device", "8:0 5", "8:0 9"), "8:0 9");
	CHECK_STR(back("some.file", "x", "a 1\nb 2"), "(none)");
}

/* ---- statistics ---- */

static char *text(const char *s)
{
	return arena_strdup(&arena, s);
}

TEST(counts_are_found_by_name)
{
	struct cgroup_counts c = cgroup_stats_counts(
		text("usage_usec 18446744073709551615\nnr_periods 0\nodd\n\nx y\nlast 3"), &arena);

	CHECK_INT(c.n, 3);
	CHECK(cgroup_stats_count(&c, "usage_usec") == UINT64_MAX);
	CHECK_INT(cgroup_stats_count(&c, "last"), 3);
	CHECK_INT(cgroup_stats_count(&c, "usage"), 0);
}

TEST(numbers_and_ranges_are_read)
{
	struct cgroup_numbers n = cgroup_stats_numbers("12 0 345 \n", &arena);

	CHECK_INT(n.n, 3);
	CHECK_INT(n.v[2], 345);
	n = cgroup_stats_ranges("0-2,7\n", &arena);
	CHECK_INT(n.n, 4);
	CHECK_INT(n.v[3], 7);
	CHECK_INT(cgroup_stats_ranges("\n", &arena).n, 0);
	CHECK_INT(cgroup_stats_ranges("3-1,x,0-99999999999", &arena).n, 0);
}

TEST(v1_disk_lines_are_read)
{
	struct cgroup_io_list list = {0};

	cgroup_stats_io_v1(text("254:0 Read 4096\n254:0 Write 0\n8:16 77\nTotal 4096\n8:16\n"),
			   &arena, &list);
	CHECK_INT(list.n, 3);
	CHECK_INT(list.v[0].major, 254);
	CHECK_STR(list.v[0].op, "Read");
	CHECK_INT(list.v[0].value, 4096);
	CHECK_STR(list.v[2].op, "");
	CHECK_INT(list.v[2].minor, 16);
	CHECK_INT(list.v[2].value, 77);
}

TEST(v2_disk_lines_are_read)
{
	struct cgroup_io_list bytes = {0}, serviced = {0};

	cgroup_stats_io_v2(
		text("8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6 cost.usage=9\n8:16 \n"),
		&arena, &bytes, &serviced);
	CHECK_INT(bytes.n, 3);
	CHECK_INT(serviced.n, 3);
	CHECK_STR(bytes.v[1].op, "Write");
	CHECK_INT(bytes.v[1].value, 2);
	CHECK_STR(serviced.v[2].op, "Discard");
	CHECK_INT(serviced.v[2].value, 6);
}

TEST(pressure_is_kept_as_written)
{
	struct cgroup_pressure p =
		cgroup_stats_pressure("some avg10=0.12 avg60=1.00 avg300=99.99 total=123\n"
				      "full avg10=0.00 avg60=0.00 avg300=0.01 total=9\n");

	CHECK(p.set);
	CHECK_STR(p.some.avg300, "99.99");
	CHECK_INT(p.some.total, 123);
	CHECK_STR(p.full.avg300, "0.01");
	CHECK(!cgroup_stats_pressure("").set);
	CHECK(!cgroup_stats_pressure("some avg10=1..2 avg60=1.00 avg300=1.00 total=1").set);
	/* Kernels before 5.13 have no second line for the CPU. */
	p = cgroup_stats_pressure("some avg10=0.12 avg60=1.00 avg300=99.99 total=123\n");
	CHECK(p.set);
	CHECK_STR(p.full.avg10, "0.00");
}

TEST(interfaces_come_from_net_dev)
{
	struct buf b = buf_new(&arena, 1 << 16);

	buf_char(&b, '{');
	stats_interfaces(
		text("Inter-|   Receive                                                |  Transmit\n"
		     " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n"
		     "  eth0: 100 2 3 4 0 0 0 0 500 6 7 8 0 0 0 0\n"
		     "a:b\"c: 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n"
		     " bad: 1 2\n"),
		&b);
	CHECK_STR(b.data,
		  "{\"network_interfaces\":[{\"Name\":\"eth0\",\"RxBytes\":100,\"RxPackets\":2,"
		  "\"RxErrors\":3,\"RxDropped\":4,\"TxBytes\":500,\"TxPackets\":6,\"TxErrors\":7,"
		  "\"TxDropped\":8},{\"Name\":\"a:b\\\"c\",\"RxBytes\":1,\"RxPackets\":1,"
		  "\"RxErrors\":1,\"RxDropped\":1,\"TxBytes\":1,\"TxPackets\":1,\"TxErrors\":1,"
		  "\"TxDropped\":1}]");
}

TEST(a_line_of_statistics_has_the_known_form)
{
	struct cgroup_count raw[] = {{"file", 5}};
	struct cgroup_stats s = {
		.cpu = {.total = 30, .kernel = 10, .user = 20, .throttled_periods = 2},
		.memory = {.usage = {.limit = UINT64_MAX, .usage = 7}, .raw = {1, raw}},
		.pids = {.current = 1},
	};
	struct rdt_stats rdt = {0};
	struct buf b = buf_new(&arena, 1 << 16);

	stats_write("box", &s, &rdt, NULL, &b);
	CHECK_STR(
		b.data,
		"{\"type\":\"stats\",\"id\":\"box\",\"data\":{\"cpu\":{\"usage\":{\"total\":30,\"kernel\":10,"
		"\"user\":20},\"throttling\":{\"throttledPeriods\":2}},\"cpuset\":{\"cpu_exclusive\":0,"
		"\"mem_hardwall\":0,\"mem_exclusive\":0,\"memory_migrate\":0,\"memory_spread_page\":0,"
		"\"memory_spread_slab\":0,\"memory_pressure\":0,\"sched_load_balance\":0,"
		"\"sched_relax_domain_level\":0},\"memory\":{\"usage\":{\"limit\":18446744073709551615,"
		"\"usage\":7,\"failcnt\":0},\"swap\":{\"limit\":0,\"failcnt\":0},\"kernel\":{\"limit\":0,"
		"\"failcnt\":0},\"kernelTCP\":{\"limit\":0,\"failcnt\":0},\"raw\":{\"file\":5}},"
		"\"pids\":{\"current\":1},\"blkio\":{},\"hugetlb\":{},\"intel_rdt\":{},"
		"\"network_interfaces\":null}}\n");
}

int main(void)
{
	int failures = unit_main();

	arena_free(&arena);
	return failures;
}
