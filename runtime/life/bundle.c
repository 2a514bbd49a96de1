#include "life/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/path.h"
#include "life/foreground.h"
#include "life/internal.h"
#include "life/notify.h"
#include "oci/oci.h"

static int bundle_read(const struct create_options *o, const char *dir, struct arena *a,
		       const char **ret_text, size_t *ret_len, struct error *e)
{
	const char *path = o->config ? o->config : path_join(a, dir, "config.json");
	/* A pipe may be given by name, but a bundle that has one in place of its config hangs
	 * nobody. */
	autoclose int fd =
		open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (o->config ? 0 : O_NONBLOCK));
	struct stat st;

	if (fd < 0)
		return err_sys(e, "open %s", path);
	if (!o->config && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)))
		return err_set(e, ERR_CONFIG, "%s: not a regular file", path);
	*ret_text = fd_read_all(fd, JSON_BYTES_MAX, a, ret_len);
	if (*ret_text)
		return 0;
	if (errno == EFBIG)
		return err_set(e, ERR_CONFIG, "%s: larger than %d bytes", path, JSON_BYTES_MAX);
	return err_sys(e, "read %s", path);
}

/* The bundle's absolute path, links resolved, as hooks and `state` are told it. */
static const char *bundle_path(const char *given, struct arena *a, struct error *e)
{
	char *path = realpath(given, NULL), *copy;

	if (!path) {
		err_sys(e, "--bundle: %s", given);
		return NULL;
	}
	copy = arena_strdup(a, path);
	free(path);
	return copy;
}

/* Adds to the config what follows from the caller. */
static void bundle_adapt(const struct create_options *o, struct oci_config *c, struct arena *a)
{
	life_settle_oom_score(&c->process);
	if (o->notify && c->process.set)
		notify_add(c, life_state_dir(o->root, o->id, a), a);
	if (o->console_fd >= 0)
		foreground_own_size(&c->process.console_size);
}

int bundle_load(const struct create_options *o, struct arena *a, struct bundle *ret,
		struct error *e)
{
	struct bundle b = {.text = o->config_text,
			   .len = o->config_len,
			   .config = arena_new(a, struct oci_config)};

	b.dir = bundle_path(o->bundle, a, e);
	if (!b.dir || (!b.text && bundle_read(o, b.dir, a, &b.text, &b.len, e) < 0) ||
	    oci_config_read("config.json", b.text, b.len, a, b.config, e) < 0)
		return -1;
	bundle_adapt(o, b.config, a);
	*ret = b;
	return 0;
}
