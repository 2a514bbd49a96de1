"""The corpus: documents that are wrong, or only look wrong, each with what must become of it.

A case is (name, kind, document, expectation). The kind says who reads it: config, process (exec --process), resources
(update --resources), record (a container's state.json), id (a container's name), argv, environment. The expectation is "accept", or
the place that the refusal must name: a JSON path such as linux.namespaces[1].type, or for what has no path a piece of the message.

Nothing here names a network interface, a device or a path that a machine could have and miss.
"""
import copy
import json

U32, U64, I64 = 2**32, 2**64, 2**63

# Values that no integer field takes, as they stand in the document.
NOT_INTEGERS = ['1.5', '1e309', '1e3', '-1.0', '1E0', '"0"', '"1"', '""', 'true', 'false', '[]', '[0]', '{}',
                str(U64), str(-I64 - 1), '1' + '0' * 400, '-' + '9' * 30, '0.1e-5']
NOT_STRINGS = ['0', '-1', 'true', '[]', '["x"]', '{}', '1.5']
NOT_BOOLEANS = ['0', '1', '"true"', '"false"', '""', '[]', '{}', '1.0']
NOT_OBJECTS = ['0', 'true', '"x"', '[]', '[{}]', '1.5', '""']
NOT_ARRAYS = ['0', 'true', '"x"', '{}', '{"0": "x"}', '1.5', '""']

# Broken at the level of bytes and grammar; @ is put where a value is expected.
BROKEN = {
    'nul': b'"a\x00b"', 'nul-escape': b'"a\\u0000b"', 'lone-high-surrogate': b'"\\ud800"',
    'lone-low-surrogate': b'"\\udc00x"', 'surrogates-reversed': b'"\\udc00\\ud800"', 'overlong': b'"\xc0\xaf"',
    'cut-utf8': b'"\xe2\x82"', 'utf8-surrogate': b'"\xed\xa0\x80"', 'beyond-unicode': b'"\xf4\x90\x80\x80"',
    'latin1': b'"caf\xe9"', 'stray-continuation': b'"\x80"', 'ff': b'"\xff\xfe"', 'bad-escape': b'"\\x41"',
    'short-escape': b'"\\u12"', 'raw-newline': b'"a\nb"', 'raw-tab': b'"a\tb"', 'single-quotes': b"'x'",
    'bare-word': b'yes', 'nan': b'NaN', 'infinity': b'Infinity', 'minus-infinity': b'-Infinity', 'plus': b'+1',
    'leading-zero': b'01', 'hex': b'0x10', 'leading-dot': b'.5', 'trailing-dot': b'1.', 'two-values': b'1 2',
    'trailing-comma': b'["x",]', 'missing-comma': b'["x" "y"]', 'mismatched': b'["x"}', 'unclosed': b'["x"',
    'comment': b'/* x */ "y"', 'line-comment': b'// x\n"y"', 'undefined': b'undefined', 'backtick': b'`x`',
    'capital-true': b'True', 'lone-minus': b'-', 'exponent-only': b'1e', 'empty': b'',
}


def runnable(cgroups_path):
    """A config that works, and of which most semantic cases change one thing."""
    return {
        'ociVersion': '1.0.2',
        'process': {'user': {'uid': 0, 'gid': 0}, 'args': ['/bin/true'], 'env': ['PATH=/bin'], 'cwd': '/',
                    'capabilities': {k: ['CAP_KILL'] for k in ('bounding', 'effective', 'permitted')},
                    'rlimits': [{'type': 'RLIMIT_NOFILE', 'hard': 1024, 'soft': 1024}], 'noNewPrivileges': True},
        'root': {'path': 'rootfs', 'readonly': True},
        'hostname': 'box',
        'mounts': [{'destination': '/proc', 'type': 'proc', 'source': 'proc'},
                   {'destination': '/dev', 'type': 'tmpfs', 'source': 'tmpfs', 'options': ['nosuid', 'mode=755']}],
        'annotations': {'org.example': 'x'},
        'linux': {'namespaces': [{'type': t} for t in ('pid', 'network', 'ipc', 'uts', 'mount')],
                  'cgroupsPath': cgroups_path, 'maskedPaths': ['/proc/kcore'], 'readonlyPaths': ['/proc/sys']},
    }


