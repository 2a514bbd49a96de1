/* The tables of names. */
#include "unit.h"

#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/str.h"
#include "filter/syscalls.h"
#include "oci/mount_options.h"
#include "oci/names.h"
#include "oci/words.h"

TEST(capabilities_go_both_ways)
{
	int i;

	for (i = 0; i <= 40; i++) {
		CHECK(oci_cap_name(i));
		CHECK_INT(oci_cap_number(oci_cap_name(i)), i);
	}
	CHECK(!oci_cap_name(41) && !oci_cap_name(-1));
	CHECK_INT(oci_cap_number("CAP_SYS_ADMIN"), CAP_SYS_ADMIN);
	CHECK_INT(oci_cap_number("CAP_CHECKPOINT_RESTORE"), 40);
	CHECK_INT(oci_cap_number("cap_chown"), -1);
	CHECK_INT(oci_cap_number("CHOWN"), -1);
	CHECK_INT(oci_cap_number(""), -1);
}

TEST(every_rlimit_of_the_kernel_has_a_name)
{
	static const char *const names[] = {
		"RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_DATA", "RLIMIT_STACK", "RLIMIT_CORE", "RLIMIT_RSS",
		"RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_MEMLOCK", "RLIMIT_AS", "RLIMIT_LOCKS",
		"RLIMIT_SIGPENDING", "RLIMIT_MSGQUEUE", "RLIMIT_NICE", "RLIMIT_RTPRIO", "RLIMIT_RTTIME"};
	unsigned int seen = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		CHECK(oci_rlimit_number(names[i]) >= 0);
		seen |= 1U << oci_rlimit_number(names[i]);
	}
	CHECK_INT(seen, (1U << RLIM_NLIMITS) - 1);
	CHECK_INT(oci_rlimit_number("NOFILE"), -1);
	CHECK_INT(oci_rlimit_number("RLIMIT_NOFILES"), -1);
}

TEST(signals_are_read_in_all_forms)
{
	const struct {
		const char *text;
		int number;
	} cases[] = {
		{"KILL", SIGKILL},
		{"SIGKILL", SIGKILL},
		{"sigkill", SIGKILL},
		{"kill", SIGKILL},
		{"9", 9},
		{"0", 0},
		{"15", 15},
		{"64", 64},
		{"TERM", SIGTERM},
		{"SigTerm", SIGTERM},
		{"IOT", SIGABRT},
		{"CLD", SIGCHLD},
		{"POLL", SIGIO},
		{"SYS", SIGSYS},
		{"STKFLT", SIGSTKFLT},
		{"RTMIN", SIGRTMIN},
		{"SIGRTMIN", SIGRTMIN},
		{"RTMIN+3", SIGRTMIN + 3},
		{"rtmin+3", SIGRTMIN + 3},
		{"SIGRTMAX-2", SIGRTMAX - 2},
		{"RTMAX", SIGRTMAX},
		{"RTMIN+30", SIGRTMAX},
		{"RTMAX-30", SIGRTMIN},
		{"65", -1},
		{"-9", -1},
		{"", -1},
		{"SIG", -1},
		{"SIGSIGKILL", -1},
		{"KILLX", -1},
		{" 9", -1},
		{"9 ", -1},
		{"9x", -1},
		{"0x9", -1},
		{"RTMIN-1", -1},
		{"RTMAX+1", -1},
		{"RTMIN+", -1},
		{"RTMIN+31", -1},
		{"RTMIN+-1", -1},
		{"99999999999999999999", -1},
		{"SIGVERYLONGNAMETHATNOSIGNALHAS", -1},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (oci_signal_number(cases[i].text) != cases[i].number)
			FAIL("%s is %d", cases[i].text, oci_signal_number(cases[i].text));
}

TEST(every_ordinary_signal_has_a_name)
{
	int i;

	for (i = 1; i < 32; i++) {
		CHECK(oci_signal_name(i));
		CHECK_INT(oci_signal_number(oci_signal_name(i)), i);
	}
	CHECK_STR(oci_signal_name(SIGABRT), "SIGABRT");
	CHECK_STR(oci_signal_name(SIGCHLD), "SIGCHLD");
	CHECK_STR(oci_signal_name(SIGIO), "SIGIO");
	CHECK(!oci_signal_name(0) && !oci_signal_name(SIGRTMIN));
}

TEST(namespaces_have_words_flags_and_files)
{
	size_t i;

	for (i = 0; i < OCI_NS_COUNT; i++) {
		CHECK_INT(oci_ns_names[i].type, i);
		CHECK_STR(oci_ns_names[i].word, oci_ns_words[i].word);
		CHECK_INT(oci_ns_words[i].value, i);
		CHECK(oci_ns_names[i].flag && oci_ns_names[i].proc);
	}
	CHECK_INT(oci_ns_names[OCI_NS_TIME].flag, 0x80);
	CHECK_STR(oci_ns_names[OCI_NS_NETWORK].proc, "net");
	CHECK(!oci_ns_words[OCI_NS_COUNT].word);
}

TEST(word_lists_have_the_counts_of_the_specification)
{
	size_t n;

	for (n = 0; oci_seccomp_archs[n]; n++)
		;
	CHECK_INT(n, 23);
	for (n = 0; oci_seccomp_action_words[n].word; n++)
		;
	CHECK_INT(n, 9);
	for (n = 0; oci_seccomp_op_words[n].word; n++)
		;
	CHECK_INT(n, 7);
}

/* A word that config.json may have is one that the runtime can carry out. */
TEST(words_have_what_they_stand_for)
{
	const struct json_word *w;
	size_t i;

	for (i = 0; oci_seccomp_archs[i]; i++) {
		const char *name = str_after(oci_seccomp_archs[i], "SCMP_ARCH_");

		if (!name || !syscall_arch_find(name))
			FAIL("%s: without a table of system calls", oci_seccomp_archs[i]);
	}
	for (w = oci_propagations; w->word; w++) {
		const struct mount_option *o = mount_option_find(w->word);

		if (!o || o->set != (uint64_t)w->value ||
		    o->kind != (w->word[0] == 'r' ? OPT_PROPAGATION_ALL : OPT_PROPAGATION))
			FAIL("%s: another word for mounts", w->word);
	}
	/* What the kernel's headers may lack is written as numbers. */
	CHECK_INT(oci_word_find(oci_scheduler_policies, "SCHED_ISO")->value, 4);
	CHECK_INT(oci_word_find(oci_memory_modes, "MPOL_WEIGHTED_INTERLEAVE")->value, 6);
	CHECK_INT(oci_word_find(oci_memory_flags, "MPOL_F_STATIC_NODES")->value, 1 << 15);
	CHECK_INT(oci_word_find(oci_seccomp_flags, "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV")->value,
		  32);
	CHECK(!oci_word_find(oci_scheduler_policies, "SCHED_"));
}

int main(void)
{
	return unit_main();
}
