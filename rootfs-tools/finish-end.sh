# shellcheck shell=bash
# Runs after the recipe's own finish(): what has to see all files.

# ---- the loader's list of libraries ----
ldconfig -X
rm -rf /var/cache/ldconfig

# ---- Python's bytecode ----
# Marked as not to be compared with the source, so that it holds whatever the time stamps become. Each process compiles its own run of the
# sorted files: what marshal writes depends on what the process did before.
export PYTHONHASHSEED=0
if [ -x /usr/bin/python3 ]; then
	find /usr/lib/python3* /usr/share/python3 -name '*.py' 2>/dev/null | sort | xargs -d '\n' -P "$(nproc)" -n 100 python3 -I -S -B -c '
import py_compile, sys
for name in sys.argv[1:]:
	try:
		py_compile.compile(name, doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
	except py_compile.PyCompileError:
		pass  # templates and files for other versions'
fi
