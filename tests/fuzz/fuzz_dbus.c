/* What comes over D-Bus: messages and their bodies, the lines before them, and addresses. The first
 * byte says which. */
#include "cgroup/systemd.c"

#include "fuzz.h"

static bool lies_in(const char *s, const char *p, size_t len)
{
	return s >= p && s < p + len && memchr(s, '\0', (size_t)(p + len - s));
}

static void check_fields(const struct dbus_message *m, const char *p, size_t len)
{
	const char *const texts[] = {m->path,	    m->interface,   m->member,
				     m->error_name, m->destination, m->sender};
	size_t i;

	DEMAND(m->serial && m->type);
	for (i = 0; i < ARRAY_SIZE(texts); i++)
		DEMAND(!texts[i] || (lies_in(texts[i], p, len) && str_is_utf8(texts[i])));
	DEMAND(m->signature && (!*m->signature || lies_in(m->signature, p, len)));
	DEMAND(m->body >= p && m->body_len <= len && m->body + m->body_len == p + len);
	DEMAND(!m->body_len || *m->signature);
}

/* What was read is written again and read the same. */
static void check_way_back(const struct dbus_message *m, struct arena *a)
{
	struct buf b = buf_new(a, DBUS_MESSAGE_MAX);
	struct dbus_message again;
	struct error e = {0};
	size_t len;

	dbus_message_write(&b, m);
	if (b.overflow)
		return;
	DEMAND(dbus_message_read(b.data, b.len, &again, &len, &e) == 1 && len == b.len);
	DEMAND(again.type == m->type && again.serial == m->serial &&
	       again.reply_serial == m->reply_serial && again.flags == m->flags);
	DEMAND(!m->path == !again.path && (!m->path || str_eq(m->path, again.path)));
	DEMAND(!m->sender == !again.sender && (!m->sender || str_eq(m->sender, again.sender)));
	DEMAND(str_eq(m->signature, again.signature) && again.body_len == m->body_len);
	DEMAND(memcmp(m->body, again.body, m->body_len) == 0);
}

static void check_shown(const char *s)
{
	struct dbus_shown shown = dbus_show(s);

	DEMAND(strnlen(shown.text, sizeof(shown.text)) < sizeof(shown.text));
	DEMAND(dbus_can_be_shown(shown.text));
	DEMAND(!dbus_can_be_shown(s) || strlen(s) > 300 || str_eq(s, shown.text));
}

/* Each value that the body may begin with, and what is made of an answer. */
static void read_body(const struct dbus_message *m)
{
	struct systemd s = {.bus = DBUS_NONE};
	struct ask q = ask_begin(&s, "Call", "a.scope");
	struct dbus_reader r = dbus_body(m);
	struct error e = {0};
	const char *text;
	uint32_t number;

	job_ends_hear(&q.ends, m);
	DEMAND(q.ends.n <= 1);
	q.answer = *m;
	if (ask_check(&q, &e) < 0) {
		fuzz_check_error(&e);
		DEMAND(dbus_can_be_shown(e.text) || strlen(e.text) > 900);
		(void)names(answer_text(&q), "MemoryMax");
	}
	while (dbus_get_string(&r, &text) || dbus_get_signature(&r, &text) ||
	       dbus_get_u32(&r, &number))
		DEMAND(r.at <= r.len);
}

static void read_messages(const char *p, size_t len, struct arena *a)
{
	struct dbus_message m;
	struct error e = {0};
	size_t n = 0;
	int got;

	for (; (got = dbus_message_read(p, len, &m, &n, &e)) == 1; p += n, len -= n) {
		DEMAND(n >= 16 && n <= len && n <= DBUS_MESSAGE_MAX);
		check_fields(&m, p, n);
		check_way_back(&m, a);
		/* A part of it is no message yet. */
		DEMAND(dbus_message_read(p, n - 1, &m, &n, &e) == 0);
		DEMAND(dbus_message_read(p, len, &m, &n, &e) == 1);
		read_body(&m);
	}
	if (got < 0)
		fuzz_check_error(&e);
}

static void read_addresses(const char *list, struct arena *a)
{
	struct dbus_address at = {0};
	struct error e = {0};
	int got;

	while ((got = dbus_address_next(&list, a, &at, &e)) > 0) {
		DEMAND(at.name && *at.name && dbus_can_be_shown(at.name));
		DEMAND(at.is_abstract || at.name[0] == '/');
	}
	if (got < 0)
		fuzz_check_error(&e);
}

static void read_auth(const char *p, size_t len)
{
	size_t n = 0;

	switch (dbus_auth_read(p, len, &n)) {
	case DBUS_AUTH_OK:
		DEMAND(n >= 4 && n <= len && memcmp(p + n - 2, "\r\n", 2) == 0);
		DEMAND(dbus_auth_read(p, n - 1, &n) == DBUS_AUTH_MORE);
		break;
	case DBUS_AUTH_MORE:
		DEMAND(len <= 4096);
		break;
	case DBUS_AUTH_REFUSED:
	case DBUS_AUTH_WRONG:
		break;
	}
}

void fuzz_one(char *text, size_t len, struct arena *a)
{
	if (!len)
		return;
	text++;
	len--;
	switch (text[-1] % 4) {
	case 0:
		read_messages(text, len, a);
		break;
	case 1:
		read_addresses(text, a);
		break;
	case 2:
		read_auth(text, len);
		break;
	case 3:
		check_shown(text);
		(void)is_group_path(text);
		break;
	}
}
