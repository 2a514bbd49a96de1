# shellcheck shell=bash
# Completion of sbxrun for bash. It knows no command and no option by itself: both are read from the
# program's own help, each text once a shell, so that they can't differ from the program that is called.
#
# The help's words say what follows: DIR is completed with directories, FILE and PATH with files,
# a|b|c with these words, ID with the containers there are (of --root, if that was given), SIGNAL with
# signals. One process of sbxrun a completion in the usual case, none for what was asked before.

declare -gA __sbxrun_texts=()

# __sbxrun_help PROGRAM [COMMAND]: REPLY is the help text.
__sbxrun_help() {
	local key="$*"
	[ -n "${__sbxrun_texts[$key]:-}" ] || __sbxrun_texts[$key]=$("$1" help "${@:2}" 2>/dev/null)
	REPLY=${__sbxrun_texts[$key]}
}

# __sbxrun_read_options: the options of the help text REPLY into the caller's `takes` (name → its
# argument's name, empty for a flag), and into `offers` as they are written.
__sbxrun_read_options() {
	local line
	takes=() offers=()
	while IFS= read -r line; do
		[[ $line =~ ^\ +(-([A-Za-z]),\ )?--([a-z0-9-]+)(\ ([^ ]+))? ]] || continue
		takes[${BASH_REMATCH[3]}]=${BASH_REMATCH[5]}
		offers+=("--${BASH_REMATCH[3]}")
		[ -n "${BASH_REMATCH[2]}" ] || continue
		takes[${BASH_REMATCH[2]}]=${BASH_REMATCH[5]}
		offers+=("-${BASH_REMATCH[2]}")
	done <<<"$REPLY"
}

# __sbxrun_offer PREFIX WORD…: those that begin with it.
__sbxrun_offer() {
	local prefix=$1 word
	shift
	for word; do
		[[ $word != "$prefix"* ]] || COMPREPLY+=("$word")
	done
}

__sbxrun_commands() {
	local line in_list=
	__sbxrun_help "$program"
	while IFS= read -r line; do
		case $line in
		Commands:*) in_list=1 ;;
		Options:*) in_list= ;;
		"  "[a-z]*) [ -z "$in_list" ] || { line=${line#  } && __sbxrun_offer "$1" "${line%% *}"; } ;;
		esac
	done <<<"$REPLY"
}

__sbxrun_ids() {
	local ids
	mapfile -t ids < <("$program" ${root:+--root "$root"} list -q 2>/dev/null)
	__sbxrun_offer "$1" "${ids[@]}"
}

__sbxrun_boxes() {
	local ids
	mapfile -t ids < <("$program" ${root:+--root "$root"} box list 2>/dev/null)
	ids=("${ids[@]:1}") # the head
	__sbxrun_offer "$1" "${ids[@]%% *}"
}

__sbxrun_signals() {
	local names
	mapfile -t names < <(compgen -A signal -X 'SIGJUNK*' SIG)
	[[ $1 == SIG* ]] || names=("${names[@]#SIG}")
	__sbxrun_offer "$1" "${names[@]}"
}

# __sbxrun_value KIND PREFIX: what an argument of that name in the help can be.
__sbxrun_value() {
	local words
	case $1 in
	DIR) mapfile -t COMPREPLY < <(compgen -d -- "$2") && compopt -o filenames 2>/dev/null ;;
	FILE | PATH | CODEFILE | 'FILE|-') mapfile -t COMPREPLY < <(compgen -f -- "$2") && compopt -o filenames 2>/dev/null ;;
	ID)
		case $command in
		create | run) ;; # these two take a new one
		box) __sbxrun_boxes "$2" ;;
		*) __sbxrun_ids "$2" ;;
		esac
		;;
	SIGNAL) __sbxrun_signals "$2" ;;
	COMMAND) case $command in '' | help) __sbxrun_commands "$2" ;; esac ;; # else a program inside
	*[[:upper:]]*) ;; # N and the like: nothing to offer
	*) IFS='|' read -ra words <<<"$1" && __sbxrun_offer "$2" "${words[@]}" ;;
	esac
}