def everything():
    """A config with every field that there is (forgotten_fields() compares): it need not run, it has to be read."""
    maps = [{'containerID': 0, 'hostID': 100000, 'size': 65536}]
    hook = [{'path': '/nonexistent/hook', 'args': ['hook'], 'env': ['A=b'], 'timeout': 1}]
    device = [{'major': 4000, 'minor': 1, 'rate': 1}]
    c = runnable('/nowhere')
    c['domainname'] = 'example'
    c['process'].update({
        'terminal': False, 'consoleSize': {'height': 1, 'width': 1}, 'oomScoreAdj': 0, 'apparmorProfile': 'none', 'selinuxLabel': 'none',
        'scheduler': {'policy': 'SCHED_OTHER', 'nice': 0, 'priority': 0, 'flags': [], 'runtime': 0, 'deadline': 0, 'period': 0},
        'ioPriority': {'class': 'IOPRIO_CLASS_BE', 'priority': 1}, 'execCPUAffinity': {'initial': '0', 'final': '0'}})
    c['process']['user'].update({'umask': 18, 'additionalGids': [5]})
    c['process']['capabilities'].update({'inheritable': [], 'ambient': []})
    c['linux']['namespaces'][0]['path'] = '/nonexistent/namespace'
    c['mounts'][0].update({'uidMappings': maps, 'gidMappings': maps})
    c['hooks'] = {k: hook for k in ('prestart', 'createRuntime', 'createContainer', 'startContainer', 'poststart', 'poststop')}
    c['linux'].update({
        'uidMappings': maps, 'gidMappings': maps, 'sysctl': {'kernel.shmmni': '1'}, 'rootfsPropagation': 'private', 'mountLabel': 'x',
        'devices': [{'path': '/dev/x', 'type': 'c', 'major': 1, 'minor': 3, 'fileMode': 438, 'uid': 0, 'gid': 0}],
        'netDevices': {'sbxnone0': {'name': 'sbxnone1'}},
        'resources': {
            'devices': [{'allow': False, 'type': 'a', 'major': 1, 'minor': 1, 'access': 'rwm'}],
            'memory': {'limit': -1, 'reservation': -1, 'swap': -1, 'kernel': -1, 'kernelTCP': -1, 'swappiness': 1, 'disableOOMKiller': False,
                       'useHierarchy': True, 'checkBeforeUpdate': False},
            'cpu': {'shares': 1024, 'quota': -1, 'burst': 0, 'period': 100000, 'realtimeRuntime': 0, 'realtimePeriod': 0, 'cpus': '0', 'mems': '0',
                    'idle': 0},
            'pids': {'limit': 10},
            'blockIO': {'weight': 10, 'leafWeight': 10, 'weightDevice': [{'major': 4000, 'minor': 1, 'weight': 10, 'leafWeight': 10}],
                        'throttleReadBpsDevice': device, 'throttleWriteBpsDevice': device, 'throttleReadIOPSDevice': device,
                        'throttleWriteIOPSDevice': device},
            'hugepageLimits': [{'pageSize': '2MB', 'limit': 1}],
            'network': {'classID': 1, 'priorities': [{'name': 'sbxnone0', 'priority': 1}]},
            'rdma': {'none0': {'hcaHandles': 1, 'hcaObjects': 1}}, 'unified': {'pids.max': '10'}},
        'seccomp': {'defaultAction': 'SCMP_ACT_ALLOW', 'defaultErrnoRet': 1, 'architectures': ['SCMP_ARCH_X86_64'], 'flags': [],
                    'listenerPath': '/nonexistent/listener', 'listenerMetadata': 'x',
                    'syscalls': [{'names': ['kill'], 'action': 'SCMP_ACT_ERRNO', 'errnoRet': 1,
                                  'args': [{'index': 0, 'value': 1, 'valueTwo': 1, 'op': 'SCMP_CMP_EQ'}]}]},
        'timeOffsets': {'monotonic': {'secs': 1, 'nanosecs': 1}}, 'personality': {'domain': 'LINUX', 'flags': []},
        'memoryPolicy': {'mode': 'MPOL_DEFAULT', 'nodes': '0', 'flags': []},
        'intelRdt': {'closID': 'x', 'schemata': ['x'], 'l3CacheSchema': 'x', 'memBwSchema': 'x', 'enableMonitoring': False}})
    # Nothing in it is shared, or one change would be seen in two places.
    return json.loads(json.dumps(c))


# Objects whose keys are not the specification's but the user's.
FREE_KEYS = {'annotations', 'sysctl', 'unified', 'rdma', 'netDevices', 'timeOffsets'}


def fields(value, at=''):
    """The names of all fields of a document, with where they stand."""
    if isinstance(value, list):
        return set().union(*(fields(v, at + '[]') for v in value))
    if not isinstance(value, dict):
        return set()
    free = at.rpartition('.')[2] in FREE_KEYS
    names = {k: at + '.' + ('*' if free else k) for k in value}
    return set(names.values()).union(*(fields(v, names[k]) for k, v in value.items()))


def forgotten_fields(document):
    """Those that the document has and everything() has not."""
    return sorted(fields(document) - fields(everything()))


def path_text(keys):
    """As the reader writes it: plain words by dots, other keys in brackets."""
    text = ''
    for k in keys:
        if isinstance(k, int):
            text += '[%d]' % k
        elif '.' in k:
            text += '["%s"]' % k
        else:
            text += ('.' if text else '') + k
    return text


def walk(value, keys=()):
    """Every place in a document, with its value."""
    if keys:
        yield keys, value
    if isinstance(value, dict):
        for k, v in value.items():
            yield from walk(v, keys + (k,))
    elif isinstance(value, list):
        for i, v in enumerate(value):
            yield from walk(v, keys + (i,))


def put(document, keys, value):
    d = copy.deepcopy(document)
    at = d
    for k in keys[:-1]:
        at = at[k]
    if value is DROP:
        del at[keys[-1]]
    else:
        at[keys[-1]] = value
    return d


DROP = object()
HOLE = '@hole@'


def put_text(document, keys, text):
    """The document as bytes, with raw text in one place."""
    whole = json.dumps(put(document, keys, HOLE)).encode()
    return whole.replace(json.dumps(HOLE).encode(), text if isinstance(text, bytes) else text.encode())


def wrong_values(value):
    if isinstance(value, bool):
        return NOT_BOOLEANS
    return {int: NOT_INTEGERS, str: NOT_STRINGS, dict: NOT_OBJECTS, list: NOT_ARRAYS}[type(value)]


