#!/usr/bin/python3
"""cri.py SOCKET HANDLER RIVAL IMAGE DIR [userns]: what a kubelet asks of containerd, with two runtime handlers.

Prints a verdict a check (`ok cri NAME`). Each check does its steps with both handlers and compares what comes out: a pod whose
containers share a pid namespace, one with its own user namespace ("userns": containerd 2 has them, 1.6 has not), exec, stats, stop,
remove, volumes with mounts below them, and the oom_score_adj of Guaranteed pods. Some have nothing to compare: a handler that nobody has, and two
of ours with a policy each (HANDLER-engine, HANDLER-oci). DIR is one that containerd sees under the same name.

The messages are few and small, so they are written here by their field numbers in the CRI's api.proto; no generated code.
"""
import difflib
import os
import re
import sys
import time

import grpc

POD, CONTAINER, NODE = 0, 1, 2
EXITED = 2
LIMIT = 60


# ---- protocol buffers: {number: value}, a value is an int, text, a message, or a list of them ----

def varint(value):
	value &= 2**64 - 1
	out = b""
	while value > 127:
		out += bytes([value & 127 | 128])
		value >>= 7
	return out + bytes([value])


def encode(message):
	out = b""
	for number, values in message.items():
		for value in values if isinstance(values, list) else [values]:
			if isinstance(value, int):
				out += varint(number << 3) + varint(value)
				continue
			data = encode(value) if isinstance(value, dict) else value.encode()
			out += varint(number << 3 | 2) + varint(len(data)) + data
	return out


def decode(data):
	"""The fields of a message; of a repeated one the last. Messages inside stay bytes."""
	return {number: values[-1] for number, values in decode_all(data).items()}


def decode_all(data):
	"""The same with a list for each field."""
	fields, at = {}, 0

	def number():
		nonlocal at
		value = shift = 0
		while True:
			byte = data[at]
			at += 1
			value |= (byte & 127) << shift
			shift += 7
			if byte < 128:
				return value

	while at < len(data):
		key = number()
		if key & 7 == 0:
			fields.setdefault(key >> 3, []).append(number())
		else:
			size = number()
			fields.setdefault(key >> 3, []).append(data[at:at + size])
			at += size
	return fields


class Runtime:
	"""The kubelet's calls with one handler."""

	def __init__(self, channel, handler, image):
		self.channel, self.handler, self.image = channel, handler, image
		self.pods = 0
		self.there = []

	def call(self, method, message, reader=decode):
		stub = self.channel.unary_unary(f"/runtime.v1.RuntimeService/{method}", request_serializer=encode,
						response_deserializer=reader)
		return stub(message, timeout=LIMIT)

	def pod(self, options, handler=None):
		self.pods += 1
		name = f"{self.handler}-{self.pods}"
		config = {1: {1: name, 2: f"uid-{name}", 3: "tests", 4: 0}, 2: "pod", 3: f"{DIR}/logs/{name}",
			  8: {1: f"/pods-{self.handler}", 2: {1: options}}}
		answer = self.call("RunPodSandbox", {1: config, 2: handler or self.handler})
		self.there.append({"id": answer[1].decode(), "config": config, "options": options})
		return self.there[-1]

	def create(self, pod, name, code, resources=None, mounts=None, security=None):
		security = {3: pod["options"], **(security or {})}
		config = {1: {1: name, 2: 0}, 2: {1: self.image}, 3: ["sh", "-c", code], 7: mounts or [], 11: f"{name}.log",
			  15: {1: resources or {}, 2: security}}
		return self.call("CreateContainer", {1: pod["id"], 2: config, 3: pod["config"]})[1].decode()

	def start(self, pod, name, code, **more):
		container = self.create(pod, name, code, **more)
		self.call("StartContainer", {1: container})
		return container

	def exec(self, container, code):
		answer = self.call("ExecSync", {1: container, 2: ["sh", "-c", code], 3: LIMIT})
		return answer.get(1, b"").decode(), answer.get(2, b"").decode(), answer.get(3, 0)

	def status(self, container):
		return decode(self.call("ContainerStatus", {1: container})[1])

	def ended(self, container):
		"""Its status once it has ended."""
		until = time.monotonic() + LIMIT
		while time.monotonic() < until:
			status = self.status(container)
			if status.get(3, 0) == EXITED:
				return status.get(7, 0), status.get(10, b"").decode()
			time.sleep(0.05)
		return "never ended"

	def log(self, pod, name):
		with open(f"{pod['config'][3]}/{name}.log") as file:
			return [line.split(" ", 3)[1:] for line in file]

	def away(self, pod):
		self.call("StopPodSandbox", {1: pod["id"]})
		self.call("RemovePodSandbox", {1: pod["id"]})
		self.there.remove(pod)


