/* The languages, and limits that have names. Data. */
#include "base/str.h"
#include "box/box.h"

enum { M = 1024 * 1024 };
#define SECONDS(n) ((n) * INT64_C(1000000000))

/* clang-format off */
const struct box_language box_languages[] = {
	{.name = "python", .aliases = {"py", "python3"}, .rootfs = "python", .profile = "python", .file = "main.py",
	 .endings = {".py"},
	 .run = {"python3", "main.py"}, .pure = true},
	{.name = "javascript", .aliases = {"node", "js", "nodejs"}, .rootfs = "node", .profile = "node", .file = "main.js",
	 .endings = {".js", ".mjs", ".cjs"},
	 .run = {"node", "main.js"}, .just_in_time = true},
	{.name = "shell", .aliases = {"bash", "sh"}, .rootfs = "bash", .profile = "bash", .file = "main.sh",
	 .endings = {".sh", ".bash"},
	 .run = {"bash", "main.sh"}, .pure = true},
	{.name = "c", .aliases = {"gcc", "cc"}, .rootfs = "c", .profile = "c", .file = "main.c",
	 .endings = {".c"},
	 .compile = {"cc", "-O2", "-Wall", "-o", "main", "main.c", "-lm"}, .product = "main",
	 .run = {"./main"}, .pure = true},
	{.name = "c++", .aliases = {"cpp", "cxx", "g++"}, .rootfs = "c", .profile = "c", .file = "main.cpp",
	 .endings = {".cpp", ".cc", ".cxx"},
	 .compile = {"c++", "-O2", "-Wall", "-o", "main", "main.cpp"}, .product = "main",
	 .run = {"./main"}, .pure = true},
	{.name = "r", .aliases = {"R", "Rscript"}, .rootfs = "r", .profile = "r", .file = "main.R",
	 .endings = {".R", ".r"},
	 .run = {"Rscript", "main.R"}},
};

/* The defaults are those of a person or an agent who says nothing; the others are the numbers of
 * systems that people come from. */
const struct box_preset box_presets[] = {
	{"default", "512 MB, one processor, 64 processes, 30 s",
	 {.memory = 512 * (int64_t)M, .cpus = 1000, .pids = 64, .timeout_ns = SECONDS(30),
	  .tmpfs = 64 * M, .output = 1 * M, .open_files = 1024}},
	{"judge", "256 MB, one processor, 16 processes, 10 s of which 2 s on the processor",
	 {.memory = 256 * (int64_t)M, .cpus = 1000, .pids = 16, .timeout_ns = SECONDS(10),
	  .cpu_time_ns = SECONDS(2), .tmpfs = 64 * M, .output = 16 * M, .open_files = 256}},
	{"harombe", "512 MB, half a processor, 30 s, 1 GB of disk",
	 {.memory = 512 * (int64_t)M, .cpus = 500, .pids = 64, .timeout_ns = SECONDS(30),
	  .disk = 1024 * (int64_t)M,
	  .tmpfs = 64 * M, .output = 1 * M, .open_files = 1024}},
	{"openmanus", "512 MB, one processor, 300 s",
	 {.memory = 512 * (int64_t)M, .cpus = 1000, .pids = 64, .timeout_ns = SECONDS(300),
	  .tmpfs = 64 * M, .output = 1 * M, .open_files = 1024}},
	{"lesson", "128 MB, half a processor, 50 processes, 30 s, 10,000 bytes of output",
	 {.memory = 128 * (int64_t)M, .cpus = 500, .pids = 50, .timeout_ns = SECONDS(30),
	  .tmpfs = 64 * M, .output = 10000, .open_files = 1024}},
	{"pure", "128 MB, one processor, 10 s; no processes, no sockets, nothing is written",
	 {.memory = 128 * (int64_t)M, .cpus = 1000, .pids = 4, .timeout_ns = SECONDS(10),
	  .tmpfs = 1 * M, .output = 1 * M, .open_files = 64}, .pure = true},
	{"research", "4 GB, two processors, 100 processes, an hour",
	 {.memory = 4096 * (int64_t)M, .cpus = 2000, .pids = 100, .timeout_ns = SECONDS(3600),
	  .tmpfs = 512 * M, .output = 16 * M, .open_files = 4096}},
};
/* clang-format on */

const size_t box_n_languages = ARRAY_SIZE(box_languages);
const size_t box_n_presets = ARRAY_SIZE(box_presets);

const struct box_language *box_language_find(const char *name)
{
	const struct box_language *l;
	size_t i;

	for (l = box_languages; l < box_languages + box_n_languages; l++) {
		if (str_eq(l->name, name))
			return l;
		for (i = 0; i < ARRAY_SIZE(l->aliases) && l->aliases[i]; i++)
			if (str_eq(l->aliases[i], name))
				return l;
	}
	return NULL;
}

const struct box_preset *box_preset_find(const char *name)
{
	size_t i;

	for (i = 0; i < box_n_presets; i++)
		if (str_eq(box_presets[i].name, name))
			return &box_presets[i];
	return NULL;
}

void box_request_default(struct box_request *ret)
{
	*ret = (struct box_request){
		.limits = box_presets[0].limits,
		.uid = BOX_UID,
		.gid = BOX_UID,
		.stdin_fd = -1,
		.denials = DENIALS_FULL,
	};
}

bool box_workspace_is_volume(const struct box_request *q)
{
	size_t i;

	for (i = 0; i < q->n_volumes; i++)
		if (str_eq(q->volumes[i].target, BOX_WORKSPACE))
			return true;
	return false;
}

const char *box_code_path(const struct box_request *q, struct arena *a)
{
	const struct box_language *l = q->language;
	const bool compiled = l->compile[0] && !q->compiles;
	const char *file = compiled ? l->product : l->file;

	if (q->code_path)
		return q->code_path;
	if (q->cwd || box_workspace_is_volume(q))
		return arena_printf(a, "/tmp/%s", file);
	return compiled ? arena_printf(a, "./%s", file) : file;
}

/* Pages of a tmpfs count as memory of the box, so a larger one would end in a lack of memory, not
 * of space. */
int64_t box_workspace_size(const struct box_limits *l)
{
	const int64_t most = 256 * (int64_t)M, half = l->memory / 2;

	if (l->disk)
		return l->disk;
	return half < most ? half : most;
}
