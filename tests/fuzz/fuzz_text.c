/* Small functions on strings from outside. */
#include "base/path.h"
#include "fuzz.h"
#include "json/json.h"
#include "cli/ps.h"
#include "state/store.h"
#include "oci/validate.h"

static void check_path(const char *text, struct arena *a)
{
	char *clean = path_clean(a, text);

	DEMAND(clean[0] == '/' && !oci_path_climbs(clean) && str_eq(path_clean(a, clean), clean));
	DEMAND(path_is_below(clean, "/") && path_is_below(clean, clean));
	DEMAND(path_join(a, "/dir", text)[0] == '/');
}

static void check_shown(const char *text, size_t len, struct arena *a)
{
	struct json_shown shown = json_show_n(text, len);
	struct buf b = buf_new(a, 1 << 20);
	const unsigned char *p;
	size_t at;

	DEMAND(strnlen(shown.text, sizeof(shown.text)) < sizeof(shown.text));
	for (p = (const unsigned char *)shown.text; *p; p++)
		DEMAND(*p >= ' ' && *p != 0x7f);
	json_write_string(&b, text);
	for (at = 0; at < b.len; at += str_utf8_len((const unsigned char *)b.data + at, b.len - at))
		DEMAND(str_utf8_len((const unsigned char *)b.data + at, b.len - at));
}

static void check_ps(char *text, struct arena *a)
{
	static const pid_t pids[] = {1, 22, 333};
	struct buf b = buf_new(a, 1 << 20);
	struct error e = {0};

	if (ps_filter(text, pids, ARRAY_SIZE(pids), &b, &e) < 0)
		fuzz_check_error(&e);
}

void fuzz_one(char *text, size_t len, struct arena *a)
{
	char path[256];
	struct error e = {0};

	if (!len)
		return;
	switch (*text++ % 5) {
	case 0:
		check_path(text, a);
		break;
	case 1:
		check_shown(text, len - 1, a);
		break;
	case 2:
		if (oci_sysctl_path(text, path, sizeof(path)))
			DEMAND(path[0] != '/' && !oci_path_climbs(path) &&
			       strlen(path) < sizeof(path));
		break;
	case 3:
		check_ps(text, a);
		break;
	case 4:
		if (store_check_id(text, &e) < 0)
			fuzz_check_error(&e);
		else
			DEMAND(!strchr(text, '/') && !str_eq(text, "..") && *text);
		(void)oci_is_number_list(text);
		(void)oci_is_ifname(text);
		if (oci_validate_version(text, &e) < 0)
			fuzz_check_error(&e);
		break;
	}
}
