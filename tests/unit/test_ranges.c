/* Private ranges of ids: what the files of the machine give, who holds what, and what maps say. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "plan/ids.h"
#include "policy/tighten.h"
#include "rootfs/overlay.h"
#include "state/pool.h"
#include "state/ranges.h"
#include "state/store.h"
#include "sys/proc.h"
#include "unit.h"

#define OURS "sbxrun:1879048192:131072\n"

static struct arena arena;
static struct error why;

/* ---- the pool ---- */

static int read_pool(const char *subuid, const char *subgid, struct pool *ret)
{
	return pool_read(subuid, subgid, ret, &why);
}

TEST(ranges_are_cut_from_our_entry)
{
	struct pool p;

	CHECK(read_pool("joe:100000:65536\n" OURS, OURS "joe:100000:65536\n", &p) == 0);
	CHECK_INT(pool_count(&p), 2);
	CHECK_INT(pool_range(&p, 0).first, 1879048192);
	CHECK_INT(pool_range(&p, 1).first, 1879048192 + 65536);
	CHECK_INT(pool_range(&p, 1).size, 65536);
}

TEST(several_entries_add_up_and_rests_are_left)
{
	const char *text = "sbxrun:100000:65537\nsbxrun:300000:200000\n";
	struct pool p;

	CHECK(read_pool(text, text, &p) == 0);
	CHECK_INT(pool_count(&p), 1 + 3);
	CHECK_INT(pool_range(&p, 0).first, 100000);
	CHECK_INT(pool_range(&p, 1).first, 300000);
	CHECK_INT(pool_range(&p, 3).first, 300000 + 2 * 65536);
}

TEST(the_entry_that_messages_recommend_is_accepted)
{
	struct pool p;

	CHECK(read_pool(POOL_ENTRY "\n", POOL_ENTRY "\n", &p) == 0);
	CHECK_INT(pool_count(&p), 4094);
	CHECK_INT(pool_range(&p, 4093).first + 65535U, 2147352575);
}

TEST(lines_that_say_nothing_are_passed_over)
{
	struct pool p;

	CHECK(read_pool("\n# x\nsbxrun:\n"
			"sbxrun:1:2:3\nsbxrun:-1:65536\nsbxrun:a:b\nsbxrun:5:0\n" OURS,
			OURS, &p) == 0);
	CHECK_INT(p.n, 1);
}

/* ---- where no file says a word of us ---- */

TEST(without_an_entry_there_are_the_usual_ids)
{
	static const char *const others[] = {"", "joe:100000:65536\n", "joe:100000:65536",
					     "joe:1878982656:65536\njim:2147352576:65536\n",
					     "\n\n# no entry\nxsbxrun:1879048192:65536:\n",
					     "joe:1879048192:-5\njoe:x:y\njoe:1879048192:0\n"};
	struct pool p;
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		CHECK(read_pool(others[i], "", &p) == 0);
		CHECK(p.unasked);
		CHECK_INT(p.n, 1);
		CHECK_INT(pool_count(&p), 4094);
		CHECK_INT(pool_range(&p, 0).first, 1879048192);
		CHECK_INT(pool_range(&p, 4093).first, 2147352576 - 65536);
		CHECK(read_pool("", others[i], &p) == 0);
		CHECK_INT(pool_count(&p), 4094);
	}
	CHECK(read_pool(OURS, OURS, &p) == 0);
	CHECK(!p.unasked);
}

/* Whatever others have, of either file: none of it is given, and all that is left is, up to the
 * cap of parts. */
