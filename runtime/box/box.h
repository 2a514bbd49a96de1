/*
 * The code runner: a request becomes a config in memory, the config becomes a container by the very
 * same way as that of any engine (life/life.h), and what happened in it becomes a result. Nothing
 * stays: a box ends with its program, or with the process that runs it. But for those that are made
 * to stay (sandbox.h).
 *
 *	languages.c  rows of languages and limits    rootfs.c     the root that it runs in
 *	do.c         one box, or two: compiling       run.c        a box from birth to end
 *	launch.c, attend.c, judge.c  … before, during and after its program
 *	image.c      … as an image, mounted once      manifest.c   what was built
 *	disk.c       a workspace on disk             library.c    where such things lie
 *	config.c     the config                      stream.c     its output, capped
 *	workspace.c  what it wrote                   resolver.c   names that it asks for
 *	denials.c    what was refused                hints.c      what to do about it
 *	later.c      what others run later
 *	network.c    what it may reach               network_listen.c  its listeners
 *	network_stay.c  … and how that is changed    registries.c  where packages come from
 *	install.c    packages
 *	profiles.c   system calls of languages
 *	redact.c     secrets in the output           audit.c      a record of runs
 *	result.c     the result as JSON              words.c      errors in the caller's words
 *	explain.c    what it would be held to        sandbox.c    boxes that stay between calls
 *	session.c    interpreters that stay in them  drivers/     what these run
 *	changes.c    what changed in their files     snapshot.c   … kept under a name
 *	pool.c       boxes that wait for their code  pool_keeper.c, pool_holder.c  who keeps them
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "box/image.h"
#include "json/types.h"
#include "oci/notes.h"

struct create_options;

#define BOX_WORKSPACE "/workspace"
#define BOX_ID_PREFIX "do-"
#define BOX_FACTS "org.sbxrun.box" /* the annotation of a box that stays */
enum { BOX_UID = 65534, BOX_CODE_MAX = 16 << 20, BOX_GRACE_MS = 2000,
       /* of who has used up his time on processors: it goes on running meanwhile */
       BOX_CPU_GRACE_MS = 200 };

struct learning;

/* ---- languages ---- */

enum { BOX_WORDS_MAX = 12 };

/* A language: data alone. A new one is a row. */
struct box_language {
	const char *name;
	const char *aliases[6];
	const char *rootfs; /* the name of the one that sbxrun-rootfs builds */
	const char *profile; /* of its system calls (box/profiles.h) */
	const char *file; /* what the code is called in the workspace */
	const char *endings[4];		    /* of files of that language */
	const char *compile[BOX_WORDS_MAX]; /* a step before, in a box of its own; or nothing */
	const char *product; /* what that step makes, which is what the next one is given */
	const char *run[BOX_WORDS_MAX];
	bool pure; /* its programs need neither threads nor a second execve to begin */
	bool just_in_time; /* needs memory that is writable and executable */
};

extern const struct box_language box_languages[];
extern const size_t box_n_languages;

/* By name or alias; NULL: there is none. */
const struct box_language *box_language_find(const char *name);

/* ---- a request ---- */

struct box_limits {
	int64_t memory; /* bytes; swap is none */
	uint32_t cpus;	/* thousandths of a processor */
	uint32_t pids;
	int64_t timeout_ns;
	int64_t cpu_time_ns; /* 0: none but the timeout */
	int64_t disk; /* bytes of the workspace; 0: half of the memory, at most 256 MB */
	int64_t tmpfs;	   /* bytes of /tmp */
	int64_t output;	   /* bytes of each stream */
	int64_t file_size; /* 0: none */
	uint32_t open_files;
	bool network; /* it may reach what is allowed */
	int64_t net_bytes, net_rate; /* carried in all, and a second; 0: any number */
};

/* A set of limits with a name. */
struct box_preset {
	const char *name;
	const char *what;
	struct box_limits limits;
	bool pure; /* its programs compute, and do nothing else */
};
extern const struct box_preset box_presets[];
extern const size_t box_n_presets;
const struct box_preset *box_preset_find(const char *name);

struct box_volume {
	const char *source; /* absolute, of the host */
	const char *target; /* absolute, in the box */
	bool writable;
};

struct box_rlimit {
	const char *type; /* RLIMIT_… */
	uint64_t soft, hard;
};

enum box_denials { DENIALS_NONE, DENIALS_CALLS, DENIALS_FULL };

/* Where the output goes while the program runs. */
enum box_output {
	OUTPUT_PASS,   /* to our own standard streams */
	OUTPUT_KEEP,   /* nowhere: it stands in the result */
	OUTPUT_EVENTS, /* to standard output, as lines of JSON */
};

