#include "plan/landlock.h"

#include "base/path.h"
#include "base/str.h"

/* Rights and the ABI that has them. */
static const struct {
	int abi;
	uint64_t rights;
} steps[] = {
	{1, LANDLOCK_EXECUTE | LANDLOCK_WRITE_FILE | LANDLOCK_READ_FILE | LANDLOCK_READ_DIR |
		    LANDLOCK_REMOVE_DIR | LANDLOCK_REMOVE_FILE | LANDLOCK_MAKE_CHAR |
		    LANDLOCK_MAKE_DIR | LANDLOCK_MAKE_REG | LANDLOCK_MAKE_SOCK |
		    LANDLOCK_MAKE_FIFO | LANDLOCK_MAKE_BLOCK | LANDLOCK_MAKE_SYM},
	{2, LANDLOCK_REFER},
	{3, LANDLOCK_TRUNCATE},
	{5, LANDLOCK_IOCTL_DEV},
};

#define RIGHTS_OF_ROOT (LANDLOCK_EXECUTE | LANDLOCK_READ_FILE | LANDLOCK_READ_DIR)
#define RIGHTS_TO_WRITE                                                                            \
	(LANDLOCK_WRITE_FILE | LANDLOCK_TRUNCATE | LANDLOCK_REMOVE_DIR | LANDLOCK_REMOVE_FILE |    \
	 LANDLOCK_MAKE_DIR | LANDLOCK_MAKE_REG | LANDLOCK_MAKE_SOCK | LANDLOCK_MAKE_FIFO |         \
	 LANDLOCK_MAKE_SYM | LANDLOCK_REFER)
#define RIGHTS_OF_DEVICE (LANDLOCK_READ_FILE | LANDLOCK_WRITE_FILE | LANDLOCK_TRUNCATE)
#define RIGHTS_OF_TERMINAL (RIGHTS_OF_DEVICE | LANDLOCK_IOCTL_DEV)

static void place_add(struct landlock_plan *p, const char *path, enum landlock_on on,
		      uint64_t rights)
{
	p->places[p->n++] = (struct landlock_place){path, on, rights & p->handled};
}

static bool mount_is(const struct oci_mount *m, const char *type)
{
	return m->type && str_eq(m->type, type);
}

/* The kernel's own settings are no place to write, whatever their mounts say. */
static bool mount_is_of_kernel(const struct oci_mount *m)
{
	return mount_is(m, "proc") || mount_is(m, "sysfs") || mount_is(m, "cgroup") ||
	       mount_is(m, "cgroup2");
}

static bool mount_is_read_only(const struct oci_mount *m)
{
	bool read_only = false;
	size_t i;

	for (i = 0; i < m->options.n; i++) {
		read_only = read_only || str_eq(m->options.v[i], "ro");
		read_only = read_only && !str_eq(m->options.v[i], "rw");
	}
	return read_only;
}

static void places_of_mounts(const struct oci_config *c, struct arena *a, struct landlock_plan *p)
{
	size_t i;

	for (i = 0; i < c->mounts.n; i++) {
		const struct oci_mount *m = &c->mounts.v[i];

		if (mount_is_of_kernel(m) || mount_is_read_only(m))
			continue;
		place_add(p, path_clean(a, m->destination), ON_MOUNT,
			  mount_is(m, "devpts") ? RIGHTS_OF_TERMINAL : RIGHTS_TO_WRITE);
	}
}

/* A read-only /dev has devices that are written, too. */
static void places_of_devices(const struct oci_config *c, struct arena *a, struct landlock_plan *p)
{
	static const struct {
		const char *path;
		uint64_t rights;
	} usual[] = {
		{"/dev/null", RIGHTS_OF_DEVICE},    {"/dev/zero", RIGHTS_OF_DEVICE},
		{"/dev/full", RIGHTS_OF_DEVICE},    {"/dev/random", RIGHTS_OF_DEVICE},
		{"/dev/urandom", RIGHTS_OF_DEVICE}, {"/dev/tty", RIGHTS_OF_TERMINAL},
		{"/dev/ptmx", RIGHTS_OF_TERMINAL},  {"/dev/console", RIGHTS_OF_TERMINAL},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(usual); i++)
		place_add(p, usual[i].path, ON_DEVICE, usual[i].rights);
	for (i = 0; i < c->linux_.devices.n; i++)
		place_add(p, path_clean(a, c->linux_.devices.v[i].path), ON_DEVICE,
			  RIGHTS_OF_TERMINAL);
}

struct landlock_plan plan_landlock(const struct oci_config *c, bool root_readonly, int abi,
				   struct arena *a)
{
	enum { USUAL = 16 };
	struct landlock_plan p = {.abi = abi};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(steps); i++)
		if (abi >= steps[i].abi)
			p.handled |= steps[i].rights;
	p.root = RIGHTS_OF_ROOT;
	p.places = arena_array(a, c->mounts.n + c->linux_.devices.n + USUAL, struct landlock_place);
	if (!root_readonly)
		place_add(&p, "/", ON_MOUNT, RIGHTS_TO_WRITE);
	places_of_mounts(c, a, &p);
	places_of_devices(c, a, &p);
	return p;
}

const char *plan_landlock_lack(int abi)
{
	if (abi <= 0)
		return "this kernel has no Landlock, or was started without it";
	if (abi < LANDLOCK_ABI_LEAST)
		return "this kernel's Landlock (ABI 1, before Linux 5.19) lets no file be renamed "
		       "from one directory to another";
	if (abi < 3)
		return "this kernel's Landlock does not hold back truncation (Linux 6.2) and "
		       "ioctls of devices (Linux 6.10)";
	if (abi < 5)
		return "this kernel's Landlock does not hold back ioctls of devices (Linux 6.10)";
	return NULL;
}
