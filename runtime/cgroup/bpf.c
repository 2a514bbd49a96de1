/*
 * Device rules as eBPF. The program goes through the rules from the last to the first with the set
 * of accesses that are still undecided: an allowing rule takes its own out of the set, and an empty
 * set is a yes; a denying rule that has any of them is a no. So each access follows the last rule
 * that matches it, also when one open(2) asks for reading and writing at once.
 *
 *	r2 type   r3 undecided accesses   r4 major   r5 minor
 */
#include "cgroup/bpf.h"

#include "base/str.h"

#define RULE_INSNS 8 /* at most, for one rule */
#define HEAD_INSNS 6
#define TAIL_INSNS 2

static struct bpf_insn insn(int code, int dst, int src, int off, int imm)
{
	return (struct bpf_insn){
		.code = (unsigned char)code,
		.dst_reg = (unsigned int)dst & 0xfU,
		.src_reg = (unsigned int)src & 0xfU,
		.off = (short)off,
		.imm = imm,
	};
}

static void put(struct cgroup_program *p, int code, int dst, int src, int off, int imm)
{
	p->v[p->n++] = insn(code, dst, src, off, imm);
}

/* A jump to the rule's end, whose distance is known when the rule is complete. */
static void put_skip(struct cgroup_program *p, int op, int reg, uint32_t imm)
{
	put(p, BPF_JMP32 | op | BPF_K, reg, 0, -1, (int)imm);
}

static void put_return(struct cgroup_program *p, int value)
{
	put(p, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, value);
	put(p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static void put_head(struct cgroup_program *p)
{
	int load = BPF_LDX | BPF_MEM | BPF_W;

	put(p, load, BPF_REG_2, BPF_REG_1, offsetof(struct bpf_cgroup_dev_ctx, access_type), 0);
	put(p, BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_3, BPF_REG_2, 0, 0);
	put(p, BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_2, 0, 0, 0xffff);
	put(p, BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_3, 0, 0, 16);
	put(p, load, BPF_REG_4, BPF_REG_1, offsetof(struct bpf_cgroup_dev_ctx, major), 0);
	put(p, load, BPF_REG_5, BPF_REG_1, offsetof(struct bpf_cgroup_dev_ctx, minor), 0);
}

static int access_bits(unsigned int access)
{
	return (access & CGROUP_DEV_MKNOD ? BPF_DEVCG_ACC_MKNOD : 0) |
	       (access & CGROUP_DEV_READ ? BPF_DEVCG_ACC_READ : 0) |
	       (access & CGROUP_DEV_WRITE ? BPF_DEVCG_ACC_WRITE : 0);
}

static void put_rule(struct cgroup_program *p, const struct cgroup_device_rule *r)
{
	int bits = access_bits(r->access);
	size_t first = p->n, i;

	put_skip(p, BPF_JNE, BPF_REG_2, r->type == 'b' ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR);
	if (r->major >= 0)
		put_skip(p, BPF_JNE, BPF_REG_4, (uint32_t)r->major);
	if (r->minor >= 0)
		put_skip(p, BPF_JNE, BPF_REG_5, (uint32_t)r->minor);
	if (r->allow) {
		put(p, BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_3, 0, 0, ~bits);
		put_skip(p, BPF_JNE, BPF_REG_3, 0);
	} else {
		put(p, BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_0, BPF_REG_3, 0, 0);
		put(p, BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_0, 0, 0, bits);
		put_skip(p, BPF_JEQ, BPF_REG_0, 0);
	}
	put_return(p, r->allow);
	for (i = first; i < p->n; i++)
		if (BPF_CLASS(p->v[i].code) == BPF_JMP32)
			p->v[i].off = (short)(p->n - i - 1);
}

struct cgroup_program cgroup_devices_program(const struct cgroup_devices *d, struct arena *a)
{
	size_t room = HEAD_INSNS + d->n * RULE_INSNS + TAIL_INSNS;
	struct cgroup_program p = {.v = arena_array(a, room, struct bpf_insn)};
	size_t i;

	put_head(&p);
	for (i = d->n; i-- > 0;)
		put_rule(&p, &d->v[i]);
	put_return(&p, d->allow_all_default);
	return p;
}