TEST(ids_of_others_are_cut_out_of_the_usual_ones)
{
	static const struct {
		const char *subuid, *subgid;
		uint32_t count, first, second; /* of ranges */
	} rows[] = {
		{"a:1879048192:1\n", "", 4093, 1879113728, 1879179264},
		{"", "a:1879048192:65537\n", 4092, 1879179264, 1879244800},
		{"a:1800000000:79048193\n", "", 4093, 1879113728, 1879179264},
		{"a:1879113727:2\n", "", 4092, 1879179264, 1879244800},
		{"a:1879113728:65536\n", "b:1879244800:65536", 4092, 1879048192, 1879179264},
		{"a:2147352575:1000000000\n", "", 4093, 1879048192, 1879113728},
		{"a:0x70000000:0x10000\n", "", 4093, 1879113728, 1879179264},
		{"a:1879048192:268238848\n", "", 1, 2147287040, 0},
		{"a:2000000000:4000000000000\n", "1000:1879048192:100000000\n", 319, 1979056128,
		 1979121664},
	};
	struct pool p;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (read_pool(rows[i].subuid, rows[i].subgid, &p) < 0)
			FAIL("%zu: %s", i, why.text);
		if (pool_count(&p) != rows[i].count || pool_range(&p, 0).first != rows[i].first ||
		    (rows[i].second && pool_range(&p, 1).first != rows[i].second))
			FAIL("%zu: %u ranges from %u on", i, pool_count(&p),
			     pool_range(&p, 0).first);
	}
}

TEST(many_entries_of_others_leave_the_first_parts)
{
	char *text = arena_strdup(&arena, "");
	struct pool p;
	int i;

	for (i = 0; i < 40; i++)
		text = arena_printf(&arena, "%sa:%d:1\n", text, 1879048192 + (2 * i + 1) * 65536);
	CHECK(read_pool("", text, &p) == 0);
	CHECK_INT(p.n, POOL_ENTRIES_MAX);
	CHECK_INT(pool_count(&p), POOL_ENTRIES_MAX);
	CHECK_INT(pool_range(&p, 15).first, 1879048192 + 30 * 65536);
}

/* shadow believes lines of up to 1023 characters. */
TEST(an_entry_of_a_long_name_counts)
{
	char name[1000];
	struct pool p;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	CHECK(read_pool(arena_printf(&arena, "%s:1879048192:65536\n", name), "", &p) == 0);
	CHECK_INT(pool_count(&p), 4093);
}

static const char *refusal(const char *subuid, const char *subgid)
{
	struct pool p;

	return read_pool(subuid, subgid, &p) < 0 ? why.text : "accepted";
}

/* A word of ours that gives nothing is an administrator's no, or his mistake. */
TEST(an_entry_that_gives_nothing_is_no_consent)
{
	static const struct {
		const char *subuid, *subgid, *says;
	} rows[] = {
		{POOL_NONE "\n", "", "/etc/subuid: the entry sbxrun:0:0 gives containers no ids"},
		{"", POOL_NONE, "/etc/subgid: the entry sbxrun:0:0 gives"},
		{"joe:1:2\n" POOL_NONE "\n", POOL_NONE "\n", "/etc/subuid: the entry sbxrun:0:0"},
		{"sbxrun:\n", "", "the entry sbxrun: gives"},
		{"sbxrun:a:b\n", "", "the entry sbxrun:a:b gives"},
		{"", OURS, "/etc/subgid: the entry sbxrun:1879048192:131072 gives"},
		{POOL_NONE "\n", OURS, "/etc/subuid: the entry sbxrun:0:0 gives"},
		{"a:1879048192:268304384\n", "", "to others, and no entry sbxrun"},
		{"a:0:4294967295\n", "", "to others, and no entry sbxrun"},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strstr(refusal(rows[i].subuid, rows[i].subgid), rows[i].says))
			FAIL("%zu: %s", i, why.text);
}

