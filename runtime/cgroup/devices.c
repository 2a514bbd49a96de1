/* stub */
#include "cgroup/write.h"
int cgroup_devices_attach(const struct cgroup_plan *p, int dfd, char *warning, size_t size,
			  struct error *e)
{
	(void)p; (void)dfd; (void)warning; (void)size; (void)e;
	return 0;
}