struct sandbox; /* box/sandbox.h */
struct network_rules; /* box/network.h */

struct box_request {
	const char *state_root;
	struct sandbox *sandbox; /* the box that it runs in, locked; NULL: one of its own */
	bool session; /* what joins it is an interpreter that stays (session.h), and q->args is all
		       */
	bool session_begins;   /* something is asked for that only its begin can give */
	const char *code_path; /* where the code goes there */
	const char *facts; /* of a box that stays: an annotation of its config; NULL: none */
	const char *policy; /* NULL: code */
	const char *profile; /* of system calls; NULL: box_choose_profile() does (profiles.h) */
	struct strings calls_added; /* to the profile */
	struct strings calls; /* what came of it; none: what the policy gives */
	const struct box_language *language; /* NULL: a command */
	const char *code;
	size_t code_len;
	struct strings args; /* of the code, or the command itself */
	const char *rootfs;  /* a name or a path; NULL: the language's */
	struct box_limits limits;
	struct strings env; /* NAME=VALUE */
	struct strings allow, deny; /* hosts (egress/egress.h); nothing is allowed: no network */
	const char *takes; /* a file of the workspace, for the result, if all went well; or NULL */
	bool takes_away;   /* it is removed */
	const struct network_rules *alone; /* of a call: these, in place of the box's; or NULL */
	const char *cwd;    /* NULL: the workspace */
	uint32_t uid, gid;
	size_t n_volumes;
	const struct box_volume *volumes;
	size_t n_rlimits;
	const struct box_rlimit *rlimits;
	int stdin_fd; /* -1: nothing */
	bool compiles; /* the language's step before */
	bool waits;    /* the box is a warm one: its program starts, and its code comes later */
	bool may_be_warm; /* one that waits may be taken (pool.h) */
	const char *build; /* of this program: warm boxes of another one are not taken */
	bool terminal; /* the program has one of its own, which is relayed to ours */
	bool systemd;
	uint32_t systemd_timeout_s; /* 0: the default */
	bool no_cgroups;
	bool own_cgroups; /* in the caller's own cgroup, wherever that is */
	int64_t writable_root; /* bytes that a box that stays may write to its root; 0: none */
	bool usual_disk; /* limits.disk is a preset's: a box that stays does with less */
	bool strict_limits; /* a limit that can't be held is a failure */
	bool pure; /* no processes, sockets, files to write: filter/pure.h */
	enum box_denials denials;
	enum box_output output;
	const char *workspace_dir; /* what the workspace is; NULL: memory, or a disk (disk.h) */
	const char *copy_out; /* a directory for what it wrote; NULL: none */
	bool list_files;      /* the result names what it wrote */
	const char *redact_rules; /* a file of further rules, or NULL */
	bool redact;
	struct learning *learning; /* who watches its system calls; NULL: nobody */
};

/* Holds unless something else is asked for. */
void box_request_default(struct box_request *ret);

/* ---- a result ---- */

enum box_status {
	BOX_OK,
	BOX_ERROR,  /* the program ended with another status than 0 */
	BOX_SIGNAL,
	BOX_TIMEOUT,
	BOX_OOM,
	BOX_SANDBOX_ERROR, /* ours, not the program's */
};
extern const char *const box_status_words[];

struct box_captured {
	const char *data; /* with the mark of truncation; only where it is kept */
	size_t len;
	uint64_t bytes; /* that the program wrote */
	bool truncated;
};

struct box_denial {
	const char *kind; /* syscall, network, file, limit */
	const char *name; /* of the system call */
	const char *target; /* a path or an address, escaped; NULL: none */
	const char *host;   /* of the network; NULL: none */
	uint16_t port;	    /* 0: none */
	const char *error;  /* as errno's name; NULL: it was let pass, and the kernel refused it */
	const char *hint;
	uint64_t count;
};

/* A host that connections went to, as the box called it. */
struct box_reached {
	const char *host; /* escaped */
	uint16_t port;
	uint64_t count;
};

struct box_network {
	bool has;   /* it could reach something */
	bool known; /* else whoever carried its connections is gone */
	uint64_t connections, refused, bytes_in, bytes_out;
	struct strings allow, deny; /* the rules that it was held to at first */
	bool more_reached;	    /* than are listed */
	size_t n_reached;
	struct box_reached *reached;
};

struct box_files {
	bool known;
	bool more; /* than are listed */
	size_t n;
	char **v; /* sorted, relative to the workspace */
};

