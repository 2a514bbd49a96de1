/* The kernel itself. */
#include <errno.h>
#include <sys/personality.h>
#include <sys/utsname.h>

#include "base/str.h"
#include "doctor/check.h"
#include "doctor/words.h"

/* Older ones are refused by every verb (life/host.c). */
enum { KERNEL_MAJOR = 5, KERNEL_MINOR = 14 };

static int look_version(struct look *l)
{
	struct utsname u;

	if (uname(&u) < 0)
		return look_missing(l, "uname fails: %s", err_text(errno));
	if (words_release_reaches(u.release, KERNEL_MAJOR, KERNEL_MINOR))
		return look_fine(l, "%s", u.release);
	if (personality(0xffffffff) & UNAME26) {
		look_remedy(l, "setarch %s sbxrun doctor", u.machine);
		return look_missing(l,
				    "%s: this process has the personality UNAME26, and is told "
				    "of a kernel that isn't there",
				    u.release);
	}
	look_remedy_package(
		l, str_eq(u.machine, "aarch64") ? "linux-image-arm64" : "linux-image-amd64",
		"kernel");
	return look_missing(l, "%s: Linux %d.%d or newer is needed", u.release, KERNEL_MAJOR,
			    KERNEL_MINOR);
}

static int look_machine(struct look *l)
{
	struct utsname u;

	if (uname(&u) < 0)
		return look_missing(l, "uname fails: %s", err_text(errno));
	if (str_eq(u.machine, "x86_64") || str_eq(u.machine, "aarch64"))
		return look_fine(l, "%s", u.machine);
	return look_less(l, "%s: sbxrun is tested on x86_64 and aarch64", u.machine);
}

static const struct doctor_check checks[] = {
	{"kernel.version", "Linux", WHO_ALL, WHO_ALL, look_version},
	{"kernel.machine", "architecture", WHO_ALL, 0, look_machine},
};

const struct doctor_group doctor_kernel = {checks, ARRAY_SIZE(checks)};