TEST(entries_that_are_somebody_elses_are_refused)
{
	static const struct {
		const char *subuid, *subgid, *says;
	} rows[] = {
		{OURS, "", "/etc/subgid has no entry"},
		{OURS, "sbxrun:1879048192:65536\n", "/etc/subgid has no entry"},
		{OURS "containers:1879100000:65536\n", OURS, "belong to containers, too"},
		{OURS, OURS "containers:1800000000:90000000\n", "/etc/subgid: ids"},
		{OURS "sbxrun:1879100000:65536\n", OURS "sbxrun:1879100000:65536\n",
		 "another entry of sbxrun"},
		{"sbxrun:0:65536\n", "sbxrun:0:65536\n", "the machine's own accounts"},
		{"sbxrun:65535:65536\n", "sbxrun:65535:65536\n", "the machine's own accounts"},
		{"sbxrun:458753:65536\n", "sbxrun:458753:65536\n", "systemd's containers"},
		{"sbxrun:1879048191:65536\n", "sbxrun:1879048191:65536\n", "systemd's containers"},
		{"sbxrun:2147352575:2\n", "sbxrun:2147352575:2\n", "systemd's foreign ids"},
		{"sbxrun:4294967290:65536\n", "sbxrun:4294967290:65536\n", "too large"},
		{"sbxrun:9999999999:65536\n", "sbxrun:9999999999:65536\n", "too large"},
		{"sbxrun:100000:65535\n", "sbxrun:100000:65535\n", "less than 65536"},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strstr(refusal(rows[i].subuid, rows[i].subgid), rows[i].says))
			FAIL("%zu: %s", i, why.text);
}

TEST(neighbours_do_not_overlap)
{
	CHECK_STR(refusal(OURS "a:1879179264:65536\nb:1878982656:65536\n", OURS), "accepted");
}

/* ---- maps ---- */

static char *show(struct oci_id_maps maps)
{
	char *text = arena_strdup(&arena, "");
	size_t i;

	for (i = 0; i < maps.n; i++)
		text = arena_printf(&arena, "%s%s%u %u %u", text, i ? ", " : "",
				    maps.v[i].container_id, maps.v[i].host_id, maps.v[i].size);
	return text;
}

TEST(a_volume_maps_root_to_its_owner)
{
	const struct id_range r = {1000000, 65536};

	CHECK_STR(show(ids_map_plainly(r, &arena)), "0 1000000 65536");
	CHECK_STR(show(ids_map_to_owner(r, 0, 0, &arena)), "0 1000000 65536");
	CHECK_STR(show(ids_map_to_owner(r, 0, 1000, &arena)), "0 1000000 65536");
	CHECK_STR(show(ids_map_to_owner(r, 1000, 0, &arena)),
		  "1000 1000000 1, 1 1000001 999, 1001 1001001 64535");
	CHECK_STR(show(ids_map_to_owner(r, 1, 0, &arena)), "1 1000000 1, 2 1000002 65534");
	CHECK_STR(show(ids_map_to_owner(r, 65535, 0, &arena)), "65535 1000000 1, 1 1000001 65534");
	CHECK_STR(show(ids_map_to_owner(r, 65536, 0, &arena)), "65536 1000000 1, 1 1000001 65535");
	CHECK_STR(show(ids_map_to_owner(r, 2000000, 0, &arena)),
		  "2000000 1000000 1, 1 1000001 65535");
}

TEST(a_program_with_the_owners_id_is_the_owner)
{
	const struct id_range r = {1000000, 65536};

	CHECK_STR(show(ids_map_to_owner(r, 1000, 1000, &arena)), "1 1000001 65535");
	CHECK_STR(show(ids_map_to_owner(r, 1000, 1001, &arena)),
		  "1000 1000000 1, 1 1000001 999, 1001 1001001 64535");
	CHECK_STR(show(ids_map_to_owner(r, 70000, 70000, &arena)),
		  "70000 1000000 1, 1 1000001 65535");
}

/* Whatever the owner: the disk's root is nobody's unless he is it. */
TEST(no_map_gives_away_the_disks_root)
{
	const struct id_range r = {1000000, 65536};
	const uint32_t owners[] = {1, 2, 999, 1000, 65534, 65535, 65536, 4294967294U};
	const uint32_t programs[] = {0, 1, 1000, 65535};
	size_t i, k, n;

	for (i = 0; i < sizeof(owners) / sizeof(owners[0]); i++)
		for (k = 0; k < sizeof(programs) / sizeof(programs[0]); k++) {
			struct oci_id_maps m = ids_map_to_owner(r, owners[i], programs[k], &arena);

			for (n = 0; n < m.n; n++)
				CHECK(m.v[n].container_id != 0);
		}
}

/* ---- the row ---- */

static struct policy_clamps clamps;

