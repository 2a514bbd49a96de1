/* CRI-O: a file of our own. It reads whatever lies in that directory, so nothing else may. */
#include "base/buf.h"
#include "json/json.h"
#include "setup/engine.h"

static const char crio_file[] = "/etc/crio/crio.conf.d/50-sbxrun.conf";

static int crio_add(struct setup_work *w, struct error *e)
{
	struct buf b = buf_new(w->arena, TREE_FILE_MAX);

	buf_str(&b, SETUP_MARK "\n[crio.runtime.runtimes.sbxrun]\nruntime_path = ");
	json_write_string(&b, w->program);
	buf_str(&b, "\n"
		    "runtime_type = \"oci\"\n"
		    "runtime_root = \"/run/sbxrun\"\n"
		    "# The least that a pod may ask for; without this line CRI-O wants 12 MiB.\n"
		    "container_min_memory = \"1MiB\"\n");
	return setup_put_own(w, crio_file, b.data, e);
}

static int crio_remove(struct setup_work *w, struct error *e)
{
	return setup_remove_own(w, crio_file, e);
}

const struct setup_engine setup_crio = {
	.name = "crio",
	.binary = "crio",
	.directory = "/etc/crio",
	.add = crio_add,
	.remove = crio_remove,
	.reload = "systemctl restart crio",
	.try_it = "a pod with runtimeClassName: sbxrun (spec/engines has the class and a pod)",
};
