/* A result as JSON, as an exit status, and as lines for people. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "box/box.h"
#include "box/stream.h"
#include "json/json.h"
#include "oci/names.h"

enum { EXIT_TIMEOUT = 124, EXIT_OURS = 125, EXIT_NO_EXEC = 126, EXIT_NO_PROGRAM = 127 };
enum { LONG_TEXT = 1 << 20 };

const char *const box_status_words[] = {
	[BOX_OK] = "ok",	   [BOX_ERROR] = "error", [BOX_SIGNAL] = "signal",
	[BOX_TIMEOUT] = "timeout", [BOX_OOM] = "oom",	  [BOX_SANDBOX_ERROR] = "sandbox_error",
};

const char *box_signal_name(int sig)
{
	static char text[32];
	const char *name = oci_signal_name(sig);

	if (name)
		return name;
	snprintf(text, sizeof(text), "SIGRTMIN+%d", sig - 34);
	return text;
}

int box_exit_status(const struct box_result *r)
{
	if (r->compile && r->compile->status != BOX_OK)
		return box_exit_status(r->compile);
	if (r->interrupted)
		return 128 + r->interrupted;
	switch (r->status) {
	case BOX_OK:
	case BOX_ERROR:
		return r->exit_code;
	case BOX_TIMEOUT:
		return EXIT_TIMEOUT;
	case BOX_OOM:
	case BOX_SIGNAL:
		return 128 + r->signal;
	case BOX_SANDBOX_ERROR:
		break;
	}
	return r->error_class == ERR_NO_PROGRAM ? EXIT_NO_PROGRAM :
	       r->error_class == ERR_NO_EXEC	? EXIT_NO_EXEC :
						  EXIT_OURS;
}

/* ---- JSON ---- */

static void result_key(struct buf *b, const char *key)
{
	if (b->len && b->data[b->len - 1] != '{')
		buf_char(b, ',');
	buf_printf(b, "\"%s\":", key);
}

static void result_string(struct buf *b, const char *key, const char *value)
{
	result_key(b, key);
	if (value)
		json_write_string(b, value);
	else
		buf_str(b, "null");
}

static void result_bool(struct buf *b, const char *key, bool value)
{
	result_key(b, key);
	buf_str(b, value ? "true" : "false");
}

static void result_number(struct buf *b, const char *key, int64_t value)
{
	result_key(b, key);
	buf_printf(b, "%" PRId64, value);
}

static void result_unknown(struct buf *b, const char *key)
{
	result_key(b, key);
	buf_str(b, "null");
}

/* Thousandths. */
static void result_decimal(struct buf *b, const char *key, int64_t thousandths)
{
	result_key(b, key);
	buf_printf(b, "%" PRId64 ".%03" PRId64, thousandths / 1000, thousandths % 1000);
}

static void result_seconds(struct buf *b, const char *key, int64_t ns)
{
	result_decimal(b, key, ns / 1000000);
}

/* Much that consists of control characters takes six times its size as text, and no text is. */
static bool result_is_text(const struct box_captured *out)
{
	size_t controls = 0, i;

	if (!out->data)
		return true;
	for (i = 0; out->len >= LONG_TEXT && i < out->len; i++)
		controls += (unsigned char)out->data[i] < 0x20 && out->data[i] != '\n' &&
			    out->data[i] != '\t' && out->data[i] != '\r';
	return controls <= out->len / 8 && stream_is_text(out->data, out->len);
}

static void result_output(const struct box_result *r, struct buf *b)
{
	static const char *const names[] = {"stdout", "stderr"};
	bool text = result_is_text(&r->out[0]) && result_is_text(&r->out[1]);
	size_t i;

	for (i = 0; i < 2; i++) {
		result_key(b, names[i]);
		if (!r->out[i].data)
			buf_str(b, "null");
		else
			stream_write_data(b, r->out[i].data, r->out[i].len, !text);
	}
	result_string(b, "encoding", text ? "utf-8" : "base64");
	result_key(b, "truncated");
	buf_printf(b, "{\"stdout\":%s,\"stderr\":%s}", r->out[0].truncated ? "true" : "false",
		   r->out[1].truncated ? "true" : "false");
	result_key(b, "bytes");
	buf_printf(b, "{\"stdout\":%" PRIu64 ",\"stderr\":%" PRIu64 "}", r->out[0].bytes,
		   r->out[1].bytes);
}

