/* config.json as one call: read by its rows, then judged. */
#include "oci/oci.h"

int oci_config_read(const char *what, const char *text, size_t len, struct arena *a,
		    struct oci_config *ret_config, struct error *e)
{
	struct oci_config *c = arena_new(a, struct oci_config);
	size_t i;

	if (json_read(what, text, len, &oci_config_table, &json_default_limits, c, a, e) < 0)
		return -1;
	if (oci_config_validate(c, e) < 0)
		return err_wrap(e, "%s", what);
	for (i = 0; i < c->mounts.n; i++)
		c->mounts.v[i].at = i;
	*ret_config = *c;
	return 0;
}
