/* Annotations that choose a property of a container's unit: the name on the first line, and its
 * value behind it. */
#include "json/json.h"
#include "plan/unit.h"

#include "fuzz.h"

/* What systemd would be told is of the container's own affairs, and can be sent. */
static void check_property(const struct unit_property *p)
{
	size_t i;

	DEMAND(unit_choice_knows(p->name) && p->chosen && p->field);
	switch (p->type) {
	case UNIT_BOOL:
	case UNIT_NUMBER:
		break;
	case UNIT_SIGNED:
		DEMAND(p->number >= 1 && p->number <= 64);
		break;
	case UNIT_TEXT:
		DEMAND(*p->text &&
		       strspn(p->text, "abcdefghijklmnopqrstuvwxyz-") == strlen(p->text));
		break;
	case UNIT_TEXTS:
		DEMAND(p->texts.n && p->texts.n <= 64);
		for (i = 0; i < p->texts.n; i++)
			DEMAND(unit_name_is_good(p->texts.v[i]) && !strchr(p->texts.v[i], '/'));
		break;
	default:
		DEMAND(p->type == UNIT_BOOL); /* nothing chosen has another */
	}
}

void fuzz_one(char *text, size_t len, struct arena *a)
{
	struct bytes b = {text, len};
	const char *name = bytes_string(&b, a);
	const char *key = arena_printf(a, "org.systemd.property.%s", name);
	const char *value = arena_strndup(a, b.p, b.left);
	struct unit_property p;
	struct error e = {0};

	DEMAND(!unit_choice_is_one(name) || str_after(name, "org.systemd.property."));
	if (unit_choice_read(key, value, a, &p, &e) < 0) {
		fuzz_check_error(&e);
		return;
	}
	DEMAND(unit_choice_is_one(key) && str_eq(unit_choice_name(key), p.name));
	check_property(&p);
}