struct box_result {
	const char *id;
	const char *sandbox_id; /* of the box that stays; NULL: it had one of its own */
	const struct box_language *language;
	const char *rootfs; /* name, and digest if it has one */
	const char *profile; /* of system calls; NULL: the policy's list */
	char code_sha256[65];
	enum box_status status;
	int exit_code; /* -1: none */
	int signal;
	int interrupted; /* the signal that ended us; 0: none */
	bool timed_out, cpu_timed_out, oom_killed, mdwe;
	bool warm; /* its interpreter waited already */
	enum err_class error_class; /* of a failure of ours */
	const char *error_type, *error; /* NULL: none */
	struct box_captured out[2];
	int64_t wall_ns, startup_ns;
	uint64_t cpu_ns, memory_peak, pids_peak, disk_used; /* of the peaks 0: not known */
	bool disk_known;
	const char *disk_backing; /* memory, disk, volume */
	struct box_limits limits;
	bool denials_known;
	bool more_denials;
	size_t n_denials;
	struct box_denial *denials;
	struct box_network network;
	const char *redactions; /* as JSON; NULL: nobody looked */
	/* Events that nobody took in time. They come before the last one, for a line is not cut. */
	const char *unsent;
	size_t unsent_len;
	struct box_files files;
	size_t copied;
	struct noted notes; /* what could not be had, limits above all */
	size_t notes_told;  /* of these: while it ran */
	const char *install; /* as JSON: what was installed; NULL: nothing was to be */
	const char *product; /* of a step that compiles; NULL: there is none */
	size_t product_len;
	const char *session; /* of one: members of the result (session_frame.h); NULL: none … */
	const char *value;   /* … and what its code came to, as a person sees it; NULL: nothing */
	size_t value_len;
	struct box_result *compile; /* the step before; NULL: there was none */
};

/* Runs it, and before it the step that compiles it, if its language has one. -1: the box itself
 * failed; what the program does is the result's affair. *ret is filled as far as anything is known
 * in both cases. */
int box_do(const struct box_request *q, struct arena *a, struct box_result *ret, struct error *e);

/* One step, in one box. */
int box_run(const struct box_request *q, struct arena *a, struct box_result *ret, struct error *e);

/* Removes what runs that were killed have left, a few at a time. Nothing that goes wrong is an
 * error. */
void box_sweep(const char *state_root);

/* One object, as --json prints it; one line. */
void box_result_write(const struct box_result *r, struct buf *b);

/* Parts of it on their own: an object, and an array. */
void box_write_limits(const struct box_limits *l, struct buf *b);
void box_write_denials(const struct box_result *r, struct buf *b);
void box_write_network(const struct box_network *n, struct buf *b);

/* "SIGKILL", also of those that have no name: "SIGRTMIN+1". */
const char *box_signal_name(int sig);

/* The exit status that tells of it. */
int box_exit_status(const struct box_result *r);

/* A note as a line for people, or as an event. */
void box_tell_note(const char *text, bool event, struct buf *b);

/* Words of the command line for an error or a note about the config. */
const char *box_words(const char *text, struct arena *a);

/* Tells people after the output why it ended, what was refused. Nothing if all is well. */
void box_tell(const struct box_result *r, struct buf *b);

/* The roots that there are, and where one is looked for. */
struct box_root {
	const char *cgroup; /* of the box; NULL: below the caller's own */
	const char *path;  /* of the directory */
	const char *name;  /* for the result */
	bool host;	   /* it is a frame for the host's /usr */
	struct image image; /* that the directory is a mount of, if it is one */
	int lock_fd;	    /* what says that it is in use; -1: it is nobody's to remove */
	const char *note;   /* what the caller should know of it, or NULL */
};
#define BOX_ROOT_NONE ((struct box_root){.image = IMAGE_NONE, .lock_fd = -1})

/* Also after a failure there is something to close. */
int box_root_find(const struct box_request *q, struct arena *a, struct box_root *ret,
		  struct error *e);
void box_root_close(struct box_root *root);

/* The config of a box, as JSON. */
int box_config_write(const struct box_request *q, const struct box_root *root, struct arena *a,
		     struct buf *b, struct error *e);

/* Tells programs that know proxies of the one in their box. */
void box_proxy_words(struct strings *env, struct arena *a);

/* Where its cgroup will be, on a machine of systemd's. */
struct cgroup_boxes;
int box_cgroup_open(const struct box_request *q, bool start, const char *id, struct arena *a,
		    struct cgroup_boxes *ret, struct box_root *root, struct error *e);

/* Options for a create of such a box, but for those of one run: id, descriptors, config. */
struct create_options box_options(const struct box_request *q, const struct box_root *root);

/* Where the code is, as the program is told: in the workspace, unless that is a directory of the
 * caller's or the program runs elsewhere. */
const char *box_code_path(const struct box_request *q, struct arena *a);
bool box_workspace_is_volume(const struct box_request *q);

/* How large the workspace is. */
int64_t box_workspace_size(const struct box_limits *l);