def wrong_types(kind, document, prefix=''):
    """Each field with each value that is not of its type."""
    for keys, value in walk(document):
        for i, text in enumerate(wrong_values(value)):
            yield '%s-type-%s-%d' % (kind, path_text(keys), i), kind, put_text(document, keys, text), prefix + path_text(keys)


def broken_bytes(kind, document, keys):
    for name, text in BROKEN.items():
        yield '%s-broken-%s' % (kind, name), kind, put_text(document, keys, text), path_text(keys)


def semantic(base):
    """One value of a config that works is changed to one of the right type that makes no sense."""
    def s(path, value, expect, name=None):
        keys = tuple(int(k) if k.isdigit() else k for k in path.split('/'))
        label = name or json.dumps(value)[:30] if value is not DROP else 'absent'
        return 'config-%s=%s' % (path_text(keys), label), 'config', json.dumps(put(base, keys, value)).encode(), expect

    long_path = '/' + 'x' * 4096
    for v in ['', '1', '1.0', '1.0.0.0', '2.0.0', '0.9.0', '1.9.0', 'latest', '1.0.2 ', ' 1.0.2', '01.0.2', '1.0.-2', '1.0.2-', '1.0.2+', '1.0.2-ä', 'v1.0.2']:
        yield s('ociVersion', v, 'ociVersion')
    for v in ['1.0.0', '1.0.2-dev', '1.2.0', '1.1.0+dev']:
        yield s('ociVersion', v, 'accept')
    yield s('ociVersion', DROP, 'ociVersion')
    yield s('root', DROP, 'root')
    yield s('root/path', DROP, 'root.path')
    yield s('root/path', '', 'root.path')
    yield s('root/path', long_path, 'root.path', 'long')
    yield s('root/path', 'nowhere', 'root.path')
    yield s('root/path', 'config.json', 'root.path')
    for v in ['', 'relative', './x', '../..', long_path]:
        yield s('process/cwd', v, 'process.cwd')
    yield s('process/cwd', DROP, 'process.cwd')
    yield s('process/cwd', '/bin/busybox', 'process.cwd')
    yield s('process/args', [], 'process.args')
    yield s('process/args', [''], 'process.args[0]')
    yield s('process/args', DROP, 'process.args')
    for v in ['', 'A', '=b', '=']:
        yield s('process/env/0', v, 'process.env[0]')
    for v in ['A=', 'A==', 'A=\u00e4\ud83d\ude00', 'A=' + 'x' * 60000]:
        yield s('process/env/0', v, 'accept')
    for field in ['uid', 'gid']:
        for v in [U32 - 1, U32, -1, -U32, U64 - 1]:
            yield s('process/user/' + field, v, 'process.user.' + field)
    for v in [[U32 - 1], [5, U32], [-1]]:
        yield s('process/user/additionalGids', v, 'process.user.additionalGids')
    for v in [512, U32 - 1, -1]:
        yield s('process/user/umask', v, 'process.user.umask')
    yield s('process/user/umask', 511, 'accept')
    for v in [1001, -1001, 2**31, -2**31]:
        yield s('process/oomScoreAdj', v, 'process.oomScoreAdj')
    for v in ['', 'NOFILE', 'RLIMIT_', 'rlimit_nofile', 'RLIMIT_NOFILE ', 'RLIMIT_BOGUS']:
        yield s('process/rlimits/0/type', v, 'process.rlimits[0].type')
    yield s('process/rlimits/0/soft', 1025, 'process.rlimits[0].soft')
    yield s('process/rlimits/0/soft', U64, 'process.rlimits[0].soft')
    yield s('process/rlimits/0/hard', -1, 'process.rlimits[0].hard')
    for f in ['type', 'hard', 'soft']:
        yield s('process/rlimits/0/' + f, DROP, 'process.rlimits[0].' + f)
    yield s('process/rlimits', [{'type': 'RLIMIT_CORE', 'hard': 1, 'soft': 1}] * 2, 'process.rlimits[1].type', 'twice')
    yield s('process/rlimits', [{'type': 'RLIMIT_CORE', 'hard': 1, 'soft': 1}] * 65, 'process.rlimits', '65')
    # The specification wants unknown capabilities to be a warning.
    for v in ['CAP_BOGUS', 'kill', '', 'ALL', 'CAP_KILL\n']:
        yield s('process/capabilities/bounding/0', v, 'accept')
    yield s('process/consoleSize', {'height': 65536, 'width': 1}, 'process.consoleSize', 'large')
    yield s('process/consoleSize', {'height': 1}, 'process.consoleSize.width', 'half')
    for v in [{'policy': 'SCHED_BOGUS'}, {'policy': ''}, {'policy': 'sched_other'}]:
        yield s('process/scheduler', v, 'process.scheduler.policy')
    for v in [20, -21, 2**31 - 1]:
        yield s('process/scheduler', {'policy': 'SCHED_OTHER', 'nice': v}, 'process.scheduler.nice')
    yield s('process/scheduler', {'policy': 'SCHED_OTHER', 'priority': 1}, 'process.scheduler.priority')
    yield s('process/scheduler', {'policy': 'SCHED_FIFO', 'priority': 100}, 'process.scheduler.priority')
    yield s('process/scheduler', {'policy': 'SCHED_OTHER', 'runtime': 1}, 'process.scheduler')
    yield s('process/scheduler', {'policy': 'SCHED_DEADLINE', 'runtime': 5000, 'deadline': 1}, 'process.scheduler.deadline')
    yield s('process/scheduler', {'policy': 'SCHED_OTHER', 'flags': ['SCHED_FLAG_X']}, 'process.scheduler.flags[0]')
    yield s('process/ioPriority', {'class': 'IOPRIO_CLASS_X'}, 'process.ioPriority.class')
    for v in [8, -1]:
        yield s('process/ioPriority', {'class': 'IOPRIO_CLASS_BE', 'priority': v}, 'process.ioPriority.priority')
    for v in ['x', '0-', '-1', '3-1', '0,', ',0', '0 1', '99999999999999999999', '0-1048577', '0,,1']:
        yield s('process/execCPUAffinity', {'initial': v}, 'process.execCPUAffinity.initial')
        yield s('linux/resources', {'cpu': {'cpus': v}}, 'linux.resources.cpu.cpus')
        yield s('linux/resources', {'cpu': {'mems': v}}, 'linux.resources.cpu.mems')
    yield s('hostname', 'x' * 65, 'hostname', 'long')
    yield s('domainname', 'x' * 65, 'domainname', 'long')
    yield s('linux/namespaces', [{'type': 'mount'}, {'type': 'pid'}], 'hostname', 'no-uts')
    # mounts
    yield s('mounts/0/destination', '', 'mounts[0].destination')
    yield s('mounts/0/destination', DROP, 'mounts[0].destination')
    yield s('mounts/0/destination', long_path, 'mounts[0].destination', 'long')
    yield s('mounts/1/source', long_path, 'mounts[1].source', 'long')
    yield s('mounts/1/type', 'nosuchfs', 'mounts[1]')
    yield s('mounts/1/type', 'tmpfs/../x', 'mounts[1]')
    # What a file system makes of its data is the kernel's to say: tmpfs takes any number of digits.
    yield s('mounts/1/options/1', 'size=' + '9' * 300, 'accept', 'long-size')
    for v in ['size=x', 'mode=9', 'nosuchoption', 'uid=-1']:
        yield s('mounts/1/options/1', v, 'mounts[1]')
    yield s('mounts/1', {'destination': '/tmp', 'type': 'bind', 'source': '/nonexistent/source', 'options': ['bind']}, 'mounts[1]', 'no-source')
    yield s('mounts/1', {'destination': '/proc/sys', 'type': 'tmpfs', 'source': 'x'}, 'mounts[1]', 'below-proc')
    yield s('mounts/0', {'destination': '/proc', 'type': 'tmpfs', 'source': 'x'}, 'mounts[0]', 'proc-is-no-proc')
    yield s('mounts/1/destination', '/../../../dev', 'accept')
    yield s('mounts', [{'destination': '/tmp/%d' % i, 'type': 'tmpfs', 'source': 't'} for i in range(4097)], 'mounts', '4097')
    one = {'containerID': 0, 'hostID': 0, 'size': 1}
    yield s('mounts/1/uidMappings', [one], 'mounts[1]', 'half')
    yield s('mounts/1/options', ['idmap'], 'mounts[1].options')
    # hooks
    for kind in ['prestart', 'createRuntime', 'createContainer', 'startContainer', 'poststart', 'poststop']:
        for v in ['', 'relative', './x']:
            yield s('hooks', {kind: [{'path': v}]}, 'hooks.%s[0].path' % kind)
        for v in [0, -1, -I64]:
            yield s('hooks', {kind: [{'path': '/x', 'timeout': v}]}, 'hooks.%s[0].timeout' % kind)
        yield s('hooks', {kind: [{'path': '/x'}] * 257}, 'hooks.' + kind, '257')
        yield s('hooks', {kind: [{}]}, 'hooks.%s[0].path' % kind)
    # annotations
    yield s('annotations', {'': 'x'}, 'annotations')
    yield s('annotations', {'a': ''}, 'accept')
    # Words like any other, where there is no unit.
    yield s('annotations', {'org.systemd.property.ExecStopPost': "'x'"}, 'accept')
    # namespaces
    for v in ['', 'pids', 'PID', 'net', 'mnt', 'pid ']:
        yield s('linux/namespaces/0/type', v, 'linux.namespaces[0].type')
    yield s('linux/namespaces/0', {}, 'linux.namespaces[0].type')
    yield s('linux/namespaces/1/type', 'pid', 'linux.namespaces[1].type', 'twice')
    for v in ['relative', '../x', 'pid:[1]']:
        yield s('linux/namespaces/0/path', v, 'linux.namespaces[0].path')
    for v in ['/nonexistent/ns', '/dev/null', '/', '/proc/self/ns/uts']:
        yield s('linux/namespaces/0/path', v, 'linux.namespaces')
    yield s('linux/namespaces', [{'type': 'pid'}] * 65, 'linux.namespaces', '65')
    # id maps
    for key in ['uidMappings', 'gidMappings']:
        at = 'linux.' + key
        yield s('linux/' + key, [one], at, 'no-user-namespace')
        both = put(base, ('linux', 'namespaces'), base['linux']['namespaces'] + [{'type': 'user'}])
        both['linux'].update({'uidMappings': [one], 'gidMappings': [one]})
        for name, maps in {'empty': [], 'size-0': [dict(one, size=0)], 'past': [dict(one, containerID=1, size=U32 - 1)], 'host-past': [dict(one, hostID=U32 - 1)],
                           'overlap': [one, one], 'negative': [dict(one, hostID=-1)], 'big': [dict(one, size=U32)], '341': [one] * 341,
                           'no-size': [{'containerID': 0, 'hostID': 0}], 'overlap-host': [one, dict(one, containerID=5)]}.items():
            d = copy.deepcopy(both)
            d['linux'][key] = maps
            yield 'config-%s-%s' % (at, name), 'config', json.dumps(d).encode(), at
    # devices
    device = {'path': '/dev/x', 'type': 'c', 'major': 1, 'minor': 3}
    for change, at in [({'path': ''}, '.path'), ({'path': 'x'}, '.path'), ({'path': long_path}, '.path'), ({'type': ''}, '.type'), ({'type': 'x'}, '.type'),
                       ({'type': 'cc'}, '.type'), ({'major': -1}, ''), ({'minor': -1}, ''), ({'major': 4096}, ''), ({'minor': 2**20}, ''), ({'major': I64 - 1}, ''),
                       ({'major': 0, 'minor': 0}, '.major'), ({'uid': U32 - 1}, ''), ({'gid': U32}, '.gid'), ({'fileMode': U32}, '.fileMode'),
                       ({'fileMode': -1}, '.fileMode')]:
        yield s('linux/devices', [dict(device, **change)], 'linux.devices[0]' + at, json.dumps(change)[:40])
    yield s('linux/devices', [device] * 4097, 'linux.devices', '4097')
    # cgroup paths
    for v in ['..', '../x', '/../x', '/x/../../y', '/x/..', '/' + 'x' * 256, '/' + 'x/' * 2100, 'a:b:c', '/x\ny', '/x/./../../z']:
        yield s('linux/cgroupsPath', v, 'linux.cgroupsPath')
    # resources
    for path in ['memory/limit', 'memory/reservation', 'memory/swap', 'memory/kernel', 'memory/kernelTCP', 'pids/limit', 'cpu/quota', 'cpu/realtimeRuntime']:
        a, b = path.split('/')
        for v in [-2, -I64]:
            yield s('linux/resources', {a: {b: v}}, 'linux.resources.%s.%s' % (a, b))
    for res, at in [({'memory': {'swappiness': 101}}, 'memory.swappiness'), ({'memory': {'limit': 2**30, 'swap': 2**20}}, 'memory.swap'),
                    ({'cpu': {'period': 999}}, 'cpu.period'), ({'cpu': {'period': 1000001}}, 'cpu.period'), ({'cpu': {'quota': 999}}, 'cpu.quota'),
                    ({'cpu': {'quota': 1000, 'burst': 1001}}, 'cpu.burst'), ({'cpu': {'idle': 2}}, 'cpu.idle'), ({'cpu': {'idle': -1}}, 'cpu.idle'),
                    ({'cpu': {'realtimeRuntime': 2, 'realtimePeriod': 1}}, 'cpu.realtimeRuntime'), ({'blockIO': {'weight': 9}}, 'blockIO.weight'),
                    ({'blockIO': {'weight': 1001}}, 'blockIO.weight'), ({'blockIO': {'leafWeight': 5}}, 'blockIO.leafWeight'),
                    ({'blockIO': {'weightDevice': [{'major': 1, 'minor': 1}]}}, 'blockIO.weightDevice[0].weight'),
                    ({'blockIO': {'weightDevice': [{'major': -1, 'minor': 1, 'weight': 10}]}}, 'blockIO.weightDevice[0]'),
                    ({'blockIO': {'throttleReadBpsDevice': [{'major': 1, 'minor': 2**20, 'rate': 1}]}}, 'blockIO.throttleReadBpsDevice[0]'),
                    ({'hugepageLimits': [{'pageSize': '2mb', 'limit': 1}]}, 'hugepageLimits[0].pageSize'),
                    ({'hugepageLimits': [{'pageSize': '0MB', 'limit': 1}]}, 'hugepageLimits[0].pageSize'),
                    ({'hugepageLimits': [{'pageSize': '../x', 'limit': 1}]}, 'hugepageLimits[0].pageSize'),
                    ({'hugepageLimits': [{'pageSize': '2MB', 'limit': 1}] * 2}, 'hugepageLimits[1].pageSize'),
                    ({'network': {'priorities': [{'name': 'a/b', 'priority': 1}]}}, 'network.priorities[0].name'),
                    ({'network': {'priorities': [{'name': 'x' * 16, 'priority': 1}]}}, 'network.priorities[0].name'),
                    ({'rdma': {'a b': {'hcaHandles': 1}}}, 'rdma'), ({'rdma': {'': {'hcaHandles': 1}}}, 'rdma'),
                    ({'unified': {'../x.y': '1'}}, 'unified'), ({'unified': {'cgroup.procs': '1'}}, 'unified'), ({'unified': {'cgroup.kill': '1'}}, 'unified'),
                    ({'unified': {'pids.max/..': '1'}}, 'unified'), ({'unified': {'': '1'}}, 'unified'), ({'unified': {'CPU.max': '1'}}, 'unified'),
                    ({'devices': [{'allow': True, 'type': 'x'}]}, 'devices[0].type'), ({'devices': [{'allow': True, 'access': 'rwx'}]}, 'devices[0].access'),
                    ({'devices': [{'allow': True, 'major': -2}]}, 'devices[0]'), ({'devices': [{'allow': True, 'minor': U32}]}, 'devices[0]'),
                    ({'devices': [{'type': 'c'}]}, 'devices[0].allow')]:
        yield s('linux/resources', res, 'linux.resources.' + at, json.dumps(res)[:60])
        yield 'resources-%s' % json.dumps(res)[:60], 'resources', json.dumps(res).encode(), at
    # sysctls: of no namespace, of one that is missing, no names
    for key in ['kernel.panic', 'vm.swappiness', 'fs.file-max', 'kernel.hostname', 'kernel.core_pattern', '', '.', '..', 'net', 'net..x', '../net/x',
                'net.ipv4/../../x', '/net/ipv4', 'net.ipv4.', 'kernel.shmmax.x', 'user.max_user_namespaces', 'x' * 300, 'dev.cdrom.lock']:
        yield s('linux/sysctl', {key: '1'}, 'linux.sysctl', key[:40])
    yield s('linux/sysctl', {'kernel.shmmni': 'x' * 4096}, 'linux.sysctl', 'long-value')
    yield s('linux/sysctl', {'kernel.shmmni': 'not a number'}, 'linux.sysctl', 'no-number')
    # seccomp
    def filter_with(**changes):
        f = {'defaultAction': 'SCMP_ACT_ALLOW', 'syscalls': [{'names': ['bpf'], 'action': 'SCMP_ACT_ERRNO'}]}
        f.update(changes)
        return f
    rule = {'names': ['bpf'], 'action': 'SCMP_ACT_ERRNO'}
    for changes, at in [({'defaultAction': 'SCMP_ACT_X'}, 'defaultAction'), ({'defaultAction': ''}, 'defaultAction'), ({'defaultAction': 'SCMP_ACT_NOTIFY'}, 'defaultAction'),
                        ({'architectures': ['SCMP_ARCH_X']}, 'architectures[0]'), ({'flags': ['SECCOMP_FILTER_FLAG_X']}, 'flags[0]'),
                        ({'defaultErrnoRet': 1}, 'defaultErrnoRet'), ({'listenerMetadata': 'x'}, 'listenerMetadata'),
                        ({'syscalls': [dict(rule, names=[])]}, 'syscalls[0].names'), ({'syscalls': [dict(rule, names=[''])]}, 'syscalls[0].names[0]'),
                        ({'syscalls': [dict(rule, action='SCMP_ACT_NOTIFY')]}, 'syscalls[0].action'), ({'syscalls': [dict(rule, errnoRet=4096)]}, 'syscalls[0].errnoRet'),
                        ({'syscalls': [dict(rule, args=[{'index': 6, 'value': 1, 'op': 'SCMP_CMP_EQ'}])]}, 'syscalls[0].args[0].index'),
                        ({'syscalls': [dict(rule, args=[{'index': 0, 'value': 1, 'op': 'SCMP_CMP_X'}])]}, 'syscalls[0].args[0].op'),
                        ({'syscalls': [{'names': ['bpf']}]}, 'syscalls[0].action'), ({'syscalls': [rule] * 8193}, 'syscalls'),
                        ({'syscalls': [dict(rule, args=[{'index': 0, 'value': 1, 'op': 'SCMP_CMP_EQ'}] * 65)]}, 'syscalls[0].args')]:
        yield s('linux/seccomp', filter_with(**changes), 'linux.seccomp.' + at, json.dumps(changes)[:60])
    # the rest of linux
    for key in ['maskedPaths', 'readonlyPaths']:
        for v in ['relative', '', './x', '../x', long_path]:
            yield s('linux/%s/0' % key, v, 'linux.%s[0]' % key)
    for v in ['bogus', 'PRIVATE', 'private ']:
        yield s('linux/rootfsPropagation', v, 'linux.rootfsPropagation')
    yield s('linux/personality', {'domain': 'X'}, 'linux.personality.domain')
    yield s('linux/personality', {'domain': 'LINUX', 'flags': ['x']}, 'linux.personality.flags')
    yield s('linux/timeOffsets', {'monotonic': {'secs': 1}}, 'linux.timeOffsets', 'no-namespace')
    yield s('linux/memoryPolicy', {'mode': 'MPOL_X'}, 'linux.memoryPolicy')
    for name in ['', '.', '..', 'a/b', 'a b', 'x' * 16, 'sbx%d', 'a:b']:
        yield s('linux/netDevices', {name: {}}, 'linux.netDevices', name)


