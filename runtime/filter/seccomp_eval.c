#include "filter/seccomp_eval.h"

#include <string.h>

#include "filter/syscalls.h"

struct machine {
	const struct sock_filter *filter;
	size_t len;
	const struct seccomp_data *data;
	uint32_t a, x, mem[BPF_MEMWORDS];
	size_t pc;
	bool looked_at_args;
	const char *error;
};

static void machine_load(struct machine *m, const struct sock_filter *i, uint32_t *to)
{
	switch (BPF_MODE(i->code)) {
	case BPF_IMM:
		*to = i->k;
		return;
	case BPF_MEM:
		if (i->k >= BPF_MEMWORDS)
			m->error = "memory out of range";
		else
			*to = m->mem[i->k];
		return;
	case BPF_LEN:
		*to = sizeof(*m->data);
		return;
	case BPF_ABS:
		if (BPF_SIZE(i->code) != BPF_W || i->k % 4 || i->k > sizeof(*m->data) - 4)
			m->error = "load out of range";
		else
			memcpy(to, (const char *)m->data + i->k, 4);
		m->looked_at_args |= i->k >= offsetof(struct seccomp_data, args);
		return;
	default:
		m->error = "unknown load";
	}
}

static void machine_alu(struct machine *m, const struct sock_filter *i)
{
	uint32_t v = BPF_SRC(i->code) == BPF_X ? m->x : i->k;

	switch (BPF_OP(i->code)) {
	case BPF_ADD:
		m->a += v;
		break;
	case BPF_SUB:
		m->a -= v;
		break;
	case BPF_MUL:
		m->a *= v;
		break;
	case BPF_DIV:
		m->a = v ? m->a / v : 0;
		break;
	case BPF_AND:
		m->a &= v;
		break;
	case BPF_OR:
		m->a |= v;
		break;
	case BPF_XOR:
		m->a ^= v;
		break;
	case BPF_LSH:
		m->a = v < 32 ? m->a << v : 0;
		break;
	case BPF_RSH:
		m->a = v < 32 ? m->a >> v : 0;
		break;
	case BPF_NEG:
		m->a = 0 - m->a;
		break;
	default:
		m->error = "unknown arithmetic";
	}
}

static void machine_jump(struct machine *m, const struct sock_filter *i)
{
	uint32_t v = BPF_SRC(i->code) == BPF_X ? m->x : i->k;
	bool yes = false;

	switch (BPF_OP(i->code)) {
	case BPF_JA:
		m->pc += i->k;
		return;
	case BPF_JEQ:
		yes = m->a == v;
		break;
	case BPF_JGT:
		yes = m->a > v;
		break;
	case BPF_JGE:
		yes = m->a >= v;
		break;
	case BPF_JSET:
		yes = (m->a & v) != 0;
		break;
	default:
		m->error = "unknown jump";
	}
	m->pc += yes ? i->jt : i->jf;
}

static void machine_step(struct machine *m, const struct sock_filter *i)
{
	switch (BPF_CLASS(i->code)) {
	case BPF_LD:
		machine_load(m, i, &m->a);
		break;
	case BPF_LDX:
		machine_load(m, i, &m->x);
		break;
	case BPF_ST:
	case BPF_STX:
		if (i->k >= BPF_MEMWORDS)
			m->error = "memory out of range";
		else
			m->mem[i->k] = BPF_CLASS(i->code) == BPF_ST ? m->a : m->x;
		break;
	case BPF_ALU:
		machine_alu(m, i);
		break;
	case BPF_JMP:
		machine_jump(m, i);
		break;
	case BPF_MISC:
		if (BPF_MISCOP(i->code) == BPF_TAX)
			m->x = m->a;
		else
			m->a = m->x;
		break;
	default:
		m->error = "unknown instruction";
	}
}

struct bpf_result bpf_eval(const struct sock_filter *filter, size_t len,
			   const struct seccomp_data *data)
{
	struct machine m = {.filter = filter, .len = len, .data = data};
	const struct sock_filter *i;
	unsigned int steps = 0;

	while (m.pc < len && !m.error) {
		i = &filter[m.pc++];
		steps++;
		if (BPF_CLASS(i->code) == BPF_RET)
			return (struct bpf_result){
				.action = BPF_RVAL(i->code) == BPF_A ? m.a : i->k,
				.looked_at_args = m.looked_at_args,
				.steps = steps,
			};
		machine_step(&m, i);
	}
	return (struct bpf_result){.error = m.error ? m.error : "ran off the end", .steps = steps};
}

/* Into the kernel without asking anybody; noted, perhaps. */
static bool bpf_passes(uint32_t action)
{
	return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

bool bpf_allows(const struct sock_filter *filter, size_t len, int nr, const uint64_t args[6])
{
	struct seccomp_data data = {.nr = nr, .arch = syscall_arch_native()->token};

	memcpy(data.args, args, sizeof(data.args));
	return bpf_passes(bpf_eval(filter, len, &data).action);
}

bool bpf_allows_always(const struct sock_filter *filter, size_t len, int nr)
{
	const struct seccomp_data data = {.nr = nr, .arch = syscall_arch_native()->token};
	struct bpf_result r = bpf_eval(filter, len, &data);

	return bpf_passes(r.action) && !r.looked_at_args;
}

bool bpf_forbids_always(const struct sock_filter *filter, size_t len, int nr)
{
	const struct seccomp_data data = {.nr = nr, .arch = syscall_arch_native()->token};
	struct bpf_result r = bpf_eval(filter, len, &data);

	/* A tracer or a listener may yet let it pass. */
	return !r.looked_at_args && !bpf_passes(r.action) &&
	       (r.action & SECCOMP_RET_ACTION_FULL) != SECCOMP_RET_TRACE &&
	       (r.action & SECCOMP_RET_ACTION_FULL) != SECCOMP_RET_USER_NOTIF;
}
