/*
 * The 77 attempts at what widens a sandbox, or has been a way out of one. A feature is allowed if
 * the kernel does it, or gives up only at arguments that are wrong on purpose, past every check of
 * rights.
 */
#define _GNU_SOURCE
#include "probe.h"

#include <stdio.h>

enum { LIMIT = 10 };

static const struct feature *const tables[] = {features_rights, features_kernel, features_machine};

static bool try_feature(const char *kind, const struct feature *f)
{
	struct outcome o = attempt(f->try, NULL, LIMIT);
	bool allowed = outcome_is_success(&o);

	printf("%s %s %s %s\n", kind, f->name, allowed ? "allowed" : "denied", outcome_word(&o));
	return allowed;
}

void probe_features(void)
{
	unsigned int allowed = 0, tried = 0;

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		for (const struct feature *f = tables[i]; f->name; f++) {
			allowed += try_feature("feature", f);
			tried++;
		}
	for (const struct feature *f = features_other; f->name; f++)
		try_feature("other", f);
	printf("features_allowed %u\nfeatures_tried %u\n", allowed, tried);
}