def shapes(base):
    """Whole documents: structure, duplicates, sizes, depth, counts, what stands around them."""
    text = json.dumps(base).encode()
    for name, document in {'empty': b'', 'space': b' \n\t ', 'null': b'null', 'true': b'true', 'number': b'1', 'string': b'"x"', 'array': b'[]', 'array-of-config': b'[' + text + b']',
                           'cut': text[:len(text) // 2], 'cut-at-end': text[:-1], 'bom': b'\xef\xbb\xbf' + text, 'utf16': text.decode().encode('utf-16'), 'utf32': text.decode().encode('utf-32'),
                           'trailing-brace': text + b'}', 'trailing-word': text + b'x', 'trailing-nul': text + b'\0', 'second-document': text + text,
                           'leading-nul': b'\0' + text, 'leading-comma': b',' + text, 'elf': b'\x7fELF' + b'\0' * 60, 'gzip': b'\x1f\x8b\x08\0' + b'\0' * 60,
                           'over-16-MB': text + b' ' * (16 << 20), 'over-16-MB-of-string': b'{"x": "' + b'a' * (17 << 20) + b'"}'}.items():
        yield 'shape-' + name, 'config', document, 'config.json'
    yield 'shape-16-MB-of-space', 'config', text + b' ' * ((16 << 20) - len(text) - 1), 'accept'
    yield 'shape-empty-object', 'config', b'{}', 'ociVersion'
    # Unknown properties are skipped, as the specification demands; also deep, also with any type.
    for name, extra in {'unknown': {'x': [1, {'y': None}, 'z', 1.5, True]}, 'unknown-number': {'x': 1e300}, 'windows': {'windows': {'layerFolders': 1}}, 'vm': {'vm': []}}.items():
        yield 'shape-' + name, 'config', json.dumps(dict(base, **extra)).encode(), 'accept'
    # A key twice, at each level; the same key in another spelling; twice where keys are free.
    for keys, value in list(walk(base)):
        if isinstance(value, dict):
            for k in list(value)[:2]:
                d = json.dumps(put(base, keys + ('@twice@',), value[k])).encode().replace(b'"@twice@"', json.dumps(k).encode())
                yield 'twice-%s' % path_text(keys + (k,)), 'config', d, '%s: duplicate key "%s"' % (path_text(keys), k)
    yield 'twice-top', 'config', text[:-1] + b', "process": {"args": ["/bin/false"], "cwd": "/"}}', 'process'
    yield 'twice-escaped', 'config', text[:-1] + b', "ro\\u006ft": {"path": "rootfs"}}', 'root'
    yield 'twice-unknown', 'config', text[:-1] + b', "x": 1, "x": 2}', 'x'
    yield 'case-differs', 'config', text[:-1] + b', "Process": {"args": ["/bin/false"]}}', 'accept'
    for n in [63, 64, 65, 1000, 10**5, 10**6]:
        yield 'depth-%d-arrays' % n, 'config', text[:-1] + b', "x": ' + b'[' * n + b']' * n + b'}', 'accept' if n < 64 else 'x'
        yield 'depth-%d-objects' % n, 'config', text[:-1] + b', "x": ' + b'{"x":' * n + b'1' + b'}' * n + b'}', 'accept' if n < 64 else 'x'
    yield 'depth-unclosed', 'config', b'[' * 10**6, 'config.json'
    yield 'depth-unclosed-objects', 'config', b'{"x":' * 10**6, 'x'
    for key in ['args', 'env']:
        big = put(base, ('process', key), (base['process'][key] + ['A=x'] * 10**6))
        yield 'count-process.%s-10^6' % key, 'config', json.dumps(big).encode(), 'process.' + key
    yield 'count-annotations', 'config', json.dumps(put(base, ('annotations',), {str(i): 'x' for i in range(200000)})).encode(), 'annotations'
    yield 'count-unknown-keys', 'config', json.dumps(dict(base, x={str(i): 1 for i in range(200000)})).encode(), 'x'
    yield 'count-masked', 'config', json.dumps(put(base, ('linux', 'maskedPaths'), ['/x'] * 10**6)).encode(), 'linux.maskedPaths'
    yield 'count-gids', 'config', json.dumps(put(base, ('process', 'user', 'additionalGids'), [1] * 10**6)).encode(), 'process.user.additionalGids'
    yield 'long-string', 'config', json.dumps(put(base, ('hostname',), 'x' * (8 << 20))).encode(), 'hostname'
    yield 'long-key', 'config', text[:-1] + b', "' + b'k' * (8 << 20) + b'": 1}', 'config.json'


PROCESS = {'args': ['/bin/true'], 'cwd': '/', 'env': ['A=b'], 'user': {'uid': 0, 'gid': 0}, 'terminal': False, 'noNewPrivileges': True,
           'capabilities': {'bounding': ['CAP_KILL']}, 'rlimits': [{'type': 'RLIMIT_CORE', 'hard': 0, 'soft': 0}], 'oomScoreAdj': 0}
RESOURCES = {'memory': {'limit': -1}, 'cpu': {'shares': 1024, 'cpus': '0'}, 'pids': {'limit': 10}, 'unified': {'pids.max': '5'},
             'devices': [{'allow': True, 'access': 'r'}]}
# A record of another boot: what it names is never touched.
RECORD = {'version': 1, 'id': 'x', 'ociVersion': '1.0.2', 'bundle': '/nonexistent', 'rootfs': '/nonexistent/rootfs', 'created': '2020-01-01T00:00:00Z',
          'bootId': '00000000-0000-0000-0000-000000000000', 'owner': 0, 'pid': 2**22 - 1, 'pidStart': 1, 'committed': True, 'hasProcess': True, 'ownPidNs': True,
          'cgroups': [{'mount': '/nonexistent', 'path': '/x', 'made': '/x'}], 'hooks': {'poststop': [{'path': '/nonexistent/hook'}]}, 'annotations': {'a': 'b'}}
RECORD_REQUIRED = ['version', 'id', 'ociVersion', 'bundle', 'rootfs', 'created', 'bootId']
# What the caller's environment says changes nothing that is not written in the manual.
ENVIRONMENTS = [{}, {'LISTEN_FDS': 'x', 'LISTEN_PID': '1'}, {'LISTEN_FDS': '-1'}, {'LISTEN_FDS': '4294967296', 'LISTEN_PID': '0'}, {'LISTEN_FDS': '3', 'LISTEN_PID': ''},
                {'XDG_RUNTIME_DIR': ''}, {'XDG_RUNTIME_DIR': 'relative'}, {'PATH': ''}, {'TMPDIR': '/nonexistent'},
                {'HOME': '/nonexistent'}, {'LD_PRELOAD': '/nonexistent/x.so'}, {'LANG': '\udcff\udcfe'}, {'BIG': 'x' * 100000}, {'MALLOC_CHECK_': '3'},
                {'GLIBC_TUNABLES': 'glibc.malloc.check=3'}, dict(('V%d' % i, 'x') for i in range(5000))]
IDS = ['', '.', '..', '...x/', '/', 'a/b', '../x', '/etc', 'a b', 'a\nb', 'a\tb', '\u00e4', 'a:b', 'a*', 'a\\b', 'x' * 1025, 'x' * 4096, 'a\x7f', '$(x)', '%s%n', 'a;b', "a'b", '\x1b[31m', '\xff', '@', '~']
ARGV = [([], 'Commands'), (['--bogus'], 'bogus'), (['bogus'], 'bogus'), (['create'], 'usage'), (['create', 'a', 'b'], 'usage'), (['create', '--bundle'], 'bundle'), (['--root'], 'root'),
        (['--log-format', 'x', 'list'], 'log-format'), (['--log-level', 'x', 'list'], 'log-level'), (['--rootless=maybe', 'list'], 'rootless'), (['--systemd-cgroup', 'list'], 'accept'),
        (['create', '--bogus', 'x'], 'bogus'), (['create', '--pid-file', '/nonexistent/x/y', '--bundle', '/nonexistent', 'x'], 'nonexistent'), (['kill', 'x', 'BOGUS'], 'BOGUS'),
        (['kill', 'x', '-1'], '-1'), (['kill', 'x', '65'], '65'), (['kill', 'x', '99999999999999999999'], '9999'), (['kill', 'x', ''], 'signal'), (['exec', 'x'], 'x'),
        (['exec', '--user', 'root', 'x', 'y'], 'x'), (['exec', '--preserve-fds', '-1', 'x', 'y'], 'preserve-fds'), (['exec', '--preserve-fds', '4294967296', 'x', 'y'], 'preserve-fds'),
        (['run', '--preserve-fds', '1025', 'x'], 'preserve-fds'), (['update', '--memory', '1x', 'x'], 'memory'), (['update', '--memory', '99999999999999999999', 'x'], 'memory'),
        (['update', '--pids-limit', '1.5', 'x'], 'pids-limit'), (['update', '--cpu-share', '-1', 'x'], 'cpu-share'), (['update', '--cpu-period', 'x', 'x'], 'cpu-period'),
        (['update', '--resources', '/nonexistent', 'x'], 'nonexistent'), (['events', '--interval', 'x', 'y'], 'interval'), (['list', '--format', 'x'], 'format'), (['ps', '--format', 'x', 'y'], 'format'),
        (['list', 'extra'], 'usage'), (['--root', '/' + 'x' * 5000, 'list'], 'root'), (['state', 'x' * 100000], 'longer'), (['help', 'bogus'], 'bogus')]


def all_cases(cgroups_path):
    base = runnable(cgroups_path)
    yield 'base', 'config', json.dumps(base).encode(), 'accept'
    yield from wrong_types('config', everything())
    yield from broken_bytes('config', base, ('hostname',))
    yield from semantic(base)
    yield from shapes(base)
    yield from wrong_types('process', PROCESS)
    yield from broken_bytes('process', PROCESS, ('cwd',))
    for key, value, at in [('args', [], 'args'), ('cwd', 'x', 'cwd'), ('env', ['x'], 'env[0]'), ('user', {'uid': U32 - 1}, 'user.uid'), ('rlimits', [{'type': 'X', 'hard': 1, 'soft': 1}], 'rlimits[0].type')]:
        yield 'process-' + at, 'process', json.dumps(dict(PROCESS, **{key: value})).encode(), at
    yield from wrong_types('resources', RESOURCES)
    yield from broken_bytes('resources', RESOURCES, ('cpu', 'cpus'))
    for name, text in {'empty': b'', 'null': b'null', 'array': b'[]', 'cut': b'{"memory": {', 'deep': b'[' * 10**5, 'trailing': b'{} x'}.items():
        for kind in ['process', 'resources']:
            yield '%s-%s' % (kind, name), kind, text, ''
    yield 'record', 'record', json.dumps(RECORD).encode(), 'accept'
    yield from wrong_types('record', RECORD)
    yield from broken_bytes('record', RECORD, ('bundle',))
    for key in RECORD_REQUIRED:
        yield 'record-no-' + key, 'record', json.dumps(put(RECORD, (key,), DROP)).encode(), key
    for name, text in {'empty': b'', 'null': b'null', 'array': b'[]', 'cut': b'{"version": 1', 'zeros': b'\0' * 512, 'newer': json.dumps(dict(RECORD, version=U32 - 1)).encode(),
                       'large': b'"' + b'x' * (17 << 20) + b'"', 'deep': b'[' * 10**5}.items():
        yield 'record-' + name, 'record', text, ''
    # The guard against a loop of restarts is ours: a caller that sets it gets no container without protection.
    yield 'environment-guard', 'environment', {'_SBXRUN_PROTECTED': '1'}, 'protected copy'
    for i, environment in enumerate(ENVIRONMENTS):
        yield 'environment-%d' % i, 'environment', environment, 'accept'
    for name in IDS:
        yield 'id-%r' % name[:20], 'id', name, 'id'
    for args, expect in ARGV:
        yield 'argv-%s' % ' '.join(args)[:60], 'argv', args, expect