# ---- checks: each gives what must be the same for both handlers ----

IDLE = 'trap "exit 0" TERM; echo ready; while :; do sleep 0.1; done'
GONE = "n=0; while ps -o args | grep -q '^sleep 1000$' && [ $n -lt 300 ]; do n=$((n + 1)); sleep 0.1; done; " \
	"ps -o args | grep -c '^sleep 1000$'"
LOOK = "id; cat /proc/self/uid_map; grep -E '^(Cap|Seccomp:|NoNewPrivs|Groups)' /proc/self/status; hostname; " \
	"cut -d' ' -f5,6 /proc/self/mountinfo | grep -v -e cgroup -e /proc/ -e firmware -e /dev/ | sort; ls /dev"


def life(runtime):
	pod = runtime.pod({1: POD, 2: CONTAINER})
	one = runtime.start(pod, "one", IDLE)
	seen = [runtime.exec(one, LOOK), runtime.exec(one, "echo out; echo err >&2; exit 7")]
	runtime.call("StopContainer", {1: one, 2: 10})
	seen += [runtime.ended(one), [words[0::2] for words in runtime.log(pod, "one")]]
	two = runtime.start(pod, "two", "exit 5")
	seen.append(runtime.ended(two))
	for container in (one, two):
		runtime.call("RemoveContainer", {1: container})
	runtime.away(pod)
	return seen


def a_command_that_is_missing(runtime):
	pod = runtime.pod({1: POD, 2: CONTAINER})
	config = {1: {1: "one", 2: 0}, 2: {1: runtime.image}, 3: ["no-such"], 15: {2: {3: pod["options"]}}}
	one = runtime.call("CreateContainer", {1: pod["id"], 2: config, 3: pod["config"]})[1].decode()
	try:
		runtime.call("StartContainer", {1: one})
		seen = ["started"]
	except grpc.RpcError as error:
		seen = [error.code(), "executable file not found in $PATH" in error.details()]
	seen.append(runtime.ended(one))
	runtime.away(pod)
	return seen


def a_pod_with_one_pid_namespace(runtime):
	pod = runtime.pod({1: POD, 2: POD})
	one, two = runtime.start(pod, "one", IDLE), runtime.start(pod, "two", "sleep 1000 & sleep 1000 & wait")
	seen = [runtime.exec(one, "cat /proc/1/comm; [ $$ != 1 ] && echo other"),
		runtime.exec(two, "ps -o comm >/tmp/ps; sort -u /tmp/ps")]
	# Its own end does not take the children along, as the end of a pid 1 would; the runtime must.
	runtime.call("StopContainer", {1: two, 2: 0})
	seen += [runtime.ended(two), runtime.exec(one, GONE)]
	runtime.away(pod)
	return seen


def limits_and_volumes(runtime):
	pod = runtime.pod({1: POD, 2: CONTAINER})
	one = runtime.start(pod, "one", IDLE, resources={1: 100000, 2: 50000, 3: 256, 4: 64 << 20, 5: 985},
			    mounts=[{1: "/data", 2: f"{DIR}/volume", 3: 1}], security={5: {1: 1000}, 7: 1, 11: 1})
	seen = [runtime.exec(one, "cat /proc/self/oom_score_adj /data/file; touch /x /data/x; id; "
			     "cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/cpu/cpu.cfs_quota_us "
			     "/sys/fs/cgroup/cpu/cpu.shares; grep NoNewPrivs /proc/self/status")]
	runtime.call("UpdateContainerResources", {1: one, 2: {2: 25000, 4: 128 << 20}})
	seen.append(runtime.exec(one, "cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/cpu/cpu.cfs_quota_us"))
	two = runtime.start(pod, "two", "tail /dev/zero", resources={4: 16 << 20, 10: 16 << 20})
	seen.append(runtime.ended(two))
	runtime.away(pod)
	return seen


def usage(cpu, memory, least):
	"""Whether figures of a CpuUsage and of a MemoryUsage are there, and that of memory is at least so much and not much more."""
	value = decode(decode(memory).get(2, b"")).get(1, 0)
	return [decode(decode(cpu).get(2, b"")).get(1, 0) > 10**6, value >= least, value < least + (32 << 20)]


