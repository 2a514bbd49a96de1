/* The commands that print documents and know no container. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "cli/cli.h"
#include "oci/oci.h"

enum { DOCUMENT_MAX = 1 << 20 };

static int spec_run(struct cli *c, struct error *e)
{
	struct oci_config *config = arena_new(c->arena, struct oci_config);
	const char *path = path_join(c->arena, c->bundle ? c->bundle : ".", "config.json");
	struct buf b = buf_new(c->arena, DOCUMENT_MAX);
	autoclose int fd = -1;

	if (c->rootless_spec)
		oci_spec_rootless(c->arena, geteuid(), getegid(), config);
	else
		oci_spec_default(c->arena, config);
	json_write(&b, &oci_config_table, config, 4);
	buf_char(&b, '\n');
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0 && errno == EEXIST)
		return err_set(e, ERR_EXISTS, "%s exists: remove it first", path);
	if (fd < 0 || fd_write_all(fd, b.data, b.len) < 0)
		return err_sys(e, "write %s", path);
	return 0;
}

/* clang-format off */
static const struct cli_option spec_options[] = {
	CLI_OPTION(bundle, "bundle", 'b', CLI_TEXT, "DIR", "where to write config.json (default: .)"),
	CLI_OPTION(rootless_spec, "rootless", 0, CLI_FLAG, NULL, "for an ordinary user"),
};
/* clang-format on */
const struct cli_command cli_spec = {"spec",
				     "",
				     "write an example config.json",
				     spec_options,
				     ARRAY_SIZE(spec_options),
				     0,
				     0,
				     false,
				     spec_run,
				     .stateless = true};

static int features_run(struct cli *c, struct error *e)
{
	struct buf b = buf_new(c->arena, DOCUMENT_MAX);

	oci_features_write(c->arena, &b);
	if (b.overflow || fd_write_all(STDOUT_FILENO, b.data, b.len) < 0)
		return err_sys(e, "write to standard output");
	return 0;
}

const struct cli_command cli_features = {
	"features", "", "print what this program supports, as JSON", NULL, 0, 0, 0, false,
	features_run, .stateless = true, .answers = true};
