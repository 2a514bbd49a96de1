/*
 * The table of tools. The six of the documents keep their names and arguments; the others are the
 * box's. Descriptions are for models: what it does, what stays, what ends.
 */
#include <string.h>

#include "base/str.h"
#include "json/rows.h"
#include "mcp/message.h"
#include "mcp/tool.h"

/* ---- arguments ---- */

enum { WORDS_MAX = 1024, HOSTS_MAX = 64 };

#define A_TEXT(k) F(tool_args, #k, STR, k)
#define APPROVAL A_TEXT(approval_id)

/* An argument that nobody knows is an error: a model would believe that it had an effect. */
#define ARGS(t)                                                                                    \
	static const struct json_table t##_table = {.name = #t,                                    \
						    .size = sizeof(struct tool_args),              \
						    .rows = t##_rows,                              \
						    .count = ARRAY_SIZE(t##_rows),                 \
						    .closed = true}

static const struct json_row execute_rows[] = {
	A_TEXT(language),
	A_TEXT(code),
	A_TEXT(sandbox_id),
	A_TEXT(session),
	F(tool_args, "timeout", OPT_U32, timeout),
	F(tool_args, "network_enabled", OPT_BOOL, network_enabled),
	L(tool_args, "allowed_domains", STRINGS, allowed_domains, HOSTS_MAX),
	APPROVAL,
};
ARGS(execute);

static const struct json_row install_rows[] = {
	A_TEXT(sandbox_id),
	A_TEXT(package),
	A_TEXT(registry),
	APPROVAL,
};
ARGS(install);

static const struct json_row write_rows[] = {
	A_TEXT(sandbox_id),
	A_TEXT(file_path),
	A_TEXT(content),
	APPROVAL,
};
ARGS(write);

static const struct json_row file_rows[] = {A_TEXT(sandbox_id), A_TEXT(file_path), APPROVAL};
ARGS(file);

static const struct json_row files_rows[] = {A_TEXT(sandbox_id), A_TEXT(path), APPROVAL};
ARGS(files);

static const struct json_row box_rows[] = {A_TEXT(sandbox_id), APPROVAL};
ARGS(box);

static const struct json_row none_rows[] = {APPROVAL};
ARGS(none);

static const struct json_row create_rows[] = {
	A_TEXT(language),
	F(tool_args, "memory_mb", OPT_U32, memory_mb),
	F(tool_args, "cpu_percent", OPT_U32, cpu_percent),
	F(tool_args, "disk_mb", OPT_U32, disk_mb),
	F(tool_args, "timeout", OPT_U32, timeout),
	F(tool_args, "network_enabled", OPT_BOOL, network_enabled),
	L(tool_args, "allowed_domains", STRINGS, allowed_domains, HOSTS_MAX),
	F(tool_args, "keep", OPT_BOOL, keep),
	APPROVAL,
};
ARGS(create);

static const struct json_row command_rows[] = {
	A_TEXT(sandbox_id),
	L(tool_args, "command", STRINGS, command, WORDS_MAX),
	F(tool_args, "timeout", OPT_U32, timeout),
	APPROVAL,
};
ARGS(command);

static const struct json_row session_rows[] = {A_TEXT(sandbox_id), A_TEXT(session), APPROVAL};
ARGS(session);

static const struct json_row hosts_rows[] = {
	A_TEXT(sandbox_id),
	L(tool_args, "hosts", STRINGS, hosts, HOSTS_MAX),
	F(tool_args, "remove", OPT_BOOL, remove),
	APPROVAL,
};
ARGS(hosts);

static const struct json_row snapshot_rows[] = {A_TEXT(sandbox_id), A_TEXT(snapshot), APPROVAL};
ARGS(snapshot);

static const struct json_row snapshot_name_rows[] = {A_TEXT(snapshot), APPROVAL};
ARGS(snapshot_name);

static const struct json_row fork_rows[] = {
	A_TEXT(sandbox_id),
	A_TEXT(snapshot),
	F(tool_args, "network_enabled", OPT_BOOL, network_enabled),
	L(tool_args, "allowed_domains", STRINGS, allowed_domains, HOSTS_MAX),
	F(tool_args, "keep", OPT_BOOL, keep),
	APPROVAL,
};
ARGS(fork);

/* ---- schemas ---- */

