# shellcheck shell=bash
# list: what is there, and what could be.

cmd_list() {
	local format=table
	needs python3
	[ -z "$opt_json" ] || format=json
	python3 "$HERE/lib/list.py" "$format" "$(store_dir)" "$HERE/recipes"
}
