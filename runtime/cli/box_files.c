/* The verbs of box that are about files: write, read, ls, stat, rm-file. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base/fd.h"
#include "base/str.h"
#include "box/files.h"
#include "box/hints.h"
#include "box/stream.h"
#include "cli/box.h"
#include "cli/cli.h"
#include "json/json.h"

enum { OUTPUT_MAX = 256 << 20, FILE_FAILURE = 1 };

/* The state of one command on files. */
struct filing {
	struct cli *c;
	const char *id;
	const char *path;
	const char *data; /* to be written */
	size_t len;
	struct files files;
	struct buf out;
};

/* Before we are the box's user for files: this one is the caller's. */
static int filing_input(struct filing *x, struct error *e)
{
	const char *name = x->c->n_args > 3 ? x->c->args[3] : "-";
	autoclose int fd = str_eq(name, "-") ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) :
					       open(name, O_RDONLY | O_CLOEXEC);

	x->data = fd < 0 ? NULL : fd_read_all(fd, FILES_BYTES_MAX, x->c->arena, &x->len);
	if (!x->data && errno == EFBIG) {
		err_set(e, ERR_USAGE, "%s has more than 64 MB", name);
		e->sys = EFBIG;
		return -1;
	}
	return x->data ? 0 : err_sys(e, "read %s", name);
}

static void filing_key(struct filing *x, const char *key)
{
	if (x->out.data[x->out.len - 1] != '{')
		buf_char(&x->out, ',');
	buf_printf(&x->out, "\"%s\":", key);
}

void box_write_name(const char *key, const char *name, struct buf *b)
{
	buf_printf(b, "\"%s\":", key);
	json_write_string(b, name);
	if (str_is_utf8(name))
		return;
	buf_str(b, ",\"base64\":");
	stream_write_data(b, name, strlen(name), true);
}

static int filing_do_write(struct filing *x, struct error *e)
{
	if (files_write(&x->files, x->path, x->data, x->len, x->c->arena, e) < 0)
		return -1;
	box_deed_content(x->c, x->data, x->len);
	if (x->c->json)
		buf_printf(&x->out, ",\"bytes\":%zu", x->len);
	return 0;
}

static int filing_do_read(struct filing *x, struct error *e)
{
	const char *data;
	size_t len;

	if (files_read(&x->files, x->path, FILES_BYTES_MAX, x->c->arena, &data, &len, e) < 0)
		return -1;
	box_deed_content(x->c, data, len);
	if (!x->c->json) {
		buf_add(&x->out, data, len);
		return 0;
	}
	filing_key(x, "content");
	stream_write_data(&x->out, data, len, !stream_is_text(data, len));
	buf_printf(&x->out, ",\"encoding\":\"%s\",\"bytes\":%zu",
		   stream_is_text(data, len) ? "utf-8" : "base64", len);
	return 0;
}

static void filing_write_info(struct filing *x, const struct file_info *i)
{
	buf_printf(&x->out, ",\"type\":\"%s\",\"size\":%" PRIu64 ",\"mode\":\"%04o\"", i->type,
		   i->size, i->mode);
	buf_printf(&x->out, ",\"modified\":%" PRId64, i->modified);
}

/* Trust: the name is the program's, and the reader may be a terminal. */
static void filing_tell_info(struct filing *x, const struct file_info *i)
{
	buf_printf(&x->out, "%-9s %04o %10" PRIu64 " %s\n", i->type, i->mode, i->size,
		   hint_clean_name(i->name, x->c->arena));
}

static int filing_do_stat(struct filing *x, struct error *e)
{
	struct file_info i;

	if (files_stat(&x->files, x->path, x->c->arena, &i, e) < 0)
		return -1;
	if (x->c->json)
		filing_write_info(x, &i);
	else
		filing_tell_info(x, &i);
	return 0;
}

static int filing_do_list(struct filing *x, struct error *e)
{
	struct file_info *v;
	size_t i, n;
	bool more;

	if (files_list(&x->files, x->path, x->c->arena, &v, &n, &more, e) < 0)
		return -1;
	if (x->c->json)
		buf_str(&x->out, ",\"files\":[");
	for (i = 0; i < n; i++) {
		if (!x->c->json) {
			filing_tell_info(x, &v[i]);
			continue;
		}
		buf_str(&x->out, i ? ",{" : "{");
		box_write_name("name", v[i].name, &x->out);
		filing_write_info(x, &v[i]);
		buf_char(&x->out, '}');
	}
	if (x->c->json)
		buf_printf(&x->out, "],\"more\":%s", more ? "true" : "false");
	else if (more)
		buf_str(&x->out, "and more\n");
	return 0;
}

static int filing_do_remove(struct filing *x, struct error *e)
{
	return files_remove(&x->files, x->path, x->c->arena, e);
}

/* ---- all of them ---- */

static int filing_in_box(struct filing *x, int (*act)(struct filing *x, struct error *e),
			 struct error *e)
{
	auto_sandbox struct sandbox s = SANDBOX_NONE;
	int result;

	if (sandbox_open(x->c->root, x->id, x->c->arena, &s, e) < 0)
		return -1;
	x->c->failure = FILE_FAILURE;
	if (act == filing_do_write && filing_input(x, e) < 0)
		return -1;
	sandbox_touch(&s);
	if (files_open(&x->files, &s, e) < 0)
		return -1;
	result = act(x, e);
	files_close(&x->files);
	box_log(x->c, &s, &(struct sandbox_event){
				  .verb = x->c->args[0], .path = x->path, .failed = result < 0});
	return result;
}

static int filing_run(struct cli *c, const char *id,
		      int (*act)(struct filing *x, struct error *e), struct error *e)
{
	struct filing x = {
		.c = c,
		.id = id,
		.path = c->n_args > 2 ? c->args[2] : ".",
		.files = FILES_NONE,
		.out = buf_new(c->arena, OUTPUT_MAX),
	};
	int result;

	c->deed->path = x.path;
	if (c->json) {
		buf_str(&x.out, "{\"success\":true,\"sandbox_id\":");
		json_write_string(&x.out, id);
		buf_char(&x.out, ',');
		box_write_name("file_path", x.path, &x.out);
	}
	result = filing_in_box(&x, act, e);
	sandbox_sweep(c->root, false);
	if (result < 0)
		return -1;
	if (c->json)
		buf_str(&x.out, ",\"error\":null}\n");
	box_answer(c, &x.out);
	return 0;
}

int box_write_file(struct cli *c, const char *id, struct error *e)
{
	return filing_run(c, id, filing_do_write, e);
}

int box_read_file(struct cli *c, const char *id, struct error *e)
{
	return filing_run(c, id, filing_do_read, e);
}

int box_list_files(struct cli *c, const char *id, struct error *e)
{
	return filing_run(c, id, filing_do_list, e);
}

int box_stat_file(struct cli *c, const char *id, struct error *e)
{
	return filing_run(c, id, filing_do_stat, e);
}

int box_remove_file(struct cli *c, const char *id, struct error *e)
{
	return filing_run(c, id, filing_do_remove, e);
}