/* A config that asks for nothing, under "oci" but for this row. */
static int tighten(int level, struct host_facts facts, struct oci_config *c)
{
	struct policy p = *policy_preset_find("oci");

	p.level[LEVEL_USER_NS] = level;
	clamps = (struct policy_clamps){0};
	return policy_tighten(&p, &facts, c, &arena, &clamps, &why);
}

TEST(the_row_gives_the_namespace_and_its_maps)
{
	const struct host_facts facts = {.machine_root = true, .id_range = {1000000, 65536}};
	struct oci_config c = {0};

	CHECK(tighten(USER_NS_ALWAYS, facts, &c) == 0);
	CHECK_INT(c.linux_.namespaces.n, 1);
	CHECK_INT(c.linux_.namespaces.v[0].type, OCI_NS_USER);
	CHECK_STR(show(c.linux_.uid_mappings), "0 1000000 65536");
	CHECK_STR(show(c.linux_.gid_mappings), "0 1000000 65536");
	CHECK_STR(clamps.v[0].text, "linux.namespaces: a user namespace of its own with the ids "
				    "1000000 to 1065535");
}

TEST(without_a_range_auto_notes_it_and_always_refuses)
{
	const struct host_facts facts = {.machine_root = true, .no_id_range = "the moon is full"};
	struct oci_config c = {0};

	CHECK(tighten(USER_NS_AUTO, facts, &c) == 0);
	CHECK_INT(c.linux_.namespaces.n, 0);
	CHECK_STR(clamps.v[0].text, "linux.namespaces: no user namespace, since the moon is full");
	CHECK(tighten(USER_NS_ALWAYS, facts, &c) < 0);
	CHECK(strstr(why.text, "(the moon is full) [user-namespace]"));
}

TEST(who_has_one_or_is_in_one_is_left_alone)
{
	const struct id_range range = {1000000, 65536};
	struct oci_namespace user = {.type = OCI_NS_USER};
	struct oci_config own = {0}, none = {0};

	own.linux_.namespaces.v = &user;
	own.linux_.namespaces.n = 1;
	CHECK(tighten(USER_NS_ALWAYS, (struct host_facts){.machine_root = true}, &own) == 0);
	CHECK_INT(own.linux_.uid_mappings.n, 0);
	CHECK(tighten(USER_NS_ALWAYS, (struct host_facts){.id_range = range}, &none) == 0);
	CHECK_INT(none.linux_.namespaces.n, 0);
	CHECK_INT(clamps.n, 0);
}

/* ---- layers of an overlay ---- */

static char *show_layers(const char *options)
{
	struct overlay_layers l;
	char *text = arena_strdup(&arena, "");
	size_t i;

	if (overlay_parse(options, &arena, &l, &why) < 0)
		return why.text;
	for (i = 0; i < l.lower.n; i++)
		text = arena_printf(&arena, "%s%s|", text, l.lower.v[i]);
	text = arena_printf(&arena, "%s upper %s work %s", text, l.upper ? l.upper : "-",
			    l.work ? l.work : "-");
	for (i = 0; i < l.options.n; i++)
		text = arena_printf(&arena, "%s %s", text, l.options.v[i]);
	return text;
}

TEST(layers_of_an_overlay_are_read_as_the_kernel_writes_them)
{
	CHECK_STR(show_layers("rw,lowerdir=/l/a:/l/b,upperdir=/x/diff,workdir=/x/work,uuid=on"),
		  "/l/a|/l/b| upper /x/diff work /x/work");
	CHECK_STR(show_layers("ro,lowerdir=/l/a:/l/b"), "/l/a|/l/b| upper - work -");
	CHECK_STR(show_layers("rw,lowerdir+=/l/a,lowerdir+=/l/b\\040c,"
			      "upperdir=/x/d\\134e,workdir=/x/w"),
		  "/l/a|/l/b c| upper /x/d\\e work /x/w");
	CHECK_STR(show_layers("rw,lowerdir=/l/a\\134:b:/l/c,redirect_dir=on,index=off,metacopy=on,"
			      "userxattr,volatile,xino=off"),
		  "/l/a:b|/l/c| upper - work - redirect_dir=on metacopy=on userxattr");
}