/* The figures, and where they come from: with counts, so that each allowed host has its own. */
static void result_carried(const struct box_network *n, struct buf *b)
{
	size_t i;

	result_number(b, "connections", (int64_t)n->connections);
	result_number(b, "refused", (int64_t)n->refused);
	result_number(b, "bytes_in", (int64_t)n->bytes_in);
	result_number(b, "bytes_out", (int64_t)n->bytes_out);
	result_key(b, "reached");
	buf_char(b, '[');
	for (i = 0; i < n->n_reached; i++) {
		buf_str(b, i ? ",{" : "{");
		result_string(b, "host", n->reached[i].host);
		result_number(b, "port", n->reached[i].port);
		result_number(b, "count", (int64_t)n->reached[i].count);
		buf_char(b, '}');
	}
	buf_char(b, ']');
	result_key(b, "more_reached");
	buf_str(b, n->more_reached ? "true" : "false");
}

static void result_network(const struct box_network *n, struct buf *b)
{
	if (!n->known) {
		result_unknown(b, "network");
		return;
	}
	result_key(b, "network");
	buf_char(b, '{');
	result_carried(n, b);
	buf_char(b, '}');
}

static void result_usage(const struct box_result *r, struct buf *b)
{
	result_key(b, "usage");
	buf_char(b, '{');
	result_seconds(b, "cpu_s", (int64_t)r->cpu_ns);
	if (r->memory_peak)
		result_number(b, "memory_peak", (int64_t)r->memory_peak);
	else
		result_unknown(b, "memory_peak");
	if (r->pids_peak)
		result_number(b, "pids_peak", (int64_t)r->pids_peak);
	else
		result_unknown(b, "pids_peak");
	if (r->disk_known)
		result_number(b, "disk_used", (int64_t)r->disk_used);
	else
		result_unknown(b, "disk_used");
	result_decimal(b, "startup_ms", r->startup_ns / 1000);
	result_bool(b, "warm", r->warm);
	if (r->network.has)
		result_network(&r->network, b);
	buf_char(b, '}');
}

void box_write_limits(const struct box_limits *l, struct buf *b)
{
	buf_char(b, '{');
	result_number(b, "memory", l->memory);
	result_decimal(b, "cpus", l->cpus);
	result_number(b, "pids", l->pids);
	result_seconds(b, "timeout_s", l->timeout_ns);
	if (l->cpu_time_ns)
		result_seconds(b, "cpu_time_s", l->cpu_time_ns);
	result_number(b, "disk", l->disk);
	result_number(b, "tmpfs", l->tmpfs);
	result_number(b, "output", l->output);
	result_number(b, "open_files", l->open_files);
	if (l->file_size)
		result_number(b, "file_size", l->file_size);
	result_string(b, "network", l->network ? "allow-list" : "none");
	if (l->net_bytes)
		result_number(b, "net_bytes", l->net_bytes);
	if (l->net_rate)
		result_number(b, "net_rate", l->net_rate);
	buf_char(b, '}');
}

static void result_strings(struct buf *b, const char *key, char *const *v, size_t n)
{
	size_t i;

	result_key(b, key);
	buf_char(b, '[');
	for (i = 0; i < n; i++) {
		buf_str(b, i ? "," : "");
		json_write_string(b, v[i]);
	}
	buf_char(b, ']');
}

void box_write_network(const struct box_network *n, struct buf *b)
{
	buf_char(b, '{');
	result_strings(b, "allow", n->allow.v, n->allow.n);
	result_strings(b, "deny", n->deny.v, n->deny.n);
	if (n->known)
		result_carried(n, b);
	buf_char(b, '}');
}

void box_write_denials(const struct box_result *r, struct buf *b)
{
	size_t i;

	if (!r->denials_known) {
		buf_str(b, "null");
		return;
	}
	buf_char(b, '[');
	for (i = 0; i < r->n_denials; i++) {
		const struct box_denial *d = &r->denials[i];

		buf_str(b, i ? ",{" : "{");
		result_string(b, "kind", d->kind);
		result_string(b, "name", d->name);
		if (d->target)
			result_string(b, "target", d->target);
		if (d->host)
			result_string(b, "host", d->host);
		if (d->port)
			result_number(b, "port", d->port);
		result_string(b, "errno", d->error);
		result_number(b, "count", (int64_t)d->count);
		result_string(b, "hint", d->hint);
		buf_char(b, '}');
	}
	buf_char(b, ']');
}