/* clang-format off */
#define P_BOX "\"sandbox_id\":{\"type\":\"string\",\"description\":\"The box, as box_create or code_execute named it.\"}"
#define P_NETWORK \
	"\"network_enabled\":{\"type\":\"boolean\",\"default\":false,\"description\":\"Whether a new box reaches anything; needs allowed_domains.\"}," \
	"\"allowed_domains\":{\"type\":\"array\",\"maxItems\":64,\"items\":{\"type\":\"string\"},\"description\":\"Hosts that it may reach: NAME or NAME:PORT.\"}"
#define P_TIMEOUT "\"timeout\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"Seconds by the clock (default 30).\"}"
#define P_APPROVAL "\"approval_id\":{\"type\":\"string\",\"description\":\"Only to repeat a call that a person had to approve: the id that the refusal named.\"}"
#define P_FILE "\"file_path\":{\"type\":\"string\",\"description\":\"Relative to /workspace.\"}"
#define P_LANGUAGE "\"language\":{\"type\":\"string\",\"description\":\"python, javascript or shell; others if the operator has them.\"}"

#define P_SESSION "\"session\":{\"type\":\"string\",\"description\":\"Letters, digits, _ . -\"}"
#define P_HOSTS \
	"\"hosts\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":64,\"items\":{\"type\":\"string\"},\"description\":\"NAME or NAME:PORT.\"}," \
	"\"remove\":{\"type\":\"boolean\",\"default\":false,\"description\":\"Take these rules away instead.\"}"
#define P_SNAPSHOT "\"snapshot\":{\"type\":\"string\",\"description\":\"The name of a snapshot.\"}"

#define O_TEXT "{\"type\":\"string\"}"
#define O_MAYBE "{\"type\":[\"string\",\"null\"]}"
#define O_BOOL "{\"type\":\"boolean\"}"
#define O_NUMBER "{\"type\":\"number\"}"
#define O_LIST "{\"type\":[\"array\",\"null\"]}"
#define O_OBJECT "{\"type\":[\"object\",\"null\"]}"
#define RUN_OUTPUT \
	"\"success\":" O_BOOL ",\"status\":" O_TEXT ",\"sandbox_id\":" O_MAYBE ",\"exit_code\":" O_NUMBER ",\"signal\":" O_MAYBE \
	",\"stdout\":" O_TEXT ",\"stderr\":" O_TEXT ",\"encoding\":" O_TEXT ",\"truncated\":" O_OBJECT ",\"execution_time\":" O_NUMBER \
	",\"error\":" O_MAYBE ",\"usage\":" O_OBJECT ",\"denials\":" O_LIST ",\"notes\":" O_LIST "},\"required\":[\"success\",\"status\",\"exit_code\",\"stdout\",\"stderr\"]"
#define DONE_OUTPUT "\"success\":" O_BOOL ",\"sandbox_id\":" O_TEXT "},\"required\":[\"success\",\"sandbox_id\"]"
#define RULES_OUTPUT "\"sandbox_id\":" O_TEXT ",\"allow\":" O_LIST ",\"deny\":" O_LIST "},\"required\":[\"sandbox_id\",\"allow\",\"deny\"]"
#define FILE_OUTPUT(more) "\"success\":" O_BOOL ",\"sandbox_id\":" O_TEXT ",\"file_path\":" O_TEXT more "},\"required\":[\"success\",\"sandbox_id\",\"file_path\"]"