def stats(runtime):
	pod = runtime.pod({1: POD, 2: CONTAINER})
	one = runtime.start(pod, "one", IDLE, resources={4: 64 << 20})
	seen = [runtime.exec(one, "dd if=/dev/zero of=/dev/shm/x bs=1M count=8 2>/dev/null; n=0; while [ $n -lt 20000 ]; do n=$((n + 1)); done")]
	answer = decode(runtime.call("ContainerStats", {1: one})[1])
	seen.append(usage(answer[2], answer[3], 8 << 20))
	listed = runtime.call("ListContainerStats", {1: {2: pod["id"]}}, decode_all)[1]
	seen += [len(listed), usage(decode(listed[0])[2], decode(listed[0])[3], 8 << 20)]
	linux = decode(decode(runtime.call("PodSandboxStats", {1: pod["id"]})[1])[2])
	# The pod's cgroup is not ours: it counts whatever is below it.
	seen += [4 in linux, decode(decode(linux.get(4, b"")).get(2, b"")).get(1, 0) >= 0]
	runtime.away(pod)
	return seen


def a_volume_with_a_mount_below_it(runtime):
	"""Read-only is the mount itself; what is below it only with recursive_read_only, which containerd 1.6 does not know."""
	pod = runtime.pod({1: POD, 2: CONTAINER})
	volume = {1: "/data", 2: f"{DIR}/nested", 3: 1}
	look = "touch /data/x; touch /data/below/x; grep ' /data' /proc/mounts | cut -d' ' -f 2,4"
	seen = [runtime.exec(runtime.start(pod, "one", IDLE, mounts=[volume]), look),
		runtime.exec(runtime.start(pod, "two", IDLE, mounts=[{**volume, 8: 1}]), look)]
	runtime.away(pod)
	return seen


def what_a_handler_can(runtime):
	"""Its features, as the kubelet is told of them: containerd 2 asks the runtime, 1.6 says nothing."""
	handlers = {}
	for data in runtime.call("Status", {}, decode_all).get(3, []):
		handler = decode(data)
		handlers[handler.get(1, b"").decode()] = decode(handler.get(2, b""))
	return handlers.get(runtime.handler, "nothing")


def oom_score_of_a_guaranteed_pod(runtime):
	"""Lowering it takes CAP_SYS_RESOURCE; without it the kubelet sees an error with either handler."""
	pod = runtime.pod({1: POD, 2: CONTAINER})
	try:
		one = runtime.start(pod, "one", IDLE, resources={5: -997})
		seen = runtime.exec(one, "cat /proc/self/oom_score_adj")
	except grpc.RpcError as error:
		seen = error.code()
	runtime.away(pod)
	return seen


def user_namespace(base):
	ids = {1: base, 2: 0, 3: 65536}
	return {1: POD, 2: CONTAINER, 5: {1: POD, 2: ids, 3: ids}}


def a_pod_with_a_user_namespace(runtime):
	pod = runtime.pod(user_namespace(200000))
	one = runtime.start(pod, "one", IDLE, resources={5: 985})
	seen = [runtime.exec(one, LOOK), runtime.exec(one, "cat /proc/self/oom_score_adj; stat -c '%u %a' / /tmp; touch /x; echo $?"),
		runtime.exec(one, "exit 7")]
	two = runtime.start(pod, "two", "sleep 1000", security={5: {1: 1000}})
	seen.append(runtime.exec(two, "id; echo x >/tmp/x; stat -c %u /tmp/x"))
	seen.append(runtime.exec(two, "readlink /proc/self/ns/user")[0] == runtime.exec(one, "readlink /proc/self/ns/user")[0])
	runtime.call("StopContainer", {1: one, 2: 10})
	seen.append(runtime.ended(one))
	runtime.away(pod)
	return seen


def a_volume_with_mapped_ids(runtime):
	options = user_namespace(200000)
	ids = options[5][2]
	pod = runtime.pod(options)
	one = runtime.start(pod, "one", IDLE, mounts=[{1: "/data", 2: f"{DIR}/volume", 6: ids, 7: ids}])
	seen = [runtime.exec(one, f"stat -c '%u %a' /data /data/file; echo x >/data/{runtime.handler}; echo $?"),
		os.stat(f"{DIR}/volume/{runtime.handler}").st_uid]
	runtime.away(pod)
	return seen