/* Names that are text, or those that aren't: as text, one of these can't be told from another. */
static void result_names(struct buf *b, const char *key, const struct box_files *f, bool text)
{
	bool any = false;
	size_t i;

	for (i = 0; i < f->n; i++) {
		if (str_is_utf8(f->v[i]) != text)
			continue;
		if (!any)
			result_key(b, key);
		buf_char(b, any ? ',' : '[');
		stream_write_data(b, f->v[i], strlen(f->v[i]), !text);
		any = true;
	}
	if (any)
		buf_char(b, ']');
	else if (text)
		result_strings(b, key, NULL, 0);
}

static void result_files(const struct box_result *r, struct buf *b)
{
	result_key(b, "files");
	if (!r->files.known) {
		buf_str(b, "null");
		return;
	}
	buf_char(b, '{');
	result_names(b, "added", &r->files, true);
	result_names(b, "added_base64", &r->files, false);
	buf_str(b, ",\"modified\":[],\"deleted\":[]"); /* a workspace begins empty */
	if (r->files.more)
		result_bool(b, "more", true);
	buf_char(b, '}');
}

static void result_error(const struct box_result *r, struct buf *b)
{
	result_key(b, "error");
	if (!r->error) {
		buf_str(b, "null");
		return;
	}
	buf_char(b, '{');
	result_string(b, "type", r->error_type);
	result_string(b, "message", r->error);
	buf_char(b, '}');
}

void box_result_write(const struct box_result *r, struct buf *b)
{
	buf_char(b, '{');
	result_number(b, "v", 1);
	result_string(b, "id", r->id);
	result_string(b, "sandbox_id", r->sandbox_id);
	result_bool(b, "success", r->status == BOX_OK);
	result_string(b, "status", box_status_words[r->status]);
	result_string(b, "language", r->language ? r->language->name : NULL);
	result_string(b, "rootfs", r->rootfs);
	result_string(b, "profile", r->profile);
	result_string(b, "code_sha256", *r->code_sha256 ? r->code_sha256 : NULL);
	result_number(b, "exit_code", r->exit_code);
	result_string(b, "signal", r->signal ? box_signal_name(r->signal) : NULL);
	result_bool(b, "timed_out", r->timed_out);
	result_bool(b, "oom_killed", r->oom_killed);
	result_error(r, b);
	result_output(r, b);
	result_key(b, "redactions");
	buf_str(b, r->redactions ? r->redactions : "[]");
	result_seconds(b, "execution_time", r->wall_ns);
	result_string(b, "disk_backing", r->disk_backing);
	result_usage(r, b);
	result_key(b, "limits");
	box_write_limits(&r->limits, b);
	result_key(b, "denials");
	box_write_denials(r, b);
	result_bool(b, "more_denials", r->more_denials);
	result_files(r, b);
	if (r->install) {
		result_key(b, "install");
		buf_str(b, r->install);
	}
	result_strings(b, "notes", r->notes.notes.v, r->notes.notes.n);
	if (r->session) {
		buf_char(b, ',');
		buf_str(b, r->session);
	}
	if (r->compile) {
		result_key(b, "compile");
		box_result_write(r->compile, b);
	}
	buf_char(b, '}');
}

/* ---- for people ---- */

static void tell_denial(const struct box_denial *d, struct buf *b)
{
	buf_str(b, "sbxrun: refused: ");
	buf_str(b, d->name);
	if (d->target) {
		buf_char(b, ' ');
		buf_str(b, d->target);
	}
	if (d->error)
		buf_printf(b, " (%s)", d->error);
	if (d->count > 1)
		buf_printf(b, ", %" PRIu64 " times", d->count);
	if (d->hint) {
		buf_str(b, ": ");
		buf_str(b, d->hint);
	}
	buf_char(b, '\n');
}

void box_tell_note(const char *text, bool event, struct buf *b)
{
	buf_str(b, event ? "{\"event\":\"note\",\"text\":" : "sbxrun: ");
	if (event)
		json_write_string(b, text);
	else
		buf_str(b, text);
	buf_str(b, event ? "}\n" : "\n");
}

void box_tell(const struct box_result *r, struct buf *b)
{
	size_t i;

	for (i = 0; i < r->n_denials; i++)
		tell_denial(&r->denials[i], b);
	if (r->more_denials)
		buf_str(b, "sbxrun: refused: and more\n");
	for (i = r->notes_told; i < r->notes.notes.n; i++)
		box_tell_note(r->notes.notes.v[i], false, b);
	if (r->error && r->status != BOX_SANDBOX_ERROR) {
		buf_str(b, "sbxrun: ");
		buf_str(b, r->error);
		buf_char(b, '\n');
	}
}
