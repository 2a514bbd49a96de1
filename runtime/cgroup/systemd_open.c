/* Where systemd listens. Its own socket comes first: there is no bus that could be overloaded, or
 * not installed. */
#include "cgroup/systemd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "sys/loop.h"
#include "sys/patience.h"

#define SERVICE "org.freedesktop.systemd1"

bool systemd_is_running(void)
{
	struct stat st;

	return lstat("/run/systemd/system", &st) == 0 && S_ISDIR(st.st_mode);
}

/* Variables mostly name what would be tried anyway. */
static void places_add(struct systemd_places *p, struct dbus_address at, bool is_bus)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (p->v[i].is_bus == is_bus && p->v[i].at.is_abstract == at.is_abstract &&
		    str_eq(p->v[i].at.name, at.name))
			return;
	if (p->n < ARRAY_SIZE(p->v))
		p->v[p->n++] = (struct systemd_place){.at = at, .is_bus = is_bus};
}

static void places_add_path(struct systemd_places *p, struct arena *a, const char *dir,
			    const char *name, bool is_bus)
{
	if (dir && *dir == '/' && dbus_can_be_shown(dir))
		places_add(p, (struct dbus_address){.name = arena_printf(a, "%s/%s", dir, name)},
			   is_bus);
}

/* A bus that a variable names, perhaps with several addresses. */
static void places_add_variable(struct systemd_places *p, struct arena *a, const char *variable)
{
	const char *list = getenv(variable);
	struct dbus_address at;
	bool found = false;
	struct error e;
	int got;

	if (!list || !*list)
		return;
	for (; (got = dbus_address_next(&list, a, &at, &e)) > 0; found = true)
		places_add(p, at, true);
	if (got < 0)
		snprintf(p->wrong, sizeof(p->wrong), "$%s: %.200s", variable, e.text);
	else if (!found)
		snprintf(p->wrong, sizeof(p->wrong),
			 "$%s: no unix:path= or unix:abstract=", variable);
}

void systemd_list_places(enum systemd_manager m, struct arena *a, struct systemd_places *ret)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR"), *own;

	*ret = (struct systemd_places){0};
	if (m == SYSTEMD_OF_MACHINE) {
		places_add_path(ret, a, "/run", "systemd/private", false);
		places_add_variable(ret, a, "DBUS_SYSTEM_BUS_ADDRESS");
		places_add_path(ret, a, "/run", "dbus/system_bus_socket", true);
		return;
	}
	places_add_path(ret, a, runtime, "systemd/private", false);
	places_add_variable(ret, a, "DBUS_SESSION_BUS_ADDRESS");
	places_add_path(ret, a, runtime, "bus", true);
	own = arena_printf(a, "/run/user/%u", (unsigned int)geteuid());
	places_add_path(ret, a, own, "systemd/private", false);
	places_add_path(ret, a, own, "bus", true);
}

/* Why none of them answers: what each of them said, and what can be done. */
static int refuse_all(enum systemd_manager m, const struct buf *why, struct error *e)
{
	static const char *const remedies[] = {
		[SYSTEMD_OF_MACHINE] = "is systemd the init of this machine, and are we root?",
		[SYSTEMD_OF_USER] = "has the user a running manager (loginctl enable-linger), and "
				    "is XDG_RUNTIME_DIR set?",
	};

	return err_set(e, ERR_HOST, "no connection to systemd: %s: %s", why->data, remedies[m]);
}

int systemd_open_at(enum systemd_manager m, const struct systemd_places *places, int64_t until,
		    struct dbus_first *first, struct systemd *ret, struct error *e)
{
	struct systemd s = {.bus = DBUS_NONE, .manager = m};
	struct arena a = {0};
	struct buf why = buf_new(&a, 800);
	size_t i;

	buf_str(&why, places->wrong);
	for (i = 0; i < places->n; i++) {
		const struct systemd_place *p = &places->v[i];

		if (dbus_open(&p->at, p->is_bus, SERVICE, until, first, &s.bus, e) == 0)
			break;
		/* Not what this place is like, but that there is no time for another. */
		if (loop_now() >= until || patience_check(&(struct error){0}) < 0 ||
		    (first && first->sent)) {
			arena_free(&a);
			return err_wrap(e, "systemd");
		}
		buf_printf(&why, "%s%.300s", why.len ? "; " : "", e->text);
	}
	if (i == places->n)
		refuse_all(m, &why, e);
	else
		*ret = s;
	arena_free(&a);
	return i == places->n ? -1 : 0;
}

int systemd_open(enum systemd_manager m, int64_t until, struct systemd *ret, struct error *e)
{
	struct systemd_places places;
	struct arena a = {0};
	int result;

	systemd_list_places(m, &a, &places);
	result = systemd_open_at(m, &places, until, NULL, ret, e);
	arena_free(&a);
	return result;
}

void systemd_close(struct systemd *s)
{
	dbus_close(&s->bus);
}