# __sbxrun_words: the line up to the cursor into the caller's `words`, with --x=y and 1:2 in one piece,
# which readline takes apart.
__sbxrun_words() {
	local i word
	for ((i = 0; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if ((${#words[@]})) && [[ $word == [=:] || ${words[-1]} == *?[=:] ]]; then
			words[-1]+=$word
		else
			words+=("$word")
		fi
	done
}

# __sbxrun_skip_options STOP: walks over words from `at` on, up to the last, the one at the cursor. Words
# that are no options go to `arguments`, or end the walk if STOP. `pending` is the kind of value that the
# word at the cursor is, if the option before it takes one.
__sbxrun_skip_options() {
	local word name
	pending=
	for (( ; at < ${#words[@]} - 1; at++)); do
		word=${words[at]}
		if [[ $word != -?* || $word == -- ]]; then
			[ -z "$1" ] || return 0
			[ "$word" = -- ] || arguments+=("$word")
			continue
		fi
		name=${word#-} name=${name#-}
		[ "${name%%=*}" != root ] || root=${words[at + 1]}
		[[ $name != root=* ]] || root=${name#root=}
		[[ $name != *=* && -n ${takes[$name]:-} ]] || continue
		if ((++at == ${#words[@]} - 1)); then
			pending=${takes[$name]}
			return 0
		fi
	done
}

# __sbxrun_at_cursor: an option, an option's value or the next argument of the synopsis in `places`.
__sbxrun_at_cursor() {
	local current=${words[-1]} name
	[ -z "$verbs" ] || __sbxrun_take_verb
	name=${current%%=*} name=${name#-} name=${name#-}
	if [ -n "$pending" ]; then
		__sbxrun_value "$pending" "$current"
	elif [[ $current == -*=* ]]; then
		__sbxrun_value "${takes[$name]:-N}" "${current#*=}"
	elif [[ $current == -* ]]; then
		__sbxrun_offer "$current" "${offers[@]}"
	elif ((${#arguments[@]} < ${#places[@]})); then
		__sbxrun_value "${places[${#arguments[@]}]}" "$current"
	elif [ -n "$repeats" ]; then
		__sbxrun_value "${places[-1]}" "$current"
	fi
}

# __sbxrun_take_verb: of a synopsis with alternatives, `create [LANGUAGE] | exec ID -- …`, that of the verb that stands there
# already into `places`, or else the verbs to choose from.
__sbxrun_take_verb() {
	local one word all='' found=''
	while IFS= read -r one; do
		all+=${all:+|}${one%% *}
		[ "${one%% *}" != "${arguments[0]:-}" ] || found=$one
	done <<<"${verbs// | /$'\n'}"
	places=("$all")
	for word in ${found#* }; do
		[[ $word != *[A-Z]* ]] || places+=("${word//[!A-Z]/}")
	done
}

# __sbxrun_read_synopsis: `sbxrun kill [OPTION…] ID [SIGNAL]: …`, in REPLY, into `places`: ID SIGNAL. Words to choose from, `[a|b]…`,
# are a place as they are, and `repeats` says that it is every further one, too.
__sbxrun_read_synopsis() {
	local line=${REPLY%%: *} word
	places=() repeats= verbs=
	if [[ $line == *' | '[a-z]* ]]; then
		verbs=${line#*"] "}
		return 0
	fi
	for word in ${line#* * }; do
		case $word in
		"[OPTION"*) ;;
		*[A-Z]*) places+=("${word//[!A-Z]/}") ;;
		*'|'*) places+=("${word//[!a-z|]/}") && repeats=1 ;;
		esac
	done
}

_sbxrun() {
	local program=${COMP_WORDS[0]/#\~/$HOME} root='' command='' pending='' repeats='' verbs='' at=1
	local -a words=() offers=() arguments=() places=(COMMAND)
	local -A takes=()
	COMPREPLY=()
	__sbxrun_words
	if [[ ${words[1]:-} == -* ]]; then
		__sbxrun_help "$program"
		__sbxrun_read_options
		__sbxrun_skip_options stop
	fi
	root=${root/#\~/$HOME} root=${root//[\"\'\\]/}
	if ((at < ${#words[@]} - 1)); then
		command=${words[at++]} takes=() offers=()
		if [ "$command" != help ]; then
			__sbxrun_help "$program" "$command"
			__sbxrun_read_synopsis
			__sbxrun_read_options
			offers+=(--help)
		fi
		__sbxrun_skip_options ''
	fi
	__sbxrun_at_cursor
}

complete -F _sbxrun sbxrun
