/*
 * Runs in the parent (probe) and in init (the rest). libcap keeps the bit layout of capset; each
 * call here is a few system calls, since every one that changes credentials costs about 2 µs.
 */
#include "security/caps.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "oci/names.h"

enum { CAPS_MAX = 64 };

static void caps_release(cap_t *c)
{
	int saved = errno;

	if (*c)
		cap_free(*c);
	errno = saved;
}
#define autocap __attribute__((cleanup(caps_release)))

static const char *caps_name(int n)
{
	const char *name = oci_cap_name(n);

	return name ? name : "a capability";
}

enum bounded { BOUNDED_NO, BOUNDED_YES, BOUNDED_PAST_LAST, BOUNDED_UNKNOWN };

/* Whether a capability is in our bounding set. */
static enum bounded caps_bounded(int n)
{
	int bound = prctl(PR_CAPBSET_READ, n, 0, 0, 0);

	if (bound < 0)
		return errno == EINVAL && n > 0 ? BOUNDED_PAST_LAST : BOUNDED_UNKNOWN;
	return bound ? BOUNDED_YES : BOUNDED_NO;
}

int caps_probe_host(struct cap_host *ret_host, struct error *e)
{
	autocap cap_t own = cap_get_proc();
	struct cap_host host = {0};
	cap_flag_value_t held;
	enum bounded bound;
	int n;

	if (!own)
		return err_sys(e, "capabilities: capget");
	for (n = 0; n < CAPS_MAX && (bound = caps_bounded(n)) != BOUNDED_PAST_LAST; n++) {
		if (bound == BOUNDED_UNKNOWN)
			return err_sys(e, "capabilities: read the bounding set");
		host.known |= CAPS_BIT(n);
		/* libcap may be older than the kernel and know fewer. */
		if (bound == BOUNDED_YES && cap_get_flag(own, n, CAP_PERMITTED, &held) == 0 &&
		    held == CAP_SET)
			host.available |= CAPS_BIT(n);
	}
	*ret_host = host;
	return 0;
}

struct cap_host caps_of_userns(const struct cap_host *host)
{
	return (struct cap_host){.known = host->known, .available = host->known};
}

int caps_reset_securebits(struct error *e)
{
	int bits = prctl(PR_GET_SECUREBITS);

	if (bits < 0)
		return err_sys(e, "capabilities: read the securebits");
	if (bits && prctl(PR_SET_SECUREBITS, 0) < 0)
		return err_sys(
			e,
			"capabilities: reset the caller's securebits %#x (call sbxrun without "
			"them, or with CAP_SETPCAP and unlocked)",
			(unsigned int)bits);
	return 0;
}

int caps_drop_bounding(const struct cap_sets *s, struct error *e)
{
	enum bounded bound;
	int n;

	for (n = 0; n < CAPS_MAX; n++) {
		if (s->bounding & CAPS_BIT(n))
			continue;
		bound = caps_bounded(n);
		if (bound == BOUNDED_PAST_LAST)
			break;
		/* Not knowing must not mean keeping all of them. */
		if (bound == BOUNDED_UNKNOWN)
			return err_sys(e, "capabilities: read the bounding set");
		if (bound == BOUNDED_YES && prctl(PR_CAPBSET_DROP, n, 0, 0, 0) < 0)
			return err_sys(e, "capabilities: drop %s from the bounding set",
				       caps_name(n));
	}
	return 0;
}

static int caps_fill(cap_t c, cap_flag_t flag, uint64_t set)
{
	cap_value_t values[CAPS_MAX];
	int n, count = 0;

	for (n = 0; n < CAPS_MAX; n++)
		if (set & CAPS_BIT(n))
			values[count++] = n;
	return count ? cap_set_flag(c, flag, count, values, CAP_SET) : 0;
}

static int caps_set(uint64_t effective, uint64_t permitted, uint64_t inheritable)
{
	autocap cap_t c = cap_init();

	if (!c || caps_fill(c, CAP_EFFECTIVE, effective) < 0 ||
	    caps_fill(c, CAP_PERMITTED, permitted) < 0 ||
	    caps_fill(c, CAP_INHERITABLE, inheritable) < 0)
		return -1;
	return cap_set_proc(c);
}

static int caps_raise_ambient(uint64_t set, struct error *e)
{
	int n;

	for (n = 0; n < CAPS_MAX; n++)
		if ((set & CAPS_BIT(n)) &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, n, 0, 0) < 0)
			return err_sys(e, "capabilities: raise %s in the ambient set",
				       caps_name(n));
	return 0;
}

int caps_set_for_setup(const struct cap_sets *s, uint64_t needs, struct error *e)
{
	/* Ambient capabilities of the runtime's caller do not come inside. */
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return err_sys(e, "capabilities: clear the ambient set");
	if (caps_set(s->effective | needs, s->permitted | needs, s->inheritable) < 0)
		return err_sys(e, "capabilities: capset");
	return caps_raise_ambient(s->ambient, e);
}

int caps_give_up(const struct cap_sets *s, struct error *e)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	unsigned int i;

	for (i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		data[i] = (struct __user_cap_data_struct){
			.effective = (uint32_t)(s->effective >> 32 * i),
			.permitted = (uint32_t)(s->permitted >> 32 * i),
			.inheritable = (uint32_t)(s->inheritable >> 32 * i),
		};
	if (syscall(SYS_capset, &header, data) < 0)
		return err_sys(e, "capabilities: capset");
	return 0;
}

int caps_apply_final(const struct cap_sets *s, struct error *e)
{
	return caps_set_for_setup(s, 0, e);
}

int caps_apply_without(const struct cap_sets *s, uint64_t lost, struct error *e)
{
	const struct cap_sets less = {
		.bounding = s->bounding,
		.effective = s->effective & ~lost,
		.permitted = s->permitted & ~lost,
		.inheritable = s->inheritable & ~lost,
		.ambient = s->ambient & ~lost,
	};

	/* The bounding set is out of reach without CAP_SETPCAP, and root gets all of it back. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(e, "no_new_privs");
	return caps_apply_final(&less, e);
}