const struct tool tools[] = {
	{"code_execute", "Run code",
	 "Runs code in a box: a sandbox without network, with limits on memory, processes, output and time. Without sandbox_id a new box is made, which stays "
	 "with its files and is named in the result; call again with that id to go on in it, and code_destroy_sandbox when done. A box ends when it is unused "
	 "for an hour (or as the operator says) or with this server. The working directory is /workspace. Programs and variables do not stay between calls, "
	 "files do. With session (any name) they stay, too: code runs in an interpreter of that name, of python, javascript or shell, which lives as long as the box; "
	 "the value of the last expression comes back as result, and figures and display() as displays, images among them as images. A program that fails is no failed call: see exit_code, stderr and denials, which say what was refused and what to do instead.",
	 P_LANGUAGE ",\"code\":{\"type\":\"string\"}," P_BOX "," P_SESSION "," P_TIMEOUT "," P_NETWORK "," P_APPROVAL "},\"required\":[\"language\",\"code\"]", NULL,
	 false, false, false, true, &execute_table, ANSWER_RUN, plan_execute},
	{"code_install_package", "Install a package",
	 "Installs one package of a registry into the box, which reaches that registry alone, and only meanwhile. The version stands behind the name: "
	 "numpy==1.26.4 (pypi), left-pad@1.3.0 (npm).",
	 P_BOX ",\"package\":{\"type\":\"string\"},\"registry\":{\"type\":\"string\",\"enum\":[\"pypi\",\"npm\"],\"default\":\"pypi\"}," P_APPROVAL
	 "},\"required\":[\"sandbox_id\",\"package\"]", "\"success\":" O_BOOL ",\"sandbox_id\":" O_TEXT ",\"package\":" O_TEXT ",\"registry\":" O_TEXT
	 "},\"required\":[\"success\"]",
	 false, false, true, true, &install_table, ANSWER_OBJECT, plan_install},
	{"code_write_file", "Write a file",
	 "Writes a text file of the box, whole or not at all; directories on the way are made.",
	 P_BOX "," P_FILE ",\"content\":{\"type\":\"string\"}," P_APPROVAL "},\"required\":[\"sandbox_id\",\"file_path\",\"content\"]",
	 FILE_OUTPUT(",\"bytes\":" O_NUMBER), false, true, true, false, &write_table, ANSWER_OBJECT, plan_file},
	{"code_read_file", "Read a file",
	 "Reads a file of the box: text as it is, other bytes as base64 (see encoding). For images there is view_image.",
	 P_BOX "," P_FILE "," P_APPROVAL "},\"required\":[\"sandbox_id\",\"file_path\"]",
	 FILE_OUTPUT(",\"content\":" O_TEXT ",\"encoding\":" O_TEXT ",\"bytes\":" O_NUMBER), true, false, true, false, &file_table, ANSWER_OBJECT, plan_file},
	{"code_list_files", "List files",
	 "Lists a directory of the box: name, type, size, mode and time of each entry.",
	 P_BOX ",\"path\":{\"type\":\"string\",\"default\":\".\"}," P_APPROVAL "},\"required\":[\"sandbox_id\"]",
	 FILE_OUTPUT(",\"files\":" O_LIST ",\"more\":" O_BOOL), true, false, true, false, &files_table, ANSWER_OBJECT, plan_file},
	{"code_destroy_sandbox", "Destroy a box",
	 "Ends the box and all that runs in it. Its files are gone.",
	 P_BOX "," P_APPROVAL "},\"required\":[\"sandbox_id\"]", DONE_OUTPUT, false, true, true, false, &box_table, ANSWER_DONE, plan_box},
	{"box_create", "Make a box",
	 "Makes a box for later calls and names it. It ends when it is unused for an hour (or as the operator says), by code_destroy_sandbox, and with this "
	 "server unless keep is true.",
	 P_LANGUAGE ",\"memory_mb\":{\"type\":\"integer\",\"minimum\":4},"
	 "\"cpu_percent\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"100 is one processor.\"},"
	 "\"disk_mb\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"Of /workspace.\"}," P_TIMEOUT "," P_NETWORK ",\"keep\":{\"type\":\"boolean\",\"default\":false},"
	 P_APPROVAL "},\"required\":[\"language\"]", "\"sandbox_id\":" O_TEXT ",\"status\":" O_TEXT "},\"required\":[\"sandbox_id\"]",
	 false, false, false, true, &create_table, ANSWER_BOX, plan_create},
	{"box_exec", "Run a command",
	 "Runs a program of the box with its arguments, without a shell; for one, command is [\"bash\",\"-c\",\"…\"]. The result is that of code_execute.",
	 P_BOX ",\"command\":{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":\"string\"}}," P_TIMEOUT "," P_APPROVAL
	 "},\"required\":[\"sandbox_id\",\"command\"]", RUN_OUTPUT, false, false, false, true, &command_table, ANSWER_RUN, plan_command},
	{"box_end_session", "End a session", "Ends the interpreter of that name in the box, and what its code has left running. Its variables are gone, files stay.",
	 P_BOX "," P_SESSION "," P_APPROVAL "},\"required\":[\"sandbox_id\",\"session\"]", DONE_OUTPUT, false, true, false, false, &session_table, ANSWER_DONE, plan_box},
	{"box_allow", "Let a box reach hosts",
	 "Lets the box reach hosts that it could not reach so far, from now on, and returns its rules. What is denied stays denied. With remove, takes such rules away.",
	 P_BOX "," P_HOSTS "," P_APPROVAL "},\"required\":[\"sandbox_id\",\"hosts\"]", RULES_OUTPUT, false, false, true, true, &hosts_table, ANSWER_OBJECT, plan_hosts},
	{"box_deny", "Keep a box from hosts",
	 "Keeps the box from hosts, whatever it is allowed, cuts its connections to them, and returns its rules. With remove, takes such rules away.",
	 P_BOX "," P_HOSTS "," P_APPROVAL "},\"required\":[\"sandbox_id\",\"hosts\"]", RULES_OUTPUT, false, true, true, true, &hosts_table, ANSWER_OBJECT, plan_hosts},
	{"box_rules", "What a box may reach", "Lists the hosts that the box may reach, and those that it is kept from.",
	 P_BOX "," P_APPROVAL "},\"required\":[\"sandbox_id\"]", RULES_OUTPUT, true, false, true, false, &box_table, ANSWER_OBJECT, plan_box},
	{"box_snapshot", "Keep the files of a box",
	 "Keeps the files of the box as they are now under a name, without variables and processes. It stays when the box is gone, until box_remove_snapshot.",
	 P_BOX "," P_SNAPSHOT "," P_APPROVAL "},\"required\":[\"sandbox_id\",\"snapshot\"]",
	 "\"success\":" O_BOOL ",\"snapshot\":" O_TEXT ",\"sandbox_id\":" O_MAYBE ",\"files\":" O_NUMBER ",\"bytes\":" O_NUMBER ",\"notes\":" O_LIST
	 "},\"required\":[\"success\",\"snapshot\"]", false, false, false, false, &snapshot_table, ANSWER_OBJECT, plan_snapshot},
	{"box_snapshots", "List snapshots", "Lists all snapshots of this user: name, box, time, size.",
	 P_APPROVAL "}", "\"snapshots\":{\"type\":\"array\"}},\"required\":[\"snapshots\"]", true, false, true, false, &none_table, ANSWER_SNAPSHOTS, plan_snapshot},
	{"box_remove_snapshot", "Remove a snapshot", "Removes a snapshot. What it kept is gone.",
	 P_SNAPSHOT "," P_APPROVAL "},\"required\":[\"snapshot\"]", "\"success\":" O_BOOL ",\"snapshot\":" O_TEXT "},\"required\":[\"success\",\"snapshot\"]",
	 false, true, false, false, &snapshot_name_table, ANSWER_DONE, plan_snapshot},
	{"box_fork", "Copy a box",
	 "Makes a new box with the files of a box as they are now (sandbox_id), or of a snapshot, and names it. Limits and volumes are those of the other box; what it "
	 "reaches is not, and is said anew. It ends as one of box_create does.",
	 P_BOX "," P_SNAPSHOT "," P_NETWORK ",\"keep\":{\"type\":\"boolean\",\"default\":false}," P_APPROVAL "}", "\"sandbox_id\":" O_TEXT ",\"status\":" O_TEXT
	 "},\"required\":[\"sandbox_id\"]", false, false, false, true, &fork_table, ANSWER_BOX, plan_fork},
	{"box_diff", "What has changed in a box", "Lists the files that were added, modified and deleted since the box was made.",
	 P_BOX "," P_APPROVAL "},\"required\":[\"sandbox_id\"]", "\"sandbox_id\":" O_TEXT ",\"workspace\":" O_OBJECT ",\"root\":" O_OBJECT ",\"more\":" O_BOOL
	 "},\"required\":[\"sandbox_id\"]", true, false, true, false, &box_table, ANSWER_OBJECT, plan_box},
	{"box_list", "List boxes", "Lists all boxes of this user: id, status, idle time, language, limits.",
	 P_APPROVAL "}", "\"boxes\":{\"type\":\"array\"}},\"required\":[\"boxes\"]", true, false, true, false, &none_table, ANSWER_LIST, plan_box},
	{"box_logs", "What was done in a box", "Lists what was called in the box so far, and how it ended.",
	 P_BOX "," P_APPROVAL "},\"required\":[\"sandbox_id\"]", "\"events\":{\"type\":\"array\"}},\"required\":[\"events\"]",
	 true, false, true, false, &box_table, ANSWER_LINES, plan_box},
	{"box_pause", "Pause a box", "Freezes what runs in the box. The time of a call goes on meanwhile.",
	 P_BOX "," P_APPROVAL "},\"required\":[\"sandbox_id\"]", DONE_OUTPUT, false, false, true, false, &box_table, ANSWER_DONE, plan_box},
	{"box_resume", "Resume a box", "Goes on with what was frozen by box_pause.",
	 P_BOX "," P_APPROVAL "},\"required\":[\"sandbox_id\"]", DONE_OUTPUT, false, false, true, false, &box_table, ANSWER_DONE, plan_box},
	{"file_stat", "Look at a file", "Tells type, size, mode and time of a file of the box.",
	 P_BOX "," P_FILE "," P_APPROVAL "},\"required\":[\"sandbox_id\",\"file_path\"]",
	 FILE_OUTPUT(",\"type\":" O_TEXT ",\"size\":" O_NUMBER), true, false, true, false, &file_table, ANSWER_OBJECT, plan_file},
	{"file_delete", "Delete a file", "Deletes a file or an empty directory of the box.",
	 P_BOX "," P_FILE "," P_APPROVAL "},\"required\":[\"sandbox_id\",\"file_path\"]",
	 FILE_OUTPUT(""), false, true, false, false, &file_table, ANSWER_OBJECT, plan_file},
	{"view_image", "Look at an image", "Shows a PNG, JPEG, GIF or WebP file of the box as an image: plots, charts, screenshots.",
	 P_BOX "," P_FILE "," P_APPROVAL "},\"required\":[\"sandbox_id\",\"file_path\"]",
	 NULL, true, false, true, false, &file_table, ANSWER_IMAGE, plan_file},
};
/* clang-format on */
const size_t n_tools = ARRAY_SIZE(tools);