def a_pod_with_user_and_pid_namespace(runtime):
	options = user_namespace(200000)
	options[2] = POD
	pod = runtime.pod(options)
	one = runtime.start(pod, "one", IDLE)
	seen = [runtime.exec(one, "cat /proc/1/comm; ps -o comm >/tmp/ps; sort -u /tmp/ps; cat /proc/self/uid_map")]
	runtime.call("StopContainer", {1: one, 2: 0})
	seen.append(runtime.ended(one))
	runtime.away(pod)
	return seen


# ---- checks with nothing to compare: what they give must be true ----

def error_of(runtime, function, *arguments, **more):
	"""The words of the refusal, none if there is none."""
	try:
		function(*arguments, **more)
		return ""
	except grpc.RpcError as error:
		return error.details()


def an_unknown_handler_is_refused(runtime):
	why = error_of(runtime, runtime.pod, {1: POD, 2: CONTAINER}, handler="no-such")
	return 'no runtime for "no-such" is configured' in why or why or "it ran"


def two_handlers_with_two_policies(runtime):
	"""Side by side on one node: under engine a capability is refused by its row, and what runs gains no privileges."""
	strict, loose = (Runtime(runtime.channel, f"{runtime.handler}-{policy}", runtime.image) for policy in ("engine", "oci"))
	asked = {1: {1: "NET_ADMIN"}}
	pods = [handler.pod({1: POD, 2: CONTAINER}) for handler in (strict, loose)]
	seen = []
	for handler, pod in zip((strict, loose), pods):
		one = handler.start(pod, "one", IDLE)
		why = error_of(handler, handler.start, pod, "two", IDLE, security=asked)
		seen.append((handler.exec(one, "sed -n 's/^NoNewPrivs:.//p' /proc/self/status")[0],
			     re.findall(r"policy engine refuses CAP_NET_ADMIN.*\[capabilities\]", why) != [], why == ""))
	for handler, pod in zip((strict, loose), pods):
		handler.away(pod)
	return seen == [("1\n", True, False), ("0\n", False, True)] or seen


CHECKS = [life, a_command_that_is_missing, a_pod_with_one_pid_namespace, limits_and_volumes, a_volume_with_a_mount_below_it, stats,
	  what_a_handler_can, oom_score_of_a_guaranteed_pod]
USERNS = [a_pod_with_a_user_namespace, a_volume_with_mapped_ids, a_pod_with_user_and_pid_namespace]
ALONE = [an_unknown_handler_is_refused, two_handlers_with_two_policies]


def outcome(check, runtime):
	"""What the check sees, or the error of a call that should have been answered."""
	try:
		return check(runtime), None
	except grpc.RpcError as error:
		for pod in list(runtime.there):
			runtime.away(pod)
		return "error", f"{error.code()}: {error.details()}"


def difference(rival, wanted, handler, seen):
	"""What differs, a line each; what containers print has lines of its own."""
	def lines(outcome):
		return repr(outcome).replace("\\n", "\n").replace("\\t", "\t").splitlines()

	return difflib.unified_diff(lines(wanted), lines(seen), rival, handler, n=0, lineterm="")


def main():
	socket, handler, rival, image = sys.argv[1:5]
	channel = grpc.insecure_channel(f"unix://{socket}")
	ours, theirs = Runtime(channel, handler, image), Runtime(channel, rival, image)
	failed = False
	for check in CHECKS + (USERNS if "userns" in sys.argv[6:] else []):
		name = check.__name__.replace("_", "-")
		(seen, why), (wanted, rival_why) = outcome(check, ours), outcome(check, theirs)
		if os.environ.get("CRI_VERBOSE"):
			print(f"# {name}\n#	{handler}: {seen} {why}\n#	{rival}: {wanted} {rival_why}")
		same = re.sub(handler, rival, repr(seen)) == repr(wanted)
		# Where neither gets through there is nothing to compare.
		if same and why is None:
			print(f"ok cri {name}")
			continue
		failed = True
		print(f"not ok cri {name}: " + ("neither gets through" if why and rival_why else "they differ"))
		if why or rival_why:
			print(f"    {handler}: {why or 'no error'}\n    {rival}: {rival_why or 'no error'}")
		else:
			print("\n".join("    " + line for line in difference(rival, wanted, handler, seen)))
	for check in ALONE:
		seen, why = outcome(check, ours)
		good = seen is True
		failed = failed or not good
		print(f"{'ok' if good else 'not ok'} cri {check.__name__.replace('_', '-')}" + ("" if good else f": {why or seen}"))
	return failed


DIR = sys.argv[5]
sys.exit(main())