TEST(layers_without_a_name_that_can_be_opened_are_refused)
{
	const char *no = "the overlay's layers have no absolute names in mountinfo";

	CHECK_STR(show_layers("rw,lowerdir=l/A:l/B,upperdir=/x/diff,workdir=/x/work"), no);
	CHECK_STR(show_layers("rw,lowerdir=/l/a,upperdir=diff,workdir=work"), no);
	CHECK_STR(show_layers("rw"), no);
	CHECK_STR(show_layers("rw,lowerdir=/a::/data"), no);
	CHECK_STR(show_layers("rw,lowerdir+=/a,datadir+=/b"), "the overlay has data-only layers");
}

/* ---- who holds what ---- */

static char dir[64];
static int dfd = -1;
static struct pool two = {.n = 1, .v = {{1879048192, 131072}}};

static const char *state_dir(const char *id)
{
	return arena_printf(&arena, "%s/root/%s", dir, id);
}

static void begin(void)
{
	snprintf(dir, sizeof(dir), "/tmp/test_ranges.XXXXXX");
	CHECK(mkdtemp(dir));
	CHECK(mkdir(arena_printf(&arena, "%s/ranges", dir), 0700) == 0);
	dfd = open(arena_printf(&arena, "%s/ranges", dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(dfd >= 0);
}

static void end(void)
{
	fd_close(&dfd);
	CHECK(system(arena_printf(&arena, "rm -r %s", dir)) == 0);
}

/* The record that a create writes. */
static void write_record(const char *id, struct id_range range)
{
	auto_store struct store s = STORE_NONE;
	struct record r = {.version = RECORD_VERSION,
			   .id = arena_strdup(&arena, id),
			   .oci_version = arena_strdup(&arena, "1.0.0"),
			   .bundle = arena_strdup(&arena, "/b"),
			   .rootfs = arena_strdup(&arena, "/r"),
			   .created = arena_strdup(&arena, "now"),
			   .boot_id = arena_strdup(&arena, "boot"),
			   .id_range = range};

	CHECK(store_claim(arena_printf(&arena, "%s/root", dir), id, &s, &why) == 0);
	CHECK(store_write(&s, &r, &arena, &why) == 0);
}

static void remove_record(const char *id)
{
	auto_store struct store s = STORE_NONE;

	CHECK(store_open(arena_printf(&arena, "%s/root", dir), id, STORE_LOCK, &s, &why) == 0);
	CHECK(store_remove(&s, &why) == 0);
}

static void release(struct id_range range, const char *id)
{
	autoclose int state_dfd = open(state_dir(id), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	ranges_release_in(dfd, range, state_dfd);
}

static int take(const char *id, struct range_hold *ret)
{
	*ret = RANGE_HOLD_NONE;
	return ranges_take_in(dfd, &two, state_dir(id), &arena, ret, &why);
}

static uint32_t take_and_record(const char *id)
{
	struct range_hold h;

	CHECK(take(id, &h) == 0);
	write_record(id, h.range);
	ranges_settle(&h, 0, 0);
	return h.range.first;
}

static bool is_there(uint32_t first)
{
	return faccessat(dfd, arena_printf(&arena, "%u", first), F_OK, 0) == 0;
}

TEST(two_containers_have_disjoint_ranges)
{
	uint32_t a, b;

	begin();
	a = take_and_record("a");
	b = take_and_record("b");
	CHECK(a != b);
	CHECK(a % 65536 == 0 && b % 65536 == 0);
	end();
}

TEST(when_all_are_held_the_error_says_so)
{
	struct range_hold h;

	begin();
	take_and_record("a");
	take_and_record("b");
	CHECK(take("c", &h) < 0);
	CHECK_STR(why.text,
		  "containers hold all of the 2 ranges of ids that there are: delete some, or give more to sbxrun "
		  "in /etc/subuid and /etc/subgid");
	end();
}

TEST(a_deleted_container_frees_its_range)
{
	uint32_t a;

	begin();
	a = take_and_record("a");
	take_and_record("b");
	release((struct id_range){a, 65536}, "a");
	CHECK(!is_there(a));
	remove_record("a");
	CHECK_INT(take_and_record("c"), a);
	end();
}

TEST(nobody_frees_what_is_anothers)
{
	uint32_t a;

	begin();
	a = take_and_record("a");
	write_record("b", (struct id_range){a, 65536});
	release((struct id_range){a, 65536}, "b");
	release((struct id_range){a, 65536}, "c");
	CHECK(is_there(a));
	end();
}

TEST(a_dropped_one_leaves_nothing)
{
	struct range_hold h;
	uint32_t first;

	begin();
	CHECK(take("a", &h) == 0);
	first = h.range.first;
	CHECK(is_there(first));
	ranges_drop(&h);
	CHECK(h.fd == -1 && h.dfd == -1 && !is_there(first));
	end();
}

TEST(the_same_container_finds_its_old_range_again)
{
	uint32_t first;

	begin();
	first = take_and_record("a");
	release((struct id_range){first, 65536}, "a");
	remove_record("a");
	CHECK_INT(take_and_record("a"), first);
	end();
}

TEST(a_sweep_takes_what_nobody_holds)
{
	struct range_hold h;
	uint32_t held;

	begin();
	held = take_and_record("a");
	CHECK(take("b", &h) == 0); /* at work: its file is locked, and no record says so yet */
	ranges_sweep_in(dfd, 100);
	CHECK(is_there(held) && is_there(h.range.first));
	fd_close(&h.fd);
	fd_close(&h.dfd);
	ranges_sweep_in(dfd, 0);
	CHECK(is_there(h.range.first));
	ranges_sweep_in(dfd, 100);
	CHECK(is_there(held) && !is_there(h.range.first));
	remove_record("a");
	ranges_sweep_in(dfd, 100);
	CHECK(!is_there(held));
	end();
}

/* ---- a create that is killed, after each of its steps ---- */

/* What it leaves; the lock goes with the process. */
static void leave(uint32_t first, const char *text)
{
	autoclose int fd = openat(dfd, arena_printf(&arena, "%u", first),
				  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && fd_write_all(fd, text, strlen(text)) == 0);
}

static void both_can_be_taken(void)
{
	uint32_t a = take_and_record("x"), b = take_and_record("y");

	CHECK(a != b);
}

TEST(killed_before_it_has_said_who_it_is)
{
	begin();
	leave(1879048192, "");
	leave(1879048192 + 65536, "/run/sbx");
	both_can_be_taken();
	end();
}

TEST(killed_before_it_has_a_directory)
{
	begin();
	leave(1879048192, arena_printf(&arena, "%s\n", state_dir("a")));
	leave(1879048192 + 65536, "/nowhere/a\n");
	both_can_be_taken();
	end();
}

TEST(killed_before_it_has_a_record)
{
	begin();
	CHECK(mkdir(arena_printf(&arena, "%s/root", dir), 0700) == 0);
	CHECK(mkdir(state_dir("a"), 0700) == 0);
	leave(1879048192, arena_printf(&arena, "%s\n", state_dir("a")));
	leave(1879048192 + 65536, arena_printf(&arena, "%s\n", state_dir("a")));
	both_can_be_taken();
	end();
}

TEST(a_record_with_another_range_holds_nothing)
{
	begin();
	write_record("a", (struct id_range){100000, 65536});
	write_record("b", (struct id_range){0, 0});
	leave(1879048192, arena_printf(&arena, "%s\n", state_dir("a")));
	leave(1879048192 + 65536, arena_printf(&arena, "%s\n", state_dir("b")));
	both_can_be_taken();
	end();
}

TEST(killed_once_it_has_a_record_it_holds_its_range)
{
	struct range_hold h;

	begin();
	write_record("a", (struct id_range){1879048192, 65536});
	leave(1879048192, arena_printf(&arena, "%s\n", state_dir("a")));
	take_and_record("x");
	CHECK(take("y", &h) < 0);
	remove_record("a");
	CHECK_INT(take_and_record("y"), 1879048192);
	end();
}

TEST(a_record_that_cannot_be_read_holds_its_range)
{
	struct range_hold h;

	begin();
	write_record("a", (struct id_range){1879048192, 65536});
	CHECK(system(arena_printf(&arena, "echo '{' >%s/state.json", state_dir("a"))) == 0);
	leave(1879048192, arena_printf(&arena, "%s\n", state_dir("a")));
	take_and_record("x");
	CHECK(take("y", &h) < 0);
	end();
}

TEST(an_init_that_lives_holds_its_range_though_its_record_is_out_of_sight)
{
	struct range_hold h;
	struct proc_stat stat;
	uint32_t first;

	begin();
	CHECK(proc_stat_read(getpid(), &stat) == 0);
	CHECK(take("a", &h) == 0);
	first = h.range.first;
	ranges_settle(&h, getpid(), stat.start);
	CHECK(take_and_record("x") != first);
	CHECK(take("y", &h) < 0);
	/* Its number is another's by now. */
	leave(first, arena_printf(&arena, "/nowhere/a\n%d %llu\n", getpid(),
				  (unsigned long long)stat.start + 1));
	CHECK_INT(take_and_record("y"), first);
	end();
}

TEST(one_that_is_being_taken_is_left_alone)
{
	struct range_hold a, b, c;

	begin();
	CHECK(take("a", &a) == 0);
	CHECK(take("b", &b) == 0);
	CHECK(a.range.first != b.range.first);
	CHECK(take("c", &c) < 0);
	/* Not even who has that name frees it. */
	write_record("a", a.range);
	release(a.range, "a");
	CHECK(is_there(a.range.first));
	ranges_drop(&a);
	ranges_drop(&b);
	end();
}

/* ---- many at once ---- */

enum { WORKERS = 8, ROUNDS = 200 };

/* Takes, checks that nobody else has it, and gives back or dies. 0: all was well. */
static int work(int number, const struct pool *pool, const char *used)
{
	struct arena own = {0};
	unsigned int seed = (unsigned int)number;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		const char *id = arena_printf(&own, "%s/root/w%d-%d", dir, number, rand_r(&seed));
		struct range_hold h = RANGE_HOLD_NONE;
		struct error e;
		char *mark;

		if (ranges_take_in(dfd, pool, id, &own, &h, &e) < 0)
			return 1;
		mark = arena_printf(&own, "%s/%u", used, h.range.first);
		if (mkdir(mark, 0700) < 0)
			return 2;
		if (rmdir(mark) < 0)
			return 3;
		/* Every third is one that was killed. */
		if (i % 3 == 0)
			ranges_settle(&h, 0, 0);
		else
			ranges_drop(&h);
	}
	return 0;
}

TEST(eight_processes_never_have_the_same)
{
	const struct pool pool = {.n = 1, .v = {{1879048192, (WORKERS + 1) * 65536}}};
	const char *used;
	pid_t pids[WORKERS];
	int i, status, failed = 0;

	begin();
	used = arena_printf(&arena, "%s/used", dir);
	CHECK(mkdir(used, 0700) == 0);
	for (i = 0; i < WORKERS; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(work(i, &pool, used));
	}
	for (i = 0; i < WORKERS; i++)
		if (waitpid(pids[i], &status, 0) != pids[i] || status != 0)
			failed = failed ? failed : status >> 8;
	CHECK_INT(failed, 0);
	end();
}

/* Locks end with whoever had them, wherever he was killed. */
TEST(what_the_killed_had_can_be_taken)
{
	int i, ready[2];

	begin();
	for (i = 0; i < 3; i++) {
		struct range_hold h;
		pid_t pid;
		char c;

		CHECK(pipe(ready) == 0);
		pid = fork();
		if (pid == 0) {
			if (take("k", &h) == 0 && take("l", &h) == 0)
				(void)!write(ready[1], "x", 1);
			pause();
			_exit(0);
		}
		CHECK(read(ready[0], &c, 1) == 1);
		CHECK(take("m", &h) < 0);
		CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
		CHECK(take("m", &h) == 0);
		ranges_drop(&h);
		close(ready[0]);
		close(ready[1]);
	}
	end();
}

int main(void)
{
	return unit_main();
}