const struct tool *tool_find(const char *name)
{
	size_t i;

	for (i = 0; i < n_tools; i++)
		if (str_eq(tools[i].name, name))
			return &tools[i];
	return NULL;
}

static void write_member(struct buf *b, const char *key, const char *text)
{
	buf_printf(b, ",\"%s\":", key);
	json_write_string(b, text);
}

static void write_hint(struct buf *b, const char *key, bool value)
{
	buf_printf(b, ",\"%s\":%s", key, value ? "true" : "false");
}

void tool_write(const struct tool *t, struct buf *b)
{
	buf_str(b, "{\"name\":");
	json_write_string(b, t->name);
	write_member(b, "title", t->title);
	write_member(b, "description", t->description);
	buf_str(b, ",\"inputSchema\":{\"type\":\"object\",\"properties\":{");
	buf_str(b, t->input);
	buf_str(b, ",\"additionalProperties\":false}");
	if (t->output) {
		buf_str(b, ",\"outputSchema\":{\"type\":\"object\",\"properties\":{");
		buf_str(b, t->output);
		buf_char(b, '}');
	}
	buf_str(b, ",\"annotations\":{\"title\":");
	json_write_string(b, t->title);
	write_hint(b, "readOnlyHint", t->reads);
	write_hint(b, "destructiveHint", t->destroys);
	write_hint(b, "idempotentHint", t->repeats);
	write_hint(b, "openWorldHint", t->opens);
	buf_str(b, "}}");
}

int tool_plan(const struct tool *t, struct json_span arguments, bool redact, struct tool_args *ret,
	      struct job *ret_job, struct arena *a, struct error *e)
{
	struct job job = {.answer = t->answer};

	*ret = (struct tool_args){.given = arguments};
	if (arguments.text && !json_span_is_object(arguments))
		return err_set(e, ERR_USAGE, "arguments: they are no object");
	if (json_read("arguments", arguments.text ? arguments.text : "{}",
		      arguments.text ? arguments.len : 2, t->args, &message_limits, ret, a, e) < 0)
		return -1;
	if (t->plan(t, ret, redact, &job, a, e) < 0)
		return -1;
	*ret_job = job;
	return 0;
}
